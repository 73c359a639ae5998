use super::*;

#[test]
fn names() {
    let longest = "a".repeat(LENGTH);
    for name in ["a", "mine", "my-policy", "p2-x-3", "a1", &longest] {
        assert_eq!(name.parse::<Name>().map(|name| name.to_string()), Ok(name.to_owned()));
    }
}

#[test]
fn what_is_none_is_told_one_that_is_close() {
    let too_long = "a".repeat(LENGTH + 1);
    let cases = [
        ("", "my-policy"),
        ("42", "my-policy"),
        ("..", "my-policy"),
        ("MyPolicy", "my-policy"),
        ("my_policy", "my-policy"),
        ("my policy!", "my-policy"),
        ("-my--policy-", "my-policy"),
        ("2nd-try", "nd-try"),
        ("HTTPCalls2Go", "httpcalls2-go"),
        ("größe", "gr-e"),
        (&too_long, &"a".repeat(LENGTH)),
    ];
    for (text, like) in cases {
        let error = text.parse::<Name>().expect_err(text);
        assert_eq!(error, NameError { text: text.to_owned(), like: like.to_owned() });
        assert!(like.parse::<Name>().is_ok(), "{like}");
    }
}

#[test]
fn the_message() {
    let said = "My_Policy\u{1b}".parse::<Name>().expect_err("it is none").to_string();
    assert_eq!(
        said,
        "\"My_Policy\\u{1b}\" is no name for a policy: expected at most 64 lower-case letters, digits and single dashes, a letter \
         first, as in `my-policy`"
    );
}
