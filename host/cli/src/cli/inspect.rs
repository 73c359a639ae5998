//! `jp-policy inspect`: what can be known of a policy without a batch.

use std::{io::Write as _, path::PathBuf, time::Duration};

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use jp_policy_core::{
    policy::Refusal,
    text::{clean, escape},
};
use jp_policy_wasm::{
    Accepted, Accepts, Behaviour, Budget, Inspection, Metadata, Unknown, inspect,
};
use serde_json::{Value as Json, json};

use super::{
    Exit, Format,
    layout::{columns, grouped, time, wrapped},
    policy::{CacheArgs, patient},
    policy_settings::PolicySettings,
    print_envelope,
};

/// Show what a policy is made of, takes and costs, or why it does not load
///
/// Which further fields and options a policy takes is found by asking it: it refuses by name what it does not know. So names are
/// tried, those in its own words first, and of what is shown the policy itself said that it knows it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy inspect policies/delay.wasm
  jp-policy inspect other.wasm --fields 'rate = 3' --format json

Exit codes: 0 it would load, 1 it would not, or fails when it is configured, 2 wrong use.")]
pub(super) struct Args {
    /// The component
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    settings: PolicySettings,
    #[command(flatten)]
    cache: CacheArgs,
    /// How the outcome is written
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// How long a policy is asked for fields, and for options: a native one is through in a fraction of it.
const ASKING: Duration = Duration::from_secs(3);

/// Width of the names before the values: with it a digest ends at column 80.
const LABEL: usize = 9;

/// Width of the name of a field or option before what it takes.
const FIELD: usize = 8;

const TITLE: Style = Style::new().bold();
const NAME: Style = Style::new().dimmed();
const BAD: Style = AnsiColor::Red.on_default().bold();

pub(super) fn run(args: &Args) -> Result<Exit> {
    let settings = args.settings.read()?.settings(&[1]);
    let engine = args.cache.engine()?;
    let text = format!("inspecting policy {}", escape(&args.file.display().to_string()));
    let inspection =
        patient(&text, || Ok(inspect(&engine, &args.file, Budget::default(), &settings, ASKING)))?;
    match args.format {
        Format::Text => {
            write!(anstream::stdout().lock(), "{}", text_of(&inspection, columns()))?;
        }
        Format::Json => print_envelope("inspect", &to_json(&inspection))?,
    }
    Ok(if inspection.serves() { Exit::Fine } else { Exit::Failed })
}

/// A page that is written line by line.
struct Page {
    out: String,
    width: usize,
}

impl Page {
    /// `name     value`, with the value's words on as many lines as they need.
    fn entry(&mut self, name: &str, value: &str) {
        self.indented(name, value, 0);
    }

    /// The same, with all lines but the first further in.
    fn indented(&mut self, name: &str, value: &str, further: usize) {
        let value = wrapped(value.split(' '), LABEL, LABEL + further, self.width);
        self.out += &format!("{NAME}{name:<LABEL$}{NAME:#}{value}\n");
    }

    /// The same for a list, one value a line.
    fn list(&mut self, name: &str, values: &[String]) {
        let none = ["none".to_owned()];
        let values = if values.is_empty() { &none[..] } else { values };
        for (n, value) in values.iter().enumerate() {
            self.entry(if n == 0 { name } else { "" }, value);
        }
    }

