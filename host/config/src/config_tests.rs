use jp_policy_core::batch::{Batch, Carried};

use super::*;
use crate::Source;

/// Settings sort tools and keys, and an index is the same everywhere.
#[test]
fn indexes_of_the_settings_are_those_of_the_batch() {
    let text = "
        [conversation.tools.b]
        concurrency = { key = \"z\", limit = 2 }
        [conversation.tools.a]
        concurrency = { key = \"y\", limit = 3 }
        [conversation.tools.c]
    ";
    let config = Config::from_sources(&[Source::new("t.toml", text)]).expect("it holds");
    let batch = Batch::new(&config.settings(), Carried::default());
    let tool = |name| config.tool_index(name);
    assert_eq!((tool("a"), tool("b"), tool("c"), tool("d")), (Some(0), Some(1), Some(2), None));
    assert_eq!((batch.key_name(0), batch.limit(0)), ("y", 3));
    assert_eq!((batch.key_name(1), batch.limit(1)), ("z", 2));
}
