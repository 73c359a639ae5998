//! The calls of one connection, which are withdrawn together when it ends.
//!
//! Each call has a task that notices the end for itself. Were they withdrawn one by one, the slot of one could be free before the
//! next in line is withdrawn, and that would run for nobody.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use jp_policy_runtime::coordinator::Withdrawal;

/// The calls of a connection that have no response yet, in written order.
#[derive(Default)]
pub(super) struct Calls(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Nobody is there any more.
    left: bool,
    calls: BTreeMap<u64, Withdrawal>,
}

impl Calls {
    pub(super) fn add(&self, number: u64, withdrawal: Withdrawal) {
        self.lock().calls.insert(number, withdrawal);
    }

    /// It has its response, or nobody wants it.
    pub(super) fn remove(&self, number: u64) {
        self.lock().calls.remove(&number);
    }

    /// The client has left. What it sent before may still run to its end: whoever answers decides how long.
    pub(super) fn leave(&self) {
        self.lock().left = true;
    }

    /// Withdraws a call; after its client has left all of them, the last first.
    pub(super) fn withdraw(&self, number: u64) {
        let known = self.lock();
        if known.left {
            known.calls.values().rev().for_each(Withdrawal::withdraw);
        } else if let Some(call) = known.calls.get(&number) {
            call.withdraw();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
