//! Where the calls of all clients come in.

use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write as _,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use jp_policy_config::Config;
use jp_policy_core::response::Response;
use jp_policy_core::{
    batch::{CallId, Carried},
    policy::{PolicyFactory, Refusal},
    request::Request,
    scheduler::{Event, EventKind, Waiting},
    text::clean,
};
use jp_policy_runtime::{
    coordinator::{Clock, Coordinator, Observer, Setup, Snapshot, Submitter, Ticket},
    tools::{Progress, Tools},
};
use serde_json::{Map, Value as Json};
use tokio::sync::{Notify, watch};

use super::{Clients, leaving::Calls};

/// Runs calls as they come, in one batch for as long as there is one without a response; the next call begins another.
pub struct Desk {
    config: Arc<Config>,
    tools: Arc<dyn Tools>,
    factory: Arc<dyn PolicyFactory>,
    clients: Arc<Clients>,
    timeout: Option<Duration>,
    next: AtomicU64,
    batch: Mutex<Batch>,
    /// For the next batch, made while nobody waited for it.
    ready: Mutex<Option<Coordinator>>,
    /// Told when the last call of a batch has its response.
    idle: Notify,
    /// Itself, for the calls that come back to it.
    me: Weak<Self>,
}

/// The batch that is open, if there is one.
#[derive(Default)]
struct Batch {
    submitter: Option<Submitter>,
    /// Calls that nobody has given their response yet.
    left: usize,
    places: Places,
}

/// Where each call that is watched stands, by its id.
type Places = Arc<Mutex<HashMap<String, watch::Sender<Place>>>>;

/// Where a call stands, for whoever waits for it.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Place {
    /// Handed in.
    #[default]
    Submitted,
    /// In line; why, in a few words.
    Queued(String),
    /// It runs.
    Running,
    /// It runs, and has come this far.
    Come(Progress),
}

impl Desk {
    /// A desk for these tools. A policy that does not take the configuration is refused here, before any call comes.
    pub fn new(
        config: Arc<Config>,
        tools: Arc<dyn Tools>,
        factory: Arc<dyn PolicyFactory>,
        clients: Arc<Clients>,
        timeout: Option<Duration>,
    ) -> Result<Arc<Self>, Refusal> {
        let desk = Arc::new_cyclic(|me| Self {
            config,
            tools,
            factory,
            clients,
            timeout,
            next: AtomicU64::new(1),
            batch: Mutex::default(),
            ready: Mutex::default(),
            idle: Notify::new(),
            me: me.clone(),
        });
        *lock(&desk.ready) = Some(desk.coordinator()?);
        Ok(desk)
    }

    /// The configuration that it serves.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The tools that it has.
    pub fn tools(&self) -> &dyn Tools {
        &*self.tools
    }

    /// Those whose calls it runs.
    pub(super) fn clients(&self) -> &Clients {
        &self.clients
    }

    /// Hands a call in. The written order is the order in which this is called, whoever calls it. Where a call stands is found out
    /// for those only that are `watched`: it costs more than the decisions do.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn submit(
        &self,
        tool: String,
        arguments: Map<String, Json>,
        watched: bool,
    ) -> Result<Pending, Refusal> {
        let mut batch = self.lock();
        if batch.submitter.is_none() {
            let ready = lock(&self.ready).take();
            // A batch begins with its first call, not when somebody made ready for it.
            let ready = ready.map(|ready| ready.with_clock(Clock::system()));
            let mut coordinator = ready.map_or_else(|| self.coordinator(), Ok)?;
            batch.submitter = Some(coordinator.submitter());
            batch.places = Places::default();
            let mut observer = Watcher { places: batch.places.clone(), parked: BTreeSet::new() };
            let me = self.me.clone();
            tokio::spawn(async move {
                coordinator.run(Vec::new(), &mut observer).await;
                if let Some(desk) = me.upgrade() {
                    desk.make_ready();
                }
            });
        }
        batch.left += 1;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let id = number.to_string();
        let place = watched.then(|| {
            let (sender, place) = watch::channel(Place::default());
            lock(&batch.places).insert(id.clone(), sender);
            place
        });
        let request =
            Request { id: id.as_str().into(), name: tool.into(), arguments: Ok(arguments.into()) };
        let submitter = batch.submitter.as_ref().expect("it was made where there was none");
        let ticket = submitter.submit(request);
        Ok(Pending { number, id, ticket: Some(ticket), place, calls: None, desk: self.me.clone() })
    }

    fn coordinator(&self) -> Result<Coordinator, Refusal> {
        Coordinator::new(Setup {
            config: &self.config,
            tools: self.tools.clone(),
            factory: &*self.factory,
            prompter: self.clients.clone(),
            timeout: self.timeout,
            carried: Carried::default(),
        })
    }

    /// Makes the coordinator of a batch to come. If that fails, the batch tries it again, and its first call learns why.
    fn make_ready(&self) {
        if lock(&self.ready).is_none() {
            let coordinator = self.coordinator().ok();
            *lock(&self.ready) = coordinator;
        }
    }

    /// Cancels all calls that have no response: what waits is settled, what runs is stopped.
    pub fn cancel(&self) {
        if let Some(submitter) = &self.lock().submitter {
            submitter.handle().cancel();
        }
    }

    /// A call has its response. The batch is over with the last one: nothing of it runs any more then, so the next one may begin
    /// at once, and what was kept of it is let go.
    fn done(&self, id: &str) {
        self.clients.forget(id);
        let mut batch = self.lock();
        lock(&batch.places).remove(id);
        batch.left -= 1;
        if batch.left == 0 {
            batch.submitter = None;
            self.idle.notify_waiters();
        }
    }

    /// Waits until no call is without a response.
    pub async fn idle(&self) {
        loop {
            let notified = self.idle.notified();
            if self.lock().left == 0 {
                return;
            }
            notified.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Batch> {
        lock(&self.batch)
    }
}

/// A call that was handed in. Dropped before it has its response, it is withdrawn.
pub struct Pending {
    number: u64,
    id: String,
    /// Until it has its response.
    ticket: Option<Ticket>,
    place: Option<watch::Receiver<Place>>,
    /// The calls of its connection, if it came over one.
    calls: Option<Arc<Calls>>,
    desk: Weak<Desk>,
}

impl Pending {
    /// It came over the connection that has these calls.
    pub(super) fn on(mut self, calls: Arc<Calls>) -> Self {
        if let Some(ticket) = &self.ticket {
            calls.add(self.number, ticket.withdrawal());
        }
        self.calls = Some(calls);
        self
    }

    /// Waits for the response. May be dropped and asked for again, until it was given once.
    ///
    /// What the call asks, if no [`Handler`](super::Handler) answers it to a client, is asked those that are asked otherwise.
    pub async fn response(&mut self) -> Option<Response> {
        if let Some(desk) = self.desk.upgrade() {
            desk.clients.leave_alone(&self.id);
        }
        let response = self.ticket.as_mut()?.response().await;
        self.ticket = None;
        if let Some(calls) = &self.calls {
            calls.remove(self.number);
        }
        done(&self.desk, &self.id);
        response
    }

    /// Its id, here.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where it stands, and will; none, if it is not watched.
    pub fn place(&self) -> Option<watch::Receiver<Place>> {
        self.place.clone()
    }

    /// Cancels it; and all calls of its connection, if the client has left. Its response comes when nothing of it runs any more.
    pub fn withdraw(&self) {
        match (&self.calls, &self.ticket) {
            (Some(calls), _) => calls.withdraw(self.number),
            (None, Some(ticket)) => ticket.withdraw(),
            (None, None) => {}
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.ticket.is_some() {
            self.withdraw();
        }
        let Some(mut ticket) = self.ticket.take() else {
            return;
        };
        if let Some(calls) = &self.calls {
            calls.remove(self.number);
        }
        // Its slot is held until it is gone, so the batch has to stay until then.
        let (desk, id) = (self.desk.clone(), std::mem::take(&mut self.id));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                // Nobody wants it.
                let _ = ticket.response().await;
                done(&desk, &id);
            });
        }
    }
}

