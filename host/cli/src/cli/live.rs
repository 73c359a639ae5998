//! The live view of a batch on standard error: moving on a terminal, plain lines elsewhere.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant as Clock},
};

use anstyle::{AnsiColor, Style};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use jp_policy_core::{
    batch::{CallId, End},
    policy::OnFault,
    scheduler::{Event, EventKind, Settlement, Waiting},
    text::{clean, plural},
};
use jp_policy_report::text::{duration, fit};
use jp_policy_runtime::coordinator::{Observer, Snapshot};

use super::screen::Screen;

/// How often elapsed times are redrawn.
const REDRAW: Duration = Duration::from_millis(100);

/// Rows that a terminal keeps for what is not the view.
const SPARE_ROWS: usize = 4;

/// Columns of the word that says what became of a call: the longest is "cancelled".
const WORD: usize = 9;

const OK: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const BUSY: Style = AnsiColor::Cyan.on_default();
const DIM: Style = AnsiColor::BrightBlack.on_default();

/// The view.
pub(super) struct Live {
    screen: Screen,
    rows: Arc<Mutex<Rows>>,
    fresh: BTreeSet<CallId>,
    parked: BTreeSet<CallId>,
    running: BTreeSet<CallId>,
    done: usize,
    ticker: Option<std::thread::JoinHandle<()>>,
}

/// What the moving view shows.
#[derive(Default)]
struct Rows {
    bars: Vec<ProgressBar>,
    lines: Vec<Row>,
    over: bool,
}

struct Row {
    text: String,
    since: Option<Clock>,
}

impl Live {
    pub(super) fn new(screen: Screen) -> Self {
        let rows = Arc::new(Mutex::new(Rows::default()));
        let ticker = screen.moves().then(|| {
            let (screen, rows) = (screen.clone(), rows.clone());
            std::thread::spawn(move || {
                while !lock(&rows).over {
                    screen.draw(|multi| redraw(multi, &rows));
                    std::thread::park_timeout(REDRAW);
                }
            })
        });
        Self {
            screen,
            rows,
            fresh: BTreeSet::new(),
            parked: BTreeSet::new(),
            running: BTreeSet::new(),
            done: 0,
            ticker,
        }
    }

    /// Takes the moving part off the screen.
    pub(super) fn finish(mut self) {
        lock(&self.rows).over = true;
        if let Some(ticker) = self.ticker.take() {
            ticker.thread().unpark();
            // It only draws; if it failed at that, the screen is all there is to mend.
            let _ = ticker.join();
        }
        self.screen.draw(|_| {
            for bar in lock(&self.rows).bars.drain(..) {
                bar.finish_and_clear();
            }
        });
    }

    fn say(&self, style: Style, word: &str, call: CallId, snapshot: &Snapshot<'_>, more: &str) {
        if !self.screen.quiet() {
            let word = self.screen.paint(style, &fit(word, WORD));
            self.screen.line(format!("{word} {}{more}", name(call, snapshot)).trim_end());
        }
    }

    /// The rows of the moving view: what runs, then what waits, as many as fit, and a line of sums.
    fn compose(&self, snapshot: &Snapshot<'_>) -> Vec<Row> {
        let (height, width) = console::Term::stderr().size();
        let room = usize::from(height).saturating_sub(SPARE_ROWS).max(1);
        let width = usize::from(width).saturating_sub(12).max(20);
        let mut rows = Vec::new();
        for &call in self.running.iter().take(room) {
            let released =
                snapshot.record.calls.get(call as usize).and_then(|call| call.runs.last());
            let asking =
                released.is_some_and(|run| run.asks.last().is_some_and(|ask| ask.to.is_none()));
            let since = released.map(|run| {
                let ago = snapshot.record.until.saturating_sub(run.span.from);
                Clock::now().checked_sub(Duration::from_nanos(ago)).unwrap_or_else(Clock::now)
            });
            let word = if asking { "asking" } else { "running" };
            let text = fit(&format!("{} {}", fit(word, WORD), name(call, snapshot)), width);
            rows.push(Row { text: self.screen.paint(BUSY, text.trim_end()), since });
        }
        for &call in self.parked.iter().take(room.saturating_sub(rows.len())) {
            let text = format!(
                "{} {}: {}",
                fit("queued", WORD),
                name(call, snapshot),
                why(call, snapshot)
            );
            rows.push(Row {
                text: self.screen.paint(DIM, fit(&text, width).trim_end()),
                since: None,
            });
        }
        if rows.len() < self.running.len() + self.parked.len() || self.done > 0 {
            let sums = format!(
                "{} running, {} queued, {} done",
                self.running.len(),
                self.parked.len(),
                self.done
            );
            rows.push(Row { text: self.screen.paint(DIM, &sums), since: None });
        }
        rows
    }
}

