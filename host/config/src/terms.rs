//! On which terms a configured tool's calls are run.

use jp_policy_core::{catalog::Terms, fan_out::OPERATIONS};

use crate::tool::Tool;

impl<'a> From<&'a Tool> for Terms<'a> {
    fn from(tool: &'a Tool) -> Self {
        Self {
            run: tool.run,
            result: tool.result,
            cancellation_response: &tool.cancellation_response,
            answers: Some(&tool.answers),
            fan_out: tool
                .fan_out
                .as_ref()
                // A parameter of its own that has the envelope's name is what it says.
                .filter(|fan_out| fan_out.enabled && tool.parameters.get(OPERATIONS).is_none())
                .map(|fan_out| fan_out.on_error),
        }
    }
}
