use jp_policy_core::outcome::AnswerType;
use serde_json::json;

use super::*;

fn exit(success: bool, stdout: &[u8], stderr: &str) -> Exit {
    let captured = |bytes: &[u8]| Captured::whole(bytes);
    let status = if success { "exit status: 0" } else { "exit status: 3" };
    Exit {
        success,
        status: status.to_owned(),
        stdout: captured(stdout),
        stderr: captured(stderr.as_bytes()),
        stopped: false,
    }
}

fn read(success: bool, stdout: impl AsRef<[u8]>, stderr: &str) -> Outcome {
    read_outcome("t", &exit(success, stdout.as_ref(), stderr))
}

fn error(message: &str, trace: &[&str]) -> Outcome {
    Outcome::Error {
        message: message.to_owned(),
        trace: trace.iter().map(ToString::to_string).collect(),
        transient: false,
    }
}

#[test]
fn an_outcome_counts_whatever_the_exit_status() {
    let done = json!({ "type": "success", "content": "done" }).to_string();
    assert_eq!(read(true, &done, ""), Outcome::Success { content: "done".into() });
    assert_eq!(read(false, &done, "noise"), Outcome::Success { content: "done".into() });
    let failed = json!({ "type": "error", "message": "no", "trace": ["why"], "transient": true })
        .to_string();
    assert_eq!(
        read(true, &failed, ""),
        Outcome::Error { message: "no".into(), trace: vec!["why".into()], transient: true }
    );
}

#[test]
fn plain_text_is_the_result_of_a_process_that_succeeded() {
    assert_eq!(read(true, "a\nb\n", "noise"), Outcome::Success { content: "a\nb\n".into() });
    assert_eq!(read(true, "{\"a\": 1}", ""), Outcome::Success { content: "{\"a\": 1}".into() });
    assert_eq!(read(true, "", ""), Outcome::Success { content: String::new() });
}

#[test]
fn a_failure_without_an_outcome_says_what_stands_in_stderr() {
    assert_eq!(
        read(false, "half\n", "no such file\n"),
        error("tool `t` failed: exit status: 3", &["no such file", "standard output: half"])
    );
    assert_eq!(read(false, "", ""), error("tool `t` failed: exit status: 3", &[]));
}

#[test]
fn a_question_is_read_in_jps_form() {
    let question = json!({
        "type": "needs_input",
        "question": {
            "id": "color", "text": "Which?", "pre_amble": null,
            "answer_type": { "Select": { "options": ["red", "blue"] } }, "default": "red",
        },
    });
    let Outcome::NeedsInput { question } = read(true, question.to_string(), "") else {
        panic!("a question")
    };
    assert_eq!(
        question.answer_type,
        AnswerType::Select { options: vec!["red".into(), "blue".into()] }
    );
    assert_eq!(question.default, Some(json!("red")));
}

#[test]
fn output_that_is_no_text_is_an_error_that_names_the_byte() {
    assert_eq!(
        read(true, b"ab\xff\xfe", ""),
        error(
            "tool `t` wrote output that is not UTF-8 (byte 2 of 4)",
            &["it begins: ab\u{fffd}\u{fffd}"]
        )
    );
}

#[test]
fn output_over_the_bound_is_an_error_that_says_how_much() {
    let mut exit = exit(true, b"abc", "");
    exit.stdout.total = 50_000_000;
    assert_eq!(
        read_outcome("t", &exit),
        error(
            "tool `t` wrote 47.7 MiB to its standard output, over the limit of 3 B",
            &["it begins: abc"]
        )
    );
}
