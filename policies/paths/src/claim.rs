//! What a call claims: the paths among its arguments, and whether it writes.

use std::fmt;

use crate::{options::Options, texts::texts};

/// What a call claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Empty: nobody knows, so it is everything.
    pub places: Vec<Place>,
    pub writes: bool,
}

/// A path without `.`, `..` and needless slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// From `/` on; otherwise from where relative paths start, wherever that is.
    pub absolute: bool,
    pub names: Vec<String>,
}

impl Claim {
    /// The claim of a call with these arguments, which are JSON text.
    pub fn read(arguments: Option<&str>, writes: bool, options: &Options) -> Self {
        let texts = arguments.and_then(|json| texts(json, &options.paths));
        let places = texts.and_then(|texts| {
            texts.iter().map(|text| Place::read(text, options.root.as_deref())).collect()
        });
        Self { places: places.unwrap_or_default(), writes }
    }
}

impl Place {
    /// None for what no one but the tool can tell: nothing, a home folder, and what is above where relative paths start.
    fn read(text: &str, root: Option<&str>) -> Option<Self> {
        if text.is_empty() || text.starts_with('~') {
            return None;
        }
        let absolute = text.starts_with('/');
        let base = root.filter(|_| !absolute);
        let mut place = Self { absolute: absolute || base.is_some(), names: Vec::new() };
        for name in base.into_iter().chain([text]).flat_map(|text| text.split('/')) {
            match name {
                "" | "." => {}
                ".." => {
                    if place.names.pop().is_none() && !place.absolute {
                        return None;
                    }
                }
                name => place.names.push(name.to_owned()),
            }
        }
        Some(place)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.absolute, &self.names[..]) {
            (true, names) => write!(f, "/{}", names.join("/")),
            (false, []) => f.write_str("."),
            (false, names) => f.write_str(&names.join("/")),
        }
    }
}

#[cfg(test)]
#[path = "claim_tests.rs"]
mod tests;
