//! What a call of a tool of another MCP server costs more through `serve` than without it, both over standard input and output.
//!
//! `cargo bench -p jp-policy-tests --bench serve [CALLS]`. This program is all of it: the server whose only tool echoes, `serve` before
//! it, with a key and the default policy as a component, and the client that calls it by all ways in turn. The third way is a relay
//! that does nothing but hand each call on, by the same library: what another process on the way costs anyhow. It prints medians
//! in microseconds a call, one call after the other and eight at once.

use std::{
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use jp_policy_config::{Config, Source};
use jp_policy_mcp::{
    ConfiguredTools,
    gateway::{ClientPrompter, Dispatcher, Handler, Ingress, stdio},
};
use jp_policy_runtime::{coordinator::AutoPrompter, tools::Workspace};
use jp_policy_wasm::{Component, Engine};
use rmcp::{
    ErrorData, Peer, RoleClient, RoleServer, ServerHandler, ServiceExt as _,
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
    let part = args.first().map(String::as_str);
    // `serve` as the program has it.
    let threads = if part == Some("serve") { 1 } else { 2 };
    let runtime = Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    match part {
        Some("upstream") => runtime.block_on(upstream()),
        Some("relay") => runtime.block_on(relay()),
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

/// Hands each call on to the server it stands before.
struct Relay(Peer<RoleClient>);

impl ServerHandler for Relay {
    fn get_info(&self) -> ServerConfig {
        Echo.get_info()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = self.0.call_tool(request).await;
        result.map(Into::into).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

async fn relay() -> Result<()> {
    let (upstream, _child) = client("upstream").await?;
    let relay = Relay(upstream.peer().clone());
    relay.serve(stdio()).await?.waiting().await?;
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
    let server = Arc::new(ConfiguredTools::new(&config, workspace));
    let policy = Arc::new(Component::embedded(&Engine::new()?)?);
    let prompter = Arc::new(ClientPrompter::new(Arc::new(AutoPrompter { approve: true }), false));
    let dispatcher = Dispatcher::new(config, server.clone(), policy, prompter, None)?;
    let (input, output) = stdio();
    let connection = Ingress::new(AsyncRwTransport::new_server(input, output), dispatcher.clone());
    serve_server(Handler::new(dispatcher), connection).await?.waiting().await?;
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
    let mut children = Vec::new();
    let mut clients = Vec::new();
    for part in WAYS {
        let (client, child) = client(part).await?;
        clients.push(Arc::new(client));
        children.push(child);
    }
    let mut times = WAYS.map(|_| Vec::new());
    for n in 0..WARM + calls {
        for (client, times) in clients.iter().zip(&mut times) {
            let took = call(client, n).await?;
            if n >= WARM {
                times.push(took);
            }
        }
    }
    println!("microseconds a call              direct       by a relay    through `serve`");
    line("one after the other, median", &mut times, 50);
    line("one after the other, 99 %", &mut times, 99);
    let mut rounds = WAYS.map(|_| Vec::new());
    for _ in 0..10 {
        for (client, rounds) in clients.iter().zip(&mut rounds) {
            rounds.push(at_once(client, calls / 10).await?);
        }
    }
    line(&format!("{MANY} at once, median"), &mut rounds, 50);
    Ok(())
}

/// The ways to the server.
const WAYS: [&str; 3] = ["upstream", "relay", "serve"];

/// A part of the times, and what the ways with somebody between add to the direct one.
fn line(what: &str, times: &mut [Vec<Duration>; 3], part: usize) {
    let [direct, relayed, through] = times.each_mut().map(|times| {
        times.sort_unstable();
        times[times.len() * part / 100].as_secs_f64() * 1e6
    });
    let added = |time: f64| format!("{time:.1} (+{:.1})", time - direct);
    println!("{what:30}{direct:>9.1}{:>17}{:>19}", added(relayed), added(through));
}
