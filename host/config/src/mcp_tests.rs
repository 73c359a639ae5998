use super::*;
use crate::{Config, Source};

fn read(text: &str) -> Result<BTreeMap<String, McpServer>, Vec<String>> {
    let config = Config::from_sources(&[Source::new("mcp.toml", text)]);
    let texts = |problems: &[Diagnostic]| {
        problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>()
    };
    match config {
        Ok(config) if config.warnings.is_empty() => Ok(config.mcp),
        Ok(config) => Err(texts(&config.warnings)),
        Err(error) => Err(texts(&error.0)),
    }
}

fn stdio(program: &str, args: &[&str]) -> McpCommand {
    McpCommand {
        program: program.to_owned(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        env: BTreeMap::new(),
        variables: Vec::new(),
        folder: None,
        checksum: None,
    }
}

fn one(text: &str) -> McpServer {
    let servers = read(text).expect("it is read");
    servers.into_values().next().expect("there is a server")
}

#[test]
fn a_server_as_jp_writes_it() {
    let digest = "8ff70dc528c434469b43a1b05f752f46d8abe41c010edcbff6e5f3cc3131f2f3";
    let server = one(&format!(
        r#"
        [providers.mcp.kagi]
        command = "/usr/bin/uvx"
        arguments = ["kagimcp"]
        checksum.algorithm = "sha256"
        checksum.value = "{digest}"
        type = "stdio"
        variables = ["KAGI_API_KEY"]
        optional = true
        startup_timeout_secs = 5
        "#
    ));
    let checksum = McpChecksum { algorithm: ChecksumAlgorithm::Sha256, value: digest.to_owned() };
    assert_eq!(
        server,
        McpServer {
            name: "kagi".to_owned(),
            transport: McpTransport::Stdio(McpCommand {
                variables: vec!["KAGI_API_KEY".to_owned()],
                checksum: Some(checksum),
                ..stdio("/usr/bin/uvx", &["kagimcp"])
            }),
            startup_timeout: Some(Duration::from_secs(5)),
        }
    );
}

#[test]
fn a_server_as_other_clients_write_it() {
    let text = r#"providers.mcp.fs = { command = "npx", args = ["-y", "x"], env = { A = "b" }, cwd = "src", startup_timeout_secs = 0 }"#;
    assert_eq!(
        one(text),
        McpServer {
            name: "fs".to_owned(),
            transport: McpTransport::Stdio(McpCommand {
                env: BTreeMap::from([("A".to_owned(), "b".to_owned())]),
                folder: Some(PathBuf::from("src")),
                ..stdio("npx", &["-y", "x"])
            }),
            startup_timeout: None,
        }
    );
}

#[test]
fn a_server_on_the_net_needs_no_type() {
    let endpoint = McpEndpoint {
        url: "https://example.com/mcp".to_owned(),
        headers: BTreeMap::from([("Authorization".to_owned(), "Bearer x".to_owned())]),
    };
    for kind in ["", "type = 'http', ", "type = 'streamable-http', "] {
        let text = format!(
            "providers.mcp.net = {{ {kind}url = 'https://example.com/mcp', headers.Authorization = 'Bearer x' }}"
        );
        assert_eq!(one(&text).transport, McpTransport::Http(endpoint.clone()));
    }
}

#[test]
fn everything_wrong_is_said() {
    let text = r#"
        [providers.mcp]
        a = {}
        b = { type = "sse", url = "https://x" }
        c = { url = "ftp://x", headers = { "a b" = "c", d = "e\nf" } }
        d = { type = "http" }
        e = { command = "x", url = "http://x", type = "stdio" }
        f = { command = "x", args = ["a", 1], arguments = [], env = ["A"], startup_timeout_secs = -1 }
        g = { command = "x", checksum = "sha256:12" }
        h = { command = "x", checksum = { algorithm = "sha1" } }
        i = { command = 1 }
        j = { command = "", comand = "x" }
    "#;
    assert_eq!(
        read(text).expect_err("it is refused"),
        [
            "MCP server `a` has no `command`",
            "MCP server `b`: `type` is \"sse\", expected one of \"stdio\", \"http\", \"streamable-http\", \"streamable_http\"",
            "MCP server `c`: `headers`: `d` is \"e\\nf\" (a string), expected a string without control characters",
            "MCP server `c`: `headers` has \"a b\", which is no name of a header",
            "MCP server `c`: `url` is \"ftp://x\", expected \"http://...\" or \"https://...\"",
            "MCP server `d` has no `url`",
            "MCP server `e`: `url` needs `type = \"http\"`",
            "MCP server `f`: `startup_timeout_secs` is -1 (an integer), expected a whole number of seconds (0: no limit)",
            "MCP server `f`: `args` is 1 (an integer), expected strings",
            "MCP server `f`: `arguments` is the same as `args`",
            "MCP server `f`: `env` is [\"A\"] (an array), expected a table",
            "MCP server `g`: `checksum` is \"12\", expected 64 hex digits (sha256)",
            "MCP server `h`: `checksum` has no `value`",
            "MCP server `i`: `command` is 1 (an integer), expected a string",
            "MCP server `j`: `command` is \"\", expected a program",
            "MCP server `j`: unknown field `comand`",
        ]
    );
}

#[test]
fn a_tool_of_a_server_that_is_not_there_is_warned_of() {
    let servers = "providers.mcp.github.command = 'x'\n";
    let of =
        |source: &str| read(&format!("{servers}[conversation.tools.t]\nsource = 'mcp.{source}'"));
    assert!(of("github.issues").is_ok());
    let expected = "tool `t` comes from the MCP server `gitub`, which is not under `providers.mcp`";
    assert_eq!(of("gitub"), Err(vec![expected.to_owned()]));
}
