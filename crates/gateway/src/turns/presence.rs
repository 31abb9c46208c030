//! What people see of a turn before it answers: a typing sign that the turn owns, and marks on the message that it is
//! about. Both are courtesy: nothing waits for them, nothing is kept of them, and a chat that was closed is left alone.

use std::sync::Arc;
use std::time::Duration;

use talaria_domain::adapter::{Abilities, Mark, Pending, Sign};
use talaria_domain::address::Address;
use talaria_domain::delivery::Outcome;
use talaria_domain::event::ReactionChange::{Added, Removed};
use talaria_domain::names::MessageId;

use super::begin::Begun;
use super::end::Ended;
use super::written::Beginning;
use crate::delivery::heed;
use crate::delivery::pace::Lane;
use crate::settings::AccountSettings;
use crate::shared::Shared;

/// Longer than this nobody waits for a courtesy.
const LONGEST: Duration = Duration::from_secs(5);
/// A sign is shown again a little before it goes by itself.
const SHORTEST: Duration = Duration::from_millis(500);

/// Shows that somebody is at it, for as long as it is waited for. Never ends by itself.
pub(super) async fn show(shared: &Shared, begun: &Begun) {
    if let Some((account, address)) = place(shared, begun)
        && is_seen(account)
        && begun.written.known().await == Beginning::Stands
    {
        mark(shared, begun, account, (Mark::Seen, Added)).await;
        type_on(shared, begun, account, address).await;
    }
    std::future::pending::<()>().await;
}

/// Takes the sign away, and says on the message how it ended.
pub(super) fn end(shared: &Arc<Shared>, begun: &Arc<Begun>, ended: &Ended) {
    let Some((account, _)) = place(shared, begun) else {
        return;
    };
    if !is_seen(account) {
        return;
    }
    let done = match ended {
        Ended::Answered(_) => Some(Mark::Done),
        Ended::Failed(_) | Ended::Panicked => Some(Mark::Failed),
        Ended::Stopped | Ended::Undone => None,
    };
    let (this, begun) = (Arc::clone(shared), Arc::clone(begun));
    shared.spawn(async move {
        let Some((account, address)) = place(&this, &begun) else {
            return;
        };
        if begun.written.known().await == Beginning::IsUndone {
            return;
        }
        if let Some(typing) = account.adapter.abilities().typing {
            courtesy(&this, address, |at| typing.sign(at, Sign::Off)).await;
        }
        mark(&this, &begun, account, (Mark::Seen, Removed)).await;
        if let Some(done) = done {
            mark(&this, &begun, account, (done, Added)).await;
        }
    });
}

/// Where a turn is seen; nowhere, if it is a task of another turn.
fn place<'a>(shared: &'a Shared, begun: &'a Begun) -> Option<(&'a AccountSettings, &'a Address)> {
    if begun.errand.is_some() {
        return None;
    }
    let address = &begun.place.0.address;
    Some((shared.settings.account(address)?, address))
}

/// Whether there is anything to be seen of a turn on an account before it answers.
fn is_seen(account: &AccountSettings) -> bool {
    let Abilities {
        typing, reactions, ..
    } = account.adapter.abilities();
    typing.is_some() || (account.marks && reactions.is_some())
}

async fn type_on(shared: &Shared, begun: &Begun, account: &AccountSettings, address: &Address) {
    let Some(typing) = account.adapter.abilities().typing else {
        return;
    };
    let pause = (typing.lasts() * 4 / 5).max(SHORTEST);
    loop {
        // Whoever is asked something sees that it is their turn.
        if !shared.waits.is_open(begun.run) {
            let shown = courtesy(shared, address, |at| typing.sign(at, Sign::On)).await;
            if matches!(shown, Some(Outcome::Rejected { .. })) {
                return;
            }
        }
        // Not polling: a sign goes by itself and has to be shown again.
        tokio::time::sleep(pause).await;
    }
}

async fn mark(
    shared: &Shared,
    begun: &Begun,
    account: &AccountSettings,
    (mark, change): (Mark, talaria_domain::event::ReactionChange),
) {
    let Some(reactions) = account.adapter.abilities().reactions else {
        return;
    };
    let message: Option<&MessageId> = begun.row.event.message.as_ref();
    if let Some(message) = message.filter(|_| account.marks) {
        let address = &begun.place.0.address;
        let marking = |at| reactions.mark((at, message), mark, change);
        courtesy(shared, address, marking).await;
    }
}

/// Does it, unless the chat is closed. A platform that says "later" is heeded by everybody.
async fn courtesy<'a>(
    shared: &Shared,
    address: &'a Address,
    act: impl FnOnce(&'a Address) -> Pending<'a, Outcome>,
) -> Option<Outcome> {
    let lane = Lane::of(address);
    if shared.pace().ready_at(lane, shared.now()).is_some() {
        return None;
    }
    let outcome = tokio::time::timeout(LONGEST, act(address)).await.ok()?;
    heed(shared, address, &outcome);
    Some(outcome)
}
