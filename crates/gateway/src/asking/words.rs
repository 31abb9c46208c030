//! How a question is put in words, so that it can be answered wherever there is text. Pure.

use std::time::Duration;

use talaria_domain::digest::Fields;
use talaria_domain::effects::Answer;
use talaria_domain::ids::QuestionId;
use talaria_domain::run::Action;
use talaria_store::questions::Question;

/// Letters and digits that nobody mistakes for another.
const LETTERS: &[u8; 30] = b"23456789ABCDEFGHJKMNPQRSTVWXYZ";
/// As many as a person types without looking twice.
const LETTERS_OF_A_CODE: usize = 4;

/// What people call a question. It is no secret: who answers counts, and not what they know.
pub fn code(question: QuestionId, attempt: u32) -> String {
    let fields = Fields::of("question code").text(&question.to_string());
    let digest = fields.text(&attempt.to_string()).digest();
    let letter = |byte: &u8| LETTERS.get(usize::from(*byte) % LETTERS.len());
    let letters = digest.as_bytes().iter().filter_map(letter);
    letters
        .take(LETTERS_OF_A_CODE)
        .map(|letter| char::from(*letter))
        .collect()
}

/// Everything that a reader needs in order to answer.
pub fn prompt(action: &Action, code: &str, patience: Duration) -> String {
    let until = format!("I wait for {}.", spoken(patience));
    match action {
        Action::Approval { effect } => format!(
            "May I do this?\n\n{}\n\nAnswer yes or no, or `/approve {code}`, `/deny {code}`. {until}",
            block(effect)
        ),
        Action::Question { text, choices } if choices.is_empty() => {
            format!("{text}\n\nYour next message is the answer, or `/answer {code} TEXT`. {until}")
        }
        Action::Question { text, choices } => {
            let numbered = choices.iter().zip(1..);
            let lines: Vec<String> = numbered
                .map(|(choice, number)| format!("{number}. {choice}"))
                .collect();
            format!(
                "{text}\n\n{}\n\nAnswer with a number or a name, or `/answer {code} NUMBER`. {until}",
                lines.join("\n")
            )
        }
    }
}

/// What is waited for, in one line, with how to answer it.
pub fn line(question: &Question) -> String {
    let code = &question.asked.code;
    match &question.asked.action {
        Action::Approval { effect } => {
            format!(
                "`/approve {code}` or `/deny {code}`: may I do this: {}",
                clip(effect)
            )
        }
        Action::Question { text, choices } if choices.is_empty() => {
            format!("`/answer {code} TEXT`: {}", clip(text))
        }
        Action::Question { text, choices } => format!(
            "`/answer {code} NUMBER`: {} ({})",
            clip(text),
            choices.join(", ")
        ),
    }
}

/// What whoever answered by a command is told.
pub fn thanks(answer: &Answer) -> String {
    match answer {
        Answer::Approved => "Approved. I go on.".to_owned(),
        Answer::Denied => "Denied. I go on without it.".to_owned(),
        Answer::Said { text } => format!("Noted: {}. I go on.", clip(text)),
    }
}

/// The patience has come to its end.
pub fn expired(action: &Action, patience: Duration) -> String {
    let asked = match action {
        Action::Approval { effect } => format!("whether I may do this: {}", clip(effect)),
        Action::Question { text, .. } => clip(text),
    };
    format!(
        "Nobody answered for {}, so I go on without an answer to what I asked: {asked}",
        spoken(patience)
    )
}

/// A question whose run was interrupted.
pub fn taken_back(question: &Question) -> String {
    let asked = match &question.asked.action {
        Action::Approval { effect } => effect,
        Action::Question { text, .. } => text,
    };
    format!(
        "I was interrupted, and what I asked is no longer open: {}",
        clip(asked)
    )
}

fn clip(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    if words.chars().count() <= 120 {
        return words;
    }
    let start: String = words.chars().take(119).collect();
    format!("{start}…")
}

/// As it stands, whatever is in it.
fn block(text: &str) -> String {
    let rows = text.split(|letter| letter != '`').map(str::len);
    let fence = "`".repeat(rows.max().unwrap_or(0).max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

fn spoken(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} seconds"),
        seconds @ 120..7_200 => format!("{} minutes", seconds / 60),
        seconds => format!("{} hours", seconds / 3_600),
    }
}

#[cfg(test)]
mod tests;
