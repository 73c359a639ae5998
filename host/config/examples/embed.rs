//! An event loop of one's own around the scheduler: threads, a channel, and nothing else.
//!
//! `cargo run -p jp-policy-config --example embed`
//!
//! The scheduler has no clock, no task and no lock. It is told what happened and when, says which executions to start and when it
//! wants to be asked again, and leaves it to the program how tools are run and how it waits.

use std::{
    error::Error,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use jp_policy_config::{Config, Source};
use jp_policy_core::{
    batch::{Carried, End, ExecutionId},
    policy::{Arguments, Native, PolicyFactory},
    scheduler::{EventKind, Options, Scheduler},
};

/// Two tools share a repository, the third one is bounded by nothing.
const TOOLS: &str = "
    [conversation.tools.git_add]
    concurrency = { key = 'git' }
    [conversation.tools.git_commit]
    concurrency = { key = 'git' }
    [conversation.tools.read_file]
";

fn main() -> Result<(), Box<dyn Error>> {
    let config = Config::from_sources(&[Source::new("tools.toml", TOOLS)])?;
    let settings = config.settings();
    // Or a component: `Component::embedded(&Engine::new()?)?` of `jp-policy-wasm`, whose `Component::load` takes any from its file.
    let factory = Native::rules();
    let policy = factory.instantiate(&settings, Arguments::default())?;
    let identity = factory.identity().clone();
    let mut scheduler =
        Scheduler::new(&settings, identity, policy, Options::default(), Carried::default());

    // The calls as the assistant wrote them.
    let calls = ["git_add", "git_commit", "read_file", "git_add"];
    let start = Instant::now();
    let now = || u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    for (parent, tool) in (0..).zip(calls) {
        let tool = config.tool_index(tool).ok_or("no such tool")?;
        let call = scheduler.submit(now(), tool, parent);
        // Here a person could be asked.
        scheduler.approve(now(), call);
    }

    let (ended, ends) = mpsc::channel::<(ExecutionId, End)>();
    while !scheduler.is_settled() {
        while let Some(question) = scheduler.poll_question(now()) {
            // A policy that may take long is asked on another thread instead; the loop goes on meanwhile.
            let answer = question.ask();
            scheduler.answer(now(), answer);
        }
        while let Some(event) = scheduler.poll_event() {
            match event.kind {
                EventKind::Released(call, execution) => {
                    let name = calls[call as usize];
                    println!("{call} {name} starts");
                    let ended = ended.clone();
                    thread::spawn(move || {
                        // What the tool does.
                        thread::sleep(Duration::from_millis(20));
                        // The loop may be over by then, and does not need to know.
                        let _ = ended.send((execution, End::Succeeded));
                    });
                }
                EventKind::Ended(Some(call), ..) => {
                    println!("{call} {} has ended", calls[call as usize]);
                    // Here its result could be reviewed.
                    scheduler.respond(now(), call);
                }
                EventKind::Fault(fault) => eprintln!("the policy failed: {fault}"),
                _ => {}
            }
        }
        if scheduler.is_settled() {
            break;
        }
        let patience = match scheduler.poll_timeout() {
            Some(at) => Duration::from_nanos(at.saturating_sub(now())),
            None => Duration::MAX,
        };
        match ends.recv_timeout(patience) {
            Ok((execution, end)) => scheduler.end(now(), execution, end),
            // The policy wanted to be asked again now.
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("this loop has a sender itself"),
        }
    }
    Ok(())
}
