//! The process of an MCP server: its own process group, its standard error, and its end.

use std::{
    env,
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jp_policy_config::{ChecksumAlgorithm, McpChecksum, McpCommand};
use jp_policy_core::text::clean;
use jp_policy_runtime::tools::{DRAIN, GRACE, Group, ProcessWatch, located};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

/// How long a server may take to exit by itself after its connection was closed.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

/// How many lines of standard error are kept, the last ones.
const STDERR_LINES: usize = 40;

/// Bytes of such a line.
const STDERR_LINE: u64 = 4 << 10;

/// The end of what a server writes to its standard error.
#[derive(Debug, Clone, Default)]
struct StderrTail(Arc<Mutex<Vec<String>>>);

impl StderrTail {
    fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == STDERR_LINES {
            lines.remove(0);
        }
        lines.push(line);
    }

    fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }
}

async fn read_stderr(pipe: ChildStderr, server: String, tail: StderrTail) {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut pipe).take(STDERR_LINE).read_until(b'\n', &mut line).await {
            Ok(1..) => {}
            _ => return,
        }
        let text = String::from_utf8_lossy(&line);
        let text = clean(text.trim_end());
        if !text.is_empty() {
            tracing::debug!(target: "upstream", %server, stderr = %text);
            tail.push(text);
        }
    }
}

/// A server's process.
pub(super) struct Process {
    child: Child,
    group: Group,
    tail: StderrTail,
    reading: Option<AbortOnDropHandle<()>>,
}

/// How a server's process ended.
#[derive(Debug)]
pub(super) struct ProcessEnd {
    /// Such as "exit status: 1", if it is known.
    pub(super) status: Option<String>,
    pub(super) stderr: String,
}

impl Process {
    /// Starts it with `root` as workspace. Fails with what is wrong.
    pub(super) fn start(
        server: &str,
        command: &McpCommand,
        root: &Path,
        watch: Option<Arc<dyn ProcessWatch>>,
    ) -> Result<(Self, ChildStdout, ChildStdin), String> {
        let folder = command.folder.as_ref().map_or_else(|| root.to_owned(), |it| root.join(it));
        let program = located(&command.program, root);
        if let Some(checksum) = &command.checksum {
            verify_checksum(&program, checksum)?;
        }
        for variable in &command.variables {
            if env::var_os(variable).is_none() && !command.env.contains_key(variable) {
                tracing::warn!(target: "upstream", %server, %variable, "the environment does not have the variable");
            }
        }
        let failed =
            |error: io::Error| format!("in folder `{}`: {error}", folder.to_string_lossy());
        let mut to_start = Command::new(&program);
        to_start.args(&command.args).envs(&command.env).current_dir(&folder).stdin(Stdio::piped());
        let (mut child, group) = Group::start(to_start, watch).map_err(failed)?;
        let tail = StderrTail::default();
        let reading = child
            .stderr
            .take()
            .map(|pipe| tokio::spawn(read_stderr(pipe, server.to_owned(), tail.clone())))
            .map(AbortOnDropHandle::new);
        let pipes = (child.stdout.take(), child.stdin.take());
        let (Some(stdout), Some(stdin)) = pipes else {
            return Err("it has no pipes".to_owned());
        };
        Ok((Self { child, group, tail, reading }, stdout, stdin))
    }

    /// Waits until it has exited by itself.
    pub(super) async fn exited(&mut self) -> Option<ExitStatus> {
        self.child.wait().await.ok()
    }

    /// Ends it after its connection was closed: waits until it exits, terminates it, and kills it. `now` kills it at once.
    pub(super) async fn end(mut self, now: &CancellationToken) -> ProcessEnd {
        let mut status = None;
        for (patience, then) in
            [(EXIT_TIMEOUT, Group::terminate as fn(&Group)), (GRACE, Group::kill)]
        {
            if !now.is_cancelled() {
                tokio::select! {
                    exited = self.child.wait() => {
                        status = exited.ok();
                        break;
                    }
                    () = tokio::time::sleep(patience) => {}
                    () = now.cancelled() => {}
                }
            }
            if now.is_cancelled() {
                self.group.kill();
                break;
            }
            then(&self.group);
        }
        // A process that was killed is about to exit.
        if status.is_none() {
            status = timeout(GRACE, self.child.wait()).await.ok().and_then(Result::ok);
        }
        self.group.vanish(false).await;
        if let Some(reading) = self.reading {
            // A process that still holds the pipe has left the group.
            let _ = timeout(DRAIN, reading).await;
        }
        ProcessEnd { status: status.map(|status| status.to_string()), stderr: self.tail.text() }
    }
}

fn verify_checksum(program: &Path, checksum: &McpChecksum) -> Result<(), String> {
    let path = find_program(program, env::var_os("PATH").as_deref()).ok_or_else(|| {
        format!("`{}` is not in `PATH`, so it has no checksum", program.display())
    })?;
    let bytes = fs::read(&path).map_err(|error| {
        format!("failed to read `{}` for its checksum: {error}", path.display())
    })?;
    let digest = match checksum.algorithm {
        ChecksumAlgorithm::Sha256 => format!("{:x}", Sha256::digest(&bytes)),
        ChecksumAlgorithm::Sha1 => format!("{:x}", Sha1::digest(&bytes)),
    };
    if digest == checksum.value {
        return Ok(());
    }
    Err(format!(
        "`{}` has the {} checksum {digest}, and `checksum` says {}",
        path.display(),
        checksum.algorithm.name(),
        checksum.value
    ))
}

/// The file of a program, as the system finds it.
fn find_program(program: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    if program.is_absolute() {
        return Some(program.to_owned());
    }
    env::split_paths(path?).map(|folder| folder.join(program)).find(|file| file.is_file())
}
