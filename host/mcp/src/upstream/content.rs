//! The result of a call: what the assistant reads of it.

use jp_policy_core::outcome::Outcome;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents, ServerResult};

/// The outcome that a server's answer to a call means.
pub(super) fn outcome(server: &str, tool: &str, result: ServerResult) -> Outcome {
    let unexpected =
        |what: &str| Outcome::error(format!("tool `{tool}`: MCP server `{server}` {what}"));
    match result {
        ServerResult::CallToolResult(result) => tool_result(tool, &result),
        // An empty result is a result.
        ServerResult::EmptyResult(_) | ServerResult::TaskAckResult(_) => {
            Outcome::Success { content: String::new() }
        }
        ServerResult::CreateTaskResult(_) => {
            unexpected("answered with a task to come back for, which was not asked for")
        }
        ServerResult::InputRequiredResult(_) => {
            unexpected("wants to be asked again with more input, which is not supported")
        }
        other => {
            let text = serde_json::to_string(&other).unwrap_or_default();
            unexpected(&format!("answered with what is no result of a tool: {}", excerpt(&text)))
        }
    }
}

fn tool_result(tool: &str, result: &CallToolResult) -> Outcome {
    let parts: Vec<String> = result.content.iter().map(block_text).collect();
    let mut content = parts.join("\n\n");
    if content.is_empty()
        && let Some(structured) = &result.structured_content
    {
        content = structured.to_string();
    }
    if result.is_error != Some(true) {
        return Outcome::Success { content };
    }
    if content.is_empty() {
        content = format!("tool `{tool}` failed and does not say why");
    }
    Outcome::error(content)
}

/// The text of a block, or a placeholder for what is no text.
fn block_text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => {
            placeholder("image", Some(&image.mime_type), image.data.len())
        }
        ContentBlock::Audio(audio) => {
            placeholder("audio", Some(&audio.mime_type), audio.data.len())
        }
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                placeholder(&format!("resource {uri}"), mime_type.as_deref(), blob.len())
            }
            _ => "[a resource of an unknown kind]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => {
            let named = link.title.as_ref().unwrap_or(&link.name);
            format!("[resource {}: {named}]", link.uri)
        }
        _ => "[content of an unknown kind]".to_owned(),
    }
}

/// "[image, image/png, 1.2 KiB, not shown]"
fn placeholder(what: &str, kind: Option<&str>, encoded: usize) -> String {
    let kind = kind.map_or_else(String::new, |kind| format!(", {kind}"));
    let size = bytesize::ByteSize((encoded / 4 * 3) as u64);
    format!("[{what}{kind}, {size}, not shown]")
}

fn excerpt(text: &str) -> String {
    jp_policy_core::text::clean_to(text, 200)
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
