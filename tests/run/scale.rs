//! Many calls, and large results: how much memory the program has had, as its own children see it.

use serde_json::{Value as Json, json};

use super::support::Dir;

/// What each call does: it says its number, and every fiftieth what its parent has.
const SCRIPT: &str = r#"
echo "$1"
case $1 in
*[05]0) sed -n 's/^\(VmHWM\|Threads\):[^0-9]*\([0-9]*\).*/\2/p' "/proc/$PPID/status" | tr '\n' ' ' >"peak-$1" ;;
esac
"#;

/// Peak of memory in kB, and threads.
fn peak(dir: &Dir, n: usize) -> [u64; 2] {
    let text = dir.read(&format!("work/peak-{n}"));
    let mut numbers = text.split_whitespace().map(|n| n.parse().expect("a number"));
    [numbers.next().expect("kilobytes"), numbers.next().expect("threads")]
}

/// Eight keys of limit four and as many calls as `SCALE_CALLS` says: nothing of a call that waits takes more than its place in
/// the batch, and nothing of one that is over more than its response and its record.
#[test]
fn memory_and_threads_stay_flat_over_many_calls() {
    let count: usize = std::env::var("SCALE_CALLS").map_or(1500, |n| n.parse().expect("a number"));
    let dir = Dir::new();
    for key in 0..8 {
        dir.tool(&format!("t{key}"), "concurrency = 4", SCRIPT);
    }
    let calls = (1..=count).map(|n| {
        json!({ "id": format!("c{n}"), "name": format!("t{}", n % 8), "arguments": { "n": n } })
    });
    dir.batch(&calls.collect());
    let ended = dir.json().end().code(0);
    let expected: Vec<Json> = (1..=count)
        .map(|n| {
            json!({
                "id": format!("c{n}"),
                "name": format!("t{}", n % 8),
                "status": "ok",
                "content": format!("{n}\n"),
            })
        })
        .collect();
    let json = ended.json();
    assert_eq!(json["data"]["responses"], Json::Array(expected));
    let peaks = json["data"]["peaks"].as_object().expect("a table");
    assert!(peaks.len() == 8 && peaks.values().all(|peak| *peak == 4), "{peaks:?}");
    let last = count / 50 * 50;
    let ([early, threads], [late, threads_late]) = (peak(&dir, 100), peak(&dir, last));
    let grown = late.saturating_sub(early);
    println!("{early} kB after 100 calls, {late} kB after {last}, {threads} threads");
    assert!(grown * 1024 <= (last - 100) as u64 * 4096, "grew by {grown} kB over {last} calls");
    // The program's own, and one that a slow policy is asked on, which comes and goes.
    assert!(threads.max(threads_late) <= 8, "{threads}, and later {threads_late} threads");
}

/// Results of ten megabytes are kept outside of memory, and are delivered whole.
#[test]
fn large_results_do_not_stay_in_memory() {
    const SIZE: usize = 10 << 20;
    const COUNT: usize = 10;
    let dir = Dir::new();
    dir.tool(
        "big",
        "concurrency = { key = \"disk\", limit = 2 }",
        "echo \"$1\"; head -c 10485760 /dev/zero | tr '\\0' x",
    );
    dir.tool("peak", "concurrency = { key = \"disk\", limit = 2 }", SCRIPT);
    let big = |n| json!({ "id": format!("c{n}"), "name": "big", "arguments": { "n": n } });
    let calls = (1..=COUNT).map(big);
    let peaks = json!({ "id": "peak", "name": "peak", "arguments": { "n": 50 } });
    dir.batch(&calls.chain([peaks]).collect());
    let ended = dir.json().end().code(0);
    let responses = ended.responses();
    let responses = responses.as_array().expect("a list");
    assert_eq!(responses.len(), COUNT + 1);
    for (n, response) in (1..=COUNT).zip(responses) {
        assert_eq!(response["id"], format!("c{n}"));
        let content = response["content"].as_str().expect("a text");
        let (line, rest) = content.split_once('\n').expect("its number");
        assert_eq!(line, n.to_string());
        assert!(rest.len() == SIZE && rest.bytes().all(|byte| byte == b'x'), "c{n} is whole");
    }
    let [kilobytes, _] = peak(&dir, 50);
    println!("{kilobytes} kB");
    // The results have 100 MiB; one that is being read takes its own length a few times, and two are at the same time.
    assert!(kilobytes < 125_000, "peak of {kilobytes} kB");
}
