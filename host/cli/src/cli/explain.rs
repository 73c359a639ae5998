//! `jp-policy explain`: why calls wait, of a scenario or a record.

use std::{
    collections::{BTreeSet, HashSet},
    io::{self, Write},
    path::PathBuf,
};

use anyhow::{Context as _, Result, bail};
use jp_policy_config::{Config, nearest};
use jp_policy_core::{
    batch::{CallId, Instant, KeyIndex},
    policy::PolicyFactory,
    record::{CallRecord, RecordFile},
    text::clean,
};
use jp_policy_harness::{Input, analyse_waits, recorded_config};
use jp_policy_report::{
    Holder, WaitAnalysis, WaitCause, WaitInterval, WaitingCall,
    text::{duration, fit},
};
use jp_policy_wasm::{Component, Engine};
use serde_json::{Value as Json, json};

use super::{
    Exit, Format, diagnostics,
    policy::{PolicyArgs, refused},
    print_envelope,
    replay::conclusion,
};

/// Say why calls wait, at an instant or from beginning to end
///
/// By key, limit, holders and place in line, by the barrier, or in the policy's own words. Without --at: how each call waited from
/// beginning to end. A record is explained by what really happened; its policy is asked for its reasons again where its file is
/// still the same, or is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy explain today.jsonl
  jp-policy explain today.jsonl --at 1.5s
  jp-policy explain today.jsonl toolu_7 12
  jp-policy explain tests/scenarios/question/034-question-keeps-slot.toml --at 3

