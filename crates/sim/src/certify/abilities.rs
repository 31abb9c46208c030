//! What an account can do beside sending text: each ability that is there works, and what it shows is in the thread that
//! it belongs to.

use futures::FutureExt as _;
use talaria_domain::adapter::{Abilities, Mark, Outgoing, Sign};
use talaria_domain::address::Address;
use talaria_domain::capabilities::Capability;
use talaria_domain::delivery::{Outcome, PartBody, Receipt};
use talaria_domain::event::{Attachment, AttachmentKind, EventKind, ReactionChange};
use talaria_domain::question::{Button, Choice, PressToken, Prompt};

use super::Check;
use super::trial::{Checked, Stop, Trial, absent, ensure, fails};
use crate::vendor::{File, Press, Shown, Written};

pub(super) const CHECKS: &[Check] = &[
    ("a message is changed, in its thread", |trial| {
        edit(trial).boxed()
    }),
    ("a typing sign is shown, in its thread", |trial| {
        typing(trial).boxed()
    }),
    ("a message is marked and unmarked", |trial| {
        marks(trial).boxed()
    }),
    (
        "buttons are shown in their thread, and pressing one is heard",
        |trial| buttons(trial).boxed(),
    ),
    ("a file is sent, in its thread", |trial| {
        file_out(trial).boxed()
    }),
    ("a file is fetched", |trial| file_in(trial).boxed()),
    ("a thread is opened", |trial| open_thread(trial).boxed()),
];

/// The thread where everything is to happen, or the direct chat where there are none; and a message in it.
pub(super) async fn place(trial: &Trial) -> Result<(Address, talaria_domain::event::Event), Stop> {
    let places = trial.candidate.places;
    let written = match places.thread {
        Some(thread) => thread(1, "a question"),
        None => (places.direct)(1, "a question"),
    };
    let event = trial.hears(&written).await?;
    Ok((event.address.clone(), event))
}

/// The receipt of a part that was delivered.
pub(super) fn delivered(outcome: Outcome) -> Result<Receipt, Stop> {
    match outcome {
        Outcome::Delivered { receipts } => {
            let first = receipts.into_iter().next();
            first.map_or_else(|| fails("there is no receipt"), Ok)
        }
        outcome => fails(format!("it was not delivered: {outcome:?}")),
    }
}

/// Whether something was done.
fn done(outcome: &Outcome) -> Checked {
    let is_done = matches!(outcome, Outcome::Delivered { .. });
    ensure(is_done, || format!("it was not done: {outcome:?}"))
}

/// What our bot shows with this text in it.
pub(super) fn shown(trial: &Trial, text: &str) -> Option<Shown> {
    let sight = trial.scene.look();
    let mut ours = sight.ours().filter(|(_, shown)| shown.text.contains(text));
    ours.next().map(|(_, shown)| shown.clone())
}

/// Whether what is shown is where it belongs.
pub(super) fn is_in(shown: Option<&Shown>, to: &Address) -> Checked {
    let Some(shown) = shown else {
        return fails("it is not to be seen");
    };
    let (expected, found) = (
        to.thread.as_ref().map(ToString::to_string),
        shown.thread.clone(),
    );
    ensure(found == expected, || {
        format!("it is in {found:?} and not in {expected:?}")
    })
}

async fn edit(trial: &Trial) -> Checked {
    let (to, _) = place(trial).await?;
    let Abilities {
        edit: Some(edit), ..
    } = trial.adapter.abilities()
    else {
        return absent("messages cannot be changed");
    };
    let mut part = trial.part(&to, "so far");
    let receipt = delivered(trial.adapter.send(&part).await)?;
    part.part.body = PartBody::Text {
        markdown: "the whole answer".to_owned(),
    };
    done(&edit.edit(&receipt, &part).await)?;
    // Once more with the same text: there is nothing to change, and that is fine.
    done(&edit.edit(&receipt, &part).await)?;
    is_in(shown(trial, "the whole answer").as_ref(), &to)?;
    ensure(shown(trial, "so far").is_none(), || {
        "the first text is still there".to_owned()
    })
}

async fn typing(trial: &Trial) -> Checked {
    let (to, _) = place(trial).await?;
    let Abilities {
        typing: Some(typing),
        ..
    } = trial.adapter.abilities()
    else {
        return absent("it has no typing sign");
    };
    done(&typing.sign(&to, Sign::On).await)?;
    let thread = to.thread.as_ref().map(ToString::to_string);
    let sight = trial.scene.look();
    let signs: Vec<_> = sight.chats.iter().flat_map(|chat| &chat.signs).collect();
    ensure(!signs.is_empty(), || "it is not to be seen".to_owned())?;
    let astray = signs.iter().any(|signed| signed.thread != thread);
    ensure(!astray, || {
        format!("it is in {:?}", signs.first().map(|it| &it.thread))
    })?;
    done(&typing.sign(&to, Sign::Off).await)
}

async fn marks(trial: &Trial) -> Checked {
    let (to, event) = place(trial).await?;
    let Abilities {
        reactions: Some(reactions),
        ..
    } = trial.adapter.abilities()
    else {
        return absent("messages cannot be marked");
    };
    let Some(message) = &event.message else {
        return fails("the message has no id");
    };
    let count = || -> usize {
        let sight = trial.scene.look();
        let all = sight.chats.iter().flat_map(|chat| &chat.messages);
        all.map(|shown| shown.marks.len()).sum()
    };
    for mark in [Mark::Seen, Mark::Done, Mark::Failed] {
        done(
            &reactions
                .mark((&to, message), mark, ReactionChange::Added)
                .await,
        )?;
        ensure(count() == 1, || format!("{mark:?} is not to be seen"))?;
        done(
            &reactions
                .mark((&to, message), mark, ReactionChange::Removed)
                .await,
        )?;
        ensure(count() == 0, || format!("{mark:?} is still there"))?;
    }
    Ok(())
}

