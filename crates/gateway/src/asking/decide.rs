//! Who may answer what. Pure: a question, a person and what they said in; an answer or a refusal with its sentence out.
//!
//! Who somebody is counts before everything else: whoever may not answer learns nothing about the question.

use talaria_domain::clock::Timestamp;
use talaria_domain::effects::Answer;
use talaria_domain::machine::QuestionState;
use talaria_domain::principal::Principal;
use talaria_domain::question::Choice;
use talaria_domain::run::Action;
use talaria_store::questions::Question;

use crate::access::roles;

/// What means yes, where a yes is asked for.
const YES: [&str; 6] = ["yes", "y", "ok", "okay", "approve", "👍"];
/// What means no.
const NO: [&str; 5] = ["no", "n", "deny", "don't", "👎"];

/// Why something is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// There is no such question here.
    Unknown,
    /// They may not.
    Foreign,
    /// It is done for them, and somebody else has to allow it.
    NotTrusted,
    /// Somebody was first.
    Answered,
    /// It is too late.
    Expired,
    /// Whoever asked does not wait any more.
    Withdrawn,
    /// One of these was asked for.
    NotAChoice(Vec<String>),
    /// Yes or no was asked for.
    NotYesOrNo,
    /// Words were asked for.
    NotWords,
}

impl Refused {
    /// What the person is told.
    pub fn told(&self) -> String {
        match self {
            Self::Unknown => "I do not know of such a question here.".to_owned(),
            Self::Foreign => {
                "Only whoever this is done for, or an admin, may answer that.".to_owned()
            }
            Self::NotTrusted => {
                "You are a guest here: an admin has to allow that. You may say no.".to_owned()
            }
            Self::Answered => "That was answered already.".to_owned(),
            Self::Expired => "That came too late: I did not wait any longer.".to_owned(),
            Self::Withdrawn => {
                "That question is no longer open: what I asked it for was stopped or interrupted."
                    .to_owned()
            }
            Self::NotAChoice(choices) => format!("Answer with one of: {}.", choices.join(", ")),
            Self::NotYesOrNo => "Answer with yes or no.".to_owned(),
            Self::NotWords => "That takes words: /answer TEXT.".to_owned(),
        }
    }
}

/// What `who` answers by saying this.
pub fn decide(
    question: &Question,
    who: &Principal,
    said: &Choice,
    now: Timestamp,
) -> Result<Answer, Refused> {
    if !question.asked.approvers.may_answer(who) {
        return Err(Refused::Foreign);
    }
    match question.state {
        QuestionState::Open if now < question.asked.expires_at => {}
        QuestionState::Open | QuestionState::Expired => return Err(Refused::Expired),
        QuestionState::Answered => return Err(Refused::Answered),
        QuestionState::Withdrawn => return Err(Refused::Withdrawn),
    }
    let answer = meant(&question.asked.action, said)?;
    if answer == Answer::Approved && !roles::may_approve(who.role) {
        return Err(Refused::NotTrusted);
    }
    Ok(answer)
}

/// What an answer means, whoever gives it.
fn meant(action: &Action, said: &Choice) -> Result<Answer, Refused> {
    match (action, said) {
        (Action::Approval { .. }, Choice::Approve) => Ok(Answer::Approved),
        (_, Choice::Deny) => Ok(Answer::Denied),
        (Action::Approval { .. }, Choice::Answer { text }) => yes_or_no(text),
        (Action::Question { .. }, Choice::Approve) => Err(Refused::NotWords),
        (Action::Question { choices, .. }, Choice::Answer { text }) => one_of(choices, text),
    }
}

fn yes_or_no(words: &str) -> Result<Answer, Refused> {
    let words = words.trim().trim_end_matches(['.', '!']).to_lowercase();
    if YES.contains(&words.as_str()) {
        return Ok(Answer::Approved);
    }
    if NO.contains(&words.as_str()) {
        return Ok(Answer::Denied);
    }
    Err(Refused::NotYesOrNo)
}

/// By name, or else by number, from one. Where there are no choices anything is an answer.
fn one_of(choices: &[String], words: &str) -> Result<Answer, Refused> {
    let words = words.trim();
    if words.is_empty() {
        return Err(Refused::NotWords);
    }
    let text = if choices.is_empty() {
        Some(words)
    } else {
        let is_named = |choice: &&String| choice.to_lowercase() == words.to_lowercase();
        let by_name = choices.iter().find(is_named);
        let by_number = || {
            let number: usize = words.trim_end_matches(['.', ')']).parse().ok()?;
            choices.get(number.checked_sub(1)?)
        };
        by_name.or_else(by_number).map(String::as_str)
    };
    let text = text.map(ToOwned::to_owned);
    text.map(|text| Answer::Said { text })
        .ok_or_else(|| Refused::NotAChoice(choices.to_vec()))
}

#[cfg(test)]
mod tests;
