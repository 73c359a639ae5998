use super::*;

#[test]
fn what_can_be_typed() {
    let no = |why: &str| Some(Choice::Reject(why.to_owned()));
    for (typed, choice) in [
        ("y", Some(Choice::Run)),
        (" yes ", Some(Choice::Run)),
        ("", no("")),
        ("n", no("")),
        ("no", no("")),
        ("n it deletes  my files ", no("it deletes  my files")),
        ("e", Some(Choice::Edit)),
        ("Y", Some(Choice::Always(true))),
        ("N", Some(Choice::Always(false))),
        ("maybe", None),
        ("nope", None),
        ("y please", None),
    ] {
        assert_eq!(Choice::read(typed), choice, "{typed:?}");
    }
}

#[test]
fn what_holds_for_a_tool_is_not_asked_again() {
    let remembered = Remembered::default();
    assert!(remembered.of("edit").is_none());
    remembered.keep("edit", true);
    remembered.keep("push", false);
    assert!(matches!(remembered.of("edit"), Some(Approval::Run(None))));
    let Some(Approval::Reject(why)) = remembered.of("push") else {
        panic!("it is rejected");
    };
    assert_eq!(why, "rejected by the user");
    assert!(remembered.of("Edit").is_none(), "names are compared byte for byte");
}

#[test]
fn edited_arguments_are_an_object() {
    assert_eq!(object(r#"{"a": 1}"#).map(|object| object.len()), Ok(1));
    let wrong = object("[1]").expect_err("it is none");
    assert_eq!(
        wrong,
        "expected a JSON object: invalid type: sequence, expected a map at line 1 column 0"
    );
    assert!(object("{\"a\": }").is_err());
}

#[test]
fn the_assistant_is_told_why() {
    let Approval::Reject(why) = rejected("not on main") else {
        panic!("it is rejected");
    };
    assert_eq!(why, "rejected by the user: not on main");
}
