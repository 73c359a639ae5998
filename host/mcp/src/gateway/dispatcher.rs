//! Takes the calls of all clients and hands them to the batch that is open.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use jp_policy_config::Config;
use jp_policy_core::{
    batch::Carried,
    policy::{PolicyFactory, Refusal},
    request::Request,
    response::Response,
};
use jp_policy_runtime::{
    coordinator::{Clock, Coordinator, Setup, Submitter, Ticket},
    tools::Tools,
};
use serde_json::{Map, Value as Json};
use tokio::sync::{Notify, watch};

use super::{
    CallStatus, ClientPrompter, connection_calls::ConnectionCalls, status::WatchedCalls,
    watcher::StatusWatcher,
};

/// Runs calls as they come, in one batch for as long as there is one without a response; the next call begins another.
pub struct Dispatcher {
    config: Arc<Config>,
    tools: Arc<dyn Tools>,
    factory: Arc<dyn PolicyFactory>,
    prompter: Arc<ClientPrompter>,
    timeout: Option<Duration>,
    next_id: AtomicU64,
    batch: Mutex<OpenBatch>,
    /// The coordinator of the next batch, made before a call needs it.
    prepared: Mutex<Option<Coordinator>>,
    /// Notified when the last call of a batch has its response.
    idle: Notify,
    /// Itself, for the handles of its calls.
    this: Weak<Self>,
}

/// The batch that is open, if there is one.
#[derive(Default)]
struct OpenBatch {
    submitter: Option<Submitter>,
    /// How many calls have not been given their response.
    left: usize,
    watched: WatchedCalls,
}

impl Dispatcher {
    /// A dispatcher for these tools. `timeout` is how long one run of a call may take.
    ///
    /// Fails if the policy does not take the configuration, before any call comes.
    pub fn new(
        config: Arc<Config>,
        tools: Arc<dyn Tools>,
        factory: Arc<dyn PolicyFactory>,
        prompter: Arc<ClientPrompter>,
        timeout: Option<Duration>,
    ) -> Result<Arc<Self>, Refusal> {
        let dispatcher = Arc::new_cyclic(|this| Self {
            config,
            tools,
            factory,
            prompter,
            timeout,
            next_id: AtomicU64::new(1),
            batch: Mutex::default(),
            prepared: Mutex::default(),
            idle: Notify::new(),
            this: this.clone(),
        });
        *lock(&dispatcher.prepared) = Some(dispatcher.coordinator()?);
        Ok(dispatcher)
    }

    /// The configuration that it serves.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The tools whose calls it runs.
    pub fn tools(&self) -> &dyn Tools {
        &*self.tools
    }

    /// Asks the clients whose calls it runs.
    pub(super) fn prompter(&self) -> &ClientPrompter {
        &self.prompter
    }

    /// Submits a call at the end of the written order, which is the order in which this is called, by all clients. With `watched`
    /// the handle has the call's status.
    ///
    /// Fails if a batch begins with this call and the policy does not take the configuration.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn submit(
        &self,
        tool: String,
        arguments: Map<String, Json>,
        watched: bool,
    ) -> Result<CallHandle, Refusal> {
        let mut batch = lock(&self.batch);
        if batch.submitter.is_none() {
            *batch = self.open_batch()?;
        }
        batch.left += 1;
        let number = self.next_id.fetch_add(1, Ordering::Relaxed);
        let id = number.to_string();
        let status = watched.then(|| batch.watched.add(&id));
        let request =
            Request { id: id.as_str().into(), name: tool.into(), arguments: Ok(arguments.into()) };
        let submitter = batch.submitter.as_ref().expect("it was made where there was none");
        let ticket = Some(submitter.submit(request));
        let dispatcher = self.this.clone();
        Ok(CallHandle { number, id, ticket, status, connection: None, dispatcher })
    }

    /// Begins a batch, which ends when its submitter is dropped and its calls are over.
    fn open_batch(&self) -> Result<OpenBatch, Refusal> {
        let prepared = lock(&self.prepared).take();
        // A batch begins with its first call, not when its coordinator was prepared.
        let prepared = prepared.map(|prepared| prepared.with_clock(Clock::system()));
        let mut coordinator = prepared.map_or_else(|| self.coordinator(), Ok)?;
        let submitter = Some(coordinator.submitter());
        let watched = WatchedCalls::default();
        let mut observer = StatusWatcher::new(watched.clone());
        let this = self.this.clone();
        tokio::spawn(async move {
            coordinator.run(Vec::new(), &mut observer).await;
            if let Some(dispatcher) = this.upgrade() {
                dispatcher.prepare();
            }
        });
        Ok(OpenBatch { submitter, left: 0, watched })
    }

    fn coordinator(&self) -> Result<Coordinator, Refusal> {
        Coordinator::new(Setup {
            config: &self.config,
            tools: self.tools.clone(),
            factory: &*self.factory,
            prompter: self.prompter.clone(),
            timeout: self.timeout,
            carried: Carried::default(),
        })
    }

    /// Prepares the coordinator of the next batch. If that fails, the batch tries it again, and its first call learns why.
    fn prepare(&self) {
        if lock(&self.prepared).is_none() {
            let coordinator = self.coordinator().ok();
            *lock(&self.prepared) = coordinator;
        }
    }

    /// Cancels all calls that have no response: what waits is settled, what runs is stopped.
    pub fn cancel(&self) {
        if let Some(submitter) = &lock(&self.batch).submitter {
            submitter.handle().cancel();
        }
    }

    /// A call has its response. With the last one the batch is over: nothing of it runs any more, so the next one may begin at once.
    fn finished(&self, id: &str) {
        self.prompter.remove(id);
        let mut batch = lock(&self.batch);
        batch.left -= 1;
        if batch.left == 0 {
            *batch = OpenBatch::default();
            self.idle.notify_waiters();
        }
    }

    /// Waits until no call is without a response.
    pub async fn idle(&self) {
        loop {
            let notified = self.idle.notified();
            if lock(&self.batch).left == 0 {
                return;
            }
            notified.await;
        }
    }
}