Exit codes: 0 it was said, 2 wrong use or a file that can't be read.")]
pub(super) struct Args {
    /// A record, or a scenario
    file: PathBuf,
    /// Only these calls: their places in the batch from 1, their ids or their names
    #[arg(value_name = "CALL")]
    calls: Vec<String>,
    /// What waits at this instant: seconds since the batch was handed over, or a duration like 250ms
    #[arg(long, value_name = "TIME", value_parser = instant)]
    at: Option<Instant>,
    #[command(flatten)]
    policy: PolicyArgs,
    /// How the answer is written
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(super) fn run(args: &Args) -> Result<Exit> {
    let engine = args.policy.engine()?;
    let (mut analysis, ids, policy) = match Input::read(&args.file)? {
        Input::Record(file) => of_record(args, &engine, &file)?,
        Input::Scenario(scenario) => {
            let config = scenario.config.as_ref().map_err(Clone::clone)?;
            let policy = args.policy.load(&engine, config)?;
            let analysis = analyse_waits(&scenario, &policy)
                .with_context(|| format!("failed to explain `{}`", args.file.display()))?;
            (analysis, Vec::new(), policy.identity().name.clone())
        }
    };
    let chosen = choose(args, &analysis.record.calls, &ids)?;
    let mut out = anstream::stdout().lock();
    let data = match args.at {
        Some(at) => {
            let waits = analysis.at(at);
            let waits: Vec<WaitingCall> =
                waits.into_iter().filter(|waits| chosen.contains(&waits.call)).collect();
            let shown = Shown { analysis: &analysis, policy: &policy };
            if args.format == Format::Text {
                shown.write_instant(&mut out, at, &waits, &chosen)?;
            }
            json!({
                "file": args.file.display().to_string(),
                "policy": policy,
                "at": at,
                "waiting": waits.iter().map(|waits| shown.waiting_json(waits)).collect::<Vec<_>>(),
            })
        }
        None => {
            let history = analysis.history();
            let shown = Shown { analysis: &analysis, policy: &policy };
            let calls: Vec<(CallId, &Vec<WaitInterval>)> = (0..)
                .zip(&history)
                .filter(|(call, intervals)| {
                    chosen.contains(call) && !(args.calls.is_empty() && intervals.is_empty())
                })
                .collect();
            if args.format == Format::Text {
                shown.write_history(&mut out, &calls)?;
            }
            json!({
                "file": args.file.display().to_string(),
                "policy": policy,
                "calls": calls.iter().map(|(call, intervals)| json!({
                    "call": call,
                    "label": shown.label(*call),
                    "waited": intervals
                        .iter()
                        .map(|interval| shown.interval_json(interval))
                        .collect::<Vec<_>>(),
                })).collect::<Vec<_>>(),
            })
        }
    };
    if args.format == Format::Json {
        print_envelope("explain", &data)?;
    }
    out.flush()?;
    Ok(Exit::Fine)
}

/// The analysis of a record, the ids of its calls, and its policy's name.
fn of_record(
    args: &Args,
    engine: &Engine,
    file: &RecordFile,
) -> Result<(WaitAnalysis, Vec<String>, String)> {
    conclusion(&args.file, file);
    let config = recorded_config(&file.header)?;
    let policy = reasoner(args, engine, file)?;
    let factory = policy.as_ref().map(|policy| -> &dyn PolicyFactory { policy });
    let analysis = WaitAnalysis::of_record(file, config.settings(), factory).map_err(
        |refusal| match factory {
            Some(factory) => refused(&config, factory, refusal),
            None => refusal.into(),
        },
    )?;
    let ids = file.calls.iter().map(|call| call.id.clone()).collect();
    Ok((analysis, ids, file.header.policy.name.clone()))
}

/// The policy that is asked for its reasons: the given one, or that of the record where it can be had.
fn reasoner(args: &Args, engine: &Engine, file: &RecordFile) -> Result<Option<Component>> {
    if args.policy.policy.is_some() {
        return Ok(Some(args.policy.load(engine, &Config::default())?));
    }
    let recorded = &file.header.policy;
    let embedded = Component::embedded(engine)?;
    if embedded.identity().digest == recorded.digest {
        return Ok(Some(embedded));
    }
    let loaded = recorded.path.as_ref().map(|path| {
        let policy = Some(PathBuf::from(path));
        PolicyArgs { policy, ..args.policy.clone() }.load(engine, &Config::default())
    });
    let why = match loaded {
        Some(Ok(policy)) if policy.identity().digest == recorded.digest => return Ok(Some(policy)),
        Some(Ok(_)) => "its file has changed since",
        Some(Err(_)) => "its file can't be loaded",
        None => "the record does not name its file",
    };
    diagnostics::warn(&format!(
        "policy \"{}\" is not asked for its reasons: {why}; `--policy FILE` gives one",
        clean(&recorded.name)
    ));
    Ok(None)
}

/// The calls that are meant.
fn choose(args: &Args, calls: &[CallRecord], ids: &[String]) -> Result<BTreeSet<CallId>> {
    let all = 0..CallId::try_from(calls.len()).unwrap_or(CallId::MAX);
    if args.calls.is_empty() {
        return Ok(all.collect());
    }
    let mut chosen = BTreeSet::new();
    for wanted in &args.calls {
        let is = |call: &CallId| {
            let place = *call as usize;
            ids.get(place).is_some_and(|id| id == wanted) || *calls[place].label == **wanted
        };
        let named: Vec<CallId> = all.clone().filter(is).collect();
        let numbered = wanted.parse().ok().and_then(|place: CallId| place.checked_sub(1));
        match numbered.filter(|call| all.contains(call)) {
            _ if !named.is_empty() => chosen.extend(named),
            Some(call) => drop(chosen.insert(call)),
            None => {
                let known =
                    ids.iter().map(String::as_str).chain(calls.iter().map(|call| &*call.label));
                let meant = nearest(wanted, known).map_or_else(String::new, |known| {
                    format!("; did you mean `{}`?", clean(known))
                });
                bail!(
                    "`{}` has no call `{}`: give a place from 1 to {}, an id or a name{meant}",
                    args.file.display(),
                    clean(wanted),
                    calls.len()
                );
            }
        }
    }
    Ok(chosen)
}

/// Reads `1.5`, `1.5s` or `250ms`.
fn instant(text: &str) -> Result<Instant, String> {
    const UNITS: [(&str, f64); 6] =
        [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 6e10)];
    let unit = UNITS.into_iter().find_map(|(unit, nanos)| Some((text.strip_suffix(unit)?, nanos)));
    let (number, nanos) = unit.unwrap_or((text, 1e9));
    let decimal = number.parse::<f64>().ok().map(|number| number * nanos);
    let decimal = decimal.filter(|nanos| (0.0..1.8e19).contains(nanos));
    let written = || humantime::parse_duration(text).ok()?.as_nanos().try_into().ok();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    let read = decimal.map(|nanos| nanos.round() as Instant).or_else(written);
    read.ok_or_else(|| "expected seconds, or a duration like 250ms".to_owned())
}

