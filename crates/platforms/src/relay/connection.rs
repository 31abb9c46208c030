//! The receive loop. An update is acknowledged by asking for what comes after it, and that is asked only after intake has
//! accepted it and everything before it, one by one. Where we stand is known to the bridge alone: the first question
//! names no offset, so that whatever was not acknowledged comes again.

use std::convert::Infallible;
use std::time::Duration;

use talaria_domain::adapter::{Disconnected, Intake};
use talaria_domain::ids::EventId;
use tokio::time::sleep;

use super::Relay;
use super::inbound::{self, Listener};
use super::wire::Page;

/// How long an event that was not accepted is left alone.
const AGAIN: Duration = Duration::from_millis(500);
/// How often a bridge is asked that has nothing new and does not wait.
const AT_REST: Duration = Duration::from_secs(1);

/// Receives until the connection ends; gives why it did.
pub(super) async fn receive(relay: &Relay, intake: &dyn Intake) -> Disconnected {
    match poll(relay, intake).await {
        Ok(never) => match never {},
        Err(ended) => ended,
    }
}

async fn poll(relay: &Relay, intake: &dyn Intake) -> Result<Infallible, Disconnected> {
    let bot = relay.meet(relay.client.about().await?)?;
    intake.connected(&relay.account, &relay.identity(&bot))?;
    let mut after = None;
    loop {
        // Not polling: updates are waited for at the bridge; this is for one that answers at once with nothing.
        let at_rest = sleep(AT_REST);
        let page = relay.client.updates(after).await?;
        if page.updates.is_empty() {
            intake.alive(&relay.account);
            at_rest.await;
        }
        if let Taken::InPart = take(relay, intake, (&bot, &mut after), page).await? {
            // Not polling: intake refused for now, and does not tell when it will take more.
            sleep(AGAIN).await;
        }
    }
}

/// How much of a page was accepted.
enum Taken {
    Whole,
    InPart,
}

/// Hands a page to intake, as far as intake accepts it; `after` follows.
async fn take(
    relay: &Relay,
    intake: &dyn Intake,
    (bot, after): (&str, &mut Option<u64>),
    page: Page,
) -> Result<Taken, Disconnected> {
    for update in page.updates {
        let now = relay.clock.now();
        let listener = Listener {
            account: &relay.account,
            bot,
            id: EventId::next(&*relay.ids, now),
            now,
        };
        let lost = |detail| Disconnected::Lost { detail };
        let arrived = inbound::read(listener, update).map_err(lost)?;
        let offset = arrived.offset;
        if after.is_some_and(|after| offset <= after) {
            let detail = format!("update {offset} came again after it was acknowledged");
            return Err(lost(detail));
        }
        if let Some(event) = arrived.event
            && let Err(refused) = intake.accept(event).await
        {
            tracing::warn!(account = %relay.account.name, offset, why = refused.reason, "not accepted");
            return Ok(Taken::InPart);
        }
        *after = Some(offset);
    }
    Ok(Taken::Whole)
}
