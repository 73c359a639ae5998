//! What several tests of the host share: the hostile policies, made from their source, and batches that are lived through under
//! them. It must never know a test that uses it.

#![allow(clippy::missing_panics_doc, reason = "what panics here fails a test")]

#[path = "hostile/sources.rs"]
pub mod sources;
#[path = "hostile/support.rs"]
pub mod support;

/// The snippets of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../host/README.md")]
struct Readme;
