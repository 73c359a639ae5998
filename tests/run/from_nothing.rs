//! `new`, `build`, `check`: from nothing to a policy that holds, in each language, with the real tools.
//!
//! `policies/install-tools FOLDER` installs them, and with `JP_POLICY_TOOLS=FOLDER` this is tested; for Rust there has to be a
//! toolchain that builds for WebAssembly. Without it all of it is left out, and the tests say so.

use std::{
    env,
    path::PathBuf,
    process::{Command, Output},
    time::Instant,
};

use super::support::{Dir, path, repository};

/// The tools of the languages.
struct Tools {
    /// What goes before `PATH`.
    path: Vec<PathBuf>,
    zig_cache: PathBuf,
}

impl Tools {
    /// Those that were installed, if they are.
    fn installed() -> Option<Self> {
        let folder = folder()?;
        let path = vec![folder.join("node_modules/.bin"), folder.join(".venv/bin")];
        Some(Self { path, zig_cache: folder.join("zig-cache") })
    }

    /// Those of the machine alone, if it has a clang with a C library for WebAssembly.
    fn clang() -> Option<Self> {
        let zig_cache = folder()?.join("zig-cache");
        let dir = Dir::new();
        let args = ["--target=wasm32-wasi", "-mexec-model=reactor", "-x", "c", "/dev/null", "-o"];
        let linked = Command::new("clang").args(args).arg(dir.path("probe.wasm")).output();
        if !linked.is_ok_and(|linked| linked.status.success()) {
            eprintln!("left out: there is no clang with wasi-libc");
            return None;
        }
        Some(Self { path: Vec::new(), zig_cache })
    }
}

/// Where the tools are, if they are.
fn folder() -> Option<PathBuf> {
    let folder = env::var_os("JP_POLICY_TOOLS").filter(|folder| !folder.is_empty());
    if folder.is_none() {
        eprintln!(
            "left out: install tools with `policies/install-tools FOLDER`, and set JP_POLICY_TOOLS=FOLDER"
        );
    }
    // Cargo runs tests in the package's folder; the person who set the variable is in the workspace's.
    folder.map(|folder| repository(&folder.to_string_lossy()))
}

/// A program with these tools, in the test's folder. It has a home of its own, but what compilers have fetched and built is used.
fn command(dir: &Dir, tools: &Tools, program: &str) -> Command {
    let mut command = Command::new(program);
    let others = env::split_paths(&path()).collect::<Vec<_>>();
    let path = env::join_paths(tools.path.iter().chain(&others)).expect("they can be joined");
    let home = env::home_dir().expect("there is one");
    let or =
        |name: &str, folder: &str| env::var_os(name).unwrap_or_else(|| home.join(folder).into());
    command
        .current_dir(dir.path(""))
        .env_clear()
        .env("PATH", path)
        .env("HOME", dir.path(""))
        .env("CARGO_HOME", or("CARGO_HOME", ".cargo"))
        .env("RUSTUP_HOME", or("RUSTUP_HOME", ".rustup"))
        .env("ZIG_GLOBAL_CACHE_DIR", &tools.zig_cache);
    command
}

/// Its standard output, if it ends well.
fn end(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it can be run");
    let stdout = String::from_utf8_lossy(&stdout).into_owned();
    assert!(
        status.success(),
        "{command:?}: {status}\n{stdout}\n{}",
        String::from_utf8_lossy(&stderr)
    );
    stdout
}

/// The three commands, and the project's own unit tests.
fn from_nothing(new: &[&str], scenarios: &str, test: &str) {
    if let Some(tools) = Tools::installed() {
        from_nothing_with(&tools, new, scenarios, test);
    }
}

fn from_nothing_with(tools: &Tools, new: &[&str], scenarios: &str, test: &str) {
    let dir = Dir::new();
    let jp_policy =
        |args: &[&str]| end(command(&dir, tools, env!("CARGO_BIN_EXE_jp-policy")).args(args));
    let start = Instant::now();
    jp_policy(&[&["new", "my-policy"], new].concat());
    let built = jp_policy(&["build", "my-policy"]);
    // The search ends when the time is up: an interpreter in a host that was not built for speed is slow.
    let checked = jp_policy(&["check", "my-policy/my-policy.wasm", "--quick", "--time", "15s"]);
    eprintln!("{new:?}: {:?} from new to check", start.elapsed());
    assert!(built.contains(&format!("\nscenarios  {scenarios} passed, 0 failed\n")), "{built}");
    assert!(built.contains("\ncheck      holds: "), "{built}");
    assert!(checked.starts_with("holds  policy \"my-policy\" keeps the contract\n"), "{checked}");
    // What it says to be the configuration is one.
    let (_, lines) =
        built.split_once("configuration file that stands here:\n\n").expect("it is said");
    assert_eq!(lines.lines().count(), 3);
    let calls = "[conversation.tools.t]\n[[call]]\nname = \"A\"\ntool = \"t\"\n[expect]\nstarts = \"A@0\"\n";
    dir.write("uses.toml", format!("{lines}{calls}"));
    jp_policy(&["test", "uses.toml"]);
    end(command(&dir, tools, "sh").args(["-c", &format!("cd my-policy && {test}")]));
}

#[test]
fn rust() {
    from_nothing(&[], "3", "cargo test --quiet");
}

#[test]
fn javascript() {
    from_nothing(&["--lang", "javascript"], "3", "node --test");
}

#[test]
fn python() {
    from_nothing(&["--lang", "python"], "3", "python3 -m unittest");
}

const C_TEST: &str = "cc -std=c2x -Ibindings test_policy.c -o test_policy && ./test_policy";

#[test]
fn c() {
    from_nothing(&["--lang", "c"], "3", C_TEST);
}

#[test]
fn c_from_delay() {
    from_nothing(&["--lang", "c", "--from", "delay"], "12", C_TEST);
}

#[test]
fn c_by_clang() {
    if let Some(tools) = Tools::clang() {
        from_nothing_with(&tools, &["--lang", "c", "--from", "delay"], "12", C_TEST);
    }
}
