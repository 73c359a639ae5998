//! Servers that are processes: how they start, fail and end.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use jp_policy_config::{ChecksumAlgorithm, McpChecksum, McpEndpoint, McpServer, McpTransport};
use jp_policy_core::outcome::Outcome;
use jp_policy_runtime::tools::ProcessWatch;

use super::fake_server::{call, stdio};
use crate::upstream::{server::Upstream, servers::McpServers};

#[derive(Default)]
struct Watched(Mutex<Vec<(char, u32)>>);

impl ProcessWatch for Watched {
    fn started(&self, group: u32) {
        self.0.lock().expect("no test panics here").push(('+', group));
    }

    fn gone(&self, group: u32) {
        self.0.lock().expect("no test panics here").push(('-', group));
    }
}

fn one(server: McpServer, root: &Path, watch: &Arc<Watched>) -> Arc<McpServers> {
    let name = server.name.clone();
    let list_changed = tokio::sync::watch::Sender::new(());
    let mut upstream = Upstream::new(server, root.to_owned(), list_changed.clone());
    upstream.watch = Some(watch.clone());
    Arc::new(McpServers::with_upstreams(BTreeMap::from([(name, Arc::new(upstream))]), list_changed))
}

fn script(text: &str) -> McpServer {
    stdio("sh", "sh", &["-c", text])
}

/// A shell that is a server: it is ready, offers the tool `echo`, and goes on with this.
fn ready(then: &str) -> McpServer {
    let answer =
        |id: u8, result: &str| format!(r#"echo '{{"jsonrpc":"2.0","id":{id},"result":{result}}}'"#);
    let initialized = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}"#;
    let tools = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#;
    script(&format!(
        "read -r _; {}; read -r _; read -r _; {}; read -r _; {then}",
        answer(0, initialized),
        answer(1, tools),
    ))
}

async fn outcome(server: McpServer) -> (Outcome, Vec<char>) {
    let watch = Arc::new(Watched::default());
    let folder = tempfile::tempdir().expect("a folder");
    let servers = one(server, folder.path(), &watch);
    let outcome = call(&servers, "sh", "echo").outcome().await;
    let watched = watch.0.lock().expect("no test panics here");
    if let [(_, started), (_, gone)] = watched[..] {
        assert_eq!(started, gone);
    }
    (outcome, watched.iter().map(|(what, _)| *what).collect())
}

fn error(message: &str, stderr: &str, transient: bool) -> Outcome {
    let trace = if stderr.is_empty() {
        Vec::new()
    } else {
        vec![format!("its standard error ends:\n{stderr}")]
    };
    Outcome::Error { message: message.to_owned(), trace, transient }
}

#[tokio::test]
async fn a_server_that_does_not_come_up_says_why() {
    let (outcome, watched) =
        outcome(script("echo one >&2; printf 'two \\033[31m' >&2; exit 3")).await;
    let message = "tool `echo`: failed to start MCP server `sh` (`sh -c echo one >&2; printf 'two \\033[31m' >&2; exit 3`): it ended before it was ready: exit status: 3";
    assert_eq!(outcome, error(message, "one\ntwo \u{fffd}[31m", false));
    assert_eq!(watched, ['+', '-']);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_said_to_be_so() {
    let mut server = stdio("sh", "./no-such-server", &["x"]);
    let McpTransport::Stdio(command) = &mut server.transport else { unreachable!() };
    command.folder = Some("/".into());
    let (outcome, watched) = outcome(server).await;
    let message = "tool `echo`: failed to start MCP server `sh` (`./no-such-server x`): in folder `/`: No such file or directory (os error 2)";
    assert_eq!(outcome, error(message, "", false));
    assert!(watched.is_empty());
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_says_what_it_said_last() {
    let (outcome, watched) = outcome(ready("echo 'out of paint' >&2; exit 1")).await;
    let message = "tool `echo`: MCP server `sh` ended: exit status: 1";
    assert_eq!(outcome, error(message, "out of paint", true));
    assert_eq!(watched, ['+', '-']);
}

#[tokio::test]
async fn what_a_server_answers_before_it_dies_counts() {
    let answer = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"last"}]}}"#;
    let (outcome, _) = outcome(ready(&format!("echo '{answer}'; exit 1"))).await;
    assert_eq!(outcome, Outcome::Success { content: "last".to_owned() });
}

