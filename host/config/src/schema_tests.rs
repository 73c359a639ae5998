use super::*;
use crate::fields;

#[test]
fn it_has_every_name_that_the_loader_knows() {
    let schema = schema();
    let names = |what: &str| {
        let table = if what.is_empty() { &schema } else { &schema["$defs"][what] };
        let names =
            table["properties"].as_object().expect(what).keys().filter(|name| *name != "$schema");
        let mut names: Vec<String> = names.cloned().collect();
        names.sort();
        names
    };
    let sorted = |list: &[&str]| {
        let mut list: Vec<String> = list.iter().map(|name| (*name).to_owned()).collect();
        list.sort();
        list
    };
    assert_eq!(names(""), sorted(fields::DOCUMENT));
    assert_eq!(names("Conversation"), sorted(fields::CONVERSATION));
    assert_eq!(names("Plugins"), sorted(fields::PLUGINS));
    assert_eq!(names("Tool"), sorted(fields::TOOL));
    assert_eq!(names("Release"), sorted(fields::RELEASE));
    assert_eq!(names("Plugin"), sorted(fields::PLUGIN));
}

#[test]
fn everything_that_is_ours_is_described() {
    let schema = schema();
    for name in ["concurrency", "fan_out", "run", "source", "command"] {
        assert!(schema["$defs"]["Tool"]["properties"][name]["description"].is_string(), "{name}");
    }
}
