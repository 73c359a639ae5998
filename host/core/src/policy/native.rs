//! A policy of the SDK run natively: the default rules, and in tests any other.

use std::{fmt, marker::PhantomData};

use jp_policy_guest::{Batch, CallId, Decision, Policy as Sdk, Settings, View, rules::Rules};

use super::{
    arguments::Arguments,
    factory::{Policy, PolicyFactory},
    fault::{FaultKind, Refusal},
    identity::Identity,
};

/// Makes native instances of a policy that is written with the SDK.
pub struct Native<P> {
    identity: Identity,
    /// Whether it is known to answer at once.
    quick: bool,
    policy: PhantomData<fn() -> P>,
}

impl Native<Rules> {
    /// The default rules. They can't fail to load.
    pub fn rules() -> Self {
        Self { quick: true, ..Self::new() }
    }
}

impl<P: Sdk> Native<P> {
    /// A native policy under its own name.
    pub fn new() -> Self {
        let identity = Identity { name: P::NAME.to_owned(), digest: None };
        Self { identity, quick: false, policy: PhantomData }
    }
}

impl<P: Sdk> Default for Native<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Sdk> fmt::Debug for Native<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Native").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl<P: Sdk> PolicyFactory for Native<P> {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn instantiate(&self, settings: &Settings, _: Arguments) -> Result<Box<dyn Policy>, Refusal> {
        let policy = P::configure(settings.clone()).map_err(Refusal::Settings)?;
        Ok(Box::new(Instance { policy, quick: self.quick }))
    }
}

struct Instance<P> {
    policy: P,
    quick: bool,
}

impl<P: Sdk> Policy for Instance<P> {
    fn view(&self) -> View {
        P::VIEW
    }

    fn release(&mut self, batch: &Batch) -> Result<Decision, FaultKind> {
        self.policy.release(batch).map_err(|error| FaultKind::Error { message: error.to_string() })
    }

    fn release_at_once(&mut self, batch: &Batch) -> Option<Result<Decision, FaultKind>> {
        self.quick.then(|| self.release(batch))
    }

    fn explain(&mut self, batch: &Batch, call: CallId) -> Option<String> {
        self.policy.explain(batch, call)
    }
}
