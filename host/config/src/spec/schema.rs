//! What declared tables and types are in the JSON Schema.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value as Json};

use super::{
    shape::{FieldSchema, FieldSpec, Fields},
    types::{ByName, JsonScalar, Later, Loose, Required, Word, Words},
};

impl FieldSpec {
    /// The schema of the field.
    pub(crate) fn schema(&self, generator: &mut SchemaGenerator, or_null: bool) -> Schema {
        let FieldSchema { about, pattern, of_type, .. } = &self.schema;
        let mut schema = of_type(generator, or_null);
        describe(&mut schema, about);
        if let Some(pattern) = pattern.first() {
            schema.insert("pattern".to_owned(), (*pattern).into());
        }
        schema
    }
}

/// The schema of a table with these fields and no others.
pub(crate) fn table_schema(
    fields: Fields,
    about: &[&str],
    generator: &mut SchemaGenerator,
) -> Schema {
    let property = |field: &FieldSpec| {
        let schema = field.schema(generator, !field.schema.required);
        (field.name.to_owned(), schema.to_value())
    };
    let properties: Map<String, Json> = fields.iter().map(property).collect();
    let mut schema = json_schema!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    let required = fields.iter().filter(|field| field.schema.required);
    let required: Vec<&str> = required.map(|field| field.name).collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    describe(&mut schema, about);
    schema
}

/// Adds a description, given line by line.
fn describe(schema: &mut Schema, lines: &[&str]) {
    if !lines.is_empty() {
        let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        schema.insert("description".to_owned(), lines.join("\n").into());
    }
}

/// The schema of a value that is one of these, each with what is said of it.
pub(crate) fn any_of_schema(about: &str, variants: Vec<(Schema, &[&str])>) -> Schema {
    let described = |(mut schema, lines): (Schema, &[&str])| {
        describe(&mut schema, lines);
        schema.to_value()
    };
    let variants: Vec<Json> = variants.into_iter().map(described).collect();
    json_schema!({ "anyOf": variants, "description": about })
}

macro_rules! table_in_schema {
    ($table:ty) => {
        impl schemars::JsonSchema for $table {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                <Self as $crate::spec::Table>::NAME.into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                use $crate::spec::Table as _;
                $crate::spec::schema::table_schema(Self::FIELDS, Self::ABOUT, generator)
            }
        }
    };
}

/// Says that a type is what another one is.
macro_rules! same_in_schema {
    ($($type:ty => $other:ty $(where [$($parameters:tt)*])?),* $(,)?) => {$(
        impl$(<$($parameters)*>)? schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                <$other as schemars::JsonSchema>::inline_schema()
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                <$other as schemars::JsonSchema>::schema_name()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                <$other as schemars::JsonSchema>::schema_id()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$other as schemars::JsonSchema>::json_schema(generator)
            }
        }
    )*};
}

/// Says that a type is one of several in the schema.
macro_rules! any_of {
    (
        $type:ty $(where [$($parameters:tt)*])?, $title:literal, $about:literal,
        [$($variant:ty $(: $line:literal)?),* $(,)?]
    ) => {
        impl$(<$($parameters)*>)? schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $title.into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::spec::schema::any_of_schema($about, vec![$((
                    $crate::spec::of_type::<$variant>(generator, false),
                    &[$($line)?],
                )),*])
            }
        }
    };
}
pub(crate) use any_of;
pub(crate) use {same_in_schema, table_in_schema};

same_in_schema! {
    Required<T> => T where [T: JsonSchema],
    ByName<T> => BTreeMap<String, T> where [T: JsonSchema],
    Later<T> => T where [T: JsonSchema],
    Loose<T> => T where [T: JsonSchema],
    JsonScalar => Json,
}

/// A list of words, or, where something is said of them, each with that.
impl<T: Words> JsonSchema for Word<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        if T::WORDS.iter().all(|(_, _, about)| about.is_empty()) {
            let words: Vec<&str> = T::WORDS.iter().map(|(word, ..)| *word).collect();
            return json_schema!({ "type": "string", "enum": words });
        }
        let word = |(word, _, about): &(&str, T, &str)| serde_json::json!({ "type": "string", "const": word, "description": about });
        let words: Vec<Json> = T::WORDS.iter().map(word).collect();
        json_schema!({ "oneOf": words })
    }
}
