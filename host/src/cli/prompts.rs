//! Asks the person at the terminal.

use std::{future::Future, pin::Pin, sync::Arc};

use inquire::{Confirm, InquireError, Select, Text};
use serde_json::Value as Json;

use super::{
    approve::{Remembered, approve, rejected},
    live::Screen,
    say,
};
use crate::{
    coordinator::{People, Prompt, Reply, Review},
    server::{AnswerType, Question},
    text::clean,
};

/// The person at the terminal. The live view makes room while a prompt is open.
pub(super) struct Terminal {
    screen: Screen,
    remembered: Arc<Remembered>,
}

impl Terminal {
    pub(super) fn new(screen: Screen) -> Self {
        Self { screen, remembered: Arc::default() }
    }
}

impl People for Terminal {
    fn ask(&self, prompt: Prompt) -> Pin<Box<dyn Future<Output = Reply> + Send + '_>> {
        let (screen, remembered) = (self.screen.clone(), self.remembered.clone());
        if let Prompt::Approve { tool, .. } = &prompt
            && let Some(approval) = remembered.of(tool)
        {
            return Box::pin(std::future::ready(Reply::Approval(approval)));
        }
        Box::pin(async move {
            let fallback = prompt.clone();
            let asked =
                tokio::task::spawn_blocking(move || screen.suspended(|| ask(&prompt, &remembered)))
                    .await;
            asked.unwrap_or_else(|_| dismissed(&fallback))
        })
    }
}

fn ask(prompt: &Prompt, remembered: &Remembered) -> Reply {
    let reply = match prompt {
        Prompt::Approve { tool, arguments } => {
            approve(tool, arguments, remembered).map(Reply::Approval)
        }
        Prompt::Question { tool, question, .. } => {
            answer(tool, question).map(|answer| Reply::Answer(Some(answer)))
        }
        Prompt::Review { tool, content, edit } => {
            say(content.trim_end());
            if *edit {
                let text = Text::new(&format!("Result of {}:", clean(tool)))
                    .with_initial_value(content)
                    .prompt();
                text.map(|text| Reply::Review(Review::Replace(text)))
            } else {
                let text = format!("Deliver this result of {}?", clean(tool));
                Confirm::new(&text)
                    .with_default(true)
                    .prompt()
                    .map(|yes| Reply::Review(if yes { Review::Deliver } else { Review::Withhold }))
            }
        }
    };
    reply.unwrap_or_else(|_: InquireError| dismissed(prompt))
}

fn answer(tool: &str, question: &Question) -> Result<Json, InquireError> {
    if let Some(preamble) = &question.pre_amble {
        say(&clean(preamble));
    }
    let text = format!("{}: {}", clean(tool), clean(&question.text));
    match &question.answer_type {
        AnswerType::Boolean => {
            let default = question.default.as_ref().and_then(Json::as_bool).unwrap_or(false);
            Confirm::new(&text).with_default(default).prompt().map(Json::Bool)
        }
        AnswerType::Select { options } => {
            Select::new(&text, options.clone()).prompt().map(Json::String)
        }
        AnswerType::Text => {
            let default = question.default.as_ref().and_then(Json::as_str).unwrap_or_default();
            Text::new(&text).with_initial_value(default).prompt().map(Json::String)
        }
    }
}

fn dismissed(prompt: &Prompt) -> Reply {
    match prompt {
        Prompt::Approve { .. } => Reply::Approval(rejected("")),
        Prompt::Question { .. } => Reply::Answer(None),
        Prompt::Review { .. } => Reply::Review(Review::Withhold),
    }
}
