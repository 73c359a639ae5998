use jp_policy_guest::Key;

use super::*;

/// Long enough for any of these, however busy the machine is.
const LONG: Duration = Duration::from_mins(10);

fn settings() -> Settings {
    let key = Key { name: "key".to_owned(), limit: 1, fields: vec![] };
    Settings { tools: vec![], keys: vec![key], options: vec![] }
}

fn problem(field: Option<&str>, message: &str) -> Problem {
    Problem { key: Some(0), field: field.map(str::to_owned), message: message.to_owned() }
}

/// The problems of a policy that knows `delay`, which is a text, and `from`, which is "end" and needs `delay`.
fn problems(settings: &Settings) -> Vec<Problem> {
    let fields = &settings.keys[0].fields;
    let mut problems = Vec::new();
    for Field { name, value } in fields {
        match (name.as_str(), value) {
            ("delay", Value::Text(_)) => {}
            ("delay", _) => problems.push(problem(Some("delay"), "expected a text")),
            ("from", Value::Text(text)) if text == "end" => {
                if !fields.iter().any(|field| field.name == "delay") {
                    problems.push(problem(Some("from"), "needs `delay`"));
                }
            }
            ("from", _) => problems.push(problem(Some("from"), "expected \"end\"")),
            (name, _) => problems.push(problem(Some(name), &format!("unknown field `{name}`"))),
        }
    }
    problems
}

fn refuse(problems: Vec<Problem>) -> Result<(), Refusal> {
    if problems.is_empty() { Ok(()) } else { Err(Refusal::Settings(problems)) }
}

fn found(configure: &Configure<'_>) -> Accepts {
    probe(configure, &settings(), Where::Field, b"", LONG)
}

fn delay_and_from() -> Vec<Accepted> {
    let accepted = |name: &str, values: &[&str], says: &str| Accepted {
        name: name.to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
        says: Some(says.to_owned()),
    };
    vec![
        accepted("delay", &["text"], "expected a text"),
        accepted("from", &["\"end\""], "expected \"end\""),
    ]
}

#[test]
fn names_and_what_they_take_are_found_by_asking() {
    let accepts = found(&|settings| refuse(problems(settings)));
    assert_eq!(accepts.unknown, Unknown::Refused("unknown field `...`".to_owned()));
    assert_eq!(accepts.names, delay_and_from());
    // The words of its refusal, and the common ones.
    assert_eq!((accepts.tried, accepts.left), (COMMON.len() + 2, 0));
}

#[test]
fn a_policy_that_says_one_problem_at_a_time_is_asked_for_each_name() {
    let accepts = found(&|settings| {
        let mut problems = problems(settings);
        problems.truncate(1);
        refuse(problems)
    });
    assert_eq!(accepts.unknown, Unknown::Refused("unknown field `...`".to_owned()));
    assert_eq!(accepts.names, delay_and_from());
}

#[test]
fn a_policy_that_says_only_some_of_its_problems_is_not_taken_to_know_the_rest() {
    let words = "unknown, not one of a b c d e f g h i j k l m n o p q r s t u v w x y z";
    let accepts = found(&|settings| {
        let unknown = settings.keys[0].fields.iter().filter(|field| field.name != "window");
        refuse(unknown.take(10).map(|field| problem(Some(&field.name), words)).collect())
    });
    let names: Vec<_> = accepts.names.iter().map(|accepted| accepted.name.as_str()).collect();
    assert_eq!(names, ["window"]);
}

#[test]
fn a_policy_that_does_not_name_what_it_refuses_is_told_by_what_it_takes() {
    let accepts = found(&|settings| match problems(settings) {
        problems if problems.is_empty() => Ok(()),
        _ => refuse(vec![problem(None, "something is wrong")]),
    });
    assert_eq!(accepts.unknown, Unknown::Unnamed("something is wrong".to_owned()));
    // `delay = true` is refused, so it can't be told from a name that it does not know.
    assert_eq!(accepts.names, []);
    let flags = found(&|settings| match &settings.keys[0].fields[..] {
        [] => Ok(()),
        [field] if field.name == "debug" => Ok(()),
        _ => refuse(vec![problem(None, "no")]),
    });
    let names: Vec<_> = flags.names.iter().map(|accepted| accepted.name.as_str()).collect();
    assert_eq!(names, ["debug"]);
}

