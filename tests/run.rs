//! The program `jp-policy` with real processes, as a user starts it.
//!
//! Nothing here waits for a fixed time. Tools wait for files of each other or of the test, tests wait for files and lines of
//! output, and each of these waits is bounded: what never comes is a failure that says what was waited for.

#![cfg(unix)]

mod run {
    mod approval;
    mod bench;
    mod broken_calls;
    mod build;
    mod check;
    mod config;
    mod display;
    mod example;
    mod explain;
    mod fan_out;
    mod faults;
    mod forms;
    mod from_nothing;
    mod help;
    mod inspect;
    mod limits;
    mod mcp;
    mod mcp_git;
    mod new;
    mod output;
    mod processes;
    mod questions;
    mod record;
    mod refusals;
    mod refused_config;
    mod replay;
    mod resume;
    mod scale;
    mod serve;
    mod signals;
    mod simulate;
    mod support;
    mod terminal;
    mod test_verb;
    mod timeout;
    mod workspace;
}
