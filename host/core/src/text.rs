//! Text from outside, made fit for a terminal and for one line of a message.

/// Whether a character may reach a terminal as it is: no control character, no line break, nothing that changes direction.
fn is_plain(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_control();
    }
    character.escape_debug().count() == 1 || is_mark(character)
}

/// Combining marks: `escape_debug` escapes them too, but they are letters' parts in many scripts.
fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{dff}' | '\u{e31}'..='\u{e4e}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// One line without anything that could drive a terminal: line breaks and tabs become blanks, the rest a replacement mark.
pub fn clean(text: &str) -> String {
    text.chars().map(replaced).collect()
}

fn replaced(character: char) -> char {
    match character {
        '\n' | '\t' => ' ',
        c if is_plain(c) => c,
        _ => '\u{fffd}',
    }
}

/// A path as one line, made fit.
pub fn clean_path(path: &std::path::Path) -> String {
    clean(&path.display().to_string())
}

/// The lines of a text, each made fit on its own.
pub fn clean_lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(clean)
}

/// One line, cut at a number of characters.
pub fn clean_to(text: &str, length: usize) -> String {
    let mut cleaned = String::with_capacity(text.len().min(4 * length));
    push_clean_to(&mut cleaned, text, length);
    cleaned
}

/// The same, at the end of another text.
pub fn push_clean_to(to: &mut String, text: &str, length: usize) {
    let mut characters = text.trim().chars();
    to.extend(characters.by_ref().take(length).map(replaced));
    if characters.next().is_some() {
        to.push_str("...");
    }
}

/// Cuts a line at a number of characters.
pub fn cut(line: &mut String, length: usize) {
    line.truncate(line.trim_end().len());
    if let Some((end, _)) = line.char_indices().nth(length) {
        line.replace_range(end.., "...");
    }
}

/// So many of something, as words have it: `1 call`, `2 calls`.
pub fn plural(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// With escapes instead of what could drive a terminal, so that it can still be told what it was.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if is_plain(character) {
            escaped.push(character);
        } else {
            escaped.extend(character.escape_debug());
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_drives_a_terminal_passes() {
        let hostile = "a\u{1b}[31mb\u{9b}c\u{7f}\u{202e}d\r\ne\u{2028}f";
        assert_eq!(clean(hostile), "a\u{fffd}[31mb\u{fffd}c\u{fffd}\u{fffd}d\u{fffd} e\u{fffd}f");
        assert_eq!(escape(hostile), "a\\u{1b}[31mb\\u{9b}c\\u{7f}\\u{202e}d\\r\\ne\\u{2028}f");
        for character in clean(hostile).chars().chain(escape(hostile).chars()) {
            assert!(!character.is_control(), "{character:?}");
        }
    }

    #[test]
    fn letters_of_any_script_pass() {
        for text in ["ключ", "鍵", "🔑", "cafe\u{301}", "a \"b\" 'c' \\d", "हिन्दी"]
        {
            assert_eq!((clean(text).as_str(), escape(text).as_str()), (text, text));
        }
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(clean_to("  abcdef ", 3), "abc...");
        assert_eq!(clean_to("abc", 3), "abc");
        for (text, cut_at_3) in [("äöüß", "äöü..."), ("äöü", "äöü"), ("ab   ", "ab")] {
            let mut line = text.to_owned();
            cut(&mut line, 3);
            assert_eq!(line, cut_at_3);
        }
    }
}
