//! How a scenario is lived through, who looks on, and why it may not come to an end.

use std::ops::ControlFlow;

use jp_policy_config::ConfigError;
use jp_policy_core::{
    batch::Instant,
    policy::Refusal,
    scheduler::{Event, PolicyAnswer, Scheduler},
};
use jp_policy_report::Decisions;

/// Looks on while a policy is asked.
pub trait SimulationObserver {
    /// The policy has answered, and the scheduler has not taken the answer in yet.
    fn answered(&mut self, now: Instant, answer: &PolicyAnswer) {
        let _ = (now, answer);
    }

    /// Something happened.
    fn event(&mut self, event: &Event) {
        let _ = event;
    }

    /// The scheduler has taken the answer in: what it released runs, or the policy is at fault. The simulation ends here if it
    /// is told to.
    fn decided(&mut self, now: Instant, scheduler: &Scheduler) -> ControlFlow<()> {
        let _ = (now, scheduler);
        ControlFlow::Continue(())
    }
}

impl SimulationObserver for Decisions {
    fn answered(&mut self, now: Instant, answer: &PolicyAnswer) {
        self.note(now, answer);
    }
}

/// How a scenario is lived through.
#[derive(Default)]
pub struct SimulateOptions<'a> {
    /// Stop there, with all that happens at this instant done; none: at the end.
    pub until: Option<Instant>,
    /// Who looks on.
    pub observer: Option<&'a mut dyn SimulationObserver>,
    /// Shuffles what happens at one instant, and whether the policy is asked in between or once for all of it: the same seed
    /// gives the same order. Causality stays: calls arrive in written order, a call before anything is decided about it, all
    /// that arrive at the instant before the batch is complete and before the policy is asked. None: ends come first, then
    /// everything else as it was planned, and the policy is asked once.
    pub seed: Option<u64>,
}

/// Why a scenario could not be lived through.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// Its configuration does not hold.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The policy does not serve it.
    #[error("policy \"{policy}\" does not serve the batch: {refusal}")]
    Refused {
        /// Which.
        policy: String,
        /// Why.
        refusal: Refusal,
    },
    /// It does not come to an end.
    #[error("the simulation does not come to an end: stopped at {at} ns")]
    Endless {
        /// Where it was.
        at: Instant,
    },
}
