use jp_policy_config::Source;
use jp_policy_core::policy::Native;
use jp_policy_harness::{Scenario, simulate};
use jp_policy_report::svg;
use roxmltree::Document;

fn drawn(scenario: &str) -> String {
    let scenario = Scenario::parse(&Source::new("s.toml", scenario)).expect("a scenario");
    let simulation = simulate(&scenario, &Native::rules()).expect("it comes to an end");
    svg(&simulation.record, &scenario.title)
}

/// All texts of a picture, in its order, tooltips aside.
fn texts(picture: &str) -> Vec<String> {
    let document = Document::parse(picture).expect("it is well-formed");
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or_default().to_owned()).collect()
}

const ALL: &str = r#"
    title = "All <there> is & \"more\""
    [conversation.tools.edit]
    concurrency = { key = "rfd" }
    [conversation.tools.look]
    [[call]]
    name = "fails"
    tool = "edit"
    does = "2s fail"
    [[call]]
    name = "<b>asks</b>"
    tool = "edit"
    does = "1s ask 1s"
    answered = 5
    [[call]]
    name = "a name that is longer than a picture has room for"
    tool = "edit"
    does = "9s"
    [[call]]
    name = "waits"
    tool = "edit"
    [[call]]
    name = "free"
    tool = "look"
    [[call]]
    name = "rejected"
    tool = "look"
    rejected = 0
    [[event]]
    at = 8
    cancel = true
"#;

#[test]
fn all_there_is() {
    insta::assert_snapshot!(drawn(ALL));
}

#[test]
fn what_comes_from_outside_is_text_and_short() {
    let texts = texts(&drawn(ALL));
    assert_eq!(texts[0], "All <there> is & \"more\"");
    assert!(texts.contains(&"<b>asks</b>".to_owned()), "{texts:?}");
    assert!(texts.contains(&"a name that is longer than a …".to_owned()), "{texts:?}");
    let hostile = ALL.replace("fails", "\\u001b[2J]]>\\u202e");
    assert!(self::texts(&drawn(&hostile)).contains(&"\u{fffd}[2J]]>\u{fffd}".to_owned()));
}

#[test]
fn one_call_and_no_call() {
    let one = "[conversation.tools.t]\n[[call]]\nname = \"A\"\ntool = \"t\"\n";
    assert_eq!(
        texts(&drawn(one)),
        [
            "", "0s", "200ms", "400ms", "600ms", "800ms", "1s", "waited", "ran", "1", "A", "1s",
            "ok", "waits", "runs"
        ]
    );
    assert_eq!(texts(&drawn("")), ["", "0s", "waited", "ran", "waits", "runs"]);
}

fn many(calls: usize) -> String {
    format!(
        "[conversation.tools.t]\nconcurrency = 20\n[[call]]\nname = \"c\"\ntool = \"t\"\ncopies = {calls}\n"
    )
}

fn height(picture: &str) -> u32 {
    let document = Document::parse(picture).expect("it is well-formed");
    document.root_element().attribute("height").expect("it has one").parse().expect("a number")
}

#[test]
fn a_long_batch_has_lower_rows_and_in_the_end_fewer() {
    assert_eq!([2, 40, 200, 400].map(|calls| height(&drawn(&many(calls)))), [126, 962, 2682, 5282]);
    let picture = drawn(&many(1000));
    assert_eq!(height(&picture), 5295);
    let texts = texts(&picture);
    assert!(texts.contains(&"c200".to_owned()) && texts.contains(&"c801".to_owned()));
    assert!(texts.contains(&"... 600 more calls ...".to_owned()));
    assert!(!texts.contains(&"c201".to_owned()) && !texts.contains(&"c800".to_owned()));
}

#[test]
fn what_is_short_beside_what_is_long_can_be_seen() {
    let text = "
        [conversation.tools.t]
        concurrency = 1
        [[call]]
        name = \"hour\"
        tool = \"t\"
        does = \"1h\"
        [[call]]
        name = \"blink\"
        tool = \"t\"
        does = \"1ms fail\"
    ";
    let picture = drawn(text);
    let document = Document::parse(&picture).expect("it is well-formed");
    let bars = document.descendants().filter(|node| {
        node.first_element_child().is_some_and(|child| {
            child.text().is_some_and(|text| text.starts_with("blink: runs 1ms"))
        })
    });
    let widths: Vec<_> = bars.filter_map(|bar| bar.attribute("width")).collect();
    assert_eq!(widths, ["2.0"]);
}
