use insta::assert_snapshot;

use super::*;

fn mismatch(what: &str, expected: &str, actual: &str) -> Mismatch {
    Mismatch { what: what.to_owned(), expected: expected.to_owned(), actual: actual.to_owned() }
}

fn shown(what: &str, expected: &str, actual: &str, width: usize) -> String {
    mismatch(what, expected, actual).to_text(width, false)
}

#[test]
fn moved_missing_and_extra() {
    assert_snapshot!(shown("starts", "A@0 B@2 C@4 E@5", "A@0 B@3 D@3.5 E@5", 80), @r"
    starts
      expected  A@0  B@2      C@4      -      E@5
      actual    A@0  B@3      -        D@3.5  E@5
                     differs  missing  extra
    ");
}

#[test]
fn names_with_blanks_commas_and_marks() {
    assert_snapshot!(shown("ends", "renumber 008 -> 011!1 a!b!2", "renumber 008 -> 011!1 a!b!3", 80), @r"
    ends
      expected  renumber 008 -> 011!1  a!b!2
      actual    renumber 008 -> 011!1  a!b!3
                                       differs
    ");
    assert_snapshot!(shown("responses", "renumber 1 ok@1, B ok@2", "renumber 1 error@1, B none", 60), @r"
    responses
      expected  renumber 1 ok@1     B ok@2
      actual    renumber 1 error@1  B none
                differs             differs
    ");
    assert_snapshot!(shown("parked", "", "the b [0,2), C [0,...)", 60), @r"
    parked
      expected  -            -
      actual    the b [0,2)  C [0,...)
                extra        extra
    ");
}

#[test]
fn a_call_that_starts_twice_is_paired_in_turn() {
    assert_snapshot!(shown("starts", "A@0 A@4 B@5", "A@0 B@4 A@6", 80), @r"
    starts
      expected  A@0  A@4      B@5
      actual    A@0  A@6      B@4
                     differs  differs
    ");
}

#[test]
fn only_the_order_differs() {
    assert_snapshot!(shown("starts", "A@0 C@1 B@1 D@2", "A@0 B@1 C@1 D@2", 80), @r"
    starts
      expected  A@0  C@1    B@1    D@2
      actual    A@0  C@1    B@1    D@2
                     order  order
    ");
}

#[test]
fn a_long_list_shows_what_differs_and_what_is_around_it() {
    let list = |gap: usize| {
        let late = |n: usize| if n == gap { n + 50 } else { n };
        (0..200).map(|n| format!("call {n}@{}", late(n))).collect::<Vec<_>>().join(" ")
    };
    assert_snapshot!(shown("starts", &list(1000), &list(100), 50), @r"
    starts
      expected  (98 alike)  call 98@98  call 99@99
      actual    (98 alike)  call 98@98  call 99@99
      expected  call 100@100  call 101@101
      actual    call 100@150  call 101@101
                differs
      expected  call 102@102  (97 alike)
      actual    call 102@102  (97 alike)
    ");
}

#[test]
fn what_is_no_list_stands_below_each_other() {
    assert_snapshot!(shown("errors", "", "first\n            second \u{1b}[2J", 80), @r"
    errors
      expected  nothing
      actual    first
                second �[2J
    ");
    assert_snapshot!(shown("settled", "12", "never", 80), @r"
    settled
      expected  12
      actual    never
    ");
}

#[test]
fn a_name_that_is_wider_than_the_terminal_is_cut() {
    let long = "x".repeat(100);
    let shown = shown("starts", &format!("{long}@0"), &format!("{long}@1"), 40);
    assert!(shown.lines().all(|line| line.width() <= 40), "{shown}");
}

#[test]
fn colours_are_in_what_differs_only() {
    let text = mismatch("starts", "A@0 B@2", "A@0 B@3").to_text(80, true);
    assert_eq!(
        text,
        "starts\n  expected  A@0  \u{1b}[32mB@2\u{1b}[0m\n  actual    A@0  \u{1b}[31mB@3\u{1b}[0m\n                 \u{1b}[33mdiffers\u{1b}[0m\n"
    );
}
