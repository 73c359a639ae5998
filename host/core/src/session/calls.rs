//! The calls of a session, one slot each, and the tool calls that they come from.
//!
//! A tool call is one call of the batch, or, fanned out, one for each of its operations. What a slot holds is let go when its tool
//! call is handed over.

use std::{borrow::Cow, collections::HashMap, io, sync::Arc};

use serde::Serialize;
use smallvec::SmallVec;

use super::io::{Handover, PromptId};
use crate::{
    batch::CallId,
    gate::Gate,
    request::Request,
    response::{Response, Status, Stored, StoredText},
};

/// What a session knows of one call, beside where it stands.
#[derive(Debug)]
pub(super) struct Slot {
    /// The call; none after it was handed over.
    pub(super) request: Option<Request>,
    /// The call in a few words.
    pub(super) title: Arc<str>,
    /// The place of its tool call.
    pub(super) parent: u32,
    /// Its response, from when there is one until it is handed over.
    pub(super) response: Option<Response>,
    /// The prompt about it that has no reply yet.
    pub(super) prompt: Option<PromptId>,
    /// Whether it was released, or brought a response along.
    pub(super) released: bool,
    /// Whether it was released and not run, because another operation has stopped it.
    pub(super) gated: bool,
}

/// A tool call.
#[derive(Debug)]
struct ToolCall {
    /// Its calls in the batch.
    calls: SmallVec<[CallId; 2]>,
    /// Its id, if it has operations: they have ids of their own.
    fanned_id: Option<Arc<str>>,
    /// Shut once an operation has failed or was cancelled, where that stops the others.
    gate: Option<Gate>,
    /// How the operation came out that shut it. None also where only who ran it knows yet.
    shut_by: Option<Status>,
    /// How many of its calls have no response yet.
    left: usize,
    ticket: Option<u64>,
}

/// All calls and tool calls, in written order.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
    parents: Vec<ToolCall>,
    /// The tool calls that have a ticket and no response yet.
    tickets: HashMap<u64, usize>,
    /// A buffer for titles: of each only its text is kept.
    title: String,
}

impl Calls {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn tool_calls(&self) -> usize {
        self.parents.len()
    }

    pub(super) fn reserve(&mut self, more: usize) {
        self.slots.reserve(more);
        self.parents.reserve(more);
    }

    /// Adds the next tool call, without a call yet, and gives its place. `fanned_id` is its id if it has operations; with `stops`
    /// none of them begins after one has failed.
    pub(super) fn add_tool_call(
        &mut self,
        fanned_id: Option<Arc<str>>,
        stops: bool,
        ticket: Option<u64>,
    ) -> usize {
        let place = self.parents.len();
        if let Some(ticket) = ticket {
            self.tickets.insert(ticket, place);
        }
        let gate = stops.then(Gate::default);
        let calls = SmallVec::new();
        self.parents.push(ToolCall { calls, fanned_id, gate, shut_by: None, left: 0, ticket });
        place
    }

    /// Adds the next call, of the tool call at `parent`.
    pub(super) fn add(&mut self, request: Request, parent: u32, response: Option<Response>) {
        self.title.clear();
        request.write_title(&mut self.title);
        let title = self.title.as_str().into();
        if let (Some(tool_call), Ok(call)) =
            (self.parents.get_mut(parent as usize), CallId::try_from(self.slots.len()))
        {
            tool_call.calls.push(call);
            tool_call.left += 1;
        }
        self.slots.push(Slot {
            request: Some(request),
            title,
            parent,
            released: response.is_some(),
            response,
            prompt: None,
            gated: false,
        });
    }

    pub(super) fn get(&self, call: CallId) -> Option<&Slot> {
        self.slots.get(call as usize)
    }

    pub(super) fn get_mut(&mut self, call: CallId) -> Option<&mut Slot> {
        self.slots.get_mut(call as usize)
    }

    pub(super) fn request(&self, call: CallId) -> Option<&Request> {
        self.get(call)?.request.as_ref()
    }

    fn tool_call(&self, call: CallId) -> Option<&ToolCall> {
        self.parents.get(self.get(call)?.parent as usize)
    }

    /// The id of the tool call that a call is an operation of, if it is one.
    pub(super) fn operation_of(&self, call: CallId) -> Option<&str> {
        self.tool_call(call)?.fanned_id.as_deref()
    }

    /// The gate that a call's failure shuts, and that may keep it from running.
    pub(super) fn gate(&self, call: CallId) -> Option<&Gate> {
        self.tool_call(call)?.gate.as_ref()
    }

    /// The calls of the tool call with this ticket, until it has its response.
    pub(super) fn of_ticket(&self, ticket: u64) -> SmallVec<[CallId; 2]> {
        let place = self.tickets.get(&ticket);
        let tool_call = place.and_then(|place| self.parents.get(*place));
        tool_call.map(|tool_call| tool_call.calls.clone()).unwrap_or_default()
    }

    /// A call is prepared again: whether its siblings have failed is what their responses say. What runs of before the restart
    /// reports to a gate that nobody looks at any more.
    pub(super) fn renew_gate(&mut self, call: CallId) {
        let Some(parent) = self.get(call).map(|slot| slot.parent as usize) else {
            return;
        };
        let Some(tool_call) = self.parents.get_mut(parent).filter(|call| call.gate.is_some())
        else {
            return;
        };
        let mut siblings = tool_call.calls.iter().map(|call| self.slots.get(*call as usize));
        let gate = Gate::default();
        tool_call.shut_by = siblings.find_map(|slot| slot?.stops_others());
        if tool_call.shut_by.is_some() {
            gate.shut();
        }
        tool_call.gate = Some(gate);
    }

