use jp_policy_config::Source;
use jp_policy_core::policy::Native;
use jp_policy_guest::{Batch, Decision, Error, Policy, Problem, Settings, View};
use jp_policy_harness::{Scenario, replay};
use jp_policy_report::{ReplayOutcome, side_by_side::side_by_side};

/// One call at a time, whatever the keys; it takes a field `calm` and no other.
struct OneByOne;

impl Policy for OneByOne {
    const NAME: &'static str = "one by one";
    const VIEW: View = View::Full;

    fn configure(_: Settings) -> Result<Self, Vec<Problem>> {
        Ok(Self)
    }

    fn release(&self, batch: &Batch) -> Result<Decision, Error> {
        let first = batch.calls.iter().find(|call| call.state == jp_policy_guest::State::Parked);
        let first = first.filter(|_| batch.running == 0);
        Ok(Decision::release(first.map(|call| call.id)))
    }
}

const TEXT: &str = r#"
    [conversation.tools.edit]
    concurrency = { key = "disk", limit = 1, calm = true }
    [conversation.tools.read]
    [[call]]
    name = "the first of all the edits"
    tool = "edit"
    does = "2s"
    [[call]]
    name = "second"
    tool = "edit"
    does = "1s ask 1s fail"
    answered_after = 1
    [[call]]
    name = "look\u001b[31m"
    tool = "read"
    [[call]]
    name = "no"
    tool = "read"
    rejected = 0
"#;

fn outcomes(text: &str) -> Vec<ReplayOutcome> {
    let scenario = Scenario::parse(&Source::new("a.toml", text)).expect("it can be read");
    vec![
        replay(&scenario, &Native::rules()).expect("the rules serve it"),
        replay(&scenario, &Native::<OneByOne>::new()).expect("the other serves it"),
    ]
}

