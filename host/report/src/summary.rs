//! A call in three columns: how long it waited, how long it ran, how it came out.

use jp_policy_core::{
    batch::End,
    record::{CallRecord, Span},
    scheduler::Settlement,
};

use super::text::{duration, total};

/// What stands behind the bar of a call.
pub(super) struct CallSummary {
    pub(super) waited: String,
    pub(super) ran: String,
    pub(super) outcome: &'static str,
}

impl CallSummary {
    pub(super) fn new(call: &CallRecord) -> Self {
        let sum = |spans: &mut dyn Iterator<Item = Span>| {
            total(spans.filter_map(|span| Some(span.to?.saturating_sub(span.from))))
        };
        let mut runs = call.runs.iter().filter(|run| !run.gated).map(|run| run.span).peekable();
        let ran = if runs.peek().is_some() { duration(sum(&mut runs)) } else { String::new() };
        let waited = match sum(&mut call.parked.iter().copied()) {
            0 => String::new(),
            waited => duration(waited),
        };
        Self { waited, ran, outcome: outcome(call) }
    }
}

fn outcome(call: &CallRecord) -> &'static str {
    match (call.settled, call.runs.last()) {
        (Some((_, Settlement::Responded)), Some(run)) if run.gated => "not run",
        (Some((_, Settlement::Responded)), Some(run)) => match run.end {
            Some(End::Succeeded) => "ok",
            Some(End::Stopped) => "stopped",
            _ => "failed",
        },
        // It had its response when the batch was gone on with.
        (Some((_, Settlement::Responded)), None) => "answered",
        (Some((_, Settlement::Cancelled)), _) => "cancelled",
        (Some((_, Settlement::PolicyFault)), _) => "policy fault",
        (Some((_, Settlement::NotRun)), _) => "not run",
        (None, _) => "unsettled",
    }
}
