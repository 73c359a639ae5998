use super::*;
use crate::{Layer, Layers, Source};

fn parsed(text: &str) -> Value {
    let mut problems = Vec::new();
    let root = crate::parse(&Source::new("t.json", text), &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    root.value
}

#[test]
fn null_is_left_out_of_what_is_read_again_and_shown_to_people() {
    let nested = parsed(r#"{ "a": null, "b": [null, 1], "c": { "d": null } }"#);
    assert_eq!(value(&nested), r#"{ b = ["", 1], c = {} }"#);
    assert_eq!(display(&nested), "{ a = null, b = [null, 1], c = { d = null } }");
    assert_eq!(json(&nested.to_json()), value(&nested));
}

#[test]
fn every_character_is_read_as_it_was_written() {
    let text: String =
        (0..=0x7f).chain([0x85, 0x2028, 0xfeff, 0x1f511]).filter_map(char::from_u32).collect();
    let literals =
        [quoted(&text), json(&text.as_str().into()), value(&Value::String(text.clone()))];
    for literal in literals {
        assert!(!literal.contains('\n'), "{literal}");
        let table =
            format!("{} = {literal}\n", key(&text)).parse::<toml::Table>().expect("it is TOML");
        assert_eq!(table[&text].as_str(), Some(text.as_str()));
    }
}

#[test]
fn only_bare_keys_go_without_quotes() {
    for (name, written) in
        [("a-B_9", "a-B_9"), ("", "\"\""), ("ä", "\"ä\""), ("a b", "\"a b\""), ("'", "\"'\"")]
    {
        assert_eq!(key(name), written);
    }
}

#[test]
fn what_a_layer_says_is_shown_with_its_nulls() {
    let mut layers = Layers::default();
    layers.source(
        Layer::Config,
        &Source::new(
            "t.json",
            r#"{"conversation": {"tools": {"a": {"options": {"x": null, "y": [null]}}}}}"#,
        ),
    );
    let explanation = layers.explain("tools.a.options").expect("it is known");
    assert_eq!(explanation.value.as_deref(), Some("{ x = null, y = [null] }"));
}
