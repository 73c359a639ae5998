use std::path::Path;

use jp_policy_core::{batch::Instant, policy::Native};

use super::*;

/// Two calls of one key, of which the first was stopped at the largest instant there is and the second waited until then.
#[test]
fn a_record_that_ends_with_time_itself_can_be_replayed() {
    let end = Instant::MAX;
    let text = format!(
        r#"{{"format":"jp-policy.record","version":1,"time":"2026-01-01T00:00:00Z","policy":{{"name":"p"}},"guard":"limit","on_fault":"default","tools":[{{"name":"t","key":0}}],"keys":[{{"name":"t","limit":1}}]}}
{{"at":0,"event":"submitted","call":0,"id":"a","tool":"t","parent":0}}
{{"at":0,"event":"submitted","call":1,"id":"b","tool":"t","parent":1}}
{{"at":0,"event":"parked","call":0}}
{{"at":0,"event":"parked","call":1}}
{{"at":0,"event":"released","call":0,"execution":0}}
{{"at":{end},"event":"stop","execution":0}}
{{"at":{end},"event":"ended","call":0,"execution":0,"how":"stopped"}}
{{"at":{end},"event":"settled","call":0,"how":"responded"}}
{{"at":{end},"event":"released","call":1,"execution":1}}
"#
    );
    let file = RecordFile::parse(Path::new("r"), text.as_bytes()).expect("it can be read");
    let input = ReplayInput::new(&file).expect("its configuration holds");
    let outcome = replay(&input.scenario, &Native::rules()).expect("it comes to an end");
    assert_eq!((outcome.started(1), outcome.record.until), (Some(end), end));
    assert_eq!(outcome.waited_altogether(), end);
}