#[test]
fn a_wide_terminal_has_bars_on_one_axis() {
    insta::assert_snapshot!(side_by_side(&outcomes(TEXT), 100, false), @r"
                                           0s                          5s      waited       ran
    1 the first of all the e…  default     ███████████                                       2s  ok
                               one by one  ███████████                                       2s  ok
    2 second                   default     ░░░░░░░░░░░▓▓▓▓▓▓▒▒▒▒▒▓▓▓▓▓▓            2s        3s  failed
                               one by one  ░░░░░░░░░░░▓▓▓▓▓▓▒▒▒▒▒▓▓▓▓▓▓            2s        3s  failed
    3 look�[31m                default     █████                                             1s  ok
                               one by one  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░██████      5s  +5s   1s  ok
    4 no                       default                                                           not run
                               one by one                                                        not run

    default: 5s in all, waited 2s, 2 decisions
      peaks: disk 1
      starts: 1 3 2
      without key disk: `calm`, which it refuses
    one by one: 6s (+1s) in all, waited 7s (+5s), 3 decisions
      peaks: the same
      starts: 1 2 3
    ");
}

#[test]
fn a_narrow_terminal_has_numbers_only() {
    insta::assert_snapshot!(side_by_side(&outcomes(TEXT), 60, false), @r"
                                 waited       ran
    1 the first of…  default                   2s  ok
                     one by one                2s  ok
    2 second         default         2s        3s  failed
                     one by one      2s        3s  failed
    3 look�[31m      default                   1s  ok
                     one by one      5s  +5s   1s  ok
    4 no             default                       not run
                     one by one                    not run

    default: 5s in all, waited 2s, 2 decisions
      peaks: disk 1
      starts: 1 3 2
      without key disk: `calm`, which it refuses
    one by one: 6s (+1s) in all, waited 7s (+5s), 3 decisions
      peaks: the same
      starts: 1 2 3
    ");
}

#[test]
fn of_a_long_batch_the_first_and_the_last_calls_are_shown() {
    let text = "[conversation.tools.t]\nconcurrency = 10\n[[call]]\nname = \"c\"\ntool = \"t\"\ncopies = 200\n";
    insta::assert_snapshot!(side_by_side(&outcomes(text)[..1], 72, false), @r"
                       0s               10s                waited    ran
    1 c1      default  █                                              1s  ok
    2 c2      default  █                                              1s  ok
    3 c3      default  █                                              1s  ok
    4 c4      default  █                                              1s  ok
    5 c5      default  █                                              1s  ok
    6 c6      default  █                                              1s  ok
    7 c7      default  █                                              1s  ok
    8 c8      default  █                                              1s  ok
    9 c9      default  █                                              1s  ok
    10 c10    default  █                                              1s  ok
    11 c11    default  ░██                                     1s     1s  ok
    12 c12    default  ░██                                     1s     1s  ok
    13 c13    default  ░██                                     1s     1s  ok
    14 c14    default  ░██                                     1s     1s  ok
    15 c15    default  ░██                                     1s     1s  ok
    16 c16    default  ░██                                     1s     1s  ok
    17 c17    default  ░██                                     1s     1s  ok
    18 c18    default  ░██                                     1s     1s  ok
    19 c19    default  ░██                                     1s     1s  ok
    20 c20    default  ░██                                     1s     1s  ok
    21 c21    default  ░░░██                                   2s     1s  ok
    22 c22    default  ░░░██                                   2s     1s  ok
    23 c23    default  ░░░██                                   2s     1s  ok
    24 c24    default  ░░░██                                   2s     1s  ok
    25 c25    default  ░░░██                                   2s     1s  ok
    26 c26    default  ░░░██                                   2s     1s  ok
    27 c27    default  ░░░██                                   2s     1s  ok
    28 c28    default  ░░░██                                   2s     1s  ok
    29 c29    default  ░░░██                                   2s     1s  ok
    30 c30    default  ░░░██                                   2s     1s  ok
                       ... 140 more calls ...
    171 c171  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░██         17s     1s  ok
    172 c172  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░██         17s     1s  ok
    173 c173  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░██         17s     1s  ok
    174 c174  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░██         17s     1s  ok
    175 c175  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░██         17s     1s  ok
    176 c176  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░██         17s     1s  ok
    177 c177  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░██         17s     1s  ok
    178 c178  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░██         17s     1s  ok
    179 c179  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░██         17s     1s  ok
    180 c180  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░██         17s     1s  ok
    181 c181  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██       18s     1s  ok
    182 c182  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██       18s     1s  ok
    183 c183  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██       18s     1s  ok
    184 c184  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██       18s     1s  ok
    185 c185  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██       18s     1s  ok
    186 c186  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██       18s     1s  ok
    187 c187  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██       18s     1s  ok
    188 c188  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██       18s     1s  ok
    189 c189  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██       18s     1s  ok
    190 c190  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██       18s     1s  ok
    191 c191  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██     19s     1s  ok
    192 c192  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██     19s     1s  ok
    193 c193  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██     19s     1s  ok
    194 c194  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██     19s     1s  ok
    195 c195  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██     19s     1s  ok
    196 c196  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██     19s     1s  ok
    197 c197  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██     19s     1s  ok
    198 c198  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██     19s     1s  ok
    199 c199  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██     19s     1s  ok
    200 c200  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░██     19s     1s  ok

    default: 20s in all, waited 31m40s, 20 decisions
      peaks: t 10
      starts: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 and 160 more
    ");
}

#[test]
fn policies_of_one_name_are_told_apart_and_no_calls_are_no_rows() {
    let mut both = outcomes("");
    both[1].policy.name = "default".to_owned();
    assert_eq!(
        side_by_side(&both, 100, false),
        "default: 0s in all, waited 0s, 0 decisions\n  starts: none\n\
         default #2: 0s in all, waited 0s, 0 decisions\n  starts: the same\n"
    );
    assert_eq!(side_by_side(&[], 100, false), "");
}
