//! The calls of one connection, which are withdrawn together when it ends.
//!
//! Each call has a task that notices the end for itself. Were they withdrawn one by one, the slot of one could be free before the
//! next in the queue is withdrawn, and that would run for nobody.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use jp_policy_runtime::coordinator::Withdrawal;

/// The calls of a connection that have no response yet.
#[derive(Default)]
pub(super) struct ConnectionCalls(Mutex<State>);

#[derive(Default)]
struct State {
    disconnected: bool,
    /// By number, which is the written order.
    calls: BTreeMap<u64, Withdrawal>,
}

impl ConnectionCalls {
    pub(super) fn add(&self, number: u64, withdrawal: Withdrawal) {
        self.lock().calls.insert(number, withdrawal);
    }

    /// Forgets a call: it has its response, or nobody wants it.
    pub(super) fn remove(&self, number: u64) {
        self.lock().calls.remove(&number);
    }

    /// The client has disconnected. Nothing is withdrawn before the first of its calls is.
    pub(super) fn disconnect(&self) {
        self.lock().disconnected = true;
    }

    /// Withdraws a call; after a disconnect all of them, the last first.
    pub(super) fn withdraw(&self, number: u64) {
        let state = self.lock();
        if state.disconnected {
            state.calls.values().rev().for_each(Withdrawal::withdraw);
        } else if let Some(call) = state.calls.get(&number) {
            call.withdraw();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
