//! The terms on which a tool's calls are run.

/// How a tool's calls are approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunMode {
    /// A person is asked.
    #[default]
    Ask,
    /// Nobody is.
    Unattended,
    /// A person may edit the arguments.
    Edit,
    /// It is not run.
    Skip,
}

/// How a tool's results are reviewed before they become the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultMode {
    /// They are not.
    #[default]
    Unattended,
    /// A person is asked whether the result is delivered.
    Ask,
    /// A person may edit it.
    Edit,
    /// It is not delivered.
    Skip,
}

/// What happens to the operations of a call that have not started when one has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// They run.
    #[default]
    Continue,
    /// They end at once, not run.
    Stop,
}
