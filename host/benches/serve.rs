//! What a call of a tool of another MCP server costs more through `serve` than without it, both over standard input and output.
//!
//! `cargo bench -p jp-policy --bench serve [CALLS]`. This program is all of it: the server whose only tool echoes, `serve` before
//! it, with a key and the default policy as a component, and the client that calls it by both ways in turn. It prints medians in
//! microseconds a call, one call after the other and eight at once.

use std::{
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use jp_policy::{
    config::{Config, Source},
    coordinator::Nobody,
    policy::wasm::{Component, Engine},
    serve::{Clients, Desk, Handler, Ordered, stdio},
    server::{Server, Workspace},
};
use rmcp::{
    ErrorData, RoleClient, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    serve_server,
    service::{RequestContext, RunningService},
    transport::async_rw::AsyncRwTransport,
};
use serde_json::{Map, json};
use tokio::{
    io::{stdin, stdout},
    process::{Child, Command},
    runtime::Builder,
    task::JoinSet,
};

/// Calls by each way.
const CALLS: usize = 4_000;

/// Calls before it counts.
const WARM: usize = 200;

/// Calls at once.
const MANY: usize = 8;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match args.first().map(String::as_str) {
        Some("upstream") => runtime.block_on(upstream()),
        Some("serve") => runtime.block_on(serve()),
        _ => {
            let calls = args.iter().find_map(|text| text.parse().ok()).unwrap_or(CALLS);
            runtime.block_on(measure(calls))
        }
    }
}

/// Its tool gives back what it gets.
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Map::from_iter([("type".to_owned(), json!("object"))]);
        let echo = Tool::new_with_raw("echo", None, Arc::new(schema));
        Ok(ListToolsResult::with_all_items(vec![echo]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = json!(request.arguments).to_string();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

async fn upstream() -> Result<()> {
    Echo.serve((stdin(), stdout())).await?.waiting().await?;
    Ok(())
}

/// As the program does it.
async fn serve() -> Result<()> {
    let this = std::env::current_exe()?;
    let text = format!(
        "[providers.mcp.upstream]\ncommand = {:?}\nargs = [\"upstream\"]\n[conversation.tools.echo]\nsource = \"mcp.upstream\"\nrun = \"unattended\"\nconcurrency = {{ key = \"echo\", limit = {MANY} }}\n",
        this.to_str().context("a path that is text")?
    );
    let config = Arc::new(Config::from_sources(&[Source::new("serve.toml", text)])?);
    let workspace = Workspace { root: std::env::temp_dir(), ..Workspace::default() };
    let server = Arc::new(Server::new(&config, workspace));
    let policy = Arc::new(Component::embedded(&Engine::new()?)?);
    let clients = Arc::new(Clients::new(Arc::new(Nobody { approve: true }), false));
    let desk = Desk::new(config, server.clone(), policy, clients, None)?;
    let (input, output) = stdio();
    let connection = Ordered::new(AsyncRwTransport::new_server(input, output), desk.clone());
    serve_server(Handler::new(desk), connection).await?.waiting().await?;
    server.close().await;
    Ok(())
}

type Client = RunningService<RoleClient, ()>;

/// A client of this program in one of its parts.
async fn client(part: &str) -> Result<(Client, Child)> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg(part)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let pipes = child.stdout.take().zip(child.stdin.take()).context("it is piped")?;
    Ok((().serve(pipes).await?, child))
}

async fn call(client: &Client, n: usize) -> Result<Duration> {
    let arguments = Map::from_iter([("n".to_owned(), json!(n))]);
    let expected = json!(arguments).to_string();
    let params = CallToolRequestParams::new("echo").with_arguments(arguments);
    let start = Instant::now();
    let result = client.call_tool(params).await?;
    let took = start.elapsed();
    let text = result.content.first().and_then(|content| content.as_text());
    anyhow::ensure!(text.is_some_and(|text| text.text == expected), "{result:?}");
    Ok(took)
}

/// So many calls, of which so many run at once; and what each took on average.
async fn at_once(client: &Arc<Client>, calls: usize) -> Result<Duration> {
    let start = Instant::now();
    let mut running = JoinSet::new();
    for n in 0..calls {
        if running.len() == MANY {
            running.join_next().await.context("some run")???;
        }
        let client = client.clone();
        running.spawn(async move { call(&client, n).await.map(drop) });
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(start.elapsed() / u32::try_from(calls)?)
}

async fn measure(calls: usize) -> Result<()> {
    let (direct, _upstream) = client("upstream").await?;
    let (through, _serve) = client("serve").await?;
    let clients = [Arc::new(direct), Arc::new(through)];
    let mut times = [Vec::new(), Vec::new()];
    for n in 0..WARM + calls {
        for (client, times) in clients.iter().zip(&mut times) {
            let took = call(client, n).await?;
            if n >= WARM {
                times.push(took);
            }
        }
    }
    let at = |times: &mut Vec<Duration>, part: usize| {
        times.sort_unstable();
        times[times.len() * part / 100].as_secs_f64() * 1e6
    };
    println!("microseconds a call              direct    through `serve`    added");
    let line = |what: &str, direct: f64, through: f64| {
        println!("{what:30}{direct:>9.1}{through:>19.1}{:>9.1}", through - direct);
    };
    let [direct, through] = &mut times;
    line("one after the other, median", at(direct, 50), at(through, 50));
    line("one after the other, 99 %", at(direct, 99), at(through, 99));
    let mut rounds = [Vec::new(), Vec::new()];
    for _ in 0..10 {
        for (client, rounds) in clients.iter().zip(&mut rounds) {
            rounds.push(at_once(client, calls / 10).await?);
        }
    }
    let [direct, through] = &mut rounds;
    line(&format!("{MANY} at once, median"), at(direct, 50), at(through, 50));
    Ok(())
}
