use std::{io, path::Path};

use jp_policy_guest::{Key, Settings, Tool};

use super::*;
use crate::description::CallDescription;
use crate::{
    batch::{Carried, End},
    policy::{Arguments, Native, PolicyFactory as _},
    record::{About, CallRecord, Conclusion, Header, RecordFile, Writer},
    scheduler::{Options, Scheduler},
    terms::OnError,
};

/// Tools `edit` (key `disk`, limit 1) and `read` (no key), of which the second fans out.
fn settings() -> Settings {
    Settings {
        tools: vec![
            Tool { name: "edit".into(), key: Some(0) },
            Tool { name: "read".into(), key: None },
        ],
        keys: vec![Key { name: "disk".into(), limit: 1, fields: vec![] }],
        options: vec![],
    }
}

fn header(arguments: bool) -> Header {
    let fan_out = |tool: &str| (tool == "read").then_some(OnError::Continue);
    let time = std::time::SystemTime::UNIX_EPOCH;
    let rules = Native::rules();
    Header::new(settings(), Options::default(), fan_out, rules.identity(), time, arguments)
}

fn object(json: Json) -> Map<String, Json> {
    match json {
        Json::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

/// Two calls of one key and a stranger, the first cancelled while it runs; written and kept as they happen.
fn lived(out: &mut Vec<u8>, arguments: bool) -> Record {
    let settings = settings();
    let rules = Native::rules();
    let policy = rules.instantiate(&settings, Arguments::default()).expect("it takes them");
    let identity = rules.identity().clone();
    let mut scheduler =
        Scheduler::new(&settings, identity, policy, Options::default(), Carried::default());
    let mut writer = Writer::new(out, &header(arguments)).expect("it can be written");
    let mut record = Record::new(&settings);
    let given = object(serde_json::json!({ "path": "a" }));
    let edited = object(serde_json::json!({ "path": "b" }));
    let tools = [("c1", "edit", Some(0)), ("c2", "edit", Some(0)), ("c3", "nope", None)];
    for (parent, (_, tool, _)) in (0..).zip(tools) {
        let place = if tool == "edit" { 0 } else { u32::MAX };
        scheduler.submit(5, place, parent);
    }
    let describe = |call: CallId| {
        let (_, tool, key) = tools[call as usize];
        let place = if tool == "edit" { 0 } else { u32::MAX };
        Some(CallDescription { label: tool.into(), tool: place, key, parent: call })
    };
    let mut drain = |scheduler: &mut Scheduler| {
        while let Some(event) = scheduler.poll_event() {
            record.observe(&event, describe);
            let now = if event.at < 6 { &given } else { &edited };
            let about = |call: CallId| About {
                id: tools[call as usize].0,
                tool: tools[call as usize].1,
                parent: call,
                of: (call == 1).then_some("c1"),
                arguments: Some(if call == 2 { Err("no object") } else { Ok(now) }),
                response: Some(serde_json::json!({ "content": "done" })),
            };
            writer.event(&event, about).expect("it can be written");
        }
    };
    drain(&mut scheduler);
    scheduler.settle(5, 2);
    scheduler.approve(5, 0);
    scheduler.approve(6, 1);
    let question = scheduler.poll_question(7).expect("two are parked");
    scheduler.answer(7, question.ask());
    drain(&mut scheduler);
    live_on(&mut scheduler, &mut drain);
    writer.reason(20, 1, "so it is").expect("it can be written");
    writer.reason(21, 1, "so it is").expect("it can be written");
    writer.over().expect("it can be written");
    record
}

/// A question of the first call, and a cancel.
fn live_on(scheduler: &mut Scheduler, drain: &mut impl FnMut(&mut Scheduler)) {
    let Some(crate::batch::Stage::Running { execution, .. }) =
        scheduler.batch().get(0).map(|call| call.stage)
    else {
        panic!("the first call runs");
    };
    scheduler.set_asking(10, execution, true);
    scheduler.set_asking(12, execution, false);
    scheduler.cancel(15);
    scheduler.end(18, execution, End::Stopped);
    scheduler.respond(18, 0);
    drain(scheduler);
}

fn parse(text: &[u8]) -> Result<RecordFile, String> {
    RecordFile::parse(Path::new("r.jsonl"), text).map_err(|error| error.to_string())
}

fn shown(calls: &[CallRecord]) -> String {
    format!("{calls:#?}")
}

#[test]
fn what_is_written_reads_as_the_same() {
    let mut text = Vec::new();
    let record = lived(&mut text, false);
    let file = parse(&text).expect("it can be read");
    assert_eq!(file.header, header(false));
    assert_eq!(shown(&file.record.calls), shown(&record.calls));
    assert_eq!(file.record.cancelled, Some(15));
    assert_eq!(
        (file.record.until, file.record.decisions, &file.record.peaks),
        (record.until, record.decisions, &record.peaks)
    );
    assert_eq!(file.conclusion, Conclusion::Over);
    let reason = RecordedReason { at: 20, call: 1, reason: "so it is".to_owned() };
    assert_eq!(file.reasons, [reason], "the same reason is not written twice");
}

#[test]
fn a_record_as_it_is_written() {
    let mut text = Vec::new();
    lived(&mut text, false);
    insta::assert_snapshot!(String::from_utf8(text).expect("it is text"), @r###"
    {"format":"jp-policy.record","version":1,"time":"1970-01-01T00:00:00Z","policy":{"name":"default"},"guard":"limit","on_fault":"default","tools":[{"name":"edit","key":0},{"name":"read","fan_out":"continue"}],"keys":[{"name":"disk","limit":1}],"options":{},"arguments":false}
    {"at":5,"event":"submitted","call":0,"id":"c1","tool":"edit","parent":0}
    {"at":5,"event":"submitted","call":1,"id":"c2","tool":"edit","parent":1,"of":"c1"}
    {"at":5,"event":"submitted","call":2,"id":"c3","tool":"nope","parent":2}
    {"at":5,"event":"settled","call":2,"how":"not-run"}
    {"at":5,"event":"parked","call":0}
    {"at":6,"event":"parked","call":1}
    {"at":7,"event":"decided","shown":1,"released":[0],"wake_at":null}
    {"at":7,"event":"released","call":0,"execution":0}
    {"at":10,"event":"asked","call":0}
    {"at":12,"event":"answered","call":0}
    {"at":15,"event":"cancelled"}
    {"at":15,"event":"stop","execution":0}
    {"at":15,"event":"settled","call":1,"how":"cancelled"}
    {"at":18,"event":"ended","call":0,"execution":0,"how":"stopped"}
    {"at":18,"event":"settled","call":0,"how":"responded"}
    {"at":20,"event":"reason","call":1,"reason":"so it is"}
    {"at":20,"event":"over"}
    "###);
}

#[test]
fn arguments_and_responses_are_written_only_where_they_are_asked_for() {
    let mut text = Vec::new();
    lived(&mut text, true);
    let file = parse(&text).expect("it can be read");
    let call = |id: &str, tool: &str, path: Option<&str>, invalid: Option<&str>| RecordedCall {
        id: id.to_owned(),
        of: (id == "c2").then(|| "c1".to_owned()),
        tool: tool.to_owned(),
        arguments: path.map(|path| object(serde_json::json!({ "path": path }))),
        invalid: invalid.map(str::to_owned),
        response: Some(serde_json::json!({ "content": "done" })),
    };
    let expected = [
        call("c1", "edit", Some("a"), None),
        call("c2", "edit", Some("b"), None),
        call("c3", "nope", None, Some("no object")),
    ];
    assert_eq!(file.calls, expected, "the second was edited when it was approved");
    assert_eq!(file.arguments(), [r#"{"path":"a"}"#, r#"{"path":"b"}"#, "{}"]);
    assert_eq!(&*file.record.calls[0].label, "edit a");
    let mut text = Vec::new();
    lived(&mut text, false);
    let text = String::from_utf8(text).expect("it is text");
    assert!(!text.contains("path") && !text.contains("done") && !text.contains("no object"));
}

/// Wherever the program is killed, the record is read up to the line before.
#[test]
fn a_record_that_is_cut_anywhere_can_be_read() {
    let mut text = Vec::new();
    lived(&mut text, true);
    let first = text.iter().position(|byte| *byte == b'\n').expect("there are lines");
    for cut in 0..first {
        let error = parse(&text[..cut]).expect_err("its header is torn");
        let why = if cut == 0 { "it has no first line" } else { "its first line is torn" };
        let advice = "`jp-policy run --record FILE` writes one";
        assert_eq!(error, format!("`r.jsonl` is no record: {why}; {advice}"));
    }
    for cut in first..text.len() - 1 {
        let file = parse(&text[..cut]).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        let torn = text[cut - 1] != b'\n' && text[cut] != b'\n';
        assert_eq!(file.conclusion, Conclusion::CutOff { torn }, "cut at {cut}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let mut text = Vec::new();
    lived(&mut text, false);
    let text = String::from_utf8(text).expect("it is text");
    let lines: Vec<&str> = text.lines().collect();
    let with = |line: usize, is: &str| {
        let mut lines = lines.clone();
        lines[line - 1] = is;
        parse((lines.join("\n") + "\n").as_bytes()).expect_err("it is wrong")
    };
    let header = lines[0];
    let errors = [
        with(1, "{}"),
        with(1, "[conversation.tools.a]"),
        with(1, &header.replace("\"version\":1", "\"version\":2")),
        with(1, &header.replace("\"key\":0", "\"key\":7")),
        with(1, &header.replace("\"guard\"", "\"gaurd\"")),
        with(3, "{\"at\":5,\"event\":\"submitted\",\"call\""),
        with(3, "\u{1b}[31m"),
        with(3, lines[3]),
        with(5, "{\"at\":5,\"event\":\"parked\",\"call\":3}"),
        with(5, "{\"at\":4,\"event\":\"parked\",\"call\":0}"),
        with(5, "{\"at\":5,\"event\":\"flew\",\"call\":0}"),
        with(5, "{\"at\":-1,\"event\":\"parked\",\"call\":0}"),
        with(5, "{\"event\":\"parked\",\"call\":0}"),
        with(5, "{\"at\":5,\"event\":\"over\"}"),
        parse(b"\xff\xfe\n").expect_err("it is wrong"),
    ];
    insta::assert_snapshot!(errors.join("\n"), @r###"
    `r.jsonl` is no record: its first line does not have "format": "jp-policy.record"; `jp-policy run --record FILE` writes one
    `r.jsonl` is no record: its first line is not JSON: expected value; `jp-policy run --record FILE` writes one
    record `r.jsonl` has version 2, and only version 1 can be read
    record `r.jsonl`, line 1: tool "edit" has key 7, which is not among the keys
    record `r.jsonl`, line 1: missing field `guard`
    record `r.jsonl`, line 3: EOF while parsing an object
    record `r.jsonl`, line 3: expected value
    record `r.jsonl`, line 3: call 2 is submitted where call 1 is the next
    record `r.jsonl`, line 5: call 3 is not among the 3 that were submitted
    record `r.jsonl`, line 5: it is of 4 ns, and the line before it of 5 ns
    record `r.jsonl`, line 5: unknown variant `flew`, expected one of `submitted`, `parked`, `decided`, `released`, `asked`, `answered`, `stop`, `ended`, `settled`, `restarted`, `cancelled`, `fault`, `reason`, `over`
    record `r.jsonl`, line 5: invalid value: integer `-1`, expected u64
    record `r.jsonl`, line 5: missing field `at`
    record `r.jsonl`, line 6: the batch was over before it
    `r.jsonl` is no record: its first line is not JSON: expected value; `jp-policy run --record FILE` writes one
    "###);
    let file = parse((text.replace("\"call\":1", "\"new\":[1],\"call\":1")).as_bytes());
    assert!(file.is_ok(), "what a later program adds to a line is none of our business: {file:?}");
}

/// Takes so many bytes and is full then.
struct Full(usize);

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_failure_to_write_is_told_once() {
    let event = Event { at: 1, kind: EventKind::Cancelled };
    let told = |writer: &mut Writer<Full>| {
        writer.event(&event, |_| About::default()).err().map(|error| error.kind())
    };
    let length = serde_json::to_vec(&header(false)).expect("it can be written").len() + 1;
    let mut writer = Writer::new(Full(length + 40), &header(false)).expect("there is room for it");
    assert_eq!(told(&mut writer), None);
    assert_eq!(told(&mut writer), Some(io::ErrorKind::StorageFull));
    assert_eq!(told(&mut writer), None);
    assert!(Writer::new(Full(length - 1), &header(false)).is_err());
}
