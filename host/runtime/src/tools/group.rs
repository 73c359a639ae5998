//! A process and all that it starts: the group that it leads, which is signalled, and gone, as a whole.

#[cfg(not(unix))]
compile_error!("stopping a tool means to signal its process group, which only Unix has");

use std::{io, process::Stdio, sync::Arc, time::Duration};

use tokio::{
    process::{Child, Command},
    time::{Instant, sleep},
};

/// How long a process that was asked to stop may take before it is killed.
pub const GRACE: Duration = Duration::from_secs(2);

/// How long a killed group may take to disappear. It is dying; only the kernel is still busy with it.
const DYING: Duration = Duration::from_secs(5);

/// Is told of every process group that exists, so that something outside can end what outlives the host.
pub trait ProcessWatch: Send + Sync {
    /// A group came to be, led by this process.
    fn started(&self, group: u32);
    /// It is gone.
    fn gone(&self, group: u32);
}

/// A process group that is ended when this is dropped.
pub struct Group {
    leader: Option<u32>,
    watch: Option<Arc<dyn ProcessWatch>>,
}

impl Group {
    /// Starts a process as the leader of a group of its own, with both outputs piped: the terminal's Ctrl-C does not reach it, and
    /// a stop reaches all of it.
    pub fn start(
        mut command: Command,
        watch: Option<Arc<dyn ProcessWatch>>,
    ) -> io::Result<(Child, Self)> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command.process_group(0);
        let child = command.spawn()?;
        let group = Self::new(child.id(), watch);
        Ok((child, group))
    }

    fn new(leader: Option<u32>, watch: Option<Arc<dyn ProcessWatch>>) -> Self {
        if let (Some(leader), Some(watch)) = (leader, &watch) {
            watch.started(leader);
        }
        Self { leader, watch }
    }

    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(leader) = self.pid() {
            // Nobody left to signal is what we want.
            let _ = rustix::process::kill_process_group(leader, signal);
        }
    }

    fn pid(&self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(i32::try_from(self.leader?).ok()?)
    }

    /// Asks all of it to end.
    pub fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Ends all of it at once.
    pub fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    async fn is_alive(&self) -> bool {
        let Some(pid) = self.pid() else {
            return false;
        };
        if rustix::process::test_kill_process_group(pid).is_err() {
            return false;
        }
        // All processes of the machine are looked at, which takes a while.
        let group = pid.as_raw_nonzero().get();
        !tokio::task::spawn_blocking(move || only_zombies(group)).await.unwrap_or(false)
    }

    /// Waits until nothing of the group is left; what is left of a group whose leader is gone is killed, after the grace time
    /// where it was asked gently.
    pub async fn vanish(mut self, gently: bool) {
        let start = Instant::now();
        let kill_at = if gently { start + GRACE } else { start };
        let mut pause = Duration::from_millis(1);
        while self.is_alive().await && start.elapsed() < GRACE + DYING {
            if Instant::now() >= kill_at {
                self.kill();
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        self.forget();
    }

    fn forget(&mut self) {
        if let (Some(leader), Some(watch)) = (self.leader.take(), &self.watch) {
            watch.gone(leader);
        }
    }
}

/// Whether nothing of a group is left but processes that are over and that nobody has waited for: some parents of orphans never
/// do. Where the system does not say, they count as alive.
fn only_zombies(group: i32) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return false;
    };
    let texts = processes
        .flatten()
        .filter_map(|process| std::fs::read_to_string(process.path().join("stat")).ok());
    // `pid (name) state ppid pgrp ...`, and a name may have blanks and brackets in it.
    let mut members = texts.filter_map(|text| {
        let mut fields = text.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?.to_owned();
        (fields.nth(1)?.parse::<i32>().ok()? == group).then_some(state)
    });
    let first = members.next();
    first.is_some_and(|state| state == "Z") && members.all(|state| state == "Z")
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.leader.is_some() {
            self.kill();
            self.forget();
        }
    }
}
