use super::*;

#[test]
fn small_texts_stay_and_large_ones_are_put_away_whole() {
    let spool = Spool::default();
    let small = "x".repeat(IN_MEMORY);
    assert_eq!(spool.put(small.clone()), (small, None));
    let large = "äöü\n".repeat(IN_MEMORY);
    let (beginning, whole) = spool.put(large.clone());
    assert_eq!(
        beginning,
        format!("{}\n[the beginning of 448.0 KiB]", "äöü\n".repeat(BEGINNING / 4))
    );
    let whole = whole.expect("it is kept");
    assert_eq!(whole.text().expect("it can be read"), large);
    let mut out = Vec::new();
    whole.write_to(&mut out).expect("it can be read");
    assert_eq!(out, large.as_bytes());
}

/// Two that grow by turns stand in stretches, and each reads as it was written.
#[test]
fn results_that_grow_at_the_same_time_are_kept_apart() {
    let spool = Spool::default();
    let mut both = [spool.begin().expect("a file"), spool.begin().expect("a file")];
    for n in 0..100 {
        for (spooled, name) in both.iter_mut().zip(["a", "b"]) {
            spooled.push(format!("{name}{n} ").as_bytes()).expect("it can be written");
        }
    }
    for (spooled, name) in both.iter().zip(["a", "b"]) {
        let expected = (0..100).map(|n| format!("{name}{n} ")).collect::<Vec<_>>().concat();
        assert_eq!(spooled.text().expect("it can be read"), expected);
    }
}

/// The space is given back with the last result, and used again.
#[test]
fn with_the_last_result_the_space_is_free() {
    let spool = Spool::default();
    let length = |spool: &Spool| {
        let state = spool.state();
        state.file.as_ref().expect("it was made").metadata().expect("it is there").len()
    };
    let (_, first) = spool.put("a".repeat(2 * IN_MEMORY));
    let (_, second) = spool.put("b".repeat(2 * IN_MEMORY));
    assert_eq!(length(&spool), 4 * IN_MEMORY as u64);
    let clone = second.clone();
    drop((first, second));
    assert_eq!(length(&spool), 4 * IN_MEMORY as u64);
    drop(clone);
    assert_eq!(length(&spool), 0);
    let (_, third) = spool.put("c".repeat(2 * IN_MEMORY));
    assert_eq!(length(&spool), 2 * IN_MEMORY as u64);
    assert_eq!(third.expect("kept").text().expect("read"), "c".repeat(2 * IN_MEMORY));
}