/// Tells a desk, if it is still there, that a call has its response.
fn done(desk: &Weak<Desk>, id: &str) {
    if let Some(desk) = desk.upgrade() {
        desk.done(id);
    }
}

/// Tells waiting calls where they stand, those that are watched.
struct Watcher {
    places: Places,
    /// The watched calls in line.
    parked: BTreeSet<CallId>,
}

impl Watcher {
    /// The id by which a call is watched: its own, or that of the tool call that it is an operation of.
    fn id<'a>(call: CallId, snapshot: &Snapshot<'a>) -> Option<&'a str> {
        let own = || snapshot.request(call).map(|request| &*request.id);
        snapshot.operation_of(call).or_else(own)
    }

    fn tell(&self, call: CallId, snapshot: &Snapshot<'_>, place: impl FnOnce() -> Place) {
        let places = lock(&self.places);
        let sender = Self::id(call, snapshot).and_then(|id| places.get(id));
        if let Some(sender) = sender {
            let place = place();
            sender.send_if_modified(|known| {
                let moved = *known != place;
                *known = place;
                moved
            });
        }
    }
}

impl Observer for Watcher {
    fn event(&mut self, event: &Event, snapshot: &Snapshot<'_>) {
        match &event.kind {
            EventKind::Parked(call) => {
                let watched = |id: &str| lock(&self.places).contains_key(id);
                if Self::id(*call, snapshot).is_some_and(watched) {
                    self.parked.insert(*call);
                }
            }
            EventKind::Released(call, _) => {
                self.parked.remove(call);
                self.tell(*call, snapshot, || Place::Running);
            }
            EventKind::Settled(call, _) => {
                self.parked.remove(call);
            }
            _ => {}
        }
    }

    fn progress(&mut self, call: CallId, progress: &Progress, snapshot: &Snapshot<'_>) {
        self.tell(call, snapshot, || Place::Come(progress.clone()));
    }

    fn decided(&mut self, snapshot: &Snapshot<'_>) {
        for call in &self.parked {
            self.tell(*call, snapshot, || Place::Queued(why(*call, snapshot)));
        }
    }
}

/// Why a call is in line, in a few words.
fn why(call: CallId, snapshot: &Snapshot<'_>) -> String {
    let batch = snapshot.scheduler().batch();
    let mut text = "queued".to_owned();
    let _ = match snapshot.scheduler().why(call) {
        Some(Waiting::Key { key, ahead: 0 }) => {
            write!(text, ": key {}, next in line", clean(batch.key_name(key)))
        }
        Some(Waiting::Key { key, ahead }) => {
            write!(text, ": key {}, {ahead} ahead", clean(batch.key_name(key)))
        }
        Some(Waiting::Barrier { pending }) => write!(text, ": {pending} calls wait for approval"),
        Some(Waiting::Policy) => {
            write!(text, ": held by policy {}", clean(&snapshot.scheduler().identity().name))
        }
        Some(Waiting::Approval) | None => Ok(()),
    };
    text
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