#[test]
fn a_hint_for_a_typo_is_no_name() {
    let accepts = found(&|settings| {
        refuse(
            problems(settings)
                .into_iter()
                .map(|mut problem| {
                    if problem.field.as_deref().is_some_and(|field| field.starts_with("pa")) {
                        problem.message += "; did you mean `pause`?";
                    }
                    problem
                })
                .collect(),
        )
    });
    assert_eq!(accepts.names, delay_and_from());
}

#[test]
fn what_takes_anything_refuses_everything_or_fails_is_said() {
    let nothing = |unknown| Accepts { unknown, names: Vec::new(), tried: 0, left: 0 };
    assert_eq!(found(&|_| Ok(())), nothing(Unknown::Taken));
    let always = found(&|_| refuse(vec![problem(Some("rate"), "is missing")]));
    assert_eq!(always, nothing(Unknown::Always("is missing".to_owned())));
    let silent = found(&|_| Err(Refusal::Settings(Vec::new())));
    assert_eq!(silent, nothing(Unknown::Always(String::new())));
    let fault = FaultKind::OutOfTime { budget_ms: 1 };
    let failing = found(&|_| Err(Refusal::Fault(fault.clone())));
    assert_eq!(failing, nothing(Unknown::Fault(fault.clone())));
}

#[test]
fn a_refusal_by_name_needs_no_words() {
    let accepts = found(&|settings| {
        let fields = settings.keys[0].fields.iter().filter(|field| field.name != "rate");
        refuse(fields.map(|field| problem(Some(&field.name), "")).collect())
    });
    assert_eq!(accepts.unknown, Unknown::Refused(String::new()));
    let names: Vec<_> = accepts.names.iter().map(|accepted| accepted.name.as_str()).collect();
    assert_eq!(names, ["rate"]);
}

#[test]
fn options_are_told_from_fields() {
    let configure = |settings: &Settings| {
        let unknown = settings.options.iter().filter(|option| option.name != "cap");
        refuse(unknown.map(|it| Problem { key: None, ..problem(Some(&it.name), "no") }).collect())
    };
    let accepts = |place| probe(&configure, &settings(), place, b"", LONG);
    let names: Vec<_> = accepts(Where::Option).names.into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["cap"]);
    assert_eq!(accepts(Where::Field).unknown, Unknown::Taken);
}

#[test]
fn names_that_stand_in_the_data_with_nothing_between_them_are_found() {
    let module = r#"(module (memory 1) (data (i32.const 0) "startstaggersoon"))"#;
    let bytes = wat::parse_str(module).expect("it parses");
    let configure = |settings: &Settings| {
        let unknown = settings.keys[0].fields.iter().filter(|field| field.name != "stagger");
        refuse(unknown.map(|field| problem(Some(&field.name), "unknown")).collect())
    };
    let accepts = probe(&configure, &settings(), Where::Field, &bytes, LONG);
    let names: Vec<_> = accepts.names.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["stagger"]);
    assert_eq!(accepts.names[0].values, ["text", "integer", "number", "flag", "json"]);
}

#[test]
fn who_is_slow_is_asked_for_the_likeliest_names_and_the_rest_is_counted() {
    let data = (0..1_000).map(|n| format!("name{n}")).collect::<Vec<_>>().join(" ");
    let module = format!(r#"(module (memory 1) (data (i32.const 0) "{data}"))"#);
    let bytes = wat::parse_str(module).expect("it parses");
    let configure = |settings: &Settings| refuse(problems(settings));
    let accepts = probe(&configure, &settings(), Where::Field, &bytes, Duration::ZERO);
    assert_eq!(accepts.tried, AT_ONCE);
    assert!(accepts.left > 900, "{}", accepts.left);
    let names: Vec<_> = accepts.names.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["delay", "from"]);
}
