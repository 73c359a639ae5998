use jp_policy_guest::{
    Batch, CallId, Decision, Error, Instant, Policy, Problem, Settings, State, View, duration,
    export_policy, rules,
};

/// The default rules, but nothing starts before the last approval is `grace` old: time to think.
struct Grace {
    limits: Vec<u32>, // by key index
    grace: Instant,
}

impl Policy for Grace {
    const NAME: &'static str = "grace";
    const VIEW: View = View::Full; // `front` would show A, and not that B was approved later

    fn configure(settings: Settings) -> Result<Self, Vec<Problem>> {
        let mut problems = settings.refuse_unknown(&[], &["grace"]).err().unwrap_or_default();
        let mut grace = 0;
        for option in settings.options.iter().filter(|option| option.name == "grace") {
            match duration::read(&option.value, "a grace") {
                Ok(nanos) => grace = nanos,
                Err(why) => problems.push(Problem::new(None, Some("grace"), why)),
            }
        }
        let limits = settings.keys.iter().map(|key| key.limit).collect();
        if problems.is_empty() { Ok(Self { limits, grace }) } else { Err(problems) }
    }

    fn release(&self, batch: &Batch) -> Result<Decision, Error> {
        Ok(match self.over(batch) {
            over if over > batch.now => Decision::nothing().wake_at(over),
            _ => Decision::release(rules::release(&self.limits, batch)),
        })
    }

    fn explain(&self, batch: &Batch, _: CallId) -> Option<String> {
        let over = Some(self.over(batch)).filter(|over| *over > batch.now)?;
        Some(format!("time to think, until {}", duration::seconds(over)))
    }
}

impl Grace {
    /// When the time to think is over.
    fn over(&self, batch: &Batch) -> Instant {
        let parked = batch.calls.iter().filter(|call| call.state == State::Parked);
        parked.map(|call| call.since.saturating_add(self.grace)).max().unwrap_or(batch.now)
    }
}

export_policy!(Grace);
