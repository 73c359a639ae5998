//! Checks that the steps of each call can follow each other, as those that a scheduler tells of do: the reader of a record trusts
//! nothing that stands in a file.

use std::{collections::HashMap, fmt};

use crate::{
    batch::{CallId, ExecutionId},
    scheduler::{EventKind, Settlement},
};

/// Where the calls and executions of a record stand.
#[derive(Debug, Default)]
pub(super) struct Steps {
    calls: Vec<Stage>,
    executions: HashMap<ExecutionId, Execution>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Pending,
    Parked,
    Running { execution: ExecutionId, asking: bool },
    Ended,
    Settled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Execution {
    /// It is that of a call.
    Of(CallId),
    /// Its call was restarted.
    Detached,
    Ended,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pending => f.write_str("it is pending"),
            Self::Parked => f.write_str("it is parked"),
            Self::Running { execution, asking: false } => {
                write!(f, "it runs, as execution {}", execution.number())
            }
            Self::Running { execution, asking: true } => {
                write!(f, "it runs and asks, as execution {}", execution.number())
            }
            Self::Ended => f.write_str("it has ended"),
            Self::Settled => f.write_str("it is settled"),
        }
    }
}

impl Steps {
    /// Takes the next event. The error says what of it is impossible: the call or execution, where it stands, and what was expected.
    ///
    /// A call that was never submitted is not looked at: the reader has refused it.
    pub(super) fn take(&mut self, event: &EventKind) -> Result<(), String> {
        match *event {
            EventKind::Submitted(_) => {
                self.calls.push(Stage::Pending);
                Ok(())
            }
            EventKind::Parked(call) => self.step(call, "parked", "pending", |stage| {
                (stage == Stage::Pending).then_some(Stage::Parked)
            }),
            EventKind::Released(call, execution) => {
                if self.executions.contains_key(&execution) {
                    return Err(format!(
                        "call {call} can't be released as execution {}: there is one of this number, expected another",
                        execution.number()
                    ));
                }
                self.step(call, "released", "parked", |stage| {
                    (stage == Stage::Parked).then_some(Stage::Running { execution, asking: false })
                })?;
                self.executions.insert(execution, Execution::Of(call));
                Ok(())
            }
            EventKind::Asked(call) => self.ask(call, true),
            EventKind::Answered(call) => self.ask(call, false),
            EventKind::Stop(execution) => match self.executions.get(&execution) {
                Some(Execution::Ended) => Err(ended(execution, "stopped")),
                // One that was never released is of an earlier batch.
                _ => Ok(()),
            },
            EventKind::Ended(Some(call), execution, _) => {
                let expected = format!("running as execution {}", execution.number());
                self.step(call, "ended", &expected, |stage| match stage {
                    Stage::Running { execution: current, .. } if current == execution => {
                        Some(Stage::Ended)
                    }
                    _ => None,
                })?;
                self.executions.insert(execution, Execution::Ended);
                Ok(())
            }
            EventKind::Ended(None, execution, _) => {
                match self.executions.insert(execution, Execution::Ended) {
                    None | Some(Execution::Detached) => Ok(()),
                    Some(Execution::Ended) => Err(ended(execution, "ended")),
                    Some(Execution::Of(call)) => Err(format!(
                        "execution {} can't be ended as that of no call: it is that of call {call}, expected \"call\": {call}",
                        execution.number()
                    )),
                }
            }
            EventKind::Settled(call, how) => self.settle(call, how),
            EventKind::Restarted(call) => self.restart(call),
            EventKind::Decided(_) | EventKind::Cancelled | EventKind::Fault(_) => Ok(()),
        }
    }

    fn ask(&mut self, call: CallId, asks: bool) -> Result<(), String> {
        let (what, expected) = if asks {
            ("asked", "running without an open question")
        } else {
            ("answered", "running with an open question")
        };
        self.step(call, what, expected, |stage| match stage {
            Stage::Running { execution, asking } if asking != asks => {
                Some(Stage::Running { execution, asking: asks })
            }
            _ => None,
        })
    }

    fn settle(&mut self, call: CallId, how: Settlement) -> Result<(), String> {
        let (expected, possible): (_, fn(Stage) -> bool) = match how {
            // A pending one had its response when the batch was resumed.
            Settlement::Responded => {
                ("ended or pending", |stage| matches!(stage, Stage::Ended | Stage::Pending))
            }
            Settlement::NotRun | Settlement::Cancelled => {
                ("pending or parked", |stage| matches!(stage, Stage::Pending | Stage::Parked))
            }
            Settlement::PolicyFault => ("parked", |stage| stage == Stage::Parked),
        };
        self.step(call, "settled", expected, |stage| possible(stage).then_some(Stage::Settled))
    }

    fn restart(&mut self, call: CallId) -> Result<(), String> {
        let before = self.calls.get(call as usize).copied();
        self.step(call, "restarted", "not settled", |stage| {
            (stage != Stage::Settled).then_some(Stage::Pending)
        })?;
        if let Some(Stage::Running { execution, .. }) = before {
            self.executions.insert(execution, Execution::Detached);
        }
        Ok(())
    }

    /// Moves a call to its next stage; `next` has none where the step is impossible.
    fn step(
        &mut self,
        call: CallId,
        what: &str,
        expected: &str,
        next: impl FnOnce(Stage) -> Option<Stage>,
    ) -> Result<(), String> {
        let Some(stage) = self.calls.get_mut(call as usize) else { return Ok(()) };
        *stage = next(*stage)
            .ok_or_else(|| format!("call {call} can't be {what}: {stage}, expected {expected}"))?;
        Ok(())
    }
}

fn ended(execution: ExecutionId, what: &str) -> String {
    let execution = execution.number();
    format!("execution {execution} can't be {what}: it has ended, expected one in flight")
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
