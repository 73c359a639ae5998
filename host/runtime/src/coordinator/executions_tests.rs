use std::{
    future::ready,
    task::{Context, Poll, Waker},
    time::Duration,
};

use super::*;
use crate::tools::{Running, Terms};

/// A tool that has ended as soon as it is looked at; or that ends when it is told to.
struct Ends(Option<Outcome>);

impl Tools for Ends {
    fn terms(&self, _: &str) -> Option<Terms<'_>> {
        None
    }

    fn names(&self) -> Vec<&str> {
        Vec::new()
    }

    fn run<'a>(&'a self, _: &'a Invocation, stop: &'a Stop) -> Running<'a> {
        match &self.0 {
            Some(outcome) => Box::pin(ready(outcome.clone().into())),
            None => Box::pin(async {
                stop.gently.cancelled().await;
                Ran { stopped: true, ..Outcome::error("stopped").into() }
            }),
        }
    }
}

fn invocation() -> Invocation {
    Invocation {
        tool: "t".into(),
        arguments: Arc::default(),
        answers: Map::new(),
        host: Arc::new(()),
    }
}

fn succeeds() -> Outcome {
    Outcome::Success { content: String::new() }
}

/// Runs until it is ready for the first time: that is when the Host can learn of it.
async fn gate_after(tools: Ends, stop: Stop, timeout: Option<Duration>) -> Option<bool> {
    let gate = Gate::default();
    let deadline = timeout.map(|timeout| {
        let (_, nobody) = tokio::sync::watch::channel(false);
        Deadline::new(tokio::time::Instant::now() + timeout, nobody)
    });
    let ran = run(&tools, &invocation(), &stop, deadline, Some(&gate), true).await;
    ran.map(|_| gate.is_shut())
}

#[tokio::test]
async fn the_gate_is_shut_when_the_host_can_learn_of_a_failure() {
    let gate = Gate::default();
    let (tools, invocation, stop) =
        (Ends(Some(Outcome::error("no"))), invocation(), Stop::default());
    let mut ran = Box::pin(run(&tools, &invocation, &stop, None, Some(&gate), true));
    assert!(!gate.is_shut());
    assert!(matches!(
        ran.as_mut().poll(&mut Context::from_waker(Waker::noop())),
        Poll::Ready(Some(_))
    ));
    assert!(gate.is_shut());
}

#[tokio::test(start_paused = true)]
async fn only_a_failure_shuts_it() {
    assert_eq!(gate_after(Ends(Some(succeeds())), Stop::default(), None).await, Some(false));
    let stopped = Stop::default();
    stopped.gently.cancel();
    assert_eq!(
        gate_after(Ends(None), stopped, None).await,
        Some(false),
        "what is stopped has not failed"
    );
    let timeout = Some(Duration::from_secs(5));
    assert_eq!(
        gate_after(Ends(None), Stop::default(), timeout).await,
        Some(true),
        "its time was over"
    );
}

#[tokio::test]
async fn nothing_begins_at_a_shut_gate_but_what_had_begun_before_goes_on() {
    let gate = Gate::default();
    gate.shut();
    let (tools, invocation, stop) = (Ends(Some(succeeds())), invocation(), Stop::default());
    assert!(run(&tools, &invocation, &stop, None, Some(&gate), true).await.is_none());
    assert!(run(&tools, &invocation, &stop, None, Some(&gate), false).await.is_some());
}
