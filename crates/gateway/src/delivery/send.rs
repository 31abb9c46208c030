//! One part to its adapter: sent, or a message that is there changed. Where messages can be changed and the platform
//! takes no key, an empty placeholder goes first and is then filled: if no answer comes, all that can be doubled is the
//! placeholder. A file goes by itself, from the copy that its part owns. An adapter that panics or hangs has given no
//! answer.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use talaria_domain::adapter::{Adapter, Outgoing, Pending, TextForm};
use talaria_domain::capabilities::Capability;
use talaria_domain::delivery::{Outcome, PartBody, Receipt, Rejection, ReplyKind};
use talaria_domain::question::{Button, Prompt};
use talaria_store::outbox::{self, Sending};
use talaria_store::{Tx, questions};

use super::settle::Repeat;
use crate::files::out;
use crate::settings::AccountSettings;
use crate::shared::Shared;

/// No platform takes this long; shorter than a lease.
const LONGEST: Duration = Duration::from_secs(30);
/// A file takes its time on a thin line.
const LONGEST_FOR_A_FILE: Duration = Duration::from_secs(50);
/// What stands in a chat until the answer does.
const PLACEHOLDER: &str = "…";

/// How a send through this account can be repeated.
pub(super) fn repeat(account: Option<&AccountSettings>, sending: &Sending) -> Repeat {
    let Some(account) = account else {
        return Repeat::Doubles;
    };
    let can = account.adapter.capabilities().can;
    let is_safe = match sending.queued.part.body {
        _ if can.contains(&Capability::IdempotentSend) => true,
        PartBody::Text { .. } => account.adapter.abilities().edit.is_some(),
        PartBody::File { .. } => false,
    };
    if is_safe {
        Repeat::Safe
    } else {
        Repeat::Doubles
    }
}

/// Sends a part; gives what is known of it.
pub(super) async fn send(shared: &Arc<Shared>, sending: &Sending, epoch: i64) -> Outcome {
    let address = &sending.reply.return_to.address;
    let Some(account) = shared.settings.account(address) else {
        return Outcome::Rejected {
            class: Rejection::Gone,
            detail: format!(
                "no account {:?} on {:?} is configured",
                address.account.as_str(),
                address.platform.as_str()
            ),
        };
    };
    let adapter = &*account.adapter;
    let mut part = sending.queued.part.clone();
    if sending.reply.kind == ReplyKind::Notice {
        shared.lodge.tell(&mut part, shared.now());
    }
    let file = match file(shared, sending).await {
        Ok(file) => file,
        Err(gone) => return gone,
    };
    let mut outgoing = Outgoing {
        part,
        to: address.clone(),
        kind: sending.reply.kind,
        form: TextForm::Markdown,
        prompt: buttons(shared, adapter, sending).await,
        file,
    };
    let receipt = match place(shared, adapter, sending, (&outgoing, epoch)).await {
        Ok(receipt) => receipt,
        Err(outcome) => return outcome,
    };
    let outcome = hand_over(adapter, receipt.as_ref(), &outgoing).await;
    let is_markup = matches!(
        outcome,
        Outcome::Rejected {
            class: Rejection::Markup,
            ..
        }
    );
    let outcome = if is_markup {
        outgoing.form = TextForm::Plain;
        hand_over(adapter, receipt.as_ref(), &outgoing).await
    } else {
        outcome
    };
    if matches!(outcome, Outcome::Delivered { .. }) {
        shared.pulse.sent(adapter.account(), shared.now());
    }
    outcome
}

/// Where the file is that a part shows, if it shows one.
async fn file(shared: &Shared, sending: &Sending) -> Result<Option<PathBuf>, Outcome> {
    let PartBody::File { attachment, .. } = &sending.queued.part.body else {
        return Ok(None);
    };
    let found = out::find(shared.settings.files.as_ref(), attachment).await;
    found.map(Some).ok_or_else(|| Outcome::Rejected {
        class: Rejection::Gone,
        detail: "the file is not kept here any more".to_owned(),
    })
}

/// The buttons below a question, where they can be shown and it is still open. The text says the same in words, so that
/// whatever is in the way of them is in the way of nothing else.
async fn buttons(shared: &Arc<Shared>, adapter: &dyn Adapter, sending: &Sending) -> Option<Prompt> {
    let can = adapter.capabilities().can;
    if sending.reply.kind != ReplyKind::Prompt || !can.contains(&Capability::Prompts) {
        return None;
    }
    let (reply, ordinal) = (sending.reply.id, sending.queued.part.ordinal);
    let look = move |tx: &mut Tx<'_>| {
        let last = outbox::parts(tx, reply)?.last().map(|it| it.part.ordinal);
        // Below the last of several messages.
        if last != Some(ordinal) {
            return Ok(None);
        }
        questions::by_reply(tx, reply)
    };
    let question = shared.ledger.read(look).await.ok()??;
    let buttons = Button::all(&question.asked.action);
    let token = shared.waits.token(question.asked.id)?;
    (!buttons.is_empty()).then_some(Prompt { token, buttons })
}

/// The message that the part is to become, if there is one or has to be one.
async fn place(
    shared: &Arc<Shared>,
    adapter: &dyn Adapter,
    sending: &Sending,
    (outgoing, epoch): (&Outgoing, i64),
) -> Result<Option<Receipt>, Outcome> {
    if let Some(receipt) = sending.receipts.first() {
        return Ok(Some(receipt.clone()));
    }
    if outgoing.file.is_some() {
        return Ok(None);
    }
    let takes_keys = adapter
        .capabilities()
        .can
        .contains(&Capability::IdempotentSend);
    if adapter.abilities().edit.is_none() || takes_keys {
        return Ok(None);
    }
    let mut placeholder = outgoing.clone();
    placeholder.prompt = None;
    placeholder.part.body = PartBody::Text {
        markdown: PLACEHOLDER.to_owned(),
    };
    let receipts = match guarded(adapter.send(&placeholder), LONGEST).await {
        Outcome::Delivered { receipts } => receipts,
        outcome => return Err(outcome),
    };
    let (part, kept) = (outgoing.part.id, receipts.clone());
    let placed = shared
        .ledger
        .write(move |tx| outbox::place(tx, part, epoch, &kept))
        .await;
    match placed {
        Ok(()) => Ok(receipts.into_iter().next()),
        Err(error) => Err(Outcome::Unknown {
            detail: format!("a placeholder was sent and could not be recorded: {error}"),
        }),
    }
}

async fn hand_over(
    adapter: &dyn Adapter,
    receipt: Option<&Receipt>,
    outgoing: &Outgoing,
) -> Outcome {
    let longest = match outgoing.file {
        None => LONGEST,
        Some(_) => LONGEST_FOR_A_FILE,
    };
    match (receipt, adapter.abilities().edit) {
        (Some(receipt), Some(edit)) => guarded(edit.edit(receipt, outgoing), longest).await,
        _ => guarded(adapter.send(outgoing), longest).await,
    }
}

/// An adapter that panics or hangs has given no answer.
async fn guarded(sending: Pending<'_, Outcome>, longest: Duration) -> Outcome {
    let sending = AssertUnwindSafe(sending).catch_unwind();
    let detail = match tokio::time::timeout(longest, sending).await {
        Ok(Ok(outcome)) => return outcome,
        Ok(Err(_)) => "the adapter broke while it was sending".to_owned(),
        Err(_) => format!("no answer within {} seconds", longest.as_secs()),
    };
    Outcome::Unknown { detail }
}
