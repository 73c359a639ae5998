//! Tool calls as the assistant wrote them: each is one call of the batch, or, fanned out, one for each of its operations.

use std::{borrow::Cow, ops::Range};

use serde::Serialize;

use super::{
    control::Asker,
    event_loop::Coordinator,
    response::{Response, Status},
};
use crate::{
    batch::{CallId, Instant},
    config::OnError,
    message::Request,
    record::Record,
    server::{Gate, Parts, parts},
};

/// A tool call.
pub(super) struct Parent {
    id: String,
    name: String,
    /// Its calls in the batch.
    calls: Range<usize>,
    /// Whether it has operations.
    fanned: bool,
    /// Shut once an operation has failed, where that stops the others.
    gate: Option<Gate>,
    /// How many of its calls have no response yet.
    left: usize,
    /// Who waits for its response.
    asker: Option<Asker>,
}

/// How one operation came out, within the response of its call.
#[derive(Debug, Serialize)]
struct Operation<'a> {
    /// Its place in the list, from 1.
    #[serde(rename = "operation")]
    place: usize,
    status: Status,
    content: &'a str,
}

impl Parent {
    /// Its id, if it has operations.
    pub(super) fn fanned_id(&self) -> Option<&str> {
        self.fanned.then_some(self.id.as_str())
    }

    /// The response, once every call of it has one.
    fn response(&self, responses: &[Option<Response>], record: &Record) -> Option<Response> {
        let own = responses.get(self.calls.clone())?;
        if !self.fanned {
            return own.first()?.clone();
        }
        let own: Vec<&Response> = own.iter().map(Option::as_ref).collect::<Option<_>>()?;
        let count = |status| own.iter().filter(|response| response.status == status).count();
        // What is worst is what the call is: the list tells the rest.
        let worst = [Status::Error, Status::Cancelled, Status::NotRun];
        let status = worst.into_iter().find(|status| count(*status) > 0).unwrap_or(Status::Ok);
        let ran = record.calls.get(self.calls.clone())?.iter().map(|call| !call.runs.is_empty());
        let lines = (1..).zip(own.iter().zip(ran)).map(|(place, (response, ran))| {
            // Where the whole can't be read, its beginning is what there is.
            let content = response.text().unwrap_or(Cow::Borrowed(&response.content));
            let content = &*content;
            // What never started is told apart from what was stopped.
            let status = match response.status {
                Status::Cancelled if !ran => Status::NotRun,
                status => status,
            };
            // It is numbers and text: nothing in it can't be written.
            serde_json::to_string(&Operation { place, status, content }).unwrap_or_default()
        });
        let content = format!("[{}]", lines.collect::<Vec<_>>().join(",\n"));
        let transient = count(Status::Error) > 0
            && own.iter().all(|own| own.status != Status::Error || own.transient);
        Some(Response { transient, ..Response::new(&self.id, &self.name, status, content) })
    }
}

impl Coordinator {
    /// The calls of a tool call that comes next.
    pub(super) fn take_apart(&mut self, request: Request, asker: Option<Asker>) -> Vec<Request> {
        let on_error = self.server.terms(&request.name).and_then(|terms| terms.fan_out);
        let (id, name) = (request.id.clone(), request.name.clone());
        let parts = match (&request.arguments, on_error) {
            (Ok(arguments), Some(_)) => parts(arguments),
            _ => Parts::One,
        };
        let fanned = matches!(parts, Parts::Operations(_));
        let calls = match parts {
            Parts::One => vec![request],
            Parts::Wrong(why) => vec![Request { arguments: Err(why), ..request }],
            Parts::Operations(operations) => (1..)
                .zip(operations)
                .map(|(place, arguments)| Request {
                    id: format!("{id}.{place}"),
                    name: name.clone(),
                    arguments,
                })
                .collect(),
        };
        let first = self.requests.len();
        let gate = (fanned && on_error == Some(OnError::Stop)).then(Gate::default);
        let range = first..first + calls.len();
        let left = calls.len();
        if let Some(asker) = &asker {
            self.tickets.insert(asker.number, self.parents.len());
        }
        self.parents.push(Parent { id, name, calls: range, fanned, gate, left, asker });
        calls
    }

    /// The gate that a call's failure shuts, and that may keep it from running.
    pub(super) fn gate(&self, call: CallId) -> Option<&Gate> {
        self.parent(call)?.gate.as_ref()
    }

    fn parent(&self, call: CallId) -> Option<&Parent> {
        let place = self.record.calls.get(call as usize)?.parent;
        self.parents.get(place as usize)
    }

    /// A call has its response: so has its tool call, if it was the last one.
    pub(super) fn hand_over(&mut self, call: CallId) {
        let Some(place) = self.record.calls.get(call as usize).map(|call| call.parent) else {
            return;
        };
        if let Some(parent) = self.parents.get_mut(place as usize) {
            parent.left = parent.left.saturating_sub(1);
        }
        self.answer_ticket(place as usize);
    }

    /// Gives a tool call's response to who waits for it, if it is there.
    pub(super) fn answer_ticket(&mut self, place: usize) {
        let Some(parent) = self.parents.get_mut(place).filter(|parent| parent.left == 0) else {
            return;
        };
        if let Some(asker) = parent.asker.take()
            && let Some(response) = parent.response(&self.responses, &self.record)
        {
            self.tickets.remove(&asker.number);
            // Nobody has to wait for it.
            let _ = asker.response.send(response);
        }
    }

    /// Cancels a tool call that somebody waits for.
    pub(super) fn withdraw(&mut self, now: Instant, ticket: u64) {
        let place = self.tickets.get(&ticket).copied();
        let Some(parent) = place.and_then(|place| self.parents.get(place)) else {
            // It has its response already.
            return;
        };
        for call in parent.calls.clone().filter_map(|place| CallId::try_from(place).ok()) {
            self.scheduler.withdraw(now, call);
            // What is under review keeps its result, as when all is cancelled.
            self.scheduler.respond(now, call);
        }
    }

    /// One response for each tool call, in written order.
    pub(super) fn all_responses(&self) -> Vec<Response> {
        let responses = self.parents.iter().map(|parent| {
            // Unreachable: a settled call has its response. A lost call would be worse than a plain answer.
            parent.response(&self.responses, &self.record).unwrap_or_else(|| {
                Response::new(&parent.id, &parent.name, Status::Error, "no response")
            })
        });
        responses.collect()
    }
}
