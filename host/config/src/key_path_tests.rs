use super::*;

fn names() -> KnownNames {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    KnownNames {
        tools: set(&["git", "git_add", "srv1.run", "srv1.run.fast", "Fs-Edit", "limit"]),
        plugins: set(&["my_delay"]),
        servers: set(&["git_hub"]),
    }
}

fn split(key: &str) -> String {
    match dotted(key, &names()) {
        Ok(segments) => {
            for Segment { name, span } in &segments {
                assert!(key[span.clone()].contains(name.as_str()), "{name} in {key}");
            }
            segments.into_iter().map(|segment| segment.name).collect::<Vec<_>>().join(" / ")
        }
        Err(why) => format!("error: {why}"),
    }
}

fn of_environment(key: &str) -> Option<String> {
    let segments = underscored(key, &names())?;
    for Segment { span, .. } in &segments {
        assert!(key.get(span.clone()).is_some_and(|part| !part.is_empty()), "{key}: {span:?}");
    }
    Some(segments.into_iter().map(|segment| segment.name).collect::<Vec<_>>().join(" / "))
}

#[test]
fn a_key_is_split_at_its_dots() {
    assert_eq!(
        split("conversation.tools.git.concurrency.limit"),
        "conversation / tools / git / concurrency / limit"
    );
    assert_eq!(split("inherit"), "inherit");
}

#[test]
fn a_name_with_dots_is_taken_whole_if_a_layer_has_it() {
    assert_eq!(
        split("conversation.tools.srv1.run.concurrency"),
        "conversation / tools / srv1.run / concurrency"
    );
    assert_eq!(
        split("conversation.tools.srv1.run.fast.concurrency"),
        "conversation / tools / srv1.run.fast / concurrency"
    );
    assert_eq!(split("conversation.tools.srv1.run"), "conversation / tools / srv1.run");
    assert_eq!(split("conversation.tools.srv2.run"), "conversation / tools / srv2 / run");
}

#[test]
fn a_name_in_quotes_is_taken_as_it_is() {
    assert_eq!(
        split("conversation.tools.\"srv2.run\".run"),
        "conversation / tools / srv2.run / run"
    );
    assert_eq!(split("conversation.tools.'*'.run"), "conversation / tools / * / run");
    assert_eq!(split("conversation.tools.'a\"b'"), "conversation / tools / a\"b");
}

#[test]
fn a_key_that_is_none_is_refused() {
    assert_eq!(split(""), "error: a name is missing");
    assert_eq!(split("a..b"), "error: a name is missing");
    assert_eq!(split("a."), "error: a name is missing");
    assert_eq!(split("a.'b"), "error: the quote ' does not end");
    assert_eq!(split("a.'b'c"), "error: expected a dot after the quote");
    assert_eq!(split(&"a.".repeat(1_000)), "error: it has more than 32 names");
    assert_eq!(split("ключ.\u{1f511}"), "ключ / \u{1f511}");
}

#[test]
fn a_variable_is_split_by_what_is_known() {
    let tools = "conversation_tools_";
    for (key, path) in [
        ("git_concurrency", "git / concurrency"),
        ("git_add_concurrency", "git_add / concurrency"),
        ("git_add_concurrency_limit", "git_add / concurrency / limit"),
        ("git_add_concurrency_max_delay", "git_add / concurrency / max_delay"),
        ("srv1_run_cancellation_response", "srv1.run / cancellation_response"),
        ("srv1_run_fast_run", "srv1.run.fast / run"),
        ("fs_edit_fan_out_on_error", "Fs-Edit / fan_out / on_error"),
        ("fs_edit_fan_out", "Fs-Edit / fan_out"),
        ("nobody_knows_concurrency_limit", "nobody_knows / concurrency / limit"),
        ("limit_concurrency_limit", "limit / concurrency / limit"),
        ("new", "new"),
    ] {
        let expected = format!("conversation / tools / {path}");
        assert_eq!(of_environment(&format!("{tools}{key}")), Some(expected), "{key}");
    }
    assert_eq!(
        of_environment("conversation_release_on_fault").as_deref(),
        Some("conversation / release / on_fault")
    );
    assert_eq!(
        of_environment("plugins_wasm_my_delay_limits_start_fuel").as_deref(),
        Some("plugins / wasm / my_delay / limits / start_fuel")
    );
}

#[test]
fn variables_of_jps_other_settings_are_not_ours() {
    assert_eq!(of_environment("assistant_model_id"), None);
    assert_eq!(of_environment("conversation_title_generate_auto"), None);
    assert_eq!(of_environment("providers_llm_openrouter_api_key_env"), None);
    assert_eq!(of_environment("conversation_tools_git_style_inline_results"), None);
    assert_eq!(of_environment("conversation_toolz_x"), None);
}
