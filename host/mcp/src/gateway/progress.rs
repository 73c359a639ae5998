//! The progress notifications of one call, made of its status.

use jp_policy_runtime::tools::Progress;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::sync::watch;

use super::CallStatus;

/// Turns the status of a call into progress notifications, whose numbers only ever increase.
pub(super) struct ProgressReporter {
    token: ProgressToken,
    status: watch::Receiver<CallStatus>,
    /// The number that was reported last.
    last: f64,
    /// What is added to the call's own numbers: where the steps before them have ended.
    offset: Option<f64>,
}

impl ProgressReporter {
    /// Reports this status under this token.
    pub(super) fn new(token: ProgressToken, status: watch::Receiver<CallStatus>) -> Self {
        Self { token, status, last: 0.0, offset: None }
    }

    /// The next notification; none: the status does not change any more. May be dropped and called again.
    pub(super) async fn next(&mut self) -> Option<ProgressNotificationParam> {
        loop {
            self.status.changed().await.ok()?;
            let status = self.status.borrow_and_update().clone();
            if let Some(notification) = self.notification(status) {
                return Some(notification);
            }
        }
    }

    fn notification(&mut self, status: CallStatus) -> Option<ProgressNotificationParam> {
        let (number, total, message) = match status {
            CallStatus::Submitted => return None,
            CallStatus::Queued(words) | CallStatus::Running(words) => {
                (self.last + 1.0, None, Some(words))
            }
            CallStatus::Progress(Progress { done, total, message }) => {
                let offset = *self.offset.get_or_insert(self.last);
                (offset + done, total.map(|total| offset + total), message)
            }
        };
        if number <= self.last {
            return None;
        }
        self.last = number;
        let mut notification = ProgressNotificationParam::new(self.token.clone(), number);
        (notification.total, notification.message) = (total, message);
        Some(notification)
    }
}
