use std::{collections::VecDeque, sync::Mutex};

use jp_policy_runtime::tools::Answering;
use serde_json::json;

use super::*;

/// Answers one question after the other, and remembers them.
#[derive(Debug, Default)]
struct Person {
    answers: Mutex<VecDeque<Option<Json>>>,
    asked: Mutex<Vec<String>>,
}

impl Host for Person {
    fn ask(&self, question: Question) -> Answering<'_> {
        let Question { id, text, pre_amble, answer_type, default } = question;
        let about = pre_amble.map_or_else(String::new, |text| format!("{text} | "));
        let default = default.map_or_else(String::new, |value| format!(" = {value}"));
        let line = format!("{about}{id}: {text} {answer_type:?}{default}");
        self.asked.lock().expect("no test panics here").push(line);
        let answer = self.answers.lock().expect("no test panics here").pop_front();
        Box::pin(std::future::ready(answer.flatten()))
    }
}

async fn asked(schema: Json, answers: Vec<Option<Json>>) -> (Json, Vec<String>) {
    let person = Person { answers: Mutex::new(answers.into()), ..Person::default() };
    let schema = serde_json::from_value(schema).expect("it is a form");
    let result = ask(&person, "t", "About it", &schema).await;
    let asked = person.asked.into_inner().expect("no test panics here");
    (serde_json::to_value(result).expect("it is JSON"), asked)
}

#[tokio::test]
async fn every_kind_of_field_is_asked_and_read() {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "title": "Name", "description": "of the thing", "default": "x" },
            "age": { "type": "integer", "minimum": 1, "default": 7 },
            "size": { "type": "number" },
            "sure": { "type": "boolean", "default": true },
            "plain": { "type": "string", "enum": ["a", "b"] },
            "named": { "type": "string", "enum": ["a", "b"], "enumNames": ["A!", "B!"], "default": "b" },
            "titled": { "type": "string", "oneOf": [{ "const": "a", "title": "A!" }, { "const": "b", "title": "B!" }] },
            "several": { "type": "array", "items": { "type": "string", "enum": ["a", "b", "c"] }, "default": ["a", "b"] },
        },
        "required": ["name", "age", "size", "sure", "plain", "named", "titled", "several"],
    });
    let answers = [
        json!("me"),
        json!("3"),
        json!(1.5),
        json!(false),
        json!("b"),
        json!("A!"),
        json!("b"),
        json!("c, a"),
    ];
    let (result, asked) = asked(schema, answers.map(Some).to_vec()).await;
    assert_eq!(
        result,
        json!({
            "action": "accept",
            "content": {
                "name": "me", "age": 3, "size": 1.5, "sure": false, "plain": "b", "named": "a", "titled": "b",
                "several": ["c", "a"],
            },
        })
    );
    insta::assert_snapshot!(asked.join("\n"), @r#"
    About it | name: Name (of the thing) Text = "x"
    age: age Text = "7"
    size: size Text
    sure: sure Boolean = true
    plain: plain Select { options: ["a", "b"] }
    named: named Select { options: ["A!", "B!"] } = "B!"
    titled: titled Select { options: ["A!", "B!"] }
    several: several, some of: a, b, c Text = "a, b"
    "#);
}

#[tokio::test]
async fn an_optional_field_may_stay_empty_and_a_needed_one_may_not() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "string" }, "b": { "type": "integer" } },
        "required": ["b"],
    });
    let answers = vec![Some(json!(" ")), Some(json!("")), Some(json!("many")), Some(json!("2"))];
    let (result, asked) = asked(schema, answers).await;
    assert_eq!(result, json!({ "action": "accept", "content": { "b": 2 } }));
    insta::assert_snapshot!(asked.join("\n"), @r#"
    About it | a: a [optional] Text
    b: b Text
    "" does not fit: expected a whole number | b: b Text
    "many" does not fit: expected a whole number | b: b Text
    "#);
}

#[tokio::test]
async fn a_form_that_is_never_filled_in_well_is_given_up() {
    let schema = json!({
        "type": "object",
        "properties": { "c": { "type": "string", "enum": ["red", "blue"] } },
        "required": ["c"],
    });
    let (result, asked) = asked(schema, vec![Some(json!("green")); 9]).await;
    assert_eq!(result, json!({ "action": "cancel" }));
    insta::assert_snapshot!(asked.join("\n"), @r#"
    About it | c: c Select { options: ["red", "blue"] }
    About it
    "green" does not fit: expected one of red, blue | c: c Select { options: ["red", "blue"] }
    About it
    "green" does not fit: expected one of red, blue | c: c Select { options: ["red", "blue"] }
    "#);
}

#[tokio::test]
async fn a_form_without_fields_is_a_yes_or_no() {
    let schema = json!({ "type": "object", "properties": {} });
    let (result, questions) = asked(schema.clone(), vec![Some(json!(true))]).await;
    assert_eq!(result, json!({ "action": "accept", "content": {} }));
    assert_eq!(questions, ["confirm: About it Boolean"]);
    let (result, _) = asked(schema.clone(), vec![Some(json!(false))]).await;
    assert_eq!(result, json!({ "action": "decline" }));
    let (result, _) = asked(schema, vec![None]).await;
    assert_eq!(result, json!({ "action": "cancel" }));
}

#[tokio::test]
async fn nobody_there_cancels() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    let (result, asked) = asked(schema, vec![]).await;
    assert_eq!(result, json!({ "action": "cancel" }));
    assert_eq!(asked, ["About it | a: a [optional] Text"]);
}
