//! What fields and tables are, as data: names, what can stand under them, and what the JSON Schema says of them.

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};

/// What a field can be declared to take.
pub(crate) trait FieldType: InSchema {
    /// What can stand under the field, and how it is given without quotes.
    const SHAPE: Shape = Shape::TEXT;
    /// Whether it must be given where its table is, by no other layer.
    #[cfg(feature = "schema")]
    const REQUIRED: bool = false;
}

/// What the JSON Schema needs of the type of a field; nothing without the feature `schema`.
#[cfg(feature = "schema")]
pub(crate) trait InSchema: schemars::JsonSchema {}
#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema + ?Sized> InSchema for T {}
#[cfg(not(feature = "schema"))]
pub(crate) trait InSchema {}
#[cfg(not(feature = "schema"))]
impl<T: ?Sized> InSchema for T {}

/// A field as it is declared.
pub(crate) struct FieldSpec {
    /// Its name.
    pub(crate) name: &'static str,
    /// What can stand under it.
    pub(crate) shape: Shape,
    #[cfg(feature = "schema")]
    pub(crate) schema: FieldSchema,
}

/// The fields of a table, in groups that are declared together.
#[derive(Clone, Copy)]
pub(crate) struct Fields(pub(crate) &'static [&'static [FieldSpec]]);

impl Fields {
    /// No fields.
    pub(crate) const NONE: Self = Self(&[]);

    pub(crate) fn iter(self) -> impl Iterator<Item = &'static FieldSpec> {
        self.0.iter().copied().flatten()
    }

    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        self.iter().map(|field| field.name)
    }

    pub(crate) fn has(self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn get(self, name: &str) -> Option<&'static FieldSpec> {
        self.iter().find(|field| field.name == name)
    }
}

/// What the JSON Schema says of a field.
#[cfg(feature = "schema")]
pub(crate) struct FieldSchema {
    /// Its description, line by line.
    pub(crate) about: &'static [&'static str],
    /// A regular expression that its text must match, if there is one.
    pub(crate) pattern: &'static [&'static str],
    /// Whether its table must have it. Another one may be null, which says nothing.
    pub(crate) required: bool,
    /// The schema of its type, or of that and null.
    pub(crate) of_type: fn(&mut SchemaGenerator, or_null: bool) -> Schema,
}

/// The schema of a type, or of that and null.
#[cfg(feature = "schema")]
pub(crate) fn of_type<T: JsonSchema>(generator: &mut SchemaGenerator, or_null: bool) -> Schema {
    if or_null { generator.subschema_for::<Option<T>>() } else { generator.subschema_for::<T>() }
}

/// What can stand under a name, and how a value without quotes is taken there.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// The names under it.
    pub(crate) children: Children,
    typed: Typed,
}

/// Whether a value that is given without quotes is a number or a boolean where it looks like one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Typed {
    /// It is a text.
    No,
    /// It is.
    Yes,
    /// So is everything under it.
    Throughout,
}

/// The names that can stand under another.
#[derive(Clone, Copy)]
pub(crate) enum Children {
    /// Those of these fields.
    Named(Fields),
    /// Those of these fields, or any other, under which this can stand.
    Open(Fields, &'static Shape),
    /// Those that layers give to what they configure.
    Configured(Configured, &'static Shape),
    /// Names that this project does not know.
    Unknown,
}

/// What is configured under names of the user's choice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Configured {
    /// Tools.
    Tools,
    /// Plugins that are WebAssembly components.
    Plugins,
    /// MCP servers.
    Servers,
}

impl Shape {
    /// A text, or something that this project does not know.
    pub(crate) const TEXT: Self = Self { children: Children::Unknown, typed: Typed::No };
    /// A number or a boolean.
    pub(crate) const SCALAR: Self = Self { children: Children::Unknown, typed: Typed::Yes };

    /// A table of these fields and no others.
    pub(crate) const fn named(fields: Fields) -> Self {
        Self { children: Children::Named(fields), typed: Typed::No }
    }

    /// A table that may have other fields too, all of this shape.
    pub(crate) const fn open(fields: Fields, other: &'static Self) -> Self {
        Self { children: Children::Open(fields, other), typed: Typed::No }
    }

    /// A table with a name for each thing of a kind, all of this shape.
    pub(crate) const fn configured(what: Configured, each: &'static Self) -> Self {
        Self { children: Children::Configured(what, each), typed: Typed::No }
    }

    /// The same where a number or a boolean may stand instead of it.
    pub(crate) const fn or_scalar(self) -> Self {
        Self { typed: Typed::Yes, ..self }
    }

    /// The same where each value in it may be a number or a boolean.
    pub(crate) const fn of_scalars(self) -> Self {
        Self { typed: Typed::Throughout, ..self }
    }

    /// What can stand at the end of a path of names.
    pub(crate) fn at<S: AsRef<str>>(self, path: &[S]) -> Self {
        path.iter().fold(self, |shape, name| shape.child(name.as_ref()))
    }

    /// Whether a value without quotes is a number or a boolean where it looks like one.
    pub(crate) fn is_typed(self) -> bool {
        self.typed != Typed::No
    }

    fn child(self, name: &str) -> Self {
        let child = match self.children {
            Children::Named(fields) => fields.get(name).map_or(Self::TEXT, |field| field.shape),
            Children::Open(fields, other) => fields.get(name).map_or(*other, |field| field.shape),
            Children::Configured(_, each) => *each,
            Children::Unknown => Self::TEXT,
        };
        if self.typed == Typed::Throughout { child.of_scalars() } else { child }
    }
}
