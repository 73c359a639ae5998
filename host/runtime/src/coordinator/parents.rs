//! Tool calls as the assistant wrote them: each is one call of the batch, or, fanned out, one for each of its operations.

use std::{ops::Range, sync::Arc};

use jp_policy_core::{
    batch::{CallId, Instant},
    record::Record,
    request::Request,
    terms::OnError,
};
use serde::Serialize;
use smallvec::{SmallVec, smallvec};

use super::{
    control::Asker,
    event_loop::Coordinator,
    response::{Response, Status},
};
use crate::tools::{Gate, Parts, parts};

/// A tool call.
pub(super) struct Parent {
    /// Its calls in the batch, one at least.
    calls: Range<usize>,
    /// Its id, if it has operations: they have ids of their own.
    fanned_id: Option<Arc<str>>,
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
        self.fanned_id.as_deref()
    }

    /// The response, once every call of it has one.
    fn response(&self, responses: &[Option<Response>], record: &Record) -> Option<Response> {
        let own = responses.get(self.calls.clone())?;
        let Some(id) = &self.fanned_id else {
            return own.first()?.clone();
        };
        let own: Vec<&Response> = own.iter().map(Option::as_ref).collect::<Option<_>>()?;
        let count = |status| own.iter().filter(|response| response.status == status).count();
        // What is worst is what the call is: the list tells the rest.
        let worst = [Status::Error, Status::Cancelled, Status::NotRun];
        let status = worst.into_iter().find(|status| count(*status) > 0).unwrap_or(Status::Ok);
        let ran = record.calls.get(self.calls.clone())?.iter().map(|call| !call.runs.is_empty());
        let lines = (1..).zip(own.iter().zip(ran)).map(|(place, (response, ran))| {
            let content = &*response.text_or_beginning();
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
        let name = &own.first()?.name;
        Some(Response { transient, ..Response::new(id, name, status, content) })
    }
}

impl Coordinator {
    /// The calls of a tool call that comes next.
    pub(super) fn take_apart(
        &mut self,
        request: Request,
        asker: Option<Asker>,
    ) -> SmallVec<[Request; 1]> {
        let on_error = self.shared.server.terms(&request.name).and_then(|terms| terms.fan_out);
        let parts = match (&request.arguments, on_error) {
            (Ok(arguments), Some(_)) => parts(arguments),
            _ => Parts::One,
        };
        let mut fanned_id = None;
        let calls = match parts {
            Parts::One => smallvec![request],
            Parts::Wrong(why) => smallvec![Request { arguments: Err(why), ..request }],
            Parts::Operations(operations) => {
                let Request { id, name, .. } = request;
                let operations = (1..).zip(operations);
                let calls = operations.map(|(place, arguments)| Request {
                    id: format!("{id}.{place}").into(),
                    name: name.clone(),
                    arguments: arguments.map(Arc::new),
                });
                let calls = calls.collect();
                fanned_id = Some(id);
                calls
            }
        };
        let first = self.requests.len();
        let stops = fanned_id.is_some() && on_error == Some(OnError::Stop);
        let gate = stops.then(Gate::default);
        let range = first..first + calls.len();
        let left = calls.len();
        if let Some(asker) = &asker {
            self.tickets.insert(asker.number, self.parents.len());
        }
        self.parents.push(Parent { calls: range, fanned_id, gate, left, asker });
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

    /// A call has its response. If it was the last one of its tool call, that has its own, for whoever waits for it.
    pub(super) fn hand_over(&mut self, call: CallId) {
        let place = self.record.calls.get(call as usize).map(|call| call.parent as usize);
        let Some(parent) = place.and_then(|place| self.parents.get_mut(place)) else {
            return;
        };
        parent.left = parent.left.saturating_sub(1);
        if parent.left == 0
            && let Some(asker) = parent.asker.take()
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

    /// One response for each tool call, in written order; taken out of those of the calls.
    pub(super) fn take_responses(&mut self) -> Vec<Response> {
        let responses = self.parents.iter().map(|parent| {
            let response = match &parent.fanned_id {
                None => self.responses.get_mut(parent.calls.start).and_then(Option::take),
                Some(_) => parent.response(&self.responses, &self.record),
            };
            // Unreachable: a settled call has its response. A lost call would be worse than a plain answer.
            response.unwrap_or_else(|| {
                let request = &self.requests[parent.calls.start];
                let id = parent.fanned_id.as_ref().unwrap_or(&request.id);
                Response::new(id, &request.name, Status::Error, "no response")
            })
        });
        responses.collect()
    }
}
