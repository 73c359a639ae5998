use jp_policy_guest::Value;

use super::*;

fn read(fields: &str, options: &str) -> Result<Parameters, String> {
    Parameters::read("--fields", fields, "--options", options).map_err(|error| show(&error))
}

/// Messages with the places they point at, and what to do.
fn show(ConfigError(problems): &ConfigError) -> String {
    let line = |problem: &Diagnostic| {
        let places = problem.labels.iter().map(|(place, label)| format!(" [{place} {label}]"));
        let help = problem.help.iter().map(|help| format!(" (help: {help})"));
        problem.message.clone() + &places.chain(help).collect::<String>()
    };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_key_has_the_fields_and_the_policy_the_options() {
    let parameters =
        read("from = \"start\"\ndelay = 2", "deep = { a = [1, 2.5] }").expect("it is read");
    let settings = parameters.settings(&[3; 10]);
    let tools: Vec<_> =
        settings.tools.iter().map(|tool| (tool.name.as_str(), tool.key)).skip(8).collect();
    assert_eq!(tools, [("tool-09", Some(8)), ("tool-10", Some(9)), ("unbounded", None)]);
    let names: Vec<_> = settings.keys.iter().map(|key| key.name.as_str()).collect();
    assert_eq!(names[0], "key-01");
    assert!(names.is_sorted());
    for key in &settings.keys {
        let fields: Vec<_> =
            key.fields.iter().map(|field| (field.name.as_str(), &field.value)).collect();
        let text = Value::Text("start".to_owned());
        assert_eq!((key.limit, fields), (3, vec![("delay", &Value::Integer(2)), ("from", &text)]));
    }
    let options: Vec<_> =
        settings.options.iter().map(|it| (it.name.as_str(), it.value.clone())).collect();
    assert_eq!(options, [("deep", Value::Json("{\"a\":[1,2.5]}".to_owned()))]);
}

#[test]
fn without_keys_there_is_one_tool() {
    let settings = Parameters::default().settings(&[]);
    assert_eq!((settings.keys.len(), settings.tools.len(), settings.options.len()), (0, 1, 0));
}

#[test]
fn what_is_wrong_is_said_with_flag_and_place() {
    insta::assert_snapshot!(
        read("delay =\nlimit = 2", "huge = 9223372036854775808").unwrap_err(),
        @r"
    `--fields` is not valid TOML: string values must be quoted, expected literal string [--fields:1:8 here]
    `--options`: option `huge` is 9223372036854775808 (an integer), expected a number of 64 bits [--options:1:8 expected a number of 64 bits]
    "
    );
    insta::assert_snapshot!(read("limit = 2\nkey = \"a\"", "").unwrap_err(), @r"
    `--fields`: `key` is no further field [--fields:2:1 keys and limits are made up here]
    `--fields`: `limit` is no further field [--fields:1:1 keys and limits are made up here]
    ");
    insta::assert_snapshot!(read("{ delay = \"1s\" }", "").unwrap_err(), @"`--fields` is not valid TOML: invalid key-value pair, expected key [--fields:1:1 here] (help: leave the braces out: one entry a line, like `name = 1`)");
}

#[test]
fn a_refusal_is_shown_once_and_at_its_place() {
    let parameters = read("dleay = \"1s\"", "cap = 3").expect("it is read");
    let problem = |key, field: Option<&str>, message: &str| Problem {
        key,
        field: field.map(str::to_owned),
        message: message.to_owned(),
    };
    let problems = [
        problem(Some(0), Some("dleay"), "unknown"),
        problem(Some(1), Some("dleay"), "unknown"),
        problem(None, Some("cap"), "too small"),
        problem(Some(0), Some("elsewhere"), "is needed"),
        problem(Some(1), None, "has a strange name"),
        problem(None, None, "no"),
    ];
    insta::assert_snapshot!(show(&parameters.refused("x", &problems)), @r#"
    policy "x" refuses field `dleay`: unknown [--fields:1:1 refused]
    policy "x" refuses option `cap`: too small [--options:1:1 refused]
    policy "x" refuses field `elsewhere`: is needed
    policy "x" refuses key 1: has a strange name
    policy "x" refuses the settings: no
    "#);
    insta::assert_snapshot!(show(&parameters.refused("x", &[])), @r#"policy "x" refuses the settings and does not say why"#);
    assert!(parameters.refusal("x", Refusal::Unloadable("gone".to_owned())).is_err());
}
