//! Declares tables.

/// Declares a table: a struct with what the loader reads of it.
///
/// A field `name: Type` is read by the loader; a field `"name": Type` is known, and read elsewhere or nowhere. Documentation becomes
/// a description in the JSON Schema, and `#[pattern = "..."]` a regular expression there.
macro_rules! table {
    (
        $(#[doc = $about:literal])*
        $vis:vis struct $table:ident $title:literal {
            $(
                $(#[doc = $line:literal])*
                $(#[pattern = $pattern:literal])?
                $($field:ident)? $($unread:literal)? : $type:ty
            ),* $(,)?
        }
    ) => {
        #[derive(Default)]
        $vis struct $table {
            $($($field: Option<<$type as $crate::spec::ReadField>::Value>,)?)*
        }

        impl $crate::spec::Table for $table {
            #[cfg(feature = "schema")]
            const NAME: &'static str = $title;
            #[cfg(feature = "schema")]
            const ABOUT: &'static [&'static str] = &[$($about),*];
            const FIELDS: $crate::spec::Fields = $crate::spec::Fields(&[&[$(
                $crate::spec::FieldSpec {
                    name: $($crate::spec::name_of(stringify!($field)))? $($unread)?,
                    shape: <$type as $crate::spec::FieldType>::SHAPE,
                    #[cfg(feature = "schema")]
                    schema: $crate::spec::FieldSchema {
                        about: &[$($line),*],
                        pattern: &[$($pattern)?],
                        required: <$type as $crate::spec::FieldType>::REQUIRED,
                        of_type: $crate::spec::of_type::<$type>,
                    },
                }
            ),*]]);

            fn take(reader: &mut $crate::reader::Reader<'_>) -> Self {
                let table = Self {
                    $($($field: <$type as $crate::spec::ReadField>::take(
                        reader,
                        const { $crate::spec::name_of(stringify!($field)) },
                    ),)?)*
                };
                reader.ignore(&[$($($unread,)?)*]);
                table
            }
        }

        impl $crate::spec::FieldType for $table {
            const SHAPE: $crate::spec::Shape =
                $crate::spec::Shape::named(<Self as $crate::spec::Table>::FIELDS);
        }

        #[cfg(feature = "schema")]
        $crate::spec::table_in_schema!($table);
    };
}

pub(crate) use table;

/// The name of a field of a struct without the `r#` that a word of Rust has.
pub(crate) const fn name_of(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', name @ ..] => match str::from_utf8(name) {
            Ok(name) => name,
            Err(_) => field,
        },
        _ => field,
    }
}
