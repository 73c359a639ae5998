//! `jp-policy new`: writes a project to start a policy from.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use clap::{ValueEnum, builder::PossibleValue};
use jp_policy_core::text::clean_path;

use super::Exit;
use crate::{
    build::{Language, layout::component_file, tools::quoted},
    scaffold::{Name, NewProject, Origin, write},
};

/// Write a new policy to start from
///
/// A folder of that name with the source (the default rules, and one idea to change first), scenarios, unit tests, a README and a
/// .gitignore. It stands alone: a project in Rust brings a copy of the SDK along. Nothing is overwritten.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy new my-policy
  jp-policy new my-policy --lang python
  jp-policy new policies/slow-start --from delay

Exit codes: 0 written, 2 wrong use, or something is there already.")]
pub(super) struct Args {
    /// The policy's name, in kebab-case; with folders before it, where it goes
    name: PathBuf,
    /// What it is written in
    #[arg(long, value_enum, default_value = "rust", hide_possible_values = false)]
    lang: Language,
    /// Start from a policy that comes with jp-policy; all of them are there in Rust, delay in every language
    #[arg(long, value_enum, value_name = "POLICY")]
    from: Option<Origin>,
}

impl ValueEnum for Language {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.id());
        Some(match self {
            Self::JavaScript => value.alias("js"),
            Self::Python => value.alias("py"),
            Self::Rust | Self::C => value,
        })
    }
}

impl ValueEnum for Origin {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name))
    }
}

pub(super) fn run(args: &Args) -> Result<Exit> {
    let project = project(args)?;
    let files = project.files();
    write(&args.name, &files)?;
    let mut out = anstream::stdout().lock();
    let shown = clean_path(&args.name);
    writeln!(out, "wrote {shown}, a release policy in {}:\n", project.language)?;
    for line in summary(files.iter().map(|file| file.path.as_path())) {
        writeln!(out, "  {line}")?;
    }
    let folder = quoted(&args.name);
    let component = quoted(&args.name.join(component_file(project.name.as_str())));
    writeln!(out, "\nnext:\n")?;
    writeln!(out, "  jp-policy build {folder}")?;
    writeln!(out, "  jp-policy check {component}")?;
    writeln!(out, "\nits unit tests: cd {folder} && {}", project.test_command())?;
    Ok(Exit::Fine)
}

fn project(args: &Args) -> Result<NewProject> {
    let name = args.name.file_name().with_context(|| {
        format!("`{}` has no name for a policy, as in `my-policy`", clean_path(&args.name))
    })?;
    let name: Name = name.to_string_lossy().parse()?;
    let language = args.lang;
    let origin = args.from.unwrap_or(Origin::AT_ONCE);
    if !origin.is_in(language) {
        let languages: Vec<_> = origin.languages().map(|it| it.to_string()).collect();
        let others = Origin::ALL.into_iter().filter(|other| other.is_in(language));
        let others: Vec<_> = others.map(|other| format!("`--from {}`", other.name)).collect();
        bail!(
            "policy `{}` is there in {} only\n\nhint: {} starts in {language}, and `--lang {}` alone from the default rules",
            origin.name,
            languages.join(", "),
            others.join(" or "),
            language.id()
        );
    }
    Ok(NewProject { name, language, origin })
}

/// The files, and folders instead of what is in them.
fn summary<'a>(paths: impl Iterator<Item = &'a Path>) -> Vec<String> {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for path in paths {
        let mut parts = path.components();
        let first = parts.next().map(|part| part.as_os_str().to_string_lossy().into_owned());
        let Some(first) = first else { continue };
        let line = if parts.next().is_some() { format!("{first}/") } else { first };
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, count)) => *count += 1,
            None => lines.push((line, 1)),
        }
    }
    let show = |(line, count): (String, usize)| {
        if line.ends_with('/') {
            format!("{line:<18} {}", jp_policy_core::text::plural(count, "file"))
        } else {
            line
        }
    };
    lines.into_iter().map(show).collect()
}
