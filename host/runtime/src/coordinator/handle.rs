//! What reaches a running coordinator from outside.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use jp_policy_core::{request::Request, response::Response};
use tokio::sync::{
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    oneshot,
};

/// What somebody outside wants.
#[derive(Debug)]
pub(super) enum Command {
    /// A tool call came in, with the number of its ticket and who waits for its response.
    Submit {
        request: Request,
        ticket: u64,
        response: oneshot::Sender<Response>,
    },
    /// Nobody wants this tool call any more.
    Withdraw(u64),
    /// A submitter is gone.
    Close(Hold),
    /// With what the calls answer, if not their tool's own words.
    Cancel(Option<String>),
    Kill,
    Restart,
}

impl Command {
    /// For a log; what a call is about stands in the batch's own events.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Submit { .. } => "submit",
            Self::Withdraw(_) => "withdraw",
            Self::Close(_) => "no more calls of a submitter",
            Self::Cancel(_) => "cancel",
            Self::Kill => "kill",
            Self::Restart => "restart",
        }
    }
}

/// Whether what is submitted waits for the end of the submitting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// It does: a reply is being written.
    Reply,
    /// Each call for itself.
    None,
}

/// Talks to a coordinator while it runs. Cheap to clone. What is said after the batch is over does nothing.
#[derive(Debug, Clone)]
pub struct Handle {
    commands: UnboundedSender<Command>,
    /// The number of the next ticket.
    tickets: Arc<AtomicU64>,
}

impl Handle {
    pub(super) fn new() -> (Self, UnboundedReceiver<Command>) {
        let (commands, receiver) = unbounded_channel();
        (Self { commands, tickets: Arc::default() }, receiver)
    }

    /// Cancels: pending and parked calls get their cancellation response at once, running ones are asked to stop, and are
    /// killed after a grace time. Calls that are submitted after it are settled at once.
    pub fn cancel(&self) {
        self.send(Command::Cancel(None));
    }

    /// Cancels, and lets the calls that are cut short answer with this message.
    pub fn cancel_with(&self, message: impl Into<String>) {
        self.send(Command::Cancel(Some(message.into())));
    }

    /// Cancels, and kills at once what runs.
    pub fn kill(&self) {
        self.send(Command::Kill);
    }

    /// Prepares every call without a response again; running ones are stopped first and count until they are gone.
    pub fn restart(&self) {
        self.send(Command::Restart);
    }

    fn send(&self, command: Command) {
        // The receiver is gone when the batch is over, and then there is nothing left to do.
        let _ = self.commands.send(command);
    }
}

/// Hands calls in while the coordinator runs, one by one. Cheap to clone.
///
/// The batch is not over before the last clone is dropped, cancelled or not: so no call is lost between the last one's end and
/// the next one's coming. The written order is the order in which [`submit`](Self::submit) is called, after the calls that
/// [`Coordinator::run`](super::Coordinator::run) was given.
///
/// ```
/// # use std::sync::Arc;
/// # use jp_policy_config::{Config, Source};
/// # use jp_policy_core::{batch::Carried, policy::Native, request::Request};
/// # use jp_policy_runtime::{
/// #     coordinator::{AutoPrompter, Coordinator, Setup}, tools::{LocalTools, Workspace},
/// # };
/// # let text = "conversation.tools.echo = { run = 'unattended', command = 'echo {{tool.arguments.n}}', concurrency = 1 }";
/// # let config = Config::from_sources(&[Source::new("tools.toml", text)])?;
/// # let workspace = Workspace { root: std::env::temp_dir(), ..Workspace::default() };
/// # let (factory, tools) = (Native::rules(), Arc::new(LocalTools::new(&config, workspace)));
/// # let prompter = Arc::new(AutoPrompter { approve: true });
/// # let setup = Setup {
/// #     config: &config, tools, factory: &factory, prompter, timeout: None, carried: Carried::default(),
/// # };
/// # let call = |id: &str| Request {
/// #     id: id.into(),
/// #     name: "echo".into(),
/// #     arguments: Ok(Arc::new(std::iter::once(("n".to_owned(), id.into())).collect())),
/// # };
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let mut coordinator = Coordinator::new(setup)?;
/// let submitter = coordinator.submitter();
/// let agent = async move {
///     let first = submitter.submit(call("a")).response().await.expect("the coordinator runs");
///     assert_eq!(first.content, "a\n");
///     submitter.submit(call("b"));
///     // The submitter is dropped: nothing more comes.
/// };
/// let mut observer = ();
/// let (finished, ()) = tokio::join!(coordinator.run(vec![], &mut observer), agent);
/// assert_eq!(finished.responses.len(), 2);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Submitter(Arc<Open>);

#[derive(Debug)]
struct Open {
    hold: Hold,
    handle: Handle,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.handle.send(Command::Close(self.hold));
    }
}

impl Submitter {
    pub(super) fn new(hold: Hold, handle: Handle) -> Self {
        Self(Arc::new(Open { hold, handle }))
    }

    /// Talks to the coordinator that takes the calls.
    pub fn handle(&self) -> &Handle {
        &self.0.handle
    }

    /// Adds a call at the end of the written order.
    ///
    /// If something of the batch has been released, it waits for its own approval only. After a cancel it is settled at once.
    pub fn submit(&self, request: Request) -> Ticket {
        let (sender, response) = oneshot::channel();
        let handle = self.0.handle.clone();
        let number = handle.tickets.fetch_add(1, Ordering::Relaxed);
        handle.send(Command::Submit { request, ticket: number, response: sender });
        Ticket { withdrawal: Withdrawal { number, handle }, response }
    }
}

/// A call's response to come. To drop it changes nothing: the response is among the [`Finished`](super::Finished) ones too.
#[derive(Debug)]
pub struct Ticket {
    withdrawal: Withdrawal,
    response: oneshot::Receiver<Response>,
}

impl Ticket {
    /// Waits for the response; none, if the coordinator was dropped before there was one. May be dropped and asked for again.
    pub async fn response(&mut self) -> Option<Response> {
        (&mut self.response).await.ok()
    }

    /// Cancels this call alone, and all operations of it: what waits is settled at once, what runs is asked to stop. The response
    /// comes when nothing of it runs any more.
    pub fn withdraw(&self) {
        self.withdrawal.withdraw();
    }

    /// Cancels it for somebody who does not wait for its response.
    pub fn withdrawal(&self) -> Withdrawal {
        self.withdrawal.clone()
    }
}

/// Cancels one call. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Withdrawal {
    number: u64,
    handle: Handle,
}

impl Withdrawal {
    /// See [`Ticket::withdraw`].
    pub fn withdraw(&self) {
        self.handle.send(Command::Withdraw(self.number));
    }
}
