//! `jp-policy serve` as agents start it, or reach it: with clients that misbehave, and with one that others wrote.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use rustix::process::Signal;
use serde_json::{Value as Json, json};

use super::{
    mcp::servers,
    support::{Dir, Program, Running, path, repository, until},
};

/// Reads a number and writes the next one; and says who it was.
const BUMP: &str = "number=$(cat counter 2>/dev/null || echo 0)
echo $((number + 1)) >counter
echo \"$1\" >>order
echo \"$number\"";

fn bump() -> Dir {
    let dir = Dir::new();
    dir.tool(
        "bump",
        "concurrency = { key = \"counter\" }\nparameters.n = { type = \"integer\" }",
        BUMP,
    );
    dir.folder("work");
    dir
}

const SERVE: [&str; 6] = ["serve", "--no-config", "--config", "tools", "--workspace", "work"];

/// An agent on standard input and output that writes frames by hand.
struct Agent {
    child: Child,
    /// Until it goes.
    write: Option<ChildStdin>,
    read: BufReader<ChildStdout>,
}

impl Agent {
    fn start(dir: &Dir) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_jp-policy"))
            .args(SERVE)
            .current_dir(dir.path(""))
            .env_clear()
            .env("PATH", path())
            .env("HOME", dir.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = child.expect("jp-policy can be started");
        let (write, read) = (child.stdin.take(), child.stdout.take());
        let read = BufReader::new(read.expect("it is piped"));
        let mut agent = Self { child, write, read };
        agent.send(&hello());
        assert_eq!(agent.receive()["result"]["serverInfo"]["name"], "jp-policy");
        agent.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        agent
    }

    fn send(&mut self, message: &Json) {
        self.write(format!("{message}\n").as_bytes());
    }

    fn write(&mut self, bytes: &[u8]) {
        self.write.as_mut().expect("it has not gone").write_all(bytes).expect("it reads");
    }

    fn receive(&mut self) -> Json {
        let mut line = String::new();
        self.read.read_line(&mut line).expect("it writes");
        serde_json::from_str(&line).expect("a frame is JSON")
    }

