//! Declares the tables of a configuration file.
//!
//! A table is declared once, by [`table!`]: its fields, what each of them takes, and what is said of it. From that come the values
//! that the loader reads, the names for suggestions and for keys in which names are joined, and the JSON Schema. A field that the
//! loader uses and that is not declared is a compiler's error, one that is declared to be read and is not used a warning.

#[cfg(feature = "schema")]
pub(crate) mod schema;
mod shape;
mod table;
mod types;

#[cfg(feature = "schema")]
pub(crate) use schema::{any_of, same_in_schema, table_in_schema};
pub(crate) use shape::{Children, Configured, FieldSpec, FieldType, Fields, InSchema, Shape};
#[cfg(feature = "schema")]
pub(crate) use shape::{FieldSchema, of_type};
pub(crate) use table::{name_of, table};
pub(crate) use types::{
    ByName, JsonScalar, Later, Loose, Named, ReadField, Required, Table, Word, Words,
};
