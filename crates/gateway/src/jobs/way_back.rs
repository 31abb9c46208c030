//! Where the news of a job goes: where its turn was asked, unless the program that asked named a place for what comes
//! later. Such a place has no threads and no messages of its own: its thread is the conversation and its anchor is the
//! job, so that a program can tell what it is told about.
//!
//! Pure: addresses in, an address out.

use talaria_domain::address::{Address, ChatKind, ReturnAddress};
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::event::Wishes;
use talaria_domain::ids::{JobId, SessionId};
use talaria_domain::names::{MessageId, ThreadId};

/// For how long whoever asked can be reached: where they want to be called back, by what they said of themselves, or
/// where they asked from. `reach` says it of a place.
pub fn window(
    wishes: Option<&Wishes>,
    asked_from: &Address,
    reach: impl Fn(&Address) -> DeliveryWindow,
) -> DeliveryWindow {
    let callback = wishes.and_then(|wishes| wishes.callback.as_ref());
    match (callback, wishes.and_then(|wishes| wishes.window)) {
        (Some(callback), _) => reach(callback),
        (None, Some(own)) => own,
        (None, None) => reach(asked_from),
    }
}

/// The way back of a job that a turn at `asked` begins.
#[must_use]
pub fn of(asked: &ReturnAddress, callback: Option<&Address>, job: JobId) -> ReturnAddress {
    let is_called_back = is_called_back(asked);
    let Some(to) = callback.or_else(|| is_called_back.then_some(&asked.address)) else {
        return asked.clone();
    };
    ReturnAddress {
        address: Address {
            chat_kind: ChatKind::Webhook,
            thread: Some(thread_of(asked.session)),
            reply_to: Some(MessageId::from(job.to_string())),
            ..to.clone()
        },
        ..asked.clone()
    }
}

/// Whether this is a place that a program named for what comes later.
pub fn is_called_back(to: &ReturnAddress) -> bool {
    let address = &to.address;
    address.chat_kind == ChatKind::Webhook && address.thread == Some(thread_of(to.session))
}

fn thread_of(session: SessionId) -> ThreadId {
    ThreadId::from(session.to_string())
}

#[cfg(test)]
mod tests;