    fn line(&mut self, line: &str) {
        self.out += &format!("{line}\n");
    }
}

fn text_of(inspection: &Inspection, width: usize) -> String {
    let mut page = Page { out: String::new(), width };
    let name = inspection.policy.as_ref().map(|policy| policy.name.as_str());
    let path = clean(&inspection.path);
    match name {
        Some(name) => page.line(&format!("{TITLE}{}{TITLE:#}  {path}\n", clean(name))),
        None => page.line(&format!("{TITLE}{path}{TITLE:#}\n")),
    }
    loads(&mut page, inspection);
    if let Some(digest) = &inspection.digest {
        page.entry("digest", digest);
    }
    if let Some(bytes) = inspection.bytes {
        let compiled = inspection
            .compiled
            .map_or(String::new(), |compiled| format!(", compiled {}", grouped(compiled)));
        page.entry("size", &format!("{} bytes{compiled}", grouped(bytes)));
    }
    if let Some(metadata) = &inspection.metadata {
        if !metadata.sections.is_empty() {
            sections(&mut page, metadata);
        }
        if let Some(broken) = &metadata.broken {
            page.entry("", &format!("{BAD}can't be read further{BAD:#}: {broken}"));
        }
        if !metadata.tools.is_empty() {
            page.entry("made by", &metadata.tools.join(", "));
        }
        page.list("exports", &metadata.exports);
        page.list("imports", &imports(inspection));
    }
    if let Some(policy) = &inspection.policy {
        behaviour(&mut page, policy);
    }
    page.out
}

/// Whether it loads, and if not, why, and what to do.
fn loads(page: &mut Page, inspection: &Inspection) {
    match (&inspection.refusal, &inspection.policy) {
        (Some(refusal), _) => {
            page.line(&format!("{NAME}{:<LABEL$}{NAME:#}{BAD}no{BAD:#}", "loads"));
            let hints: Vec<_> =
                inspection.hints.iter().map(|hint| format!("\n\nhint: {hint}")).collect();
            let why = refusal.to_string() + &hints.concat();
            for line in why.lines() {
                let start = line.len() - line.trim_start().len();
                let indent = 2 + start;
                let words = line.trim_start().split(' ');
                let words = words.map(clean).collect::<Vec<_>>();
                let line =
                    wrapped(words.iter().map(String::as_str), indent, indent + 2, page.width);
                page.line(format!("{}{line}", " ".repeat(indent)).trim_end());
            }
            page.line("");
            let versions = inspection.metadata.iter().flat_map(Metadata::versions);
            let versions: Vec<String> = versions.collect();
            if !versions.is_empty() {
                page.entry("contract", &format!("jp:plugin {}", clean(&versions.join(", "))));
            }
        }
        (None, Some(policy)) => {
            match &policy.view {
                Err(Refusal::Fault(fault)) => {
                    let no = format!("{BAD}yes, but serves no batch{BAD:#}");
                    page.line(&format!("{NAME}{:<LABEL$}{NAME:#}{no}", "loads"));
                    page.entry(
                        "",
                        &format!("when it is configured it {}", clean(&fault.to_string())),
                    );
                }
                _ => page.entry("loads", "yes"),
            }
            page.entry("contract", &format!("jp:plugin {}", policy.version));
        }
        (None, None) => {}
    }
}

fn imports(inspection: &Inspection) -> Vec<String> {
    let note = |import: &jp_policy_wasm::Import| match (import.offered, import.wasi) {
        (true, _) => "",
        (false, true) => "  (WASI, which the host does not have)",
        (false, false) => "  (which the host does not have)",
    };
    inspection.imports.iter().map(|import| import.name.clone() + note(import)).collect()
}

/// Bytes by kind of section, as one list.
fn sections(page: &mut Page, metadata: &Metadata) {
    let sizes =
        metadata.sections.iter().map(|(name, bytes)| format!("{name} {},", grouped(*bytes)));
    let sizes: Vec<String> = sizes.collect();
    let list = wrapped(sizes.iter().map(String::as_str), LABEL, LABEL, page.width);
    page.line(&format!("{NAME}{:<LABEL$}{NAME:#}{}", "sections", list.trim_end_matches(',')));
}

fn behaviour(page: &mut Page, policy: &Behaviour) {
    page.line(&format!("\n{TITLE}asked{TITLE:#}"));
    match &policy.view {
        Ok(view) => page.entry("view", super::view_word(*view)),
        Err(Refusal::Fault(_)) => {}
        Err(refusal) => page.entry("view", &format!("not known: {}", clean(&refusal.to_string()))),
    }
    page.entry("reasons", if policy.reasons { "its own" } else { "none of its own" });
    if let Some(decision) = &policy.decision {
        let said = match decision {
            Ok(decision) => {
                let wake = decision.wake_at.map(|at| format!(", and wakes at {at} ns"));
                format!(
                    "releases {} of 2 calls, one with a key and one without{}",
                    decision.release.len(),
                    wake.unwrap_or_default()
                )
            }
            Err(fault) => format!("it {}", clean(&fault.to_string())),
        };
        page.entry("first", &said);
    }
    accepts(page, "fields", &policy.fields);
    accepts(page, "options", &policy.options);
    costs(page, policy);
}

fn accepts(page: &mut Page, name: &str, accepts: &Accepts) {
    for (n, accepted) in accepts.names.iter().enumerate() {
        let label = if n == 0 { name } else { "" };
        page.indented(label, &accepted_text(accepted), FIELD);
    }
    let label = if accepts.names.is_empty() { name } else { "" };
    let left = match accepts.left {
        0 => String::new(),
        left => format!(", {} left for lack of time", grouped(left as u64)),
    };
    let tried = format!("{} names tried{left}", grouped(accepts.tried as u64));
    let found = if accepts.names.is_empty() { "none found" } else { "it knows these" };
    let text = match &accepts.unknown {
        Unknown::Taken => "any, even a name that it can't know: a typo would be silent".to_owned(),
        Unknown::Refused(words) => {
            format!("({found}; {tried}; of an unknown one it says: {})", clean(words))
        }
        Unknown::Unnamed(words) => format!(
            "({found}; {tried}; less sure, because it refuses an unknown one without its name{})",
            says(words)
        ),
        Unknown::Always(words) => format!(
            "not known: it refuses the settings without them too{}; give it what it needs with --fields and --options",
            says(words)
        ),
        Unknown::Fault(fault) => {
            format!("not known: given a name that it can't know it {}", clean(&fault.to_string()))
        }
    };
    page.entry(label, &text);
}

fn says(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(": {}", clean(words)) }
}

