use super::*;

#[test]
fn every_field_that_a_reader_takes_is_known_where_keys_are_split() {
    // A field that is read and not listed would be out of reach of `JP_CFG_*`, and suggested to nobody.
    let fields = |text: &str, what: &[&str]| {
        let readers = text.match_indices("reader.").filter_map(|(at, _)| {
            let call = &text[at + "reader.".len()..];
            let open = call.find('(')?;
            matches!(&call[..open], "string" | "boolean" | "word" | "take").then_some(())?;
            let argument = call[open + 1..].trim_start();
            Some(argument.strip_prefix('"')?.split('"').next()?.to_owned())
        });
        let unknown: Vec<String> = readers.filter(|name| !what.contains(&name.as_str())).collect();
        unknown
    };
    let known: Vec<&str> = [TOOL, &["program", "args", "shell"]].concat();
    assert_eq!(fields(include_str!("tool.rs"), &known), Vec::<String>::new());
    let known: Vec<&str> = [RELEASE, PLUGIN].concat();
    assert_eq!(fields(include_str!("release.rs"), &known), Vec::<String>::new());
    let known = ["enabled", "on_error", "concurrency"];
    assert_eq!(fields(include_str!("fan_out.rs"), &known), Vec::<String>::new());
}
