use serde_json::json;

use super::*;

fn line(line: &str) -> Result<Vec<String>, String> {
    let context = json!({
        "tool": { "name": "t", "arguments": { "title": "a 'b' \"c\" $d", "n": 3 }, "answers": {}, "options": {} },
        "context": { "root": "/r" },
    });
    fill(&Command::Line(line.to_owned()), &context).map_err(|error| error.to_string())
}

#[test]
fn a_value_stays_one_word_whatever_is_in_it() {
    assert_eq!(
        line("draft {{tool.arguments.title}} --n={{ tool.arguments.n }}"),
        Ok(vec!["draft".into(), "a 'b' \"c\" $d".into(), "--n=3".into()])
    );
}

#[test]
fn a_template_with_blanks_and_quotes_is_one_piece() {
    assert_eq!(
        line("run {{tool.arguments.mmm | default('')}} \"x {{tool.name}}\""),
        Ok(vec!["run".into(), String::new(), "x t".into()])
    );
}

#[test]
fn tables_are_json_and_what_is_missing_is_null() {
    assert_eq!(
        line("run {{context}} {{tool.arguments.mmm}}"),
        Ok(vec!["run".into(), "{\"root\":\"/r\"}".into(), "null".into()])
    );
}

#[test]
fn what_can_not_be_filled_in_is_said() {
    assert_eq!(line("run 'x"), Err("the command has unbalanced quotes: run 'x".into()));
    assert_eq!(line(""), Err("the command is empty".into()));
    let error = line("run {{tool.}}").expect_err("no template");
    assert!(error.starts_with("the template \"{{tool.}}\" can't be filled in: "), "{error}");
}

#[test]
fn a_shell_line_gets_its_arguments_quoted() {
    let command = Command::Parts {
        program: "echo hi | tee".into(),
        args: vec!["{{tool.arguments.title}}".into()],
        shell: true,
    };
    let context = json!({ "tool": { "arguments": { "title": "a b" } } });
    assert_eq!(
        fill(&command, &context).ok(),
        Some(vec!["sh".to_owned(), "-c".to_owned(), "echo hi | tee 'a b'".to_owned()])
    );
}
