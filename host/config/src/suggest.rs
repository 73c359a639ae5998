//! Suggestions for misspelt names.

/// A longer name was not typed, so it is no slip either; and to compare two names costs the product of their lengths.
const LONGEST_TYPED: usize = 200;

/// The nearest of `known` to a misspelt `name`, if one is near enough to be meant.
///
/// Near enough is a third of the name's length, and at most three slips: letters that are missing, added, exchanged, or swapped with
/// their neighbour. Of several that are equally near the first is returned.
///
/// ```
/// use jp_policy_config::nearest;
///
/// assert_eq!(nearest("concurency", ["command", "concurrency"]), Some("concurrency"));
/// assert_eq!(nearest("timeout", ["command", "concurrency"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > LONGEST_TYPED {
        return None;
    }
    let bound = length.div_ceil(3).min(3);
    known
        .into_iter()
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= bound)
        .map(|candidate| (strsim::osa_distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= bound)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_finds_what_was_meant_and_nothing_far() {
        let known = ["concurrency", "command", "fan_out", "run"];
        assert_eq!(nearest("concurency", known), Some("concurrency"));
        assert_eq!(nearest("fanout", known), Some("fan_out"));
        assert_eq!(nearest("rnu", known), Some("run"));
        assert_eq!(nearest("zzz", known), None);
        assert_eq!(nearest("", known), None);
    }

    /// Found by the fuzzer: a table of the product of both lengths.
    #[test]
    fn names_of_any_length_are_compared_at_once() {
        let long = "x".repeat(1 << 20);
        let longer = format!("{long}x");
        assert_eq!(nearest(&longer, [long.as_str(), "x"]), None);
        assert_eq!(nearest("xy", [long.as_str(), "x"]), Some("x"));
    }
}