    /// A call came out like this, and where that stops the other operations of its tool call, none of them begins any more.
    pub(super) fn shut_gate(&mut self, call: CallId, by: Status) {
        let place = self.get(call).map(|slot| slot.parent as usize);
        if let Some(tool_call) = place.and_then(|place| self.parents.get_mut(place))
            && let Some(gate) = &tool_call.gate
        {
            gate.shut();
            tool_call.shut_by.get_or_insert(by);
        }
    }

    /// How the operation came out that keeps this one from running: the end of a sentence about it.
    pub(super) fn why_gated(&self, call: CallId) -> &'static str {
        match self.tool_call(call).and_then(|tool_call| tool_call.shut_by) {
            Some(Status::Cancelled) => "was cancelled",
            _ => "failed",
        }
    }

    /// Writes a call's response.
    pub(super) fn respond(&mut self, call: CallId, status: Status, content: impl Into<String>) {
        if let Some(slot) = self.get_mut(call)
            && let Some(Request { id, name, .. }) = &slot.request
        {
            slot.response = Some(Response::new(id, name, status, content));
        }
    }

    /// A call has its response. Gives the place of its tool call if that is over with it.
    pub(super) fn settled(&mut self, call: CallId) -> Option<usize> {
        let place = self.get(call)?.parent as usize;
        let tool_call = self.parents.get_mut(place)?;
        tool_call.left = tool_call.left.checked_sub(1)?;
        (tool_call.left == 0).then_some(place)
    }

    /// Takes out a tool call that is over.
    pub(super) fn hand_over(&mut self, place: usize) -> Option<Handover> {
        let tool_call = self.parents.get_mut(place).filter(|tool_call| tool_call.left == 0)?;
        if let Some(ticket) = tool_call.ticket {
            self.tickets.remove(&ticket);
        }
        let calls = tool_call.calls.clone();
        let fanned_id = tool_call.fanned_id.clone();
        let ticket = tool_call.ticket;
        let mut requests = SmallVec::<[Request; 1]>::new();
        let mut responses = SmallVec::<[Response; 1]>::new();
        let mut released = SmallVec::<[bool; 1]>::new();
        for call in &calls {
            let slot = self.slots.get_mut(*call as usize)?;
            let request = slot.request.take()?;
            // A settled call has its response. A lost call would be worse than a plain answer.
            responses.push(slot.response.take().unwrap_or_else(|| {
                Response::new(&request.id, &request.name, Status::Error, "no response")
            }));
            requests.push(request);
            released.push(slot.released);
        }
        let response = match fanned_id {
            Some(id) => joined(&id, responses, &released)?,
            None => responses.pop()?,
        };
        Some(Handover { ticket, calls, requests, response })
    }
}

impl Slot {
    /// How it came out, if no further operation of its tool call starts because of that, where a failure stops the others.
    ///
    /// One that was cancelled alone does: its question was dismissed in the middle of its work. What was rejected does not: it had
    /// not begun, and somebody was asked about each of the others too.
    pub(super) fn stops_others(&self) -> Option<Status> {
        let status = self.response.as_ref()?.status;
        matches!(status, Status::Error | Status::Cancelled).then_some(status)
    }
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

/// The response of a call with operations, from theirs; `released` says which were.
fn joined(id: &Arc<str>, own: SmallVec<[Response; 1]>, released: &[bool]) -> Option<Response> {
    let count = |status| own.iter().filter(|response| response.status == status).count();
    // What is worst is what the call is: the list tells the rest.
    let worst = [Status::Error, Status::Cancelled, Status::NotRun];
    let status = worst.into_iter().find(|status| count(*status) > 0).unwrap_or(Status::Ok);
    let transient = count(Status::Error) > 0
        && own.iter().all(|own| own.status != Status::Error || own.transient);
    let is_stored = own.iter().any(|own| own.whole.is_some());
    let name = own.first()?.name.clone();
    let operations = own.into_iter().zip(released).map(|(response, released)| {
        // What never started is told apart from what was stopped.
        let status = match response.status {
            Status::Cancelled if !released => Status::NotRun,
            status => status,
        };
        (status, response)
    });
    let list = OperationList(operations.collect());
    // What is stored is read where the response is: a session reads no files.
    let content = list.text_of(|response| Cow::Borrowed(&response.content)).ok()?;
    let whole = is_stored.then(|| Stored::new(list));
    Some(Response { whole, transient, ..Response::new(id, &name, status, content) })
}

/// What the operations of a call answer, as a list that is written when it is read.
#[derive(Debug)]
struct OperationList(Vec<(Status, Response)>);

impl OperationList {
    /// Writes the list, one operation after the other.
    fn write<'a>(
        &'a self,
        out: &mut dyn io::Write,
        text: impl Fn(&'a Response) -> Cow<'a, str>,
    ) -> io::Result<()> {
        out.write_all(b"[")?;
        for (place, (status, response)) in (1..).zip(&self.0) {
            if place > 1 {
                out.write_all(b",\n")?;
            }
            let content = &*text(response);
            serde_json::to_writer(&mut *out, &Operation { place, status: *status, content })?;
        }
        out.write_all(b"]")
    }

    fn text_of<'a>(&'a self, text: impl Fn(&'a Response) -> Cow<'a, str>) -> io::Result<String> {
        let mut list = Vec::new();
        self.write(&mut list, text)?;
        String::from_utf8(list).map_err(io::Error::other)
    }
}

// What can't be read of one operation does not hide the others.
impl StoredText for OperationList {
    fn text(&self) -> io::Result<String> {
        self.text_of(Response::text_or_beginning)
    }

    fn write_to(&self, out: &mut dyn io::Write) -> io::Result<()> {
        self.write(out, Response::text_or_beginning)
    }
}