    /// The next answer. What comes before it is news: of an upstream server that says bit by bit what it offers, for instance.
    fn answer(&mut self) -> Json {
        loop {
            let message = self.receive();
            if message.get("id").is_some() {
                return message;
            }
            assert_eq!(message["method"], "notifications/tools/list_changed", "{message}");
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hello() -> Json {
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

fn call(id: u64, tool: &str) -> Json {
    let params = json!({ "name": tool, "arguments": { "n": id } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[test]
fn a_line_of_a_hundred_megabytes_is_dropped_and_the_call_after_it_served() {
    let dir = bump();
    let mut agent = Agent::start(&dir);
    let part = vec![b'a'; 1 << 20];
    for _ in 0..100 {
        agent.write(&part);
    }
    agent.write(b"\n");
    agent.send(&call(1, "bump"));
    let answer = agent.receive();
    assert_eq!(answer["result"]["content"][0]["text"], "0\n", "{answer}");
    // Where there is a `/proc` to tell, what it took at most.
    if let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", agent.child.id())) {
        let most =
            status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it is there");
        let most: u64 = most.trim().trim_end_matches(" kB").parse().expect("a number");
        assert!(most < 200 << 10, "{most} KiB");
    }
}

/// `serve --http` on a port that is free, and where it listens.
struct Listening {
    running: Running,
    address: String,
}

impl Listening {
    fn start(dir: &Dir, program: impl FnOnce(Program) -> Program) -> Self {
        let program = program(dir.program().args(SERVE).args(["--http", "0"]));
        let mut running = program.start();
        let mut address = String::new();
        running.until("the address it listens on", || {
            let said = std::fs::read_to_string(dir.path("stderr")).unwrap_or_default();
            let found = said.lines().find_map(|line| {
                let rest = line.strip_prefix("listening on http://")?;
                rest.split_once('/').map(|(address, _)| address.to_owned())
            });
            found.map(|found| address = found).is_some()
        });
        Self { running, address }
    }

    /// A connection on which nobody waits for ever.
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a time");
        stream
    }

    /// One request, whose answer is not read yet. Headers end with a line break each.
    fn request(&self, first: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = self.connect();
        let length = body.len();
        let head = format!("{first} HTTP/1.1\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
        stream.write_all(head.as_bytes()).expect("it reads");
        stream
    }

    /// The same, read to its end; with the headers that every message has.
    fn post(&self, headers: &str, body: &str) -> String {
        let mut answer = String::new();
        let mut stream = self.request("POST /mcp", &format!("{MESSAGE}{headers}"), body);
        stream.read_to_string(&mut answer).expect("it writes");
        answer
    }

    /// Says hello, and gives the session as a header.
    fn session(&self) -> String {
        let answer = self.post(LOCAL, &hello().to_string());
        let id = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        let session = format!("{LOCAL}Mcp-Session-Id: {}\r\n", id.expect(&answer));
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert!(self.post(&session, &ready.to_string()).starts_with("HTTP/1.1 202"));
        session
    }
}

const MESSAGE: &str = "Connection: close\r\nContent-Type: application/json\r\n\
                       Accept: application/json, text/event-stream\r\n";
const LOCAL: &str = "Host: localhost\r\n";

#[test]
fn http_is_for_this_machine_and_for_messages_of_bounded_size() {
    let dir = bump();
    let serve = Listening::start(&dir, |program| program);
    let first = |answer: String| answer.lines().next().unwrap_or_default().to_owned();
    let hello = hello().to_string();
    let post = |headers: &str| first(serve.post(headers, &hello));
    assert_eq!(post(LOCAL), "HTTP/1.1 200 OK");
    assert_eq!(post("Host: 127.0.0.1:1\r\nOrigin: http://localhost:6274\r\n"), "HTTP/1.1 200 OK");
    for elsewhere in [
        "Host: example.com\r\n",
        "Host: localhost\r\nOrigin: https://example.com\r\n",
        "Host: localhost\r\nOrigin: http://localhost.example.com\r\n",
        "Host: localhost\r\nOrigin: null\r\n",
    ] {
        assert_eq!(post(elsewhere), "HTTP/1.1 403 Forbidden", "{elsewhere}");
    }
    let mut answer = String::new();
    let mut stream = serve.request("GET /", &format!("{LOCAL}Connection: close\r\n"), "");
    stream.read_to_string(&mut answer).expect("it writes");
    assert_eq!(first(answer), "HTTP/1.1 404 Not Found");
    // What is too long is refused once it is, and not when it has come.
    let mut stream = serve.connect();
    let head = format!("POST /mcp HTTP/1.1\r\n{MESSAGE}{LOCAL}Content-Length: 100000000\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("it reads");
    stream.write_all(&vec![b'a'; (16 << 20) + 1]).expect("it reads");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("it writes");
    assert_eq!(line, "HTTP/1.1 413 Payload Too Large\r\n");
}

#[test]
fn with_a_token_nobody_is_served_without_it() {
    let dir = bump();
    dir.write("token", "  open sesame\n");
    let refused = dir.program().args(SERVE).args(["--http", "0", "--token-file", "token"]).end();
    let refused = refused.code(2).stderr();
    assert!(refused.contains("`token` has no token: expected one word"), "{refused}");
    dir.write("token", "  sesame\n");
    let from_file = |program: Program| program.args(["--token-file", "token"]);
    let from_environment = |program: Program| program.env("JP_POLICY_TOKEN", "sesame");
    let programs: [&dyn Fn(Program) -> Program; 2] = [&from_file, &from_environment];
    for program in programs {
        let serve = Listening::start(&dir, program);
        let post = |headers: &str| serve.post(&format!("{LOCAL}{headers}"), &hello().to_string());
        for wrong in ["", "Authorization: Bearer sesamE\r\n", "Authorization: Basic sesame\r\n"] {
            let answer = post(wrong);
            assert!(
                answer.starts_with("HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\n")
            );
        }
        assert!(post("Authorization: Bearer sesame\r\n").starts_with("HTTP/1.1 200 OK"));
    }
}

#[test]
fn a_client_that_never_reads_keeps_nobody_waiting_and_goes_with_the_program() {
    let dir = bump();
    dir.tool("big", "", "head -c 8000000 /dev/zero | tr '\\0' a; touch big-ran");
    let mut serve = Listening::start(&dir, |program| program);
    let (deaf, other) = (serve.session(), serve.session());
    let stuck =
        serve.request("POST /mcp", &format!("{MESSAGE}{deaf}"), &call(1, "big").to_string());
    serve.running.until_file("work/big-ran");
    let answer = serve.post(&other, &call(1, "bump").to_string());
    assert!(answer.contains(r#""text":"0\n""#), "{answer}");
    serve.running.signal(Signal::TERM);
    let ended = serve.running.end().code(130);
    assert_eq!(ended.left(), Vec::<String>::new());
    drop(stuck);
}

/// What the Python SDK's client made of as many calls at once, and the names of its interpreter and of the server.
fn parallel(dir: &Dir, mode: &str, server: &[&str]) -> Option<Json> {
    let python = servers()?.join("mcp-python");
    let output = Command::new(python)
        .arg(repository("tests/clients/parallel.py"))
        .args([mode, "12", "bump"])
        .args(server)
        .current_dir(dir.path(""))
        .output()
        .expect("it is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

fn in_order(dir: &Dir, said: &Json) {
    let texts: Vec<String> = (0..12).map(|n| format!("{n}\n")).collect();
    assert_eq!(said["tools"], json!(["bump"]));
    assert_eq!(said["errors"], 0);
    assert_eq!(said["texts"], json!(texts), "each call found what the one before it had left");
    assert_eq!(dir.read("work/counter"), "12\n");
    assert_eq!(dir.read("work/order"), texts.concat(), "the order in which they were written");
    let progress = said["progress"].as_array().expect("a list");
    let queued =
        |message: &Json| message.as_str().is_some_and(|it| it.starts_with("queued: key counter"));
    assert!(progress.iter().any(queued), "{progress:?}");
}

#[test]
fn with_limits_calls_of_an_agent_that_others_wrote_come_out_right() {
    for mode in ["auto", "legacy"] {
        let dir = bump();
        let server = [&[env!("CARGO_BIN_EXE_jp-policy")][..], &SERVE].concat();
        let Some(said) = parallel(&dir, mode, &server) else {
            return;
        };
        in_order(&dir, &said);
    }
}

#[test]
fn over_http_they_do_too() {
    if servers().is_none() {
        return;
    }
    // A session; without one each call is a connection of its own, and they have no order.
    let dir = bump();
    let serve = Listening::start(&dir, |program| program);
    let url = format!("http://{}/mcp", serve.address);
    let said = parallel(&dir, "auto", &[&url]).expect("it is installed");
    assert_eq!((&said["errors"], dir.read("work/counter").as_str()), (&json!(0), "12\n"));
    // What comes later is served as well.
    let said = parallel(&dir, "legacy", &[&url]).expect("it is installed");
    assert_eq!((&said["errors"], dir.read("work/counter").as_str()), (&json!(0), "24\n"));
}

#[test]
fn without_limits_they_get_into_each_others_way() {
    let dir = bump();
    // Each waits until all have read, so that the race is no matter of luck.
    let script = "number=$(cat counter 2>/dev/null || echo 0)
touch read.$1
until [ $(ls read.* | wc -l) -eq 12 ]; do sleep 0.01; done
echo $((number + 1)) >counter
echo $number";
    dir.tool("bump", "concurrency = { key = \"counter\" }", script);
    let server = [&[env!("CARGO_BIN_EXE_jp-policy")][..], &SERVE, &["--no-limits"]].concat();
    let Some(said) = parallel(&dir, "auto", &server) else {
        return;
    };
    assert_eq!(said["errors"], 0);
    assert_eq!(dir.read("work/counter"), "1\n", "twelve calls, and eleven of them are lost");
}

#[test]
fn tools_of_other_servers_are_offered_with_their_own_words() {
    let Some(folder) = servers() else {
        return;
    };
    let dir = Dir::new();
    dir.folder("work");
    let program = |name: &str| folder.join(name).display().to_string();
    dir.write(
        "tools/servers.toml",
        format!(
            "[providers.mcp.everything]\ncommand = {:?}\n[providers.mcp.gone]\ncommand = {:?}\n",
            program("mcp-server-everything"),
            Path::new("/nowhere").display().to_string(),
        ),
    );
    dir.settings("sum", "source = \"mcp.everything.get-sum\"\nrun = \"unattended\"");
    dir.settings("lost", "source = \"mcp.gone.x\"\nrun = \"unattended\"\nsummary = \"Is lost.\"");
    let mut agent = Agent::start(&dir);
    agent.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
    let tools = agent.answer()["result"]["tools"].clone();
    assert_eq!(tools[0]["name"], "lost", "{tools:#}");
    assert_eq!(tools[0]["description"], "Is lost.");
    assert_eq!(tools[1]["name"], "sum");
    assert_eq!(tools[1]["inputSchema"]["required"], json!(["a", "b"]), "{tools:#}");
    let arguments = json!({ "name": "sum", "arguments": { "a": 2, "b": 3 } });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": arguments });
    agent.send(&call);
    let answer = agent.answer();
    assert_eq!(answer["result"]["content"][0]["text"], "The sum of 2 and 3 is 5.", "{answer}");
    // The client goes, and the servers with it.
    agent.write = None;
    let status = until("its end", || agent.child.try_wait().expect("it is ours"));
    assert!(status.success(), "{status}");
    assert_eq!(dir.program().args(["--version"]).end().left(), Vec::<String>::new());
}
