use std::{collections::BTreeMap, time::Duration};

use jp_policy_guest::{Batch, Decision, Error, Key, Policy as Sdk, Problem, Tool};
use serde_json::{Value as Json, json};

use super::*;
use crate::{
    catalog::Terms,
    outcome::{AnswerType, Outcome, Question},
    policy::Native,
    prompt::{Answer, Approval, Prompt, Reply, Review},
    run_end::RunEnd,
    terms::{OnError, ResultMode, RunMode},
};

/// Tools on terms that a test says: one without a key, and one with a key of limit 1.
#[derive(Clone, Default)]
struct Tools {
    run: RunMode,
    result: ResultMode,
    fan_out: Option<OnError>,
    answers: BTreeMap<String, Json>,
}

impl Catalog for Tools {
    fn terms(&self, call: &Request) -> Option<Terms<'_>> {
        matches!(&*call.name, "free" | "keyed").then_some(Terms {
            run: self.run,
            result: self.result,
            fan_out: self.fan_out,
            answers: Some(&self.answers),
            ..Terms::default()
        })
    }
}

fn unattended() -> Tools {
    Tools { run: RunMode::Unattended, ..Tools::default() }
}

fn stopping() -> Tools {
    Tools { fan_out: Some(OnError::Stop), ..unattended() }
}

/// A session, and what came out of it.
struct Play {
    session: Session,
    now: Instant,
    runs: Vec<Run>,
    prompts: Vec<(PromptId, Prompt)>,
    responses: Vec<Response>,
    faults: Vec<String>,
    /// How executions ended, each with its number.
    ends: Vec<String>,
    /// All that is not an event, in a few words.
    log: Vec<String>,
}

impl Play {
    fn new(tools: Tools) -> Self {
        Self::with(tools, &Native::rules(), true)
    }

    fn with(tools: Tools, factory: &dyn PolicyFactory, one_prompt_at_a_time: bool) -> Self {
        let key = Key { name: "key".to_owned(), limit: 1, fields: vec![] };
        let tool = |name: &str, key| Tool { name: name.to_owned(), key };
        let settings = Settings {
            tools: vec![tool("free", None), tool("keyed", Some(0))],
            keys: vec![key],
            options: vec![],
        };
        let session = Session::new(Setup {
            settings: &settings,
            factory,
            options: Options::default(),
            carried: Carried::default(),
            catalog: Arc::new(tools),
            one_prompt_at_a_time,
        });
        Self {
            session: session.expect("the policy takes the settings"),
            now: 0,
            runs: vec![],
            prompts: vec![],
            responses: vec![],
            faults: vec![],
            ends: vec![],
            log: vec![],
        }
    }

    /// Tells the session something, and does nothing yet of what it says.
    fn tell(&mut self, input: Input) {
        self.now += 1;
        self.session.handle(self.now, input);
    }

    /// Does what the session says until it says nothing.
    fn settle(&mut self) {
        loop {
            while let Some(action) = self.session.poll_action(self.now) {
                match action {
                    Action::Event(Event { kind: EventKind::Fault(fault), .. }) => {
                        self.faults.push(fault.to_string());
                    }
                    Action::Event(Event { kind: EventKind::Ended(_, execution, end), .. }) => {
                        self.ends.push(format!("{} {end:?}", execution.number()));
                    }
                    Action::Event(_) => {}
                    Action::Run(run) => {
                        self.log.push(format!("run {}", run.call));
                        self.runs.push(*run);
                    }
                    Action::Stop(execution) => {
                        self.log.push(format!("stop {}", execution.number()));
                    }
                    Action::Answer { number, answer, .. } => {
                        self.log.push(format!("answer {number} {answer:?}"));
                    }
                    Action::Prompt { id, prompt } => {
                        self.log.push(format!("prompt {}", id.0));
                        self.prompts.push((id, *prompt));
                    }
                    Action::ClosePrompt(id) => self.log.push(format!("close {}", id.0)),
                    Action::Respond(place) => {
                        let handover = self.session.hand_over(place).expect("it is over");
                        assert!(self.session.hand_over(place).is_none(), "it is taken out once");
                        self.log.push(format!("respond {place}"));
                        self.responses.push(handover.response);
                    }
                }
            }
            match self.session.poll_question(self.now) {
                Some(question) => self.session.handle(self.now, Input::Decided(question.ask())),
                None if !self.session.0.scheduler.has_events() => return,
                // After a fault the default rules decide without a question.
                None => {}
            }
        }
    }

