//! Reads large results without keeping a task's thread from its other work.

use jp_policy_core::response::Response;

/// The whole text of a response, or, where that can't be read, its beginning. What is kept in a file is read on a thread for such
/// work.
///
/// # Panics
///
/// Outside of a tokio runtime, if the text is kept in a file.
pub async fn whole_text(response: Response) -> String {
    if response.whole.is_none() {
        return response.content;
    }
    let read = move || response.text_or_beginning().into_owned();
    match tokio::task::spawn_blocking(read).await {
        Ok(text) => text,
        Err(error) => format!("[the result can't be read: {error}]"),
    }
}
