//! Asks the person at the terminal.

use std::{future::Future, pin::Pin, sync::Arc};

use inquire::{Confirm, InquireError, Select, Text};
use jp_policy_core::text::{clean, clean_lines};
use jp_policy_core::{
    outcome::{AnswerType, Question},
    prompt::{Answer, Prompt, Reply, Review},
};
use jp_policy_runtime::coordinator::Prompter;
use serde_json::Value as Json;

use super::{
    approve::{Remembered, approve, rejected},
    editing::edited,
    say,
    screen::Screen,
    signals::Signals,
};

/// The person at the terminal. The live view makes room while a prompt is open.
pub(super) struct Person {
    screen: Screen,
    remembered: Arc<Remembered>,
    signals: Arc<Signals>,
}

impl Person {
    pub(super) fn new(screen: Screen, signals: Arc<Signals>) -> Self {
        Self { screen, remembered: Arc::default(), signals }
    }
}

impl Prompter for Person {
    fn ask(&self, prompt: Prompt) -> Pin<Box<dyn Future<Output = Reply> + Send + '_>> {
        let (screen, remembered) = (self.screen.clone(), self.remembered.clone());
        let signals = self.signals.clone();
        if let Prompt::Approve { tool, .. } = &prompt
            && let Some(approval) = remembered.of(tool)
        {
            return Box::pin(std::future::ready(Reply::Approval(approval)));
        }
        // There for as long as somebody waits for the reply.
        let waited = Arc::new(());
        Box::pin(async move {
            let (fallback, still) = (prompt.clone(), Arc::downgrade(&waited));
            let asked = tokio::task::spawn_blocking(move || {
                screen.suspended(|| {
                    // Another prompt may have had the screen until nobody wanted this one any more.
                    if still.upgrade().is_none() {
                        return Reply::Again;
                    }
                    ask(&prompt, &remembered, &signals)
                })
            });
            let reply =
                asked.await.unwrap_or_else(|_| without_answer(&fallback, Answer::Unanswered));
            drop(waited);
            reply
        })
    }
}

fn ask(prompt: &Prompt, remembered: &Remembered, signals: &Signals) -> Reply {
    let reply = match prompt {
        Prompt::Approve { tool, arguments, edit, problem, .. } => {
            approve(tool, arguments, *edit, problem.as_deref(), remembered).map(Reply::Approval)
        }
        Prompt::Question { tool, question, .. } => {
            answer(tool, question).map(|answer| Reply::Answer(Answer::Given(answer)))
        }
        Prompt::Review { response, edit } => {
            review(&response.name, &response.text_or_beginning(), *edit).map(Reply::Review)
        }
    };
    reply.unwrap_or_else(|error| match error {
        InquireError::OperationInterrupted => {
            signals.pressed();
            Reply::Again
        }
        InquireError::OperationCanceled => without_answer(prompt, Answer::Dismissed),
        // The terminal could not ask: there is nobody who has dismissed anything.
        _ => without_answer(prompt, Answer::Unanswered),
    })
}

fn answer(tool: &str, question: &Question) -> Result<Json, InquireError> {
    for line in question.pre_amble.iter().flat_map(|text| clean_lines(text)) {
        say(&line);
    }
    let text = format!("{}: {}", clean(tool), clean(&question.text));
    match &question.answer_type {
        AnswerType::Boolean => {
            let default = question.default.as_ref().and_then(Json::as_bool).unwrap_or(false);
            Confirm::new(&text).with_default(default).prompt().map(Json::Bool)
        }
        AnswerType::Select { options } => {
            let shown = options.iter().map(|option| clean(option)).collect();
            let chosen = Select::new(&text, shown).raw_prompt()?;
            Ok(Json::String(options[chosen.index].clone()))
        }
        AnswerType::Text => {
            let default = question.default.as_ref().and_then(Json::as_str).unwrap_or_default();
            Text::new(&text).with_initial_value(default).prompt().map(Json::String)
        }
    }
}

fn review(tool: &str, content: &str, edit: bool) -> Result<Review, InquireError> {
    let name = clean(tool);
    say(&format!("Result of {name}:"));
    for line in clean_lines(content.trim_end()) {
        say(&format!("  {line}"));
    }
    if edit {
        let text = edited(&format!("Deliver as result of {name}:"), content, ".txt", |_| Ok(()))?;
        return Ok(Review::Replace(text));
    }
    let title = format!("Deliver this result of {name}?");
    let deliver = Confirm::new(&title).with_default(true).prompt();
    deliver.map(|yes| if yes { Review::Deliver } else { Review::Withhold })
}

/// What a prompt comes to that nobody has replied to; `answer` says what becomes of a question.
fn without_answer(prompt: &Prompt, answer: Answer) -> Reply {
    match prompt {
        Prompt::Approve { .. } => Reply::Approval(rejected("")),
        Prompt::Question { .. } => Reply::Answer(answer),
        Prompt::Review { .. } => Reply::Review(Review::Withhold),
    }
}
