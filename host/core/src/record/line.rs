//! The lines of a record file, as data: what [`super::Writer`] writes and [`super::RecordFile`] reads. Documented for people in
//! `docs/record.md`; a change that an old reader would misread is a new version.

use std::time::SystemTime;

use jp_policy_guest::{Field, Settings, Value as GuestValue};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::{
    batch::{CallId, End, Instant, KeyIndex},
    policy::Identity,
    scheduler::{Options, Settlement},
    terms::OnError,
};

/// What the first line of every record says.
pub(super) const FORMAT: &str = "jp-policy.record";

/// The version that is written, and the only one that is read.
pub(super) const VERSION: u32 = 1;

/// The first line: what the batch ran under.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub(super) format: String,
    pub(super) version: u32,
    /// When the batch was handed over, in UTC; all instants count from here.
    pub time: String,
    /// The policy that decided.
    pub policy: PolicyHeader,
    /// What was checked of its decisions: `off`, `limit` or `order`.
    pub guard: String,
    /// What followed a fault: `default` or `settle`.
    pub on_fault: String,
    /// All configured tools.
    pub tools: Vec<ToolHeader>,
    /// All keys with a limit.
    pub keys: Vec<KeyHeader>,
    /// The policy's options.
    #[serde(default)]
    pub options: Map<String, Json>,
    /// Whether the calls' arguments and responses are in the record.
    #[serde(default)]
    pub arguments: bool,
}

/// Which policy decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyHeader {
    /// Its name.
    pub name: String,
    /// `sha256:...` of the component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The file it was loaded from, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolHeader {
    /// Its configured name.
    pub name: String,
    /// Its key, as an index into the keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyIndex>,
    /// What a failed operation of a fanned-out call means, if it fans out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fan_out: Option<FanOutHeader>,
}

/// What a failed operation means for those that follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FanOutHeader {
    /// They run.
    Continue,
    /// They don't.
    Stop,
}

/// A key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeyHeader {
    /// Its name.
    pub name: String,
    /// How many executions with it may run at once.
    pub limit: u32,
    /// What else the `concurrency` table has, for the policy.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Json>,
}

impl Header {
    /// The header of a batch that is handed over at this time, under these settings, these options of its scheduler and this
    /// policy. `fan_out` says, of a tool that fans out, what a failed operation means. `arguments` says whether the calls' arguments
    /// and responses go into the record.
    pub fn new(
        settings: Settings,
        options: Options,
        fan_out: impl Fn(&str) -> Option<OnError>,
        policy: &Identity,
        time: SystemTime,
        arguments: bool,
    ) -> Self {
        let tools = settings.tools.into_iter().map(|tool| ToolHeader {
            fan_out: fan_out(&tool.name).map(|on_error| match on_error {
                OnError::Continue => FanOutHeader::Continue,
                OnError::Stop => FanOutHeader::Stop,
            }),
            name: tool.name,
            key: tool.key,
        });
        let keys = settings.keys.into_iter().map(|key| KeyHeader {
            name: key.name,
            limit: key.limit,
            fields: to_json(key.fields),
        });
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            time: humantime::format_rfc3339_seconds(time).to_string(),
            policy: PolicyHeader {
                name: policy.name.clone(),
                digest: policy.digest.clone(),
                path: None,
            },
            guard: options.guard.word().to_owned(),
            on_fault: options.on_fault.word().to_owned(),
            tools: tools.collect(),
            keys: keys.collect(),
            options: to_json(settings.options),
            arguments,
        }
    }
}

fn to_json(fields: Vec<Field>) -> Map<String, Json> {
    let value = |value| match value {
        GuestValue::Flag(value) => value.into(),
        GuestValue::Integer(value) => value.into(),
        GuestValue::Number(value) => value.into(),
        GuestValue::Text(text) => text.into(),
        GuestValue::Json(text) => serde_json::from_str(&text).unwrap_or(Json::String(text)),
    };
    fields.into_iter().map(|field| (field.name, value(field.value))).collect()
}

/// A line after the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Stamped {
    /// Nanoseconds since the batch was handed over.
    pub(super) at: Instant,
    #[serde(flatten)]
    pub(super) line: Line,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Line {
    Submitted {
        call: CallId,
        id: String,
        tool: String,
        parent: u32,
        /// The id of the tool call that this is an operation of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<Map<String, Json>>,
        /// Why it has none that can be used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        invalid: Option<String>,
    },
    Parked {
        call: CallId,
        /// Where a person has edited them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<Map<String, Json>>,
    },
    Decided {
        shown: usize,
        released: Vec<CallId>,
        #[serde(default)]
        wake_at: Option<Instant>,
    },
    Released {
        call: CallId,
        execution: u64,
    },
    Asked {
        call: CallId,
    },
    Answered {
        call: CallId,
    },
    Stop {
        execution: u64,
    },
    Ended {
        /// None where the execution is from before a restart, or of an earlier batch.
        call: Option<CallId>,
        execution: u64,
        how: Ended,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        gated: bool,
    },
    Settled {
        call: CallId,
        how: How,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        response: Option<Json>,
    },
    Restarted {
        call: CallId,
    },
    Cancelled,
    Fault {
        kind: String,
        policy: String,
        message: String,
    },
    Reason {
        call: CallId,
        reason: String,
    },
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Ended {
    Succeeded,
    Failed,
    Stopped,
}

/// How a call came to its response, as a record file has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// It ran.
    Responded,
    /// It was not run.
    NotRun,
    /// It was cancelled before it ran.
    Cancelled,
    /// The policy failed while it was parked.
    PolicyFault,
}

impl From<End> for Ended {
    fn from(end: End) -> Self {
        match end {
            End::Succeeded => Self::Succeeded,
            End::Failed | End::Gated => Self::Failed,
            End::Stopped => Self::Stopped,
        }
    }
}

impl From<Ended> for End {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Succeeded => Self::Succeeded,
            Ended::Failed => Self::Failed,
            Ended::Stopped => Self::Stopped,
        }
    }
}

impl From<Settlement> for How {
    fn from(how: Settlement) -> Self {
        match how {
            Settlement::Responded => Self::Responded,
            Settlement::NotRun => Self::NotRun,
            Settlement::Cancelled => Self::Cancelled,
            Settlement::PolicyFault => Self::PolicyFault,
        }
    }
}

impl From<How> for Settlement {
    fn from(how: How) -> Self {
        match how {
            How::Responded => Self::Responded,
            How::NotRun => Self::NotRun,
            How::Cancelled => Self::Cancelled,
            How::PolicyFault => Self::PolicyFault,
        }
    }
}
