//! `jp-policy serve`: the configured tools as an MCP server.

use std::{io::IsTerminal as _, path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use rmcp::{
    serve_server,
    transport::{async_rw::AsyncRwTransport, stdio},
};

use super::{
    Exit,
    config_args::ConfigArgs,
    diagnostics,
    guard::Guard,
    limits::enough_open_files,
    log_file,
    policy::refused,
    signals::Endings,
    tool_args::{ToolArgs, event_loop},
};
use crate::{
    coordinator::Nobody,
    serve::{Desk, Handler, Ordered},
    server::{Server, Workspace},
};

/// Offer the configured tools to any agent that speaks MCP
///
/// Speaks MCP on standard input and output. Calls start in the order in which their requests stand on the connection, within the
/// limits and by the policy of the configuration. Ends with its input, or with Ctrl-C; what runs then is stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy serve --config .jp/mcp/tools --workspace .
  claude mcp add tools -- jp-policy serve --config /path/to/tools --workspace /path/to/project

Exit codes: 0 the client is gone, 2 wrong use or configuration, 130 interrupted.")]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    tools: ToolArgs,
    /// What becomes of calls that want approval: agents ask before they call, so nobody is asked twice
    #[arg(long, value_enum, value_name = "WHICH", default_value = "all")]
    approve: Approve,
    /// Write what happens, and what the policy says, to the end of this file, for whoever looks for a mistake
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Approve {
    /// Approve them
    All,
    /// Reject them
    None,
}

/// How long what was told to stop is waited for at the end.
const LEAVE: Duration = Duration::from_secs(5);

pub(super) fn run(args: &Args) -> Result<Exit> {
    if let Some(path) = &args.log_file {
        log_file::start(path)?;
    }
    let mut config = args.config.load()?;
    diagnostics::print(&config.warnings);
    args.tools.lift(&mut config);
    if std::io::stdin().is_terminal() {
        bail!("`serve` speaks MCP on standard input, and that is a terminal; an agent starts it");
    }
    let root = args.tools.root()?;
    let guard = Guard::start().map(Arc::new);
    let guard = guard.context("failed to start the process that cleans up after this one")?;
    let engine = args.tools.policy.engine()?;
    let blueprint = args.tools.policy.load(&engine, &config)?;
    let config = Arc::new(config);
    let server = Server::new(&config, Workspace { root, ..Workspace::default() });
    let tools = Arc::new(server.watched_by(guard));
    let people = Arc::new(Nobody { approve: args.approve == Approve::All });
    enough_open_files()?;
    let runtime = event_loop()?;
    let blueprint = Arc::new(blueprint);
    let desk = Desk::new(config.clone(), tools, blueprint.clone(), people, args.tools.timeout);
    let desk = desk.map_err(|refusal| refused(&config, &*blueprint, refusal))?;
    let ended = runtime.block_on(serve(desk));
    runtime.shutdown_timeout(LEAVE);
    ended
}

async fn serve(desk: Arc<Desk>) -> Result<Exit> {
    let (input, output) = stdio();
    let connection = Ordered::new(AsyncRwTransport::new_server(input, output), desk.clone());
    let service = serve_server(Handler::new(desk.clone()), connection).await;
    let service = service.context("failed to begin with the client")?;
    let stop = service.cancellation_token();
    // Before the client has said hello, a signal may end the program as it ends any.
    let mut endings = Endings::new();
    let exit = tokio::select! {
        ended = service.waiting() => {
            ended.context("the connection ended abnormally")?;
            Exit::Fine
        }
        _ = endings.next() => {
            stop.cancel();
            Exit::Interrupted
        }
    };
    // What the client has left behind is withdrawn with its requests; it is gone when the desk is idle.
    let _ = tokio::time::timeout(LEAVE, desk.idle()).await;
    Ok(exit)
}
