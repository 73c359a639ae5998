//! From a [`Policy`] to the exports of a component: what [`export_policy!`](crate::export_policy) expands to.

use std::sync::OnceLock;

use crate::{Batch, CallId, Decision, Policy, Problem, Settings, View, bindings::jp::host::log};

/// Makes the policy the component's.
///
/// One line, outside of any function: `export_policy!(MyPolicy);`. It exports nothing in a native build, so the crate's own tests
/// run as any others.
#[macro_export]
macro_rules! export_policy {
    ($policy:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            use $crate::bindings::exports::jp::plugin as exports;

            static INSTANCE: $crate::export::Instance<$policy> = $crate::export::Instance::new();

            struct Component;

            impl exports::plugin::Guest for Component {
                fn name() -> String {
                    $crate::export::carry_panics();
                    <$policy as $crate::Policy>::NAME.to_owned()
                }
            }

            impl exports::release_policy::Guest for Component {
                fn configure(
                    settings: $crate::Settings,
                ) -> Result<$crate::View, Vec<$crate::Problem>> {
                    INSTANCE.configure(settings)
                }

                fn release(batch: $crate::Batch) -> Result<$crate::Decision, String> {
                    INSTANCE.release(&batch)
                }
            }

            impl exports::release_reasons::Guest for Component {
                fn explain(batch: $crate::Batch, call: $crate::CallId) -> String {
                    INSTANCE.explain(&batch, call)
                }
            }

    $crate::bindings::export_component!(Component with_types_in $crate::bindings);
        };
        // Natively nothing is exported, and the policy is in use all the same.
        #[cfg(not(target_family = "wasm"))]
        const _: () = {
            const fn is_policy<P: $crate::Policy>() {}
            is_policy::<$policy>();
        };
    };
}

/// The one policy of an instance, once it is configured.
#[derive(Debug)]
pub struct Instance<P>(OnceLock<P>);

impl<P: Policy> Instance<P> {
    /// Not configured yet.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a default is no constant")]
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Makes the policy from the settings.
    pub fn configure(&self, settings: Settings) -> Result<View, Vec<Problem>> {
        carry_panics();
        let policy = P::configure(settings)?;
        assert!(self.0.set(policy).is_ok(), "configured twice");
        Ok(P::VIEW)
    }

    /// Asks the policy.
    pub fn release(&self, batch: &Batch) -> Result<Decision, String> {
        self.policy().release(batch).map_err(|error| error.to_string())
    }

    /// Asks the policy for a reason; an empty text where it has none.
    pub fn explain(&self, batch: &Batch, call: CallId) -> String {
        self.policy().explain(batch, call).unwrap_or_default()
    }

    fn policy(&self) -> &P {
        self.0.get().expect("asked before it was configured")
    }
}

/// Sends the message and the place of a panic to the host before the trap: the engine itself would only say `unreachable`.
pub fn carry_panics() {
    std::panic::set_hook(Box::new(|panic| {
        log::write(log::Level::Panic, &panic.to_string());
    }));
}
