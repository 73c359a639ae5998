//! The program: one file a verb. Only here anything is printed.

mod approvals;
mod approve;
mod bench;
mod build;
mod check;
mod config;
mod config_args;
mod diagnostics;
mod editing;
mod explain;
mod inspect;
mod interrupt;
mod layout;
mod limits;
mod live;
mod log_file;
mod new;
mod policy;
mod policy_settings;
mod prompts;
mod reaper;
mod recording;
mod replay;
mod run;
mod screen;
mod serve;
mod signals;
mod simulate;
mod terminal;
mod test;
mod tool_args;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Result;
use clap::{CommandFactory as _, Parser, Subcommand};
use serde_json::{Value as Json, json};

/// Bounds and orders the tool calls of an assistant's response.
#[derive(Debug, Parser)]
#[command(name = "jp-policy", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit codes: 0 fine, 1 a call or a test failed, 2 wrong use or configuration, 3 a policy failed (with --strict), 130 interrupted, 141 standard output was closed."
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Run(run::Args),
    Serve(serve::Args),
    Simulate(simulate::Args),
    Test(test::Args),
    Check(check::Args),
    Bench(bench::Args),
    Inspect(inspect::Args),
    Replay(replay::Args),
    Explain(explain::Args),
    New(new::Args),
    Build(build::Args),
    #[command(subcommand)]
    Config(config::Verb),
    /// Print a completion script for a shell.
    #[command(
        after_help = "Example:\n  jp-policy completions bash > ~/.local/share/bash-completion/completions/jp-policy"
    )]
    Completions {
        /// For which shell.
        shell: clap_complete::Shell,
    },
}

/// Prints a line to standard error. What can't be shown is not: the calls matter more than the view of them.
fn say(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For machines
    Json,
}

/// Prints what a verb found as JSON, in the envelope that says what it is.
fn print_envelope(verb: &str, data: &Json) -> Result<()> {
    let format = format!("jp-policy.{verb}");
    let envelope = json!({ "format": format, "version": 1, "data": data });
    Ok(writeln!(io::stdout().lock(), "{}", serde_json::to_string_pretty(&envelope)?)?)
}

/// What a policy wants to see, as the contract calls it.
fn view_word(view: jp_policy_guest::View) -> &'static str {
    match view {
        jp_policy_guest::View::Front => "front",
        jp_policy_guest::View::Full => "full",
    }
}

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    Fine,
    Failed,
    Fault,
    Interrupted,
}

/// Runs the program.
pub fn main() -> ExitCode {
    if reaper::is_reaper() {
        return reaper::run();
    }
    let ended = match Cli::parse().verb {
        Verb::Run(args) => run::run(&args),
        Verb::Serve(args) => serve::run(&args),
        Verb::Simulate(args) => simulate::run(&args),
        Verb::Test(args) => test::run(&args),
        Verb::Check(args) => check::run(&args),
        Verb::Bench(args) => bench::run(&args),
        Verb::Inspect(args) => inspect::run(&args),
        Verb::Replay(args) => replay::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::New(args) => new::run(&args),
        Verb::Build(args) => build::run(&args),
        Verb::Config(verb) => config::run(&verb),
        Verb::Completions { shell } => {
            // Into memory first: it panics where it can't write.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "jp-policy", &mut script);
            io::stdout().write_all(&script).map(|()| Exit::Fine).map_err(Into::into)
        }
    };
    match ended {
        Ok(Exit::Fine) => ExitCode::SUCCESS,
        Ok(Exit::Failed) => ExitCode::from(1),
        Ok(Exit::Fault) => ExitCode::from(3),
        Ok(Exit::Interrupted) => ExitCode::from(130),
        // Nothing is wrong and nobody is there to be told, as with any program that this ends by SIGPIPE.
        Err(error) if diagnostics::is_closed_pipe(&error) => ExitCode::from(CLOSED_PIPE),
        Err(error) => {
            diagnostics::print_error(&error);
            ExitCode::from(2)
        }
    }
}

/// 128 and the number of SIGPIPE, which is what a shell says of a program that was ended by it.
const CLOSED_PIPE: u8 = 141;