fn asking(trial: &Trial, to: &Address, token: &PressToken) -> Outgoing {
    let button = |label: &str, choice| Button {
        label: label.to_owned(),
        choice,
    };
    let mut part = trial.part(to, "May I?");
    part.prompt = Some(Prompt {
        token: token.clone(),
        buttons: vec![
            button("Approve", Choice::Approve),
            button("Deny", Choice::Deny),
        ],
    });
    part
}

async fn buttons(trial: &Trial) -> Checked {
    let (to, _) = place(trial).await?;
    if !trial
        .adapter
        .capabilities()
        .can
        .contains(&Capability::Prompts)
    {
        return absent("it has no buttons");
    }
    let token = PressToken::from_random([7; 16]);
    delivered(trial.adapter.send(&asking(trial, &to, &token)).await)?;
    let asked = shown(trial, "May I?");
    is_in(asked.as_ref(), &to)?;
    let message = asked.map(|shown| shown.message_id).unwrap_or_default();
    let press = Press {
        message,
        button: "Deny".to_owned(),
        sender: (trial.candidate.places.direct)(1, "").sender,
    };
    let before = trial.desk.recorded().len();
    ensure(trial.scene.press(&press), || {
        "there is no such button".to_owned()
    })?;
    trial
        .while_receiving(async {
            trial
                .desk
                .until(|desk| desk.recorded().len() > before)
                .await;
            Ok(())
        })
        .await?;
    let recorded = trial.desk.recorded();
    let Some(event) = recorded.last() else {
        return fails("nothing was recorded");
    };
    let expected = EventKind::Pressed {
        token: token.hash(),
        choice: Choice::Deny,
    };
    ensure(event.kind == expected, || {
        "another button was heard".to_owned()
    })?;
    ensure(event.address.target() == to.target(), || {
        "it was heard elsewhere".to_owned()
    })
}

async fn file_out(trial: &Trial) -> Checked {
    let (to, _) = place(trial).await?;
    if trial.adapter.abilities().media.is_none() {
        return absent("it carries no files");
    }
    let Ok(directory) = tempfile::tempdir() else {
        return fails("there is no place for a file");
    };
    let path = directory.path().join("report.txt");
    if std::fs::write(&path, "what is in it").is_err() {
        return fails("the file cannot be written");
    }
    let mut part = trial.part(&to, "");
    part.part.body = PartBody::File {
        attachment: Attachment {
            file_name: Some("report.txt".to_owned()),
            media_type: Some("text/plain".to_owned()),
            size_bytes: Some(13),
            ..attachment()
        },
        caption: "the caption".to_owned(),
    };
    part.file = Some(path);
    delivered(trial.adapter.send(&part).await)?;
    let sight = trial.scene.look();
    let found = sight.ours().find(|(_, shown)| shown.file.is_some());
    let found = found.map(|(_, shown)| shown);
    is_in(found, &to)?;
    let content = found
        .and_then(|shown| shown.file.as_ref())
        .map(|file| file.content.as_str());
    ensure(content == Some("what is in it"), || {
        format!("{content:?} is in it")
    })?;
    is_in(shown(trial, "the caption").as_ref(), &to)
}

fn attachment() -> Attachment {
    Attachment {
        kind: AttachmentKind::File,
        locator: String::new(),
        file_name: None,
        media_type: None,
        size_bytes: None,
        kept: None,
    }
}

async fn file_in(trial: &Trial) -> Checked {
    let written = Written {
        files: vec![File {
            name: "notes.txt".to_owned(),
            media_type: "text/plain".to_owned(),
            content: "somebody's notes".to_owned(),
        }],
        ..(trial.candidate.places.direct)(1, "look")
    };
    trial.connect().await?;
    let Some(media) = trial.adapter.abilities().media else {
        return absent("it carries no files");
    };
    let event = trial.hears(&written).await?;
    let EventKind::Message(content) = &event.kind else {
        return fails("it is no message");
    };
    let [attachment] = content.attachments.as_slice() else {
        return fails(format!("{} attachments", content.attachments.len()));
    };
    match media.fetch(attachment, 1_000).await {
        Ok(bytes) => ensure(bytes == b"somebody's notes", || {
            "something else is in it".to_owned()
        })?,
        Err(refused) => return fails(refused.to_string()),
    }
    ensure(media.fetch(attachment, 3).await.is_err(), || {
        "a limit was not kept".to_owned()
    })
}

async fn open_thread(trial: &Trial) -> Checked {
    let Some(_) = trial.candidate.places.thread else {
        return absent("it has no threads");
    };
    let (to, _) = place(trial).await?;
    let Some(threads) = trial.adapter.abilities().threads else {
        return absent("threads cannot be opened");
    };
    let parent = Address {
        thread: None,
        reply_to: None,
        ..to
    };
    match threads.open(&parent, "A new thread").await {
        Ok(opened) => {
            ensure(opened.thread.is_some(), || "it is no thread".to_owned())?;
            delivered(
                trial
                    .adapter
                    .send(&trial.part(&opened, "first words"))
                    .await,
            )?;
            is_in(shown(trial, "first words").as_ref(), &opened)
        }
        Err(outcome) => fails(format!("{outcome:?}")),
    }
}
