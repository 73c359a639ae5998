//! What the Host knows of tools without running them: on which terms their calls are run, and what arguments they take.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::{Map, Value as Json};

use crate::{
    request::Request,
    terms::{OnError, ResultMode, RunMode},
};

/// What a [`Session`](crate::session::Session) has to know of tools. Nothing here takes time.
pub trait Catalog: Send + Sync {
    /// On which terms a call is run; none: there is no such tool.
    fn terms(&self, call: &Request) -> Option<Terms<'_>>;

    /// The known tool whose name is nearest to this one, which is none, if one is near.
    fn suggestion(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Checks a call's arguments, and fills in the tool's defaults where some are missing; or says what is wrong with them. A call
    /// whose arguments do not fit is not run.
    fn check_arguments<'a>(
        &self,
        call: &Request,
        arguments: &'a Map<String, Json>,
    ) -> Result<Cow<'a, Map<String, Json>>, String> {
        let _ = call;
        Ok(Cow::Borrowed(arguments))
    }
}

/// The terms on which a tool's calls are run. By default nobody is asked about them.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// How its calls are approved.
    pub run: RunMode,
    /// How its results are reviewed.
    pub result: ResultMode,
    /// The response of a call that was cancelled.
    pub cancellation_response: &'a str,
    /// Answers to its questions, by question id.
    pub answers: Option<&'a BTreeMap<String, Json>>,
    /// Whether one call may carry several sets of arguments, and then what follows a failure among them.
    pub fan_out: Option<OnError>,
}

impl Default for Terms<'_> {
    fn default() -> Self {
        Self {
            run: RunMode::Unattended,
            result: ResultMode::Unattended,
            cancellation_response: "cancelled",
            answers: None,
            fan_out: None,
        }
    }
}
