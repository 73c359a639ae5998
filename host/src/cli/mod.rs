//! The program: one file a verb. Only here anything is printed.

mod approvals;
mod build;
mod diagnostics;
mod explain;
mod guard;
mod live;
mod policy;
mod prompts;
mod recording;
mod replay;
mod run;
mod simulate;
mod test;

use std::{io::Write as _, process::ExitCode};

use clap::{CommandFactory as _, Parser, Subcommand};

/// Bounds and orders the tool calls of an assistant's response.
#[derive(Debug, Parser)]
#[command(name = "jp-policy", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit codes: 0 fine, 1 a call or a test failed, 2 wrong use or configuration, 3 a policy failed (with --strict), 130 interrupted."
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Run(run::Args),
    Simulate(simulate::Args),
    Test(test::Args),
    Replay(replay::Args),
    Explain(explain::Args),
    Build(build::Args),
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
    if guard::is_guard() {
        return guard::run();
    }
    let ended = match Cli::parse().verb {
        Verb::Run(args) => run::run(&args),
        Verb::Simulate(args) => simulate::run(&args),
        Verb::Test(args) => test::run(&args),
        Verb::Replay(args) => replay::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::Build(args) => build::run(&args),
        Verb::Completions { shell } => {
            // Into memory first: it panics where it can't write.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "jp-policy", &mut script);
            std::io::stdout().write_all(&script).map(|()| Exit::Fine).map_err(Into::into)
        }
    };
    match ended {
        Ok(Exit::Fine) => ExitCode::SUCCESS,
        Ok(Exit::Failed) => ExitCode::from(1),
        Ok(Exit::Fault) => ExitCode::from(3),
        Ok(Exit::Interrupted) => ExitCode::from(130),
        Err(error) => {
            diagnostics::print_error(&error);
            ExitCode::from(2)
        }
    }
}
