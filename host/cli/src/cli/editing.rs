//! A text that a person changes: in line where it fits into one, else in the editor.

use inquire::{Editor, InquireError, Text, validator::Validation};

/// What is longer than this is a nuisance in a line.
const LINE: usize = 200;

/// Lets a person change a text until `check` has nothing against it. `kind` is the file name's end that an editor knows it by.
pub(super) fn edited(
    title: &str,
    text: &str,
    kind: &str,
    check: impl Fn(&str) -> Result<(), String> + Clone + 'static,
) -> Result<String, InquireError> {
    let validate = move |text: &str| {
        Ok(match check(text) {
            Ok(()) => Validation::Valid,
            Err(why) => Validation::Invalid(why.into()),
        })
    };
    // A line's own end is nobody's second line.
    let (line, end) = text.strip_suffix('\n').map_or((text, ""), |line| (line, "\n"));
    if line.len() <= LINE && !line.contains(char::is_control) {
        let prompt = Text::new(title).with_initial_value(line).with_validator(validate);
        return Ok(prompt.with_help_message("enter when done, esc to leave it").prompt()? + end);
    }
    let edited = Editor::new(title)
        .with_predefined_text(text)
        .with_file_extension(kind)
        .with_help_message("e to open the editor, enter when done, esc to leave it")
        .with_validator(validate)
        .prompt()?;
    // Who submits without having opened the editor has changed nothing.
    Ok(if edited.is_empty() { text.to_owned() } else { edited })
}
