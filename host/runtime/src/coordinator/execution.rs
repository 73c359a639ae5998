//! Executions as tasks: each runs a tool, and tells the loop what comes of it.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use jp_policy_core::{
    batch::ExecutionId,
    gate::Gate,
    outcome::{Outcome, Question},
    run_end::RunEnd,
    session::Run,
};
use serde_json::Value as Json;
use tokio::{
    sync::{mpsc::UnboundedSender, oneshot, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::deadline::Deadline;
use crate::tools::{Answering, Host, Invocation, Progress, Ran, Running, Stop, Tools};

/// Takes the answer of a run that goes on; none: there is none.
pub(super) type Reply = oneshot::Sender<Option<Json>>;

/// What an execution tells the loop.
#[derive(Debug)]
pub(super) enum ExecutionEvent {
    /// One run of it is over.
    Ran { execution: ExecutionId, end: RunEnd },
    /// A run that goes on has come this far.
    Progress { execution: ExecutionId, progress: Progress },
    /// A run that goes on asks.
    Asks { execution: ExecutionId, number: u32, question: Question, reply: Reply },
    /// It does not wait for the answer any more.
    Withdraws { execution: ExecutionId, number: u32 },
}

/// What all executions of a batch share. It is one thing, because threads that count who holds a thing get into each other's way.
pub(super) struct Shared {
    pub(super) tools: Arc<dyn Tools>,
    pub(super) events: UnboundedSender<ExecutionEvent>,
    /// How long one run may take.
    pub(super) timeout: Option<Duration>,
    /// Tells all executions to end at once.
    pub(super) kill: CancellationToken,
}

/// What one execution and the loop have between them: it tells the loop, and the loop asks it to stop.
pub(super) struct ExecutionContext {
    execution: ExecutionId,
    shared: Arc<Shared>,
    stop: Stop,
    /// Told whether a question is open, where that stops a clock.
    asking: Option<watch::Sender<bool>>,
    /// The number of the next question.
    questions: AtomicU32,
}

impl fmt::Debug for ExecutionContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutionContext")
            .field("execution", &self.execution)
            .finish_non_exhaustive()
    }
}

impl ExecutionContext {
    pub(super) fn new(execution: ExecutionId, shared: Arc<Shared>) -> Self {
        let stop = Stop { gently: CancellationToken::new(), now: shared.kill.clone() };
        let asking = shared.timeout.map(|_| watch::Sender::new(false));
        Self { execution, shared, stop, asking, questions: AtomicU32::new(0) }
    }

    /// Asks what runs to stop.
    pub(super) fn stop(&self) {
        self.stop.gently.cancel();
    }

    /// When a run that begins now has had its time.
    fn deadline(&self) -> Option<Deadline> {
        let (timeout, asking) = (self.shared.timeout?, self.asking.as_ref()?);
        Some(Deadline::new(Instant::now() + timeout, asking.subscribe()))
    }

    fn tell(&self, event: ExecutionEvent) {
        // Nobody listens once the batch is over.
        let _ = self.shared.events.send(event);
    }

    fn set_asking(&self, is_asking: bool) {
        if let Some(asking) = &self.asking {
            asking.send_replace(is_asking);
        }
    }
}

impl Host for ExecutionContext {
    fn progress(&self, progress: Progress) {
        self.tell(ExecutionEvent::Progress { execution: self.execution, progress });
    }

    fn ask(&self, question: Question) -> Answering<'_> {
        let number = self.questions.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        // If nobody listens, the reply is dropped, which is an answer.
        let execution = self.execution;
        self.tell(ExecutionEvent::Asks { execution, number, question, reply });
        self.set_asking(true);
        let open = OpenQuestion { context: self, number };
        Box::pin(async move {
            let answer = answer.await.ok().flatten();
            drop(open);
            answer
        })
    }
}

/// A question that is withdrawn when this is dropped before there is an answer. Afterwards that does nothing.
struct OpenQuestion<'a> {
    context: &'a ExecutionContext,
    number: u32,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.context.set_asking(false);
        let (execution, number) = (self.context.execution, self.number);
        self.context.tell(ExecutionEvent::Withdraws { execution, number });
    }
}

/// Runs a tool once in a task of its own, which tells how it ended.
pub(super) fn spawn(context: Arc<ExecutionContext>, run: Run) {
    let Run { tool, arguments, answers, gate, first, .. } = run;
    let invocation = Invocation { tool, arguments, answers, host: context.clone() };
    let deadline = context.deadline();
    let report = Report { context: context.clone(), gate, sent: false };
    tokio::spawn(async move {
        let end = run_once(&context, &invocation, deadline, report.gate.as_ref(), first).await;
        report.send(end);
    });
}

/// Sends how a run ended, exactly once, whatever happens to the task that runs it: no call is lost. The gate learns of it first.
struct Report {
    context: Arc<ExecutionContext>,
    gate: Option<Gate>,
    sent: bool,
}

impl Report {
    fn send(mut self, end: RunEnd) {
        self.send_once(end);
    }

    fn send_once(&mut self, end: RunEnd) {
        if !std::mem::replace(&mut self.sent, true) {
            if let Some(gate) = &self.gate {
                gate.report(&end);
            }
            let execution = self.context.execution;
            self.context.tell(ExecutionEvent::Ran { execution, end });
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        if !self.sent {
            self.send_once(Outcome::error("the host failed while it ran the tool").into());
        }
    }
}

async fn run_once(
    context: &ExecutionContext,
    invocation: &Invocation,
    deadline: Option<Deadline>,
    gate: Option<&Gate>,
    first: bool,
) -> RunEnd {
    let ExecutionContext { shared, stop, .. } = context;
    let begin = || shared.tools.run(invocation, stop);
    // One that is run again with answers has begun long since.
    let run = match gate.filter(|_| first) {
        Some(gate) => match gate.enter(begin) {
            Some(run) => run,
            None => return RunEnd::Gated,
        },
        None => begin(),
    };
    let (ran, timed_out) = match deadline {
        None => (run.await, false),
        // Boxed, because it is large, and most calls may take as long as they like.
        Some(deadline) => Box::pin(run_until(run, deadline, stop)).await,
    };
    match (ran, shared.timeout) {
        (Ran { stopped: true, .. }, Some(after)) if timed_out => RunEnd::TimedOut { after },
        (Ran { stopped: true, .. }, _) => RunEnd::Stopped,
        (Ran { outcome, whole, .. }, _) => RunEnd::Finished { outcome, whole },
    }
}

/// Asks a run to stop when its time is over; and whether it was.
async fn run_until(mut run: Running<'_>, mut deadline: Deadline, stop: &Stop) -> (Ran, bool) {
    let mut timed_out = false;
    loop {
        tokio::select! {
            ran = &mut run => return (ran, timed_out),
            () = deadline.over(), if !timed_out => {
                timed_out = true;
                stop.gently.cancel();
            }
        }
    }
}

#[cfg(test)]
#[path = "execution_tests.rs"]
mod tests;
