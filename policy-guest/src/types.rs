//! The contract's types under short names, with what makes them handy.

pub use crate::bindings::exports::jp::plugin::release_policy::{
    Batch, Call, CallId, Decision, Field, Instant, Key, KeyIndex, Problem, Settings, State, Tool,
    ToolIndex, Usage, Value, View,
};

impl Decision {
    /// Releases nothing and sets no wake-up.
    #[must_use]
    pub fn nothing() -> Self {
        Self::release([])
    }

    /// Releases these calls and sets no wake-up.
    #[must_use]
    pub fn release(calls: impl IntoIterator<Item = CallId>) -> Self {
        Self { release: calls.into_iter().collect(), wake_at: None }
    }

    /// The same, to be asked again at `at` even if nothing happens before.
    #[must_use]
    pub fn wake_at(mut self, at: Instant) -> Self {
        self.wake_at = Some(at);
        self
    }
}

impl Batch {
    /// The numbers of a key, if the question shows it. `keys` is sorted by index.
    #[must_use]
    pub fn usage(&self, key: KeyIndex) -> Option<&Usage> {
        let place = self.keys.binary_search_by_key(&key, |usage| usage.key).ok()?;
        self.keys.get(place)
    }
}

impl Settings {
    /// The key with this index.
    #[must_use]
    pub fn key(&self, index: KeyIndex) -> Option<&Key> {
        self.keys.get(usize::try_from(index).ok()?)
    }

    /// Refuses every further field of every key and every option: what a policy does that takes none.
    pub fn refuse_all(&self) -> Result<(), Vec<Problem>> {
        self.refuse_unknown(&[], &[])
    }

    /// Refuses the fields of keys that are not in `fields`, and the options that are not in `options`.
    pub fn refuse_unknown(&self, fields: &[&str], options: &[&str]) -> Result<(), Vec<Problem>> {
        let mut problems = Vec::new();
        for (index, key) in (0..).zip(&self.keys) {
            let unknown = key.fields.iter().filter(|field| !fields.contains(&field.name.as_str()));
            problems
                .extend(unknown.map(|field| Problem::unknown(Some(index), &field.name, fields)));
        }
        let unknown = self.options.iter().filter(|option| !options.contains(&option.name.as_str()));
        problems.extend(unknown.map(|option| Problem::unknown(None, &option.name, options)));
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

impl Problem {
    /// A problem with a field of a key's `concurrency` table, or, without a key, with an option.
    #[must_use]
    pub fn new(key: Option<KeyIndex>, field: Option<&str>, message: impl Into<String>) -> Self {
        Self { key, field: field.map(str::to_owned), message: message.into() }
    }

    fn unknown(key: Option<KeyIndex>, name: &str, known: &[&str]) -> Self {
        let what = if key.is_some() { "further field" } else { "option" };
        let message = if known.is_empty() {
            format!("unknown {what}; this policy takes none")
        } else {
            format!("unknown {what}; this policy takes {}", known.join(", "))
        };
        Self::new(key, Some(name), message)
    }
}
