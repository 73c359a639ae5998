use serde_json::json;

use super::*;

#[test]
fn a_title_is_the_tool_and_what_is_short_of_its_arguments() {
    let title = |name: &str, arguments: Json| {
        let Json::Object(arguments) = arguments else {
            panic!("{arguments} is no object");
        };
        let arguments = Ok(Arc::new(arguments));
        Request { id: "call_1".into(), name: name.into(), arguments }.title()
    };
    assert_eq!(title("read", json!({})), "read");
    assert_eq!(
        title(
            "read",
            json!({ "path": " a\u{1b}b ", "from": 3, "ratio": -0.5, "all": true, "of": ["c"] })
        ),
        "read a\u{fffd}b 3 -0.5"
    );
    assert_eq!(
        title("read", json!({ "path": "123456789012345678901" })),
        "read 12345678901234567890..."
    );
    assert_eq!(title(" a\nb ", json!({ "path": "" })), "a b");
    let long = "ä".repeat(70);
    assert_eq!(title(&long, json!({ "n": 1 })), format!("{}...", "ä".repeat(60)));
    let many: Json = (0..100).map(|n| (n.to_string(), json!(n))).collect::<Map<_, _>>().into();
    assert_eq!(
        title("read", many),
        "read 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21..."
    );
}