    /// A person replies to the prompt at this place among those that came up.
    fn reply(&mut self, place: usize, reply: Reply) {
        self.then(Input::Replied { prompt: self.prompts[place].0, reply });
    }

    fn then(&mut self, input: Input) {
        self.tell(input);
        self.settle();
    }

    fn submit(&mut self, calls: &[(&str, Json)]) {
        let calls = calls.iter().enumerate().map(|(n, (tool, arguments))| Submission {
            ticket: Some(n as u64),
            ..request(&format!("c{n}"), tool, arguments).into()
        });
        self.then(Input::Submit(calls.collect()));
    }

    /// The execution that runs the call.
    fn execution(&self, call: CallId) -> ExecutionId {
        let run = self.runs.iter().rfind(|run| run.call == call);
        run.expect("it was run").execution
    }

    fn end(&self, call: CallId, end: impl Into<RunEnd>) -> Input {
        Input::Ran { execution: self.execution(call), end: end.into() }
    }

    /// What was answered, each `id status: content`.
    fn answers(&self) -> Vec<String> {
        let line = |response: &Response| {
            format!("{} {:?}: {}", response.id, response.status, response.content)
        };
        self.responses.iter().map(line).collect()
    }
}

fn request(id: &str, tool: &str, arguments: &Json) -> Request {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    Request { id: id.into(), name: tool.into(), arguments: Ok(arguments.into()) }
}

fn success(content: &str) -> Outcome {
    Outcome::Success { content: content.to_owned() }
}

fn question(id: &str) -> Question {
    Question {
        id: id.to_owned(),
        text: "which?".to_owned(),
        pre_amble: None,
        answer_type: AnswerType::Text,
        default: None,
    }
}

fn three_operations() -> (&'static str, Json) {
    ("keyed", json!({ "operations": [{ "n": 1 }, { "n": 2 }, { "n": 3 }] }))
}

/// Whatever ends as a failure shuts the gate: an error, a timeout, what the tool's own task did not survive.
#[test]
fn every_failure_stops_the_operations_behind_it() {
    let timeout = RunEnd::TimedOut { after: Duration::from_secs(2) };
    let ends = [RunEnd::from(Outcome::error("no")), timeout];
    for (end, first) in ends.into_iter().zip(["no", "tool `keyed` did not end within 2s"]) {
        let mut play = Play::new(stopping());
        play.submit(&[three_operations()]);
        play.then(play.end(0, end));
        assert_eq!(play.log, ["run 0", "respond 0"]);
        let rest = r#""status":"not-run","content":"not run: another operation of this call failed, and `fan_out.on_error` is \"stop\"""#;
        assert_eq!(
            play.answers(),
            [format!(
                "c0 Error: [{{\"operation\":1,\"status\":\"error\",\"content\":\"{first}\"}},\n{{\"operation\":2,{rest}}},\n{{\"operation\":3,{rest}}}]"
            )]
        );
        assert!(play.session.is_over());
    }
}

