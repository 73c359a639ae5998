//! What a policy may be called: its name is one of a folder, a file, a plugin and a package.

use std::{fmt, str::FromStr};

/// A name in kebab-case: `my-policy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

/// Why a text is no name for a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no name for a policy: expected at most {LENGTH} lower-case letters, digits and single dashes, a letter first, as in `{like}`"
)]
pub struct NameError {
    /// The text.
    pub text: String,
    /// A name that is close to it.
    pub like: String,
}

/// The host cuts longer names.
const LENGTH: usize = 64;

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        if !text.is_empty() && kebab(text) == text {
            return Ok(Self(text.to_owned()));
        }
        let like = Some(kebab(text)).filter(|like| !like.is_empty());
        let like = like.unwrap_or_else(|| "my-policy".to_owned());
        Err(NameError { text: text.to_owned(), like })
    }
}

/// The name that is closest to a text: `MyPolicy` and `my_policy` become `my-policy`.
fn kebab(text: &str) -> String {
    let mut name = String::new();
    let mut lower_before = false;
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            if character.is_ascii_uppercase() && lower_before && !name.ends_with('-') {
                name.push('-');
            }
            // A package's name begins with a letter.
            if !name.is_empty() || character.is_ascii_alphabetic() {
                name.push(character.to_ascii_lowercase());
            }
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        lower_before = character.is_ascii_lowercase() || character.is_ascii_digit();
    }
    // All of it is ASCII by now.
    name.truncate(LENGTH);
    name.trim_end_matches('-').to_owned()
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