struct Shown<'a> {
    analysis: &'a WaitAnalysis,
    policy: &'a str,
}

impl Shown<'_> {
    fn label(&self, call: CallId) -> &str {
        self.analysis.record.calls.get(call as usize).map_or("", |call| &call.label)
    }

    fn name(&self, call: CallId) -> String {
        format!("{} {}", u64::from(call) + 1, clean(self.label(call)))
    }

    /// The name in a line about another call.
    fn short(&self, call: CallId) -> String {
        const LABEL: usize = 24;
        fit(&self.name(call), LABEL).trim_end().to_owned()
    }

    fn key(&self, key: KeyIndex) -> &str {
        self.analysis.record.keys.get(key as usize).map_or("", String::as_str)
    }

    fn write_instant(
        &self,
        out: &mut impl Write,
        at: Instant,
        waits: &[WaitingCall],
        chosen: &BTreeSet<CallId>,
    ) -> io::Result<()> {
        let until = self.analysis.record.until;
        if waits.is_empty() {
            let which =
                if chosen.len() < self.analysis.record.calls.len() { " of these" } else { "" };
            let over = if at > until {
                format!(": the last thing happened at {}", duration(until))
            } else {
                String::new()
            };
            return writeln!(out, "at {} nothing{which} waits{over}", duration(at));
        }
        writeln!(out, "at {}:", duration(at))?;
        for waits in waits {
            let why = self.describe(&waits.cause, waits.reason.as_deref(), None);
            let since = duration(waits.since);
            writeln!(out, "  {}, since {since}: {why}", self.name(waits.call))?;
        }
        Ok(())
    }

    fn write_history(
        &self,
        out: &mut impl Write,
        calls: &[(CallId, &Vec<WaitInterval>)],
    ) -> io::Result<()> {
        if calls.is_empty() {
            return writeln!(out, "no call waited");
        }
        for (call, intervals) in calls {
            let name = self.name(*call);
            if intervals.is_empty() {
                writeln!(out, "{name}: did not wait")?;
                continue;
            }
            writeln!(out, "{name}:")?;
            let times: Vec<String> = intervals
                .iter()
                .map(|interval| {
                    let to = interval.to.map_or_else(|| "...".to_owned(), duration);
                    format!("{} - {to}", duration(interval.from))
                })
                .collect();
            let widest = times.iter().map(|time| time.chars().count()).max().unwrap_or(0);
            for (time, interval) in times.iter().zip(*intervals) {
                let why =
                    self.describe(&interval.cause, interval.reason.as_deref(), Some(interval));
                writeln!(out, "  {time:widest$}  {why}")?;
            }
        }
        Ok(())
    }

    /// In words. Over an interval the holders are all that held a slot in it.
    fn describe(
        &self,
        cause: &WaitCause,
        reason: Option<&str>,
        interval: Option<&WaitInterval>,
    ) -> String {
        let said = reason.map(|reason| format!("policy {}: {}", clean(self.policy), clean(reason)));
        match cause {
            WaitCause::Approval => "waits for its own approval".to_owned(),
            WaitCause::Barrier { undecided } if undecided.is_empty() => {
                "waits until the last call is written".to_owned()
            }
            WaitCause::Barrier { undecided } => {
                let (what, be) =
                    if undecided.len() == 1 { ("call", "is") } else { ("calls", "are") };
                format!("waits for the barrier: {what} {} {be} undecided", self.names(undecided))
            }
            WaitCause::Key { key, limit, holders, earlier, ahead } => {
                let (mut held, place) = match interval {
                    Some(interval) => self.over_time(*key, ahead, interval),
                    None => self.at_once(holders, ahead),
                };
                let others = match earlier {
                    0 => String::new(),
                    1 => "an execution of an earlier batch".to_owned(),
                    n => format!("{n} executions of earlier batches"),
                };
                if !others.is_empty() {
                    held = if held.is_empty() { others } else { format!("{others}, {held}") };
                }
                let held =
                    if held.is_empty() { "free".to_owned() } else { format!("held by {held}") };
                // A policy with an order of its own that says where a call stands says it better than written order.
                let place = if said.is_some() && !self.analysis.in_order() { "" } else { &place };
                let key = format!("key {} (limit {limit})", clean(self.key(*key)));
                let said = said.map_or_else(String::new, |said| format!("; {said}"));
                format!("{key} {held}{place}{said}")
            }
            WaitCause::Policy { wake_at } => said.unwrap_or_else(|| {
                let wake = wake_at.map_or_else(String::new, |at| {
                    format!(", wants to be asked again at {}", duration(at))
                });
                format!("held back by policy {}{wake}", clean(self.policy))
            }),
            WaitCause::Asked => format!("policy {} is being asked", clean(self.policy)),
        }
    }

    /// Who holds the slots at an instant, and the place in line; which is the policy's own affair where it sees all that waits.
    fn at_once(&self, holders: &[Holder], ahead: &[CallId]) -> (String, String) {
        let held = list(holders, |holder| {
            let stopping = if holder.stopping { ", being stopped" } else { "" };
            format!("{} (since {}{stopping})", self.short(holder.call), duration(holder.since))
        });
        let nth = || ordinal(ahead.len() + 1);
        let place = match (ahead, self.analysis.in_order()) {
            ([], true) => ", next in line".to_owned(),
            ([.., last], true) => format!(", {} in line, behind {}", nth(), self.short(*last)),
            ([], false) => ", first in written order".to_owned(),
            ([.., last], false) => {
                format!(", {} in written order, after {}", nth(), self.short(*last))
            }
        };
        (held, place)
    }

    /// Who held the slots one after the other, and who was ahead and none of these.
    fn over_time(
        &self,
        key: KeyIndex,
        ahead: &[CallId],
        interval: &WaitInterval,
    ) -> (String, String) {
        let held = self.analysis.held(key, interval);
        let known: HashSet<CallId> = held.iter().copied().collect();
        let others: Vec<CallId> =
            ahead.iter().copied().filter(|call| !known.contains(call)).collect();
        let place = match self.names(&others) {
            names if names.is_empty() => names,
            names if self.analysis.in_order() => format!(", behind {names}"),
            names => format!(", written after {names}"),
        };
        (self.names(&held), place)
    }

    fn names(&self, calls: &[CallId]) -> String {
        list(calls, |call| self.short(*call))
    }

    fn waiting_json(&self, call: &WaitingCall) -> Json {
        let mut json = self.cause_json(&call.cause, call.reason.as_deref());
        json["call"] = call.call.into();
        json["label"] = self.label(call.call).into();
        json["since"] = call.since.into();
        json
    }

    fn interval_json(&self, interval: &WaitInterval) -> Json {
        let mut json = self.cause_json(&interval.cause, interval.reason.as_deref());
        json["from"] = interval.from.into();
        json["to"] = interval.to.into();
        if let WaitCause::Key { key, .. } = interval.cause {
            json["held"] = self.analysis.held(key, interval).into();
        }
        json
    }

    fn cause_json(&self, cause: &WaitCause, reason: Option<&str>) -> Json {
        let mut json = match cause {
            WaitCause::Approval => json!({ "why": "approval" }),
            WaitCause::Barrier { undecided } => json!({ "why": "barrier", "undecided": undecided }),
            WaitCause::Key { key, limit, holders, earlier, ahead } => json!({
                "why": "key",
                "key": self.key(*key),
                "limit": limit,
                "holders": holders.iter().map(|holder| json!({
                    "call": holder.call,
                    "since": holder.since,
                    "stopping": holder.stopping,
                })).collect::<Vec<_>>(),
                "earlier": earlier,
                "ahead": ahead,
            }),
            WaitCause::Policy { wake_at } => json!({ "why": "policy", "wake_at": wake_at }),
            WaitCause::Asked => json!({ "why": "asked" }),
        };
        json["reason"] = reason.into();
        json
    }
}

/// `2nd`, `3rd`, `11th`.
fn ordinal(n: usize) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// The first of several, and how many more there are.
fn list<T>(items: &[T], name: impl Fn(&T) -> String) -> String {
    const SHOWN: usize = 4;
    let mut list = items.iter().take(SHOWN).map(name).collect::<Vec<_>>().join(", ");
    if items.len() > SHOWN {
        list += &format!(" and {} more", items.len() - SHOWN);
    }
    list
}
