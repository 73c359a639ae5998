use proptest::prelude::*;

use super::*;
use crate::{Layer, Layers, Source};

fn on_error() -> impl Strategy<Value = OnError> {
    prop_oneof![Just(OnError::Continue), Just(OnError::Stop)]
}

fn complete() -> impl Strategy<Value = FanOutConfig> {
    (any::<bool>(), on_error()).prop_map(|(enabled, on_error)| FanOutConfig { enabled, on_error })
}

fn layer() -> impl Strategy<Value = PartialFanOutConfig> {
    prop_oneof![
        any::<bool>().prop_map(PartialFanOutConfig::Enabled),
        (proptest::option::of(any::<bool>()), proptest::option::of(on_error())).prop_map(
            |(enabled, on_error)| PartialFanOutConfig::Table(PartialFanOutTable {
                enabled,
                on_error
            })
        ),
    ]
}

proptest! {
    #[test]
    fn a_delta_laid_over_the_one_makes_the_other(base in layer(), next in complete()) {
        let mut merged = base;
        if let Some(delta) = merged.delta(next.to_partial()) {
            let text = serde_json::to_string(&delta).unwrap();
            merged.merge(serde_json::from_str(&text).unwrap());
        }
        prop_assert_eq!(merged.finish(), next);
    }

    #[test]
    fn all_of_it_survives_being_a_layer_and_being_written(value in complete()) {
        prop_assert_eq!(value.to_partial().finish(), value);
        let text = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(serde_json::from_str::<FanOutConfig>(&text).unwrap(), value);
    }

    #[test]
    fn they_merge_as_files_do(layers in proptest::collection::vec(layer(), 1..5)) {
        let mut files = Layers::default();
        for layer in &layers {
            let text = format!(
                r#"{{"conversation": {{"tools": {{"a": {{"command": "x", "concurrency": 1, "fan_out": {}}}}}}}}}"#,
                serde_json::to_string(layer).unwrap()
            );
            files.source(Layer::Config, &Source::new("layer.json", text));
        }
        let mut all = layers.into_iter();
        let mut merged = all.next().unwrap();
        for layer in all {
            merged.merge(layer);
        }
        let config = files.build().expect("it holds");
        let loaded = config.tools["a"].fan_out.as_ref().expect("it is set");
        let FanOutConfig { enabled, on_error } = merged.finish();
        prop_assert_eq!((loaded.enabled, loaded.on_error), (enabled, on_error));
    }
}

#[test]
fn what_is_none_is_refused() {
    let refused = |text: &str| {
        let error = serde_json::from_str::<FanOutConfig>(text).expect_err(text).to_string();
        error.split(" at line").next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        refused("1"),
        "invalid type: integer `1`, expected true, false or a table { enabled, on_error }"
    );
    assert_eq!(
        refused(r#"{"concurrency": 2}"#),
        "`fan_out.concurrency` moved: it is the tool's `concurrency` now"
    );
    assert_eq!(
        refused(r#"{"on_eror": "stop"}"#),
        "unknown field `on_eror`, expected `enabled` or `on_error`"
    );
    assert_eq!(
        refused(r#"{"on_error": "halt"}"#),
        "unknown variant `halt`, expected `continue` or `stop`"
    );
}
