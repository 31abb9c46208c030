//! Answers as they come: a command, a message that can only be an answer, a button. Each is an event that was recorded,
//! and is taken or refused in the transaction that deals with it.

use talaria_domain::address::TargetKey;
use talaria_domain::effects::Answer;
use talaria_domain::event::{Content, Event, EventKind};
use talaria_domain::ids::{QuestionId, SessionId};
use talaria_domain::principal::Principal;
use talaria_domain::question::{Choice, TokenHash};
use talaria_store::questions::{self, Given, Question};
use talaria_store::{Result, Tx, inbox};

use super::decide::{self, Refused};
use super::words;
use crate::shared::Shared;
use crate::turns::envelope::{self, Company};

/// What a message is to what is being asked.
pub(crate) enum Heard {
    /// It is an answer, and part of the turn that asked.
    Answer,
    /// It is a message like any other. There may be something to say about what is waited for.
    Message(Option<String>),
}

/// Somebody who says something about a question, somewhere.
struct Speaker<'a> {
    shared: &'a Shared,
    event: &'a Event,
    session: SessionId,
}

impl Speaker<'_> {
    fn who(&self) -> &Principal {
        &self.event.principal
    }

    fn target(&self) -> TargetKey {
        self.event.address.target()
    }

    /// Takes an answer, or says why it is none.
    fn answer(
        &self,
        tx: &mut Tx<'_>,
        question: &Question,
        said: &Choice,
    ) -> Result<std::result::Result<Answer, Refused>> {
        let now = self.shared.now();
        let answer = match decide::decide(question, self.who(), said, now) {
            Ok(answer) => answer,
            Err(refused) => return Ok(Err(refused)),
        };
        let given = Given {
            answer: answer.clone(),
            by: self.who().key(),
            event: self.event.id,
            at: now,
        };
        questions::answer(tx, question.asked.id, &given)?;
        Ok(Ok(answer))
    }

    /// What they may answer: in their own conversation, or else at this place.
    fn open(&self, tx: &mut Tx<'_>) -> Result<Vec<Question>> {
        let own = self.those(questions::open_in(tx, self.session)?);
        if !own.is_empty() {
            return Ok(own);
        }
        Ok(self.those(questions::open_at(tx, self.target())?))
    }

    fn those(&self, open: Vec<Question>) -> Vec<Question> {
        let now = self.shared.now();
        let is_theirs = |question: &Question| {
            now < question.asked.expires_at && question.asked.approvers.may_answer(self.who())
        };
        open.into_iter().filter(is_theirs).collect()
    }

    /// The question that a word names, if it is one of this place.
    fn named(&self, tx: &mut Tx<'_>, word: &str) -> Result<Option<Question>> {
        let by_code = questions::by_code(tx, self.target(), &word.to_ascii_uppercase())?;
        let (None, Ok(id)) = (&by_code, word.parse::<QuestionId>()) else {
            return Ok(by_code);
        };
        let by_id = questions::find(tx, id)?;
        Ok(by_id.filter(|question| question.asked.target == self.target()))
    }
}

/// What a command says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Approve,
    Deny,
    Answer,
}

/// `/approve [CODE]`, `/deny [CODE]`, `/answer [CODE] TEXT`: gives what is said to that.
pub(crate) fn command(
    tx: &mut Tx<'_>,
    shared: &Shared,
    (event, session): (&Event, SessionId),
    (verb, arguments): (Verb, &str),
) -> Result<String> {
    let speaker = Speaker {
        shared,
        event,
        session,
    };
    let (word, rest) = arguments
        .split_once(char::is_whitespace)
        .unwrap_or((arguments, ""));
    let named = match word {
        "" => None,
        word => speaker.named(tx, word)?,
    };
    let is_named = named.is_some();
    let question = match named {
        Some(question) => question,
        None if verb != Verb::Answer && !word.is_empty() => return Ok(Refused::Unknown.told()),
        None => match speaker.open(tx)?.as_slice() {
            [only] => only.clone(),
            [] => return nothing_open(tx, &speaker),
            several => return Ok(which(several)),
        },
    };
    let text = if is_named { rest } else { arguments };
    let said = match verb {
        Verb::Approve => Choice::Approve,
        Verb::Deny => Choice::Deny,
        Verb::Answer => Choice::Answer {
            text: text.to_owned(),
        },
    };
    Ok(match speaker.answer(tx, &question, &said)? {
        Ok(answer) => words::thanks(&answer),
        Err(refused) => refused.told(),
    })
}

