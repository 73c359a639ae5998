//! What a check searches.

use std::{path::PathBuf, thread};

use crate::Parameters;

/// What is searched.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Calls of the largest batch of the search.
    pub calls: usize,
    /// Keys of the largest batch; calls without a key come on top.
    pub keys: usize,
    /// The limits that each key takes.
    pub limits: Vec<u32>,
    /// Times are told apart in batches of up to this many calls.
    pub timed: usize,
    /// Random batches after the search.
    pub random: u32,
    /// Where the random batches start from.
    pub seed: u64,
    /// Holds the policy to the default rules too: order within a key, and no needless waiting.
    pub rules: bool,
    /// What the policy is given beyond keys and limits.
    pub parameters: Parameters,
    /// The component's file, for the scenario that is written; none: the embedded default.
    pub path: Option<PathBuf>,
    /// Threads that search.
    pub threads: usize,
}

impl Default for Plan {
    /// Four calls, two keys, limits of 1 and 2; all cores.
    fn default() -> Self {
        Self {
            calls: 4,
            keys: 2,
            limits: vec![1, 2],
            timed: 2,
            random: 1_000,
            seed: 0,
            rules: false,
            parameters: Parameters::default(),
            path: None,
            threads: thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

impl Plan {
    /// Three calls and a hundred random batches: seconds, for whoever works on a policy.
    #[must_use]
    pub fn quick() -> Self {
        Self { calls: 3, random: 100, ..Self::default() }
    }
}
