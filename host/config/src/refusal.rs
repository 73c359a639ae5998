//! Shows what a policy refuses at the place where it was written.

use jp_policy_guest::Problem;

use super::{
    concurrency::ConcurrencyTable, config::Config, diagnostic::Diagnostic, node::Value,
    source::Place, spec::Table as _, suggest::nearest,
};

impl Config {
    /// What the release policy of this name refuses of the configuration: an error for each problem, with the places it comes from.
    ///
    /// There is at least one error: a policy that refuses and gives no problem is reported as that.
    pub fn refused(&self, policy: &str, problems: &[Problem]) -> Vec<Diagnostic> {
        if problems.is_empty() {
            return vec![Diagnostic::error(format!(
                "release policy \"{policy}\" refuses the configuration and does not say why"
            ))];
        }
        problems.iter().map(|problem| self.refused_one(policy, problem)).collect()
    }

    fn refused_one(&self, policy: &str, problem: &Problem) -> Diagnostic {
        let field = problem.field.as_deref();
        let Some(key) = problem.key else {
            let option = field.map_or_else(
                || "the options".to_owned(),
                |field| format!("option `{}`", field.escape_debug()),
            );
            let refused = Diagnostic::error(format!(
                "release policy \"{policy}\" refuses {option}: {}",
                problem.message
            ));
            return match self.option_place(field) {
                Some(place) => refused.at(&place, "refused"),
                None => refused,
            };
        };
        let Some(name) = self.settings().keys.get(key as usize).map(|key| key.name.clone()) else {
            return Diagnostic::error(format!(
                "release policy \"{policy}\" refuses key {key}, which there is not: {}",
                problem.message
            ));
        };
        let what =
            field.map_or_else(String::new, |field| format!("field `{}` of ", field.escape_debug()));
        let message = format!(
            "release policy \"{policy}\" refuses {what}key \"{}\": {}",
            name.escape_debug(),
            problem.message
        );
        let mut refused = Diagnostic::error(message);
        for tool in self.tools.values() {
            let Some(concurrency) =
                tool.concurrency.as_ref().filter(|concurrency| concurrency.key == name)
            else {
                continue;
            };
            let entry = concurrency.fields.iter().find(|(known, _)| Some(known.as_str()) == field);
            let place = entry.map_or(&concurrency.place, |(_, entry)| &entry.name);
            refused = refused.at(place, format!("tool `{}`", tool.name.escape_debug()));
        }
        match field.and_then(|field| nearest(field, ConcurrencyTable::FIELDS.names())) {
            Some(known) => refused.help(format!("did you mean `{known}`?")),
            None => refused,
        }
    }

    fn option_place(&self, field: Option<&str>) -> Option<Place> {
        let Value::Table(plugin) = &self.release.policy.as_ref()?.table.value else {
            return None;
        };
        let options = plugin.get("options")?;
        match (&options.node.value, field) {
            (Value::Table(table), Some(field)) => table.get(field).map(|entry| entry.name.clone()),
            _ => None,
        }
        .or_else(|| Some(options.name.clone()))
    }
}
