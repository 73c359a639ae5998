use jp_policy_harness::bench::sample::sample;

use super::*;

/// As it is without colours.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn what_was_measured_as_text() {
    let text = plain(&text_of("policies/mine.wasm", &sample(), 80));
    assert!(text.lines().filter(|line| !line.contains('(')).all(|line| line.chars().count() <= 80));
    insta::assert_snapshot!(text, @r"
    a policy <of> mine & others  policies/mine.wasm
    sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef

    x: how many times what the default policy costs in this run

    to have it                x           this        default
    compile                1.68        37.8 ms        22.5 ms
    load and keep          1.68        42.0 ms        25.0 ms
    load what was kept     1.68         420 µs         250 µs
    instance, configured   1.68        42.0 µs        25.0 µs
    file                   1.00       10,042 B       10,025 B
    linear memory, most    1.00      196,608 B      196,608 B
    resident memory        1.68      172,032 B      102,400 B

    a decision, full view, 4 keys of limit 4 with all slots free
     waiting   shown  x inst x time   instructions     time   default inst     time
          16      16    2.08   2.08         15,000  5.00 µs          7,200  2.40 µs
         100     100    12.5   12.5         90,000  30.0 µs          7,200  2.40 µs
       1,000   1,000     129    129        930,000   310 µs          7,200  2.40 µs
      10,000  it used up its budget of 500000000 instructions for one question
     100,000  not asked, because it failed with 10,000 calls and 4 keys

    a decision, 1,000 waiting calls
        keys   shown  x inst x time   instructions     time   default inst     time
           1   1,000     333    333        900,000   300 µs          2,700   900 ns
          16   1,000       -      -  4,500,000,000   1.50 s              -        -
              (asked once; up to 4,500,001,234 instructions when asked again)

    The default policy sees the front view, which does not grow with the batch; a
    policy <of> mine & others asks for the full view.

    stopped before the end
    ");
}

#[test]
fn what_was_measured_as_json() {
    let json = to_json("mine.wasm", &sample());
    assert_eq!(json["policy"]["by_calls"][0]["instructions"], 15_000);
    assert_eq!(json["policy"]["view"], "full");
    assert_eq!(
        json["policy"]["by_calls"][3],
        json!({
            "calls": 10_000, "keys": 4, "shown": 10_000, "cut": "out-of-fuel",
            "why": "it used up its budget of 500000000 instructions for one question",
        })
    );
    assert_eq!(json["policy"]["by_calls"][4]["cut"], "not asked");
    assert_eq!(json["default"]["by_keys"][1]["cut"], "stopped");
    assert_eq!(json["default"]["load_kept"], json!({ "nanoseconds": 250_000, "samples": 9 }));
    assert_eq!(json["default"]["memory_bytes"], 196_608);
    assert_eq!(json["stopped"], true);
}
