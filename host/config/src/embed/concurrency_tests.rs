use proptest::prelude::*;

use super::*;
use crate::{Config, ConfigError, Layer, Layers, Source};

/// A tool whose name is also used as a key, so that the two forms can come to mean the same.
const TOOL: &str = "a";

fn fields() -> impl Strategy<Value = Map<String, Json>> {
    let value = prop_oneof![
        any::<i32>().prop_map(Json::from),
        any::<bool>().prop_map(Json::from),
        "[a-z]{0,3}".prop_map(Json::from),
        Just(serde_json::json!({ "deep": [1, "x"] })),
    ];
    proptest::collection::btree_map("[b-e]", value, 0..3).prop_map(|map| map.into_iter().collect())
}

fn complete() -> impl Strategy<Value = ConcurrencyConfig> {
    let limit = || prop_oneof![Just(0), 1..4_u32, Just(u32::MAX)];
    prop_oneof![
        limit().prop_map(ConcurrencyConfig::Limit),
        ("a|git|ключ", limit(), fields()).prop_map(|(key, limit, fields)| {
            ConcurrencyConfig::Shared(SharedConcurrency { key, limit, fields })
        }),
    ]
}

fn layer() -> impl Strategy<Value = PartialConcurrencyConfig> {
    let key = proptest::option::of(prop_oneof![Just("a".to_owned()), Just("git".to_owned())]);
    prop_oneof![
        (0..4_u32).prop_map(PartialConcurrencyConfig::Limit),
        (key, proptest::option::of(0..4_u32), fields()).prop_map(|(key, limit, fields)| {
            PartialConcurrencyConfig::Table(PartialSharedConcurrency { key, limit, fields })
        }),
    ]
}

proptest! {
    #[test]
    fn a_delta_laid_over_the_one_makes_the_other(base in complete(), next in complete()) {
        let (mut merged, next_partial) = (base.to_partial(), next.to_partial());
        match merged.delta(next_partial) {
            None => prop_assert_eq!(&base, &next),
            Some(delta) => {
                // It is stored in between.
                let text = serde_json::to_string(&delta).unwrap();
                merged.merge(TOOL, serde_json::from_str(&text).unwrap());
            }
        }
        prop_assert_eq!(merged.finish().unwrap(), next);
    }

    #[test]
    fn all_of_it_survives_being_a_layer_and_being_written(value in complete()) {
        prop_assert_eq!(value.to_partial().finish().unwrap(), value.clone());
        let text = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(serde_json::from_str::<ConcurrencyConfig>(&text).unwrap(), value.clone());
        let text = serde_json::to_string(&value.to_partial()).unwrap();
        prop_assert_eq!(serde_json::from_str::<ConcurrencyConfig>(&text).unwrap(), value);
    }

    #[test]
    fn they_merge_as_files_do(layers in proptest::collection::vec(layer(), 1..5)) {
        let mut files = Layers::default();
        for layer in &layers {
            let text = format!(
                r#"{{"conversation": {{"tools": {{"{TOOL}": {{"command": "x", "concurrency": {}}}}}}}}}"#,
                serde_json::to_string(layer).unwrap()
            );
            files.source(Layer::Config, &Source::new("layer.json", text));
        }
        let mut all = layers.into_iter();
        let mut merged = all.next().unwrap();
        for layer in all {
            merged.merge(TOOL, layer);
        }
        match (files.build(), merged.finish()) {
            (Ok(config), Ok(merged)) => {
                let (loaded, fields) = of_tool(&config);
                prop_assert_eq!(loaded, merged.resolve(TOOL).map(|(key, limit)| (key.to_owned(), limit)));
                let expected = match merged {
                    ConcurrencyConfig::Shared(shared) if shared.limit > 0 => shared.fields,
                    _ => Map::new(),
                };
                prop_assert_eq!(fields, expected.into_iter().collect::<std::collections::BTreeMap<_, _>>());
            }
            (Err(ConfigError(problems)), Err(error)) => {
                prop_assert_eq!(error, ConcurrencyError::NoKey);
                prop_assert_eq!(problems[0].message.as_str(), "tool `a`: `concurrency` has no `key`");
            }
            (loaded, merged) => prop_assert!(false, "{loaded:?} {merged:?}"),
        }
    }
}

type Fields = std::collections::BTreeMap<String, Json>;

fn of_tool(config: &Config) -> (Option<(String, u32)>, Fields) {
    let Some(concurrency) = config.tools[TOOL].concurrency.as_ref() else {
        return (None, Fields::new());
    };
    let Some((key, limit)) = concurrency.bound() else {
        return (None, Fields::new());
    };
    let fields = concurrency.fields.iter();
    let fields = fields.map(|(name, entry)| (name.clone(), entry.node.value.to_json()));
    (Some((key.to_owned(), limit)), fields.collect())
}

#[test]
fn what_was_set_is_lifted_where_it_is_set_no_more() {
    type Partial = PartialConcurrencyConfig;
    assert_eq!(Partial::delta_between(Some(&Partial::Limit(4)), None), Some(Partial::Limit(0)));
    assert_eq!(Partial::delta_between(Some(&Partial::Limit(0)), None), None);
    assert_eq!(Partial::delta_between(None, Some(Partial::Limit(2))), Some(Partial::Limit(2)));
    assert_eq!(Partial::delta_between(None, None), None);
}

#[test]
fn what_is_no_limit_is_refused_and_never_cut() {
    let refused =
        |text: &str| serde_json::from_str::<ConcurrencyConfig>(text).expect_err(text).to_string();
    let limit = "expected a whole number from 0 to 4294967295";
    let either = "expected a limit (0 for none) or a table { key, limit }";
    for (text, message) in [
        ("4294967296", format!("invalid value: integer `4294967296`, {limit}")),
        ("-1", format!("invalid value: integer `-1`, {limit}")),
        ("1.5", format!("invalid type: floating point `1.5`, {either}")),
        ("99999999999999999999", format!("invalid type: floating point `1e+20`, {either}")),
        ("\"2\"", format!("invalid type: string \"2\", {either}")),
        (
            r#"{"key": "k", "limit": 4294967296}"#,
            format!("invalid value: integer `4294967296`, {limit}"),
        ),
        (
            r#"{"limit": 1}"#,
            "`concurrency` has no `key`: a table names the key that it limits".to_owned(),
        ),
        (r#"{"key": " "}"#, "`concurrency.key` is \" \", expected a name".to_owned()),
        (r#"{"key": "a\nb"}"#, "`concurrency.key` is \"a\\nb\", expected a name".to_owned()),
    ] {
        let said = refused(text);
        let said = said.split(" at line").next().unwrap_or_default();
        assert_eq!(said, message, "{text}");
    }
}