/// A call that was submitted. Dropped before it has its response, it is withdrawn.
pub struct CallHandle {
    number: u64,
    id: String,
    /// Until it has its response.
    ticket: Option<Ticket>,
    status: Option<watch::Receiver<CallStatus>>,
    /// The calls of its connection, if it came over one.
    connection: Option<Arc<ConnectionCalls>>,
    dispatcher: Weak<Dispatcher>,
}

impl CallHandle {
    /// Adds it to the calls of the connection that it came over.
    pub(super) fn on(mut self, connection: Arc<ConnectionCalls>) -> Self {
        if let Some(ticket) = &self.ticket {
            connection.add(self.number, ticket.withdrawal());
        }
        self.connection = Some(connection);
        self
    }

    /// Waits for the response; none, if the batch was lost. May be dropped and called again, until it has given the response.
    ///
    /// What the call asks, if no [`Handler`](super::Handler) has made it a client's, is asked the fallback of the
    /// [`ClientPrompter`].
    pub async fn response(&mut self) -> Option<Response> {
        if let Some(dispatcher) = self.dispatcher.upgrade() {
            dispatcher.prompter.assign_fallback(&self.id);
        }
        let response = self.ticket.as_mut()?.response().await;
        self.ticket = None;
        if let Some(connection) = &self.connection {
            connection.remove(self.number);
        }
        finished(&self.dispatcher, &self.id);
        response
    }

    /// Its id in the batch.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its status, now and whenever it changes; none, if it is not watched.
    pub fn status(&self) -> Option<watch::Receiver<CallStatus>> {
        self.status.clone()
    }

    /// Cancels it; and all calls of its connection, if the client has disconnected. Its response comes when nothing of it runs any
    /// more.
    pub fn withdraw(&self) {
        match (&self.connection, &self.ticket) {
            (Some(connection), _) => connection.withdraw(self.number),
            (None, Some(ticket)) => ticket.withdraw(),
            (None, None) => {}
        }
    }
}

impl Drop for CallHandle {
    fn drop(&mut self) {
        if self.ticket.is_some() {
            self.withdraw();
        }
        let Some(mut ticket) = self.ticket.take() else {
            return;
        };
        if let Some(connection) = &self.connection {
            connection.remove(self.number);
        }
        // Its slot is held until it is gone, so the batch has to stay until then.
        let (dispatcher, id) = (self.dispatcher.clone(), std::mem::take(&mut self.id));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                // Nobody reads the response.
                let _ = ticket.response().await;
                finished(&dispatcher, &id);
            });
        }
    }
}

/// Tells a dispatcher, if it is still there, that a call has its response.
fn finished(dispatcher: &Weak<Dispatcher>, id: &str) {
    if let Some(dispatcher) = dispatcher.upgrade() {
        dispatcher.finished(id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