fn accepted_text(Accepted { name, values, says }: &Accepted) -> String {
    let values = if values.is_empty() {
        "known, but took nothing that was tried".to_owned()
    } else {
        clean(&values.join(", "))
    };
    let says = says.as_ref().map_or(String::new(), |says| format!(" - {}", clean(says)));
    format!("{name:<FIELD$}{values}{says}")
}

fn costs(page: &mut Page, policy: &Behaviour) {
    page.line(&format!("\n{TITLE}cost{TITLE:#}       instructions        of budget       time"));
    for step in &policy.steps {
        page.line(&format!(
            "{NAME}{:<LABEL$}{NAME:#}{:>14} {:>16} {:>10}",
            step.name,
            grouped(step.spent.fuel),
            grouped(step.budget),
            time(step.took)
        ));
    }
    if let Some(last) = policy.steps.last() {
        let (memory, table) = (last.spent.memory as u64, last.spent.table as u64);
        let budget = policy.budget;
        page.entry(
            "memory",
            &format!("{:>14} {:>16} bytes at most", grouped(memory), grouped(budget.memory as u64)),
        );
        page.entry(
            "tables",
            &format!("{:>14} {:>16} elements", grouped(table), grouped(budget.table as u64)),
        );
    }
}

fn to_json(inspection: &Inspection) -> Json {
    let metadata = inspection.metadata.as_ref();
    json!({
        "file": inspection.path,
        "loads": inspection.refusal.is_none(),
        "serves": inspection.serves(),
        "refusal": inspection.refusal.as_ref().map(ToString::to_string),
        "hints": inspection.hints,
        "bytes": inspection.bytes,
        "digest": inspection.digest,
        "compiled_bytes": inspection.compiled,
        "contract": metadata.map(Metadata::versions),
        "tools": metadata.map(|metadata| &metadata.tools),
        "exports": metadata.map(|metadata| &metadata.exports),
        "imports": inspection.imports.iter().map(|import| json!({
            "name": import.name, "wasi": import.wasi, "offered": import.offered,
        })).collect::<Vec<_>>(),
        "sections": metadata.map(|metadata| metadata.sections.iter().map(|(name, bytes)| json!({
            "name": name, "bytes": bytes,
        })).collect::<Vec<_>>()),
        "broken": metadata.and_then(|metadata| metadata.broken.as_ref()),
        "policy": inspection.policy.as_ref().map(policy_json),
    })
}

fn policy_json(policy: &Behaviour) -> Json {
    let failed = |refusal: &Refusal| match refusal {
        Refusal::Settings(problems) => json!({ "problems": problems.iter().map(|problem| json!({
            "key": problem.key, "field": problem.field, "message": problem.message,
        })).collect::<Vec<_>>() }),
        Refusal::Fault(fault) => json!({ "fault": fault.word(), "message": fault.to_string() }),
        Refusal::Unloadable(message) => json!({ "message": message }),
    };
    json!({
        "name": policy.name,
        "contract": policy.version,
        "view": policy.view.as_ref().ok().map(|view| super::view_word(*view)),
        "refused": policy.view.as_ref().err().map(failed),
        "reasons": policy.reasons,
        "first_question": policy.decision.as_ref().map(|decision| match decision {
            Ok(decision) => json!({ "release": decision.release, "wake_at": decision.wake_at }),
            Err(fault) => json!({ "fault": fault.word(), "message": fault.to_string() }),
        }),
        "fields": accepts_json(&policy.fields),
        "options": accepts_json(&policy.options),
        "cost": policy.steps.iter().map(|step| json!({
            "step": step.name,
            "instructions": step.spent.fuel,
            "budget": step.budget,
            "nanoseconds": u64::try_from(step.took.as_nanos()).unwrap_or(u64::MAX),
        })).collect::<Vec<_>>(),
        "memory_bytes": policy.steps.last().map(|step| step.spent.memory),
        "memory_budget_bytes": policy.budget.memory,
        "table_elements": policy.steps.last().map(|step| step.spent.table),
    })
}

fn accepts_json(accepts: &Accepts) -> Json {
    let (word, words) = match &accepts.unknown {
        Unknown::Taken => ("taken", None),
        Unknown::Refused(words) => ("refused by name", Some(words.clone())),
        Unknown::Unnamed(words) => ("refused without a name", Some(words.clone())),
        Unknown::Always(words) => ("refuses always", Some(words.clone())),
        Unknown::Fault(fault) => ("fault", Some(fault.to_string())),
    };
    json!({
        "names": accepts.names.iter().map(|accepted| json!({
            "name": accepted.name, "values": accepted.values, "says": accepted.says,
        })).collect::<Vec<_>>(),
        "unknown": word,
        "unknown_says": words,
        "tried": accepts.tried,
        "left": accepts.left,
    })
}