/// Nothing is open: that may be news, and then it is told why.
fn nothing_open(tx: &mut Tx<'_>, speaker: &Speaker<'_>) -> Result<String> {
    let now = speaker.shared.now();
    let last = questions::last_at(tx, speaker.target())?;
    let refused = last.and_then(|last| {
        decide::decide(&last, speaker.who(), &Choice::Deny, now)
            .err()
            .filter(|refused| *refused != Refused::Unknown)
    });
    Ok(match refused {
        Some(refused) => refused.told(),
        None => "Nothing is being asked here.".to_owned(),
    })
}

fn which(several: &[Question]) -> String {
    let lines: Vec<String> = several
        .iter()
        .map(|question| format!("- {}", words::line(question)))
        .collect();
    format!(
        "Several things are being asked. Say which one you mean:\n{}",
        lines.join("\n")
    )
}

/// Whether a message is the answer to the one thing that is being asked of its sender.
pub(crate) fn message(
    tx: &mut Tx<'_>,
    shared: &Shared,
    (event, session): (&Event, SessionId),
) -> Result<Heard> {
    let EventKind::Message(content) = &event.kind else {
        return Ok(Heard::Message(None));
    };
    if content.wishes.is_some() {
        // A program that asks for a turn does not answer one.
        return Ok(Heard::Message(None));
    }
    let speaker = Speaker {
        shared,
        event,
        session,
    };
    let open = questions::open_in(tx, session)?;
    let open = speaker.those(open);
    let question = match open.as_slice() {
        [] => return Ok(Heard::Message(None)),
        [only] => only,
        several => return Ok(Heard::Message(Some(which(several)))),
    };
    let text = text_of(event, content);
    let said = Choice::Answer { text };
    if speaker.answer(tx, question, &said)?.is_err() {
        let waited = words::line(question);
        let hint = format!("I still wait for an answer: {waited}");
        return Ok(Heard::Message(Some(hint)));
    }
    // It belongs to the turn that asked: where that is done again, it is not forgotten.
    inbox::merge(tx, event.id, question.asked.event, shared.now())?;
    Ok(Heard::Answer)
}

/// The words alone, unless something came with them.
fn text_of(event: &Event, content: &Content) -> String {
    if content.attachments.is_empty() {
        return content.text.clone();
    }
    envelope::prompt([event], Company::Alone)
}

/// Somebody pressed a button. Gives what there is to say about it: nothing, if it is the answer.
pub(crate) fn press(
    tx: &mut Tx<'_>,
    shared: &Shared,
    (event, session): (&Event, SessionId),
    (token, choice): (TokenHash, &Choice),
) -> Result<Option<String>> {
    let speaker = Speaker {
        shared,
        event,
        session,
    };
    let here = speaker.target();
    // A button that was carried elsewhere is none.
    let question = questions::by_token(tx, token)?.filter(|found| found.asked.target == here);
    let Some(question) = question else {
        return Ok(Some(Refused::Unknown.told()));
    };
    let answered = speaker.answer(tx, &question, choice)?;
    Ok(answered.err().map(|refused| refused.told()))
}

/// What a conversation waits for, for `/status`.
pub(crate) fn waited_for(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<String>> {
    let open = questions::open_in(tx, session)?;
    Ok(open.first().map(words::line))
}
