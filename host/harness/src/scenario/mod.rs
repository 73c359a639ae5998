//! Scenario files: a configuration, a batch, what each call does, what people do, and what is expected.
//!
//! ```toml
//! title = "A question keeps the slot"
//!
//! [conversation.tools.deploy]      # configuration, as a user writes it
//! concurrency = 1
//!
//! [[call]]                         # in written order
//! name = "A"
//! tool = "deploy"
//! does = "1s ask 2s"               # runs 1 s, asks, runs 2 s more; "fail" at the end makes it fail
//! answered = 10                    # a number is seconds since the batch was handed over
//!
//! [[call]]
//! name = "B"
//! tool = "deploy"                  # does = "1s" where nothing is said
//!
//! [expect]
//! starts = "A@0 B@12"
//! ends = "A!12 B!13"
//! parked = "B [0,12)"
//! ```
//!
//! The whole format, for who writes one: `tests/scenarios/README.md`.

mod behaviour;
mod call;
mod expect;
mod file;
mod values;

pub use behaviour::{Behaviour, Ending, Phase};
pub use call::{CallSpec, PersonEvent};
pub use expect::Expect;
pub use file::{Earlier, Scenario, ScenarioEvent};
