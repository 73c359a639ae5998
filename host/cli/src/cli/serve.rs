//! `jp-policy serve`: the configured tools as an MCP server.

use std::{
    io::IsTerminal as _,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use jp_policy_mcp::{
    ConfiguredTools,
    gateway::{self, ClientPrompter, Dispatcher, HttpServer, PATH},
};
use jp_policy_runtime::{coordinator::AutoPrompter, tools::Workspace};
use tokio_util::sync::CancellationToken;

use super::{
    Exit,
    config_args::ConfigArgs,
    diagnostics,
    limits::enough_open_files,
    log_file,
    policy::refused,
    reaper::Reaper,
    signals::Endings,
    tool_args::{ToolArgs, event_loop},
};

/// Offer the configured tools to any agent that speaks MCP
///
/// Speaks MCP on standard input and output, or, with `--http`, to all clients of this machine. Calls start in the order in which
/// their requests stand on the connection, within the limits and by the policy of the configuration, which all clients share. Ends
/// with its input, or with Ctrl-C; what runs then is stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy serve --config .jp/mcp/tools --workspace .
  jp-policy serve --config tools.toml --http 8931
  claude mcp add tools -- jp-policy serve --config /path/to/tools --workspace /path/to/project

Exit codes: 0 the client is gone, 2 wrong use or configuration, 130 interrupted.")]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    tools: ToolArgs,
    /// Listen for clients that speak streamable HTTP, under /mcp: on a port of 127.0.0.1, or on an address of this machine
    #[arg(long, value_name = "PORT|ADDRESS", value_parser = address)]
    http: Option<SocketAddr>,
    /// Serve those only that bring the token in this file (`Authorization: Bearer TOKEN`), or in the variable JP_POLICY_TOKEN
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// What becomes of calls that want approval: agents ask before they call, so nobody is asked twice
    #[arg(long, value_enum, value_name = "WHICH", default_value = "all")]
    approve: Approve,
    /// Write what happens, and what the policy says, to the end of this file, for whoever looks for a mistake
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
}

/// A port of 127.0.0.1, or an address of this machine.
fn address(text: &str) -> Result<SocketAddr, String> {
    let address = match text.parse::<u16>() {
        Ok(port) => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        Err(_) => text
            .parse()
            .map_err(|_| "expected a port, or an address like 127.0.0.1:8931".to_owned())?,
    };
    if address.ip().is_loopback() {
        return Ok(address);
    }
    Err("others than this machine could reach it: expected a loopback address, like 127.0.0.1:8931"
        .to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Approve {
    /// Approve them
    All,
    /// Reject them
    None,
    /// Ask the client whose call it is, where it can be asked; else reject them
    Ask,
}

/// How long is waited at the end for calls that were withdrawn.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn run(args: &Args) -> Result<Exit> {
    if let Some(path) = &args.log_file {
        log_file::start(path)?;
    }
    let mut config = args.config.load()?;
    diagnostics::print(&config.warnings);
    args.tools.lift(&mut config);
    if args.http.is_none() && std::io::stdin().is_terminal() {
        bail!(
            "`serve` speaks MCP on standard input, and that is a terminal; an agent starts it, or it is given `--http PORT`"
        );
    }
    let token = args.token()?;
    let root = args.tools.root()?;
    let reaper = Reaper::start().map(Arc::new);
    let reaper = reaper.context("failed to start the process that cleans up after this one")?;
    let engine = args.tools.policy.engine()?;
    let factory = args.tools.policy.load(&engine, &config)?;
    let config = Arc::new(config);
    let tools = ConfiguredTools::new(&config, Workspace { root, ..Workspace::default() });
    let tools = Arc::new(tools.watched_by(reaper));
    let fallback = Arc::new(AutoPrompter { approve: args.approve == Approve::All });
    let prompter = Arc::new(ClientPrompter::new(fallback, args.approve == Approve::Ask));
    enough_open_files()?;
    // A call is handed from task to task, and the next task wakes sooner on the thread that is busy than on another.
    let runtime = event_loop(1)?;
    let factory = Arc::new(factory);
    let timeout = args.tools.timeout;
    let dispatcher =
        Dispatcher::new(config.clone(), tools.clone(), factory.clone(), prompter, timeout);
    let dispatcher = dispatcher.map_err(|refusal| refused(&config, &*factory, refusal))?;
    let ended = runtime.block_on(async {
        let ended = match args.http {
            Some(address) => over_http(dispatcher.clone(), address, token.as_deref()).await,
            None => over_stdio(dispatcher.clone()).await,
        };
        // The calls of clients that are gone are withdrawn with their requests; they are over when the dispatcher is idle.
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, dispatcher.idle()).await;
        tools.close().await;
        ended
    });
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    ended
}

impl Args {
    /// The token that clients have to send, if any.
    fn token(&self) -> Result<Option<String>> {
        const VARIABLE: &str = "JP_POLICY_TOKEN";
        let (text, origin) = match (&self.token_file, std::env::var(VARIABLE)) {
            (Some(path), _) => {
                let text = std::fs::read_to_string(path);
                let text = text.with_context(|| format!("failed to read `{}`", path.display()))?;
                (text, path.display().to_string())
            }
            (None, Ok(text)) if self.http.is_some() => (text, VARIABLE.to_owned()),
            (None, _) => return Ok(None),
        };
        let token = text.trim();
        if token.is_empty() || !token.chars().all(|c| c.is_ascii_graphic()) {
            bail!("`{origin}` has no token: expected one word of printable ASCII characters");
        }
        Ok(Some(token.to_owned()))
    }
}

async fn over_stdio(dispatcher: Arc<Dispatcher>) -> Result<Exit> {
    let service = gateway::serve_stdio(dispatcher.clone()).await;
    let service = service.context("failed to initialize the connection with the client")?;
    let stop = service.cancellation_token();
    // Until the connection is initialized, a signal ends the program as it ends any.
    let mut endings = Endings::new();
    tokio::select! {
        ended = service.waiting() => {
            ended.context("the connection ended abnormally")?;
            Ok(Exit::Fine)
        }
        _ = endings.next() => {
            dispatcher.cancel();
            stop.cancel();
            Ok(Exit::Interrupted)
        }
    }
}

async fn over_http(
    dispatcher: Arc<Dispatcher>,
    address: SocketAddr,
    token: Option<&str>,
) -> Result<Exit> {
    let http = HttpServer::bind(address, token).await;
    let http = http.with_context(|| format!("failed to listen on {address}"))?;
    let mut endings = Endings::new();
    anstream::eprintln!("listening on http://{}{PATH}, until Ctrl-C", http.address()?);
    let stop = CancellationToken::new();
    let served = http.serve(dispatcher.clone(), stop.clone());
    let mut served = std::pin::pin!(served);
    tokio::select! {
        () = served.as_mut() => {}
        _ = endings.next() => {
            dispatcher.cancel();
            stop.cancel();
            served.await;
        }
    }
    Ok(Exit::Interrupted)
}
