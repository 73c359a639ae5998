//! Who a policy is.

use std::fmt;

/// Who a policy is, for messages and records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its name: the plugin's own, cleaned of control characters.
    pub name: String,
    /// `sha256:...` of the component; none for what is compiled into the host.
    pub digest: Option<String>,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
