//! The texts that stand in certain places of a JSON text. What stands elsewhere, as the content of a file, is skipped over without
//! being kept.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Lists in lists that are passed through; more are nobody's paths, and would take more stack than a policy has.
const LISTS: u32 = 8;

/// The texts at the ends of these paths of names, on which lists are passed through. What is not there, or null, is no text; none,
/// if anything else than a text stands at an end, or nothing can be told.
pub fn texts(json: &str, paths: &[Vec<String>]) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    let paths = paths.iter().map(Vec::as_slice).collect();
    let mut json = serde_json::Deserializer::from_str(json);
    Find { paths, lists: 0, texts: &mut texts }.deserialize(&mut json).ok()?;
    json.end().ok()?;
    Some(texts)
}

/// Looks through a value.
struct Find<'a> {
    /// What is left of each path that leads here.
    paths: Vec<&'a [String]>,
    /// How many lists in lists it stands in.
    lists: u32,
    texts: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Find<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Find<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a path")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if self.paths.iter().any(|path| !path.is_empty()) {
            return Err(E::custom("a text where a table should be"));
        }
        self.texts.push(text.to_owned());
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { paths, lists, texts } = self;
        if lists == LISTS {
            return Err(A::Error::custom("lists in too many lists"));
        }
        let lists = lists + 1;
        while items.next_element_seed(Find { paths: paths.clone(), lists, texts })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self { paths, texts, .. } = self;
        if paths.iter().any(|path| path.is_empty()) {
            return Err(A::Error::custom("a table where a path should be"));
        }
        while let Some(name) = members.next_key::<String>()? {
            let rest = paths.iter().filter_map(|path| {
                let (first, rest) = path.split_first()?;
                (*first == name).then_some(rest)
            });
            let paths: Vec<_> = rest.collect();
            if paths.is_empty() {
                members.next_value::<IgnoredAny>()?;
            } else {
                members.next_value_seed(Find { paths, lists: 0, texts })?;
            }
        }
        Ok(())
    }
}
