//! Text in XML.

/// Text for the inside of an element or of an attribute. XML has no way to write most control characters, not even escaped:
/// they become a replacement mark.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push('\n'),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            character if character.is_control() => out.push('\u{fffd}'),
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out() {
        let hostile = "a<b>&\"c\"\u{1b}[31m\u{0}\u{ffff}\nd]]>";
        let escaped = "a&lt;b&gt;&amp;&quot;c&quot;\u{fffd}[31m\u{fffd}\u{fffd}\nd]]&gt;";
        assert_eq!(text(hostile), escaped);
    }
}
