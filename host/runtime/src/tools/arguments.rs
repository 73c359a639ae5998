//! Holds a call's arguments against the tool's `parameters`, as jp writes them.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use super::definition::is_demanded;

/// Arguments that do not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct ArgumentError(pub Vec<String>);

/// Fills in defaults, then checks that what is required is there and that types and choices fit. Without parameters, or with
/// arguments that no parameter names, nothing is wrong: the tool may know more than its definition says.
pub(super) fn check<'a>(
    arguments: &'a Map<String, Json>,
    parameters: &Json,
) -> Result<Cow<'a, Map<String, Json>>, ArgumentError> {
    let mut filled = Cow::Borrowed(arguments);
    let Json::Object(parameters) = parameters else {
        return Ok(filled);
    };
    let mut problems = Vec::new();
    for (name, parameter) in parameters {
        if let Some(default) = parameter.get("default")
            && !arguments.contains_key(name)
        {
            filled.to_mut().insert(name.clone(), default.clone());
        }
        match filled.get(name) {
            None if is_demanded(parameter) => {
                problems.push(format!("argument `{name}` is missing"));
            }
            None => {}
            Some(value) => check_value(name, value, parameter, &mut problems),
        }
    }
    if problems.is_empty() { Ok(filled) } else { Err(ArgumentError(problems)) }
}

fn check_value(name: &str, value: &Json, parameter: &Json, problems: &mut Vec<String>) {
    let kinds: Vec<&str> = match parameter.get("type") {
        Some(Json::String(kind)) => vec![kind],
        Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is(value, kind)) {
        problems.push(format!("argument `{name}` is {value}, expected {}", kinds.join(" or ")));
        return;
    }
    if let Some(Json::Array(choices)) = parameter.get("enum")
        && !choices.contains(value)
    {
        let choices: Vec<String> = choices.iter().map(ToString::to_string).collect();
        problems
            .push(format!("argument `{name}` is {value}, expected one of {}", choices.join(", ")));
    }
}

fn is(value: &Json, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        // What is not known can't be wrong.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checked(arguments: Json, parameters: &Json) -> Result<Json, Vec<String>> {
        let Json::Object(arguments) = arguments else { panic!("an object") };
        let filled = check(&arguments, parameters).map_err(|error| error.0)?;
        Ok(Json::Object(filled.into_owned()))
    }

    #[test]
    fn defaults_fill_in_and_everything_wrong_is_said() {
        let parameters = json!({
            "path": { "type": "string", "required": true },
            "mode": { "type": "string", "enum": ["a", "b"], "default": "a" },
            "lines": { "type": ["integer", "null"] },
        });
        assert_eq!(
            checked(json!({ "path": "x" }), &parameters),
            Ok(json!({ "path": "x", "mode": "a" }))
        );
        assert_eq!(
            checked(json!({ "mode": "c", "lines": 1.5 }), &parameters),
            Err(vec![
                "argument `path` is missing".to_owned(),
                "argument `mode` is \"c\", expected one of \"a\", \"b\"".to_owned(),
                "argument `lines` is 1.5, expected integer or null".to_owned(),
            ])
        );
        assert_eq!(checked(json!({ "other": 1 }), &Json::Null), Ok(json!({ "other": 1 })));
    }
}
