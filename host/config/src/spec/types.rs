//! The types that fields are declared with, and how each is read.

use std::{collections::BTreeMap, marker::PhantomData};

use serde_json::Value as Json;

use super::shape::{Configured, FieldType, Fields, InSchema, Shape};
use crate::{node::Entry, reader::Reader, source::Located};

/// A type whose fields the loader reads.
pub(crate) trait ReadField: FieldType {
    /// What the loader gets.
    type Value;

    /// Takes the field out of a table; none if it is not there or is wrong.
    fn take(reader: &mut Reader<'_>, name: &'static str) -> Option<Self::Value>;
}

/// A declared table.
pub(crate) trait Table: Default {
    /// What it is called in the JSON Schema.
    #[cfg(feature = "schema")]
    const NAME: &'static str;
    /// What is said of it in the JSON Schema, line by line.
    #[cfg(feature = "schema")]
    const ABOUT: &'static [&'static str];
    /// Its fields.
    const FIELDS: Fields;

    /// Takes all fields out of a table; those that the loader does not read are left alone.
    fn take(reader: &mut Reader<'_>) -> Self;
}

impl FieldType for String {}

impl ReadField for String {
    type Value = Located<Self>;

    fn take(reader: &mut Reader<'_>, name: &'static str) -> Option<Self::Value> {
        reader.string(name)
    }
}

impl FieldType for bool {
    const SHAPE: Shape = Shape::SCALAR;
}

impl ReadField for bool {
    type Value = Located<Self>;

    fn take(reader: &mut Reader<'_>, name: &'static str) -> Option<Self::Value> {
        reader.boolean(name)
    }
}

impl FieldType for u32 {
    const SHAPE: Shape = Shape::SCALAR;
}

impl FieldType for Vec<String> {}

/// Values by names that are not fields.
impl FieldType for BTreeMap<String, String> {
    const SHAPE: Shape = Shape::open(Fields::NONE, &Shape::TEXT);
}

/// What jp alone acts on.
impl FieldType for Json {}

/// A field that must be given.
pub(crate) struct Required<T>(PhantomData<T>);

impl<T: FieldType> FieldType for Required<T> {
    const SHAPE: Shape = T::SHAPE;
    #[cfg(feature = "schema")]
    const REQUIRED: bool = true;
}

impl<T: ReadField> ReadField for Required<T> {
    type Value = T::Value;

    fn take(reader: &mut Reader<'_>, name: &'static str) -> Option<Self::Value> {
        T::take(reader, name)
    }
}

/// A field whose value is taken out as it is, to be read as a `T` later.
pub(crate) struct Later<T>(PhantomData<T>);

impl<T: FieldType> FieldType for Later<T> {
    const SHAPE: Shape = T::SHAPE;
}

impl<T: FieldType> ReadField for Later<T> {
    type Value = Entry;

    fn take(reader: &mut Reader<'_>, name: &'static str) -> Option<Self::Value> {
        reader.take(name)
    }
}

/// What is `T` in the JSON Schema, and may have any other field besides, and in each a number or a boolean: what it may have is
/// said when it is read.
pub(crate) struct Loose<T>(PhantomData<T>);

impl<T: InSchema + Table> FieldType for Loose<T> {
    const SHAPE: Shape = Shape::open(T::FIELDS, &Shape::SCALAR).of_scalars();
}

/// Something that is configured under a name of the user's choice.
pub(crate) trait Named: FieldType {
    /// What it is.
    const KIND: Configured;
}

/// A table of `T` by name.
pub(crate) struct ByName<T>(PhantomData<T>);

impl<T: InSchema + Named> FieldType for ByName<T> {
    const SHAPE: Shape = Shape::configured(T::KIND, &T::SHAPE);
}

/// A value of jp's that this project does not act on, and that may be a number or a boolean.
pub(crate) struct JsonScalar;

impl FieldType for JsonScalar {
    const SHAPE: Shape = Shape::SCALAR;
}

/// A type whose values are words.
pub(crate) trait Words: Copy + 'static {
    /// What it is called in the JSON Schema.
    #[cfg(feature = "schema")]
    const NAME: &'static str;
    /// Each word with what it means, and what the JSON Schema says of it.
    const WORDS: &'static [(&'static str, Self, &'static str)];
}

/// One of the words of a type.
pub(crate) struct Word<T>(PhantomData<T>);

impl<T: Words> FieldType for Word<T> {}

impl<T: Words> ReadField for Word<T> {
    type Value = Located<T>;

    fn take(reader: &mut Reader<'_>, name: &'static str) -> Option<Self::Value> {
        reader.one_of(name, T::WORDS.iter().map(|(word, value, _)| (*word, *value)))
    }
}