#[tokio::test]
async fn a_killed_call_takes_everything_with_it_that_its_server_has_started() {
    let watch = Arc::new(Watched::default());
    let folder = tempfile::tempdir().expect("a folder");
    // It elicits with the id of its child as message.
    let schema = r#"{"type":"object","properties":{}}"#;
    let elicitation = format!(
        r#"{{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{{"message":"'$!'","requestedSchema":{schema}}}}}"#
    );
    let stubborn = ready(&format!("trap '' TERM; sleep 1000 & echo '{elicitation}'; wait"));
    let servers = one(stubborn, folder.path(), &watch);
    let mut running = call(&servers, "sh", "echo");
    let (question, _reply) = running.question().await;
    let pid = question.text;
    assert!(pid.parse::<u32>().is_ok(), "{pid}");
    running.stop.now.cancel();
    let (_, stopped) = running.ran().await;
    assert!(stopped);
    let watched = watch.0.lock().expect("no test panics here");
    assert!(matches!(watched[..], [('+', started), ('-', gone)] if started == gone), "{watched:?}");
    // Nobody may have waited for it yet.
    let left = fs::read_to_string(format!("/proc/{pid}/stat"));
    assert!(left.as_ref().map_or(true, |stat| stat.contains(") Z ")), "{left:?}");
}

#[tokio::test]
async fn a_server_gets_its_environment_and_its_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("inside")).expect("a folder can be made");
    let mut server = script("echo \"$PAINT $PWD\" >&2");
    let McpTransport::Stdio(command) = &mut server.transport else { unreachable!() };
    command.env.insert("PAINT".to_owned(), "red".to_owned());
    command.folder = Some("inside".into());
    let root = folder.path().canonicalize().expect("it is there");
    let servers = one(server, &root, &Arc::default());
    let outcome = call(&servers, "sh", "echo").outcome().await;
    let message = "tool `echo`: failed to start MCP server `sh` (`sh -c echo \"$PAINT $PWD\" >&2`): it ended before it was ready: exit status: 0";
    let stderr = format!("red {}/inside", root.display());
    assert_eq!(outcome, error(message, &stderr, false));
}

#[tokio::test]
async fn a_program_that_is_another_one_than_before_is_not_started() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("server"), "abc").expect("it can be written");
    let root = folder.path();
    let refused = async |algorithm, value: &str| {
        let mut server = stdio("sh", "./server", &[]);
        let McpTransport::Stdio(command) = &mut server.transport else { unreachable!() };
        command.checksum = Some(McpChecksum { algorithm, value: value.to_owned() });
        match call(&one(server, root, &Arc::default()), "sh", "echo").outcome().await {
            Outcome::Error { message, .. } => message.replace(&*root.to_string_lossy(), "ROOT"),
            other => panic!("{other:?}"),
        }
    };
    let abc = "a9993e364706816aba3e25717850c26c9cd0d89d";
    assert_eq!(
        refused(ChecksumAlgorithm::Sha1, "00").await,
        format!(
            "tool `echo`: failed to start MCP server `sh` (`./server`): `ROOT/./server` has the sha1 checksum {abc}, and `checksum` says 00"
        )
    );
    // It is the right one, and only not a program.
    assert_eq!(
        refused(ChecksumAlgorithm::Sha1, abc).await,
        "tool `echo`: failed to start MCP server `sh` (`./server`): in folder `ROOT`: Permission denied (os error 13)"
    );
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_said_to_be_so() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let port = free.local_addr().expect("it has one").port();
    drop(free);
    let url = format!("http://127.0.0.1:{port}/mcp");
    let endpoint = McpEndpoint { url, headers: BTreeMap::new() };
    let server = McpServer { transport: McpTransport::Http(endpoint), ..stdio("net", "", &[]) };
    let servers = one(server, Path::new(""), &Arc::default());
    let Outcome::Error { message, .. } = call(&servers, "net", "echo").outcome().await else {
        panic!("nobody listens");
    };
    assert_eq!(
        message.replace(&port.to_string(), "PORT"),
        "tool `echo`: failed to start MCP server `net` (`http://127.0.0.1:PORT/mcp`): error sending request for url (http://127.0.0.1:PORT/mcp): client error (Connect): tcp connect error: Connection refused (os error 111)"
    );
}