/// A gate that was shut where the operation ran, before the session could know.
#[test]
fn an_operation_that_found_its_gate_shut_is_not_run() {
    let mut play = Play::new(stopping());
    play.submit(&[three_operations()]);
    play.then(play.end(0, success("one")));
    let gate = play.runs[1].gate.clone().expect("it stops on errors");
    gate.report(&Outcome::error("elsewhere").into());
    play.then(play.end(1, RunEnd::Gated));
    assert_eq!(play.log, ["run 0", "run 1", "respond 0"]);
    assert!(play.answers()[0].contains(r#"{"operation":1,"status":"ok","content":"one"}"#));
    assert!(play.answers()[0].contains(r#"{"operation":3,"status":"not-run""#));
}

/// A failure from before the program was started stops the operations behind it.
#[test]
fn a_recorded_failure_shuts_the_gate() {
    let mut play = Play::new(stopping());
    let (tool, arguments) = three_operations();
    let request = request("c0", tool, &arguments);
    let failed = Response::new(&"c0.1".into(), &"keyed".into(), Status::Error, "no");
    let responses = vec![Some(failed), None, None];
    play.then(Input::Submit(vec![Submission { responses, ..request.into() }]));
    assert_eq!(play.log, ["respond 0"], "nothing runs");
    assert!(play.answers()[0].contains(r#"{"operation":2,"status":"not-run""#));
}

/// Asks by ending.
fn asks() -> Outcome {
    Outcome::NeedsInput { question: question("q") }
}

/// A question that a person does not want to answer cancels its call; one that nobody was there for is a failure.
#[test]
fn a_dismissed_question_cancels_its_call_and_an_unanswered_one_fails() {
    let mut play = Play::new(unattended());
    play.submit(&[("free", json!({})), ("free", json!({}))]);
    for (call, answer) in [(0, Answer::Dismissed), (1, Answer::Unanswered)] {
        play.then(play.end(call, asks()));
        let prompt = play.prompts.last().expect("somebody is asked").0;
        play.then(Input::Replied { prompt, reply: Reply::Answer(answer) });
    }
    assert_eq!(
        play.answers(),
        [
            "c0 Cancelled: cancelled",
            "c1 Error: tool `free` asks \"which?\" and nobody answered; set `questions.q.answer` to answer it without a person"
        ]
    );
    assert_eq!(play.ends, ["0 Stopped", "1 Failed"]);
    assert!(play.session.is_over());
}

/// A run that goes on hears that there is no answer, whoever gave none, and what it makes of that is its call's response.
#[test]
fn a_run_that_goes_on_makes_of_a_dismissed_question_what_it_likes() {
    let mut play = Play::new(unattended());
    play.submit(&[("free", json!({}))]);
    let execution = play.execution(0);
    play.then(Input::Asks { execution, number: 0, question: question("q") });
    play.reply(0, Reply::Answer(Answer::Dismissed));
    assert_eq!(play.log[1..], ["prompt 0", "answer 0 None"]);
    play.then(play.end(0, success("without it")));
    assert_eq!(play.answers(), ["c0 Ok: without it"]);
}

const NOT_RUN_AFTER_A_CANCEL: &str = r#""status":"not-run","content":"not run: another operation of this call was cancelled, and `fan_out.on_error` is \"stop\"""#;

/// What stands behind an operation may build on it, and this one was left in the middle of its work.
#[test]
fn a_dismissed_question_stops_the_operations_behind_it() {
    let mut play = Play::new(stopping());
    play.submit(&[three_operations()]);
    play.then(play.end(0, asks()));
    play.reply(0, Reply::Answer(Answer::Dismissed));
    assert_eq!(play.log, ["run 0", "prompt 0", "respond 0"]);
    let rest = NOT_RUN_AFTER_A_CANCEL;
    assert_eq!(
        play.answers(),
        [format!(
            "c0 Cancelled: [{{\"operation\":1,\"status\":\"cancelled\",\"content\":\"cancelled\"}},\n{{\"operation\":2,{rest}}},\n{{\"operation\":3,{rest}}}]"
        )]
    );
    // Where no failure stops the others, this does not either.
    let mut play = Play::new(Tools { fan_out: Some(OnError::Continue), ..unattended() });
    play.submit(&[three_operations()]);
    play.then(play.end(0, asks()));
    play.reply(0, Reply::Answer(Answer::Dismissed));
    assert_eq!(play.log, ["run 0", "prompt 0", "run 1"]);
}

/// The same after a restart, and when the batch is gone on with after the program was killed.
#[test]
fn a_dismissed_question_stops_the_operations_behind_it_for_good() {
    let mut play = Play::new(stopping());
    play.submit(&[three_operations()]);
    play.then(play.end(0, asks()));
    let reply = Reply::Answer(Answer::Dismissed);
    play.tell(Input::Replied { prompt: play.prompts[0].0, reply });
    play.then(Input::Restart);
    assert_eq!(play.log, ["run 0", "prompt 0", "respond 0"]);

    let mut resumed = Play::new(stopping());
    let (tool, arguments) = three_operations();
    let request = request("c0", tool, &arguments);
    let cancelled = Response::new(&"c0.1".into(), &"keyed".into(), Status::Cancelled, "cancelled");
    let responses = vec![Some(cancelled), None, None];
    resumed.then(Input::Submit(vec![Submission { responses, ..request.into() }]));
    assert_eq!(resumed.log, ["respond 0"], "nothing runs");
    assert_eq!(resumed.answers(), play.answers());
    let not_run = play.answers()[0].matches(NOT_RUN_AFTER_A_CANCEL).count();
    assert_eq!(not_run, 2, "{:?}", play.answers());
}

/// What has ended keeps its real result, although the session is told to restart before it has said so.
#[test]
fn a_restart_does_not_undo_a_failure_that_came_before_it() {
    let mut play = Play::new(stopping());
    play.submit(&[three_operations()]);
    play.tell(play.end(0, Outcome::error("the real error")));
    play.then(Input::Restart);
    assert_eq!(play.log, ["run 0", "respond 0"], "it is not run twice");
    assert!(
        play.answers()[0]
            .contains(r#"{"operation":1,"status":"error","content":"the real error"}"#)
    );
    assert!(play.answers()[0].contains(r#"{"operation":2,"status":"not-run""#));
}

/// What was stopped for a restart and fails then does not stop the operations of the next try.
#[test]
fn a_failure_from_before_a_restart_is_nobodys() {
    let mut play = Play::new(stopping());
    play.submit(&[three_operations()]);
    let old = play.runs[0].clone();
    play.then(Input::Restart);
    let failure = RunEnd::from(Outcome::error("cut off"));
    old.gate.expect("it stops on errors").report(&failure);
    play.then(Input::Ran { execution: old.execution, end: failure });
    for call in 0..3 {
        play.then(play.end(call, success("done")));
    }
    assert_eq!(play.log, ["run 0", "stop 0", "run 0", "run 1", "run 2", "respond 0"]);
    assert_eq!(play.responses[0].status, Status::Ok);
}

/// A cancel that comes before the session has said that a call ended leaves no prompt behind.
#[test]
fn a_cancel_delivers_what_is_under_review() {
    let mut play = Play::new(Tools { result: ResultMode::Ask, ..unattended() });
    play.submit(&[("free", json!({})), ("free", json!({}))]);
    play.then(play.end(0, success("reviewed")));
    assert!(
        matches!(&play.prompts[0].1, Prompt::Review { response, .. } if response.content == "reviewed")
    );
    play.tell(play.end(1, success("not yet")));
    play.then(Input::Cancel(Some("stop".to_owned())));
    assert_eq!(play.answers(), ["c0 Ok: reviewed", "c1 Ok: not yet"]);
    assert!(play.session.is_over());
    // A reply that comes late does nothing.
    play.reply(0, Reply::Review(Review::Withhold));
    assert_eq!(play.responses.len(), 2);
}

/// One prompt is open at a time; one that nobody needs any more makes room for the next.
#[test]
fn prompts_come_one_at_a_time_and_go_with_their_calls() {
    let mut play = Play::new(Tools::default());
    play.submit(&[("free", json!({})), ("free", json!({})), ("free", json!({}))]);
    assert_eq!(play.log, ["prompt 0"]);
    play.then(Input::Withdraw(0));
    assert_eq!(play.log[1..], ["close 0", "respond 0", "prompt 1"]);
    // One in the queue goes without anybody having seen it.
    play.then(Input::Withdraw(2));
    play.reply(1, Reply::Approval(Approval::Reject("no".to_owned())));
    assert_eq!(play.log[4..], ["respond 2", "respond 1"]);
    assert_eq!(
        play.answers(),
        ["c0 Cancelled: cancelled", "c2 Cancelled: cancelled", "c1 NotRun: no"]
    );
    assert!(play.session.is_over());
}

/// A second question of the same run dismisses the first, and the first one's late withdrawal does not touch the second.
#[test]
fn a_second_question_dismisses_the_first() {
    let mut play = Play::new(unattended());
    play.submit(&[("keyed", json!({}))]);
    let execution = play.execution(0);
    let asks = |number| Input::Asks { execution, number, question: question("q") };
    play.then(asks(0));
    play.then(asks(1));
    play.then(Input::Withdraws { execution, number: 0 });
    assert_eq!(play.log[1..], ["prompt 0", "answer 0 None", "close 0", "prompt 1"]);
    play.reply(1, Reply::Answer(Answer::Given(json!("red"))));
    assert_eq!(play.log[5..], [r#"answer 1 Some(String("red"))"#]);
    play.then(asks(2));
    play.then(Input::Withdraws { execution, number: 2 });
    assert_eq!(play.log[6..], ["prompt 2", "close 2"]);
    play.then(play.end(0, success("done")));
    assert_eq!(play.answers(), ["c0 Ok: done"]);
}

/// A call that asks by ending is run again with the answer, in the slot that it has, until it has asked too often.
#[test]
fn a_call_that_asks_and_ends_is_run_again() {
    let mut play = Play::new(unattended());
    play.submit(&[("keyed", json!({})), ("keyed", json!({}))]);
    for n in 0..runs::MAX_QUESTIONS {
        let question = question(&format!("q{n}"));
        play.then(play.end(0, Outcome::NeedsInput { question }));
        play.reply(n as usize, Reply::Answer(Answer::Given(json!(n))));
        assert_eq!(
            play.runs.last().map(|run| (run.first, u32::try_from(run.answers.len()).ok())),
            Some((false, Some(n + 1)))
        );
    }
    play.then(play.end(0, Outcome::NeedsInput { question: question("again") }));
    assert_eq!(play.answers(), ["c0 Error: tool `keyed` asked 100 times; it is not run again"]);
    assert_eq!(play.log.last().map(String::as_str), Some("run 1"), "its slot is free");
}

/// One that is asked to stop while a person is asked is cancelled at once, if nothing of it runs; else when that is gone.
#[test]
fn a_question_is_withdrawn_when_its_call_is_stopped() {
    let mut play = Play::with(unattended(), &Native::rules(), false);
    play.submit(&[("free", json!({})), ("free", json!({}))]);
    play.then(play.end(0, Outcome::NeedsInput { question: question("q") }));
    let execution = play.execution(1);
    play.then(Input::Asks { execution, number: 0, question: question("q") });
    play.then(Input::Cancel(None));
    let after = [
        "run 0",
        "run 1",
        "prompt 0",
        "prompt 1",
        "answer 0 None",
        "stop 1",
        "close 0",
        "close 1",
        "respond 0",
    ];
    assert_eq!(play.log, after);
    // It ends with a question of its own, which nobody is asked any more.
    play.then(play.end(1, Outcome::NeedsInput { question: question("q") }));
    assert_eq!(play.answers(), ["c0 Cancelled: cancelled", "c1 Cancelled: cancelled"]);
}

/// What a call was is let go when it is handed over; what is told of it after that does nothing.
#[test]
fn a_session_lets_go_of_what_it_hands_over() {
    let mut play = Play::new(unattended());
    play.submit(&[("free", json!({ "n": 1 })), ("free", json!({}))]);
    let end = || RunEnd::from(success("one"));
    play.then(play.end(0, end()));
    assert_eq!(play.session.request(0), None);
    assert_eq!(play.session.response(0), None);
    assert_eq!(play.session.describe(0).map(|call| call.label), Some("free 1".into()));
    assert!(play.session.request(1).is_some());
    play.then(play.end(0, end()));
    play.then(Input::Withdraw(0));
    assert_eq!(play.answers(), ["c0 Ok: one"]);
}

/// Edited arguments that do not fit are asked again; those that fit are what runs and what the call is called.
#[test]
fn edited_arguments_are_checked() {
    #[derive(Clone)]
    struct Strict;
    impl Catalog for Strict {
        fn terms(&self, _: &Request) -> Option<Terms<'_>> {
            Some(Terms { run: RunMode::Edit, ..Terms::default() })
        }

        fn check_arguments<'a>(
            &self,
            _: &Request,
            arguments: &'a serde_json::Map<String, Json>,
        ) -> Result<std::borrow::Cow<'a, serde_json::Map<String, Json>>, String> {
            if arguments.contains_key("bad") {
                return Err("`bad` is unknown".to_owned());
            }
            Ok(std::borrow::Cow::Borrowed(arguments))
        }
    }
    let mut play = Play::new(Tools::default());
    play.session.0.catalog = Arc::new(Strict);
    play.submit(&[("free", json!({ "n": 1 }))]);
    for arguments in [json!({ "bad": 1 }), json!({ "n": 2 })] {
        let prompt = play.prompts.last().expect("somebody is asked").0;
        let edited = arguments.as_object().cloned();
        play.then(Input::Replied { prompt, reply: Reply::Approval(Approval::Run(edited)) });
    }
    assert!(matches!(
        &play.prompts[1].1,
        Prompt::Approve { edit: true, problem: Some(problem), .. } if problem == "`bad` is unknown"
    ));
    assert_eq!(play.runs[0].arguments.get("n"), Some(&json!(2)));
    assert_eq!(play.session.describe(0).map(|call| call.label), Some("free 2".into()));
}

/// A policy that is compiled into the host and panics is at fault like one that traps.
#[test]
fn a_native_policy_that_panics_is_at_fault() {
    struct Panics;
    impl Sdk for Panics {
        const NAME: &'static str = "panics";
        fn configure(_: Settings) -> Result<Self, Vec<Problem>> {
            Ok(Self)
        }
        fn release(&self, batch: &Batch) -> Result<Decision, Error> {
            panic!("{} calls are too many", batch.calls.len())
        }
    }
    let mut play = Play::with(unattended(), &Native::<Panics>::new(), true);
    let calls = vec![request("a", "free", &json!({})).into()];
    play.then(Input::Submit(calls));
    assert_eq!(play.faults, ["policy \"panics\" trapped: panicked: 1 calls are too many"]);
    assert_eq!(play.runs.len(), 1, "the default rules take over");
}

/// Settings that do not hold together are refused, with all that is wrong with them.
#[test]
fn settings_that_do_not_hold_together_are_refused() {
    let key = |limit| Key { name: "k".to_owned(), limit, fields: vec![] };
    let settings = Settings {
        tools: vec![Tool { name: "t".to_owned(), key: Some(7) }],
        keys: vec![key(1), key(0)],
        options: vec![],
    };
    let session = Session::new(Setup {
        settings: &settings,
        factory: &Native::rules(),
        options: Options::default(),
        carried: Carried::default(),
        catalog: Arc::new(Tools::default()),
        one_prompt_at_a_time: true,
    });
    let refusal = session.err().map(|refusal| refusal.to_string());
    assert_eq!(
        refusal.as_deref(),
        Some(
            "it refuses the configuration: tool \"t\" has the key with index 7, and there are 2 keys; there are two keys \"k\"; \
             key \"k\" has limit 0; what has no limit has no key"
        )
    );
}