impl Observer for Live {
    fn event(&mut self, event: &Event, snapshot: &Snapshot<'_>) {
        match &event.kind {
            EventKind::Parked(call) => {
                self.parked.insert(*call);
                self.fresh.insert(*call);
            }
            EventKind::Released(call, _) => {
                self.parked.remove(call);
                self.fresh.remove(call);
                if snapshot.is_gated(*call) {
                    return;
                }
                self.running.insert(*call);
                if !self.screen.moves() {
                    self.say(BUSY, "running", *call, snapshot, "");
                }
            }
            EventKind::Asked(call) if !self.screen.moves() => {
                self.say(BUSY, "asking", *call, snapshot, "");
            }
            EventKind::Ended(Some(call), _, end) => {
                self.running.remove(call);
                let span =
                    snapshot.record.calls.get(*call as usize).and_then(|call| call.runs.last());
                let took = span.and_then(|run| Some(run.span.to? - run.span.from)).unwrap_or(0);
                let (style, word) = match end {
                    End::Gated => {
                        let why = ": another operation failed";
                        return self.say(BAD, "not run", *call, snapshot, why);
                    }
                    End::Succeeded => (OK, "done"),
                    End::Failed => (BAD, "failed"),
                    End::Stopped => (BAD, "stopped"),
                };
                self.say(style, word, *call, snapshot, &format!("  {}", duration(took)));
            }
            EventKind::Restarted(call) => {
                self.running.remove(call);
                self.parked.remove(call);
                self.fresh.remove(call);
            }
            EventKind::Settled(call, how) => {
                self.parked.remove(call);
                self.fresh.remove(call);
                self.done += 1;
                let word = match how {
                    Settlement::Responded => return,
                    Settlement::NotRun => "not run",
                    Settlement::Cancelled => "cancelled",
                    Settlement::PolicyFault => "failed",
                };
                let why = snapshot.response(*call);
                let why =
                    why.map(|response| clean(response.content.lines().next().unwrap_or_default()));
                self.say(
                    BAD,
                    word,
                    *call,
                    snapshot,
                    &why.map(|why| format!(": {why}")).unwrap_or_default(),
                );
            }
            EventKind::Fault(fault) => {
                let follows = match snapshot.scheduler().options().on_fault {
                    OnFault::Default => "the default rules decide the rest of the batch",
                    OnFault::Settle => "the parked calls are settled",
                };
                let (kind, text) = (fault.kind.word(), clean(&fault.to_string()));
                self.screen
                    .line(&self.screen.paint(BAD, &format!("fault ({kind}): {text}; {follows}")));
                if let Some(digest) = &fault.policy.digest {
                    self.screen.line(&self.screen.paint(DIM, &format!("  {digest}")));
                }
            }
            _ => {}
        }
    }

    fn decided(&mut self, snapshot: &Snapshot<'_>) {
        let fresh = std::mem::take(&mut self.fresh);
        if self.screen.moves() {
            lock(&self.rows).lines = self.compose(snapshot);
            if let Some(ticker) = &self.ticker {
                ticker.thread().unpark();
            }
        } else if !self.screen.quiet() {
            for call in fresh {
                self.say(DIM, "queued", call, snapshot, &format!(": {}", why(call, snapshot)));
            }
        }
    }
}

fn lock(rows: &Mutex<Rows>) -> MutexGuard<'_, Rows> {
    rows.lock().unwrap_or_else(PoisonError::into_inner)
}

fn redraw(multi: &MultiProgress, rows: &Mutex<Rows>) {
    let mut rows = lock(rows);
    while rows.bars.len() > rows.lines.len() {
        if let Some(bar) = rows.bars.pop() {
            bar.finish_and_clear();
            multi.remove(&bar);
        }
    }
    while rows.bars.len() < rows.lines.len() {
        let bar = multi.add(ProgressBar::new_spinner());
        bar.set_style(
            ProgressStyle::with_template("{msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        rows.bars.push(bar);
    }
    for (bar, row) in rows.bars.iter().zip(&rows.lines) {
        let elapsed = row.since.map(|since| {
            // Tenths of a second: what changes faster can't be read.
            let tenths = since.elapsed().as_millis() / 100;
            format!("  {}.{}s", tenths / 10, tenths % 10)
        });
        bar.set_message(format!("{}{}", row.text, elapsed.unwrap_or_default()));
        bar.tick();
    }
}

fn name(call: CallId, snapshot: &Snapshot<'_>) -> String {
    let request = snapshot.request(call);
    request
        .map_or_else(String::new, |request| format!("{} {}", clean(&request.id), request.title()))
}

/// Why a call is queued: key, limit, who holds it, place in line.
fn why(call: CallId, snapshot: &Snapshot<'_>) -> String {
    const HOLDERS: usize = 3;
    let batch = snapshot.scheduler().batch();
    match snapshot.scheduler().why(call) {
        Some(Waiting::Approval) => "waits for its approval".to_owned(),
        Some(Waiting::Barrier { pending }) => {
            format!("waits for {}", plural(pending, "approval"))
        }
        Some(Waiting::Key { key, ahead }) => {
            let holders = batch.holders(key);
            let ids: BTreeMap<usize, String> = holders
                .iter()
                .take(HOLDERS)
                .enumerate()
                .filter_map(|(n, holder)| Some((n, clean(&snapshot.request(*holder)?.id))))
                .collect();
            let mut held: Vec<String> = ids.into_values().collect();
            let others = batch.running(key).saturating_sub(held.len());
            if others > 0 {
                held.push(format!("{others} more"));
            }
            let place = match ahead {
                0 => "next in line".to_owned(),
                ahead => format!("{ahead} ahead"),
            };
            let held = if held.is_empty() {
                "free".to_owned()
            } else {
                format!("held by {}", held.join(", "))
            };
            format!(
                "key {} (limit {}) {held}, {place}",
                clean(batch.key_name(key)),
                batch.limit(key)
            )
        }
        Some(Waiting::Policy) => {
            format!("held by policy {}", clean(&snapshot.scheduler().identity().name))
        }
        None => String::new(),
    }
}
