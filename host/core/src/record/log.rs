//! Writes a record file, one line an event as it happens.

use std::io::{self, Write};

use serde_json::{Map, Value as Json};

use super::line::{Header, Line, Stamped};
use crate::{
    batch::{CallId, End, Instant},
    scheduler::{Event, EventKind},
};

/// What a record tells of a call beyond its events.
#[derive(Debug, Clone, Default)]
pub struct About<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its tool, as it was called.
    pub tool: &'a str,
    /// The place of the tool call it belongs to.
    pub parent: u32,
    /// The id of the tool call that it is an operation of, if it is one.
    pub of: Option<&'a str>,
    /// Its arguments, or why they can't be read.
    pub arguments: Option<Result<&'a Map<String, Json>, &'a str>>,
    /// Its response, if it has one; looked at when it settles.
    pub response: Option<Json>,
}

/// Writes a record file. Each line is handed over whole, so what is killed leaves whole lines, and at most a torn last one.
///
/// A failure to write is told once; then nothing more is written: a record with a hole would be misread.
#[derive(Debug)]
pub struct Writer<W> {
    out: Option<W>,
    /// Whether arguments and responses are written.
    arguments: bool,
    /// Of each call: the arguments that were written last.
    written: Vec<Option<Map<String, Json>>>,
    /// Of each call: the reason that was written last.
    reasons: Vec<Option<String>>,
    at: Instant,
}

impl<W: Write> Writer<W> {
    /// Begins a record with its header.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        out.write_all(&whole(header)?)?;
        out.flush()?;
        let arguments = header.arguments;
        Ok(Self { out: Some(out), arguments, written: Vec::new(), reasons: Vec::new(), at: 0 })
    }

    /// Writes an event down. `about` tells what is known of a call; it is asked where that is needed.
    pub fn event<'a>(
        &mut self,
        event: &Event,
        about: impl FnOnce(CallId) -> About<'a>,
    ) -> io::Result<()> {
        let line = match &event.kind {
            EventKind::Submitted(call) => self.submitted(*call, &about(*call)),
            EventKind::Parked(call) => {
                Line::Parked { call: *call, arguments: self.edited(*call, &about(*call)) }
            }
            EventKind::Released(call, execution) => {
                Line::Released { call: *call, execution: execution.number() }
            }
            EventKind::Asked(call) => Line::Asked { call: *call },
            EventKind::Answered(call) => Line::Answered { call: *call },
            EventKind::Ended(call, execution, end) => Line::Ended {
                call: *call,
                execution: execution.number(),
                how: (*end).into(),
                gated: *end == End::Gated,
            },
            EventKind::Settled(call, how) => {
                let response = if self.arguments { about(*call).response } else { None };
                Line::Settled { call: *call, how: (*how).into(), response }
            }
            EventKind::Stop(execution) => Line::Stop { execution: execution.number() },
            EventKind::Cancelled => Line::Cancelled,
            EventKind::Restarted(call) => Line::Restarted { call: *call },
            EventKind::Decided(decided) => Line::Decided {
                shown: decided.shown,
                released: decided.released.clone(),
                wake_at: decided.wake_at,
            },
            EventKind::Fault(fault) => Line::Fault {
                kind: fault.kind.word().to_owned(),
                policy: fault.policy.name.clone(),
                message: fault.to_string(),
            },
        };
        self.line(event.at, line)
    }

    /// Writes the policy's reason for a parked call down, if it is not the one it gave last.
    pub fn reason(&mut self, at: Instant, call: CallId, reason: &str) -> io::Result<()> {
        let known = slot(&mut self.reasons, call);
        if known.as_deref() == Some(reason) {
            return Ok(());
        }
        *known = Some(reason.to_owned());
        self.line(at, Line::Reason { call, reason: reason.to_owned() })
    }

    /// Writes that the batch is over: nothing of it was cut off.
    pub fn over(&mut self) -> io::Result<()> {
        self.line(self.at, Line::Over)
    }

    fn submitted(&mut self, call: CallId, about: &About<'_>) -> Line {
        let given = about.arguments.filter(|_| self.arguments);
        let arguments = given.and_then(Result::ok).cloned();
        slot(&mut self.written, call).clone_from(&arguments);
        Line::Submitted {
            call,
            id: about.id.to_owned(),
            tool: about.tool.to_owned(),
            parent: about.parent,
            of: about.of.map(str::to_owned),
            arguments,
            invalid: given.and_then(Result::err).map(str::to_owned),
        }
    }

    fn edited(&mut self, call: CallId, about: &About<'_>) -> Option<Map<String, Json>> {
        let given = about.arguments.filter(|_| self.arguments).and_then(Result::ok)?;
        let written = slot(&mut self.written, call);
        if written.as_ref() == Some(given) {
            return None;
        }
        *written = Some(given.clone());
        written.clone()
    }

    fn line(&mut self, at: Instant, line: Line) -> io::Result<()> {
        // The reason for a call may come a moment after what happened next.
        self.at = self.at.max(at);
        let Some(out) = &mut self.out else {
            return Ok(());
        };
        let written = whole(&Stamped { at: self.at, line })
            .map_err(io::Error::from)
            .and_then(|line| out.write_all(&line).and_then(|()| out.flush()));
        if written.is_err() {
            self.out = None;
        }
        written
    }
}

fn whole(line: &impl serde::Serialize) -> serde_json::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    Ok(text)
}

fn slot<T: Default>(all: &mut Vec<T>, call: CallId) -> &mut T {
    let place = call as usize;
    if all.len() <= place {
        all.resize_with(place + 1, T::default);
    }
    &mut all[place]
}
