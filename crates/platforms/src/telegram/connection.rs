//! The receive loop. An update is acknowledged by asking for what comes after it, and that is asked only after intake has
//! accepted it and everything before it, one by one. Where we stand is known to the platform alone: the first question
//! names no offset, so that whatever was not acknowledged comes again, also what was written while we were away.

use std::convert::Infallible;
use std::time::Duration;

use serde_json::Value;
use talaria_domain::adapter::{Disconnected, Identity, Intake, NotAccepted};
use talaria_domain::clock::Timestamp;
use tokio::time::sleep;

use super::Telegram;
use super::classify::Halt;
use super::config::Hooked;
use super::contest::Verdict;
use super::inbound::{self, Listener};
use super::wire::{User, WebhookState};

/// How long an event that was not accepted is left alone.
const AGAIN: Duration = Duration::from_millis(500);
/// How often a server is asked that has nothing new and does not wait.
const AT_REST: Duration = Duration::from_secs(1);
/// How long somebody else is given to stop asking.
const RIVAL_PAUSE: Duration = Duration::from_secs(5);
/// How often the platform is asked how its calls to us go.
const LOOK: Duration = Duration::from_secs(30);

/// Receives until the connection ends; gives why it did.
pub(super) async fn receive(telegram: &Telegram, intake: &dyn Intake) -> Disconnected {
    match run(telegram, intake).await {
        Ok(never) => match never {},
        Err(ended) => ended,
    }
}

async fn run(telegram: &Telegram, intake: &dyn Intake) -> Result<Infallible, Disconnected> {
    let me = telegram.client.me().await?;
    let identity = Identity {
        id: me.id.to_string().into(),
        name: me
            .username
            .as_ref()
            .map_or_else(|| me.first_name.clone(), |name| format!("@{name}")),
    };
    tracing::info!(account = %telegram.account.name, bot = me.id, name = identity.name, "connected");
    let has_menu = {
        let mut known = telegram.known();
        known.me = Some(me.clone());
        std::mem::replace(&mut known.has_menu, true)
    };
    intake.connected(&telegram.account, &identity)?;
    if !has_menu {
        telegram.client.show_commands().await;
    }
    match &telegram.hooked {
        Some(hooked) => watch(telegram, intake, hooked).await,
        None => poll(telegram, intake, &me).await,
    }
}

async fn poll(
    telegram: &Telegram,
    intake: &dyn Intake,
    me: &User,
) -> Result<Infallible, Disconnected> {
    let mut from = None;
    loop {
        // Not polling: updates are waited for at the platform; this is for a server that answers at once with nothing.
        let at_rest = sleep(AT_REST);
        let page = match telegram.client.updates(from).await {
            Ok(page) => page,
            Err(halt) => {
                halted(telegram, halt).await?;
                continue;
            }
        };
        intake.alive(&telegram.account);
        if page.is_empty() {
            at_rest.await;
        }
        if let Taken::InPart = take_page(telegram, intake, (me, &mut from), page).await? {
            // Not polling: intake refused for now, and does not tell when it will take more.
            sleep(AGAIN).await;
        }
    }
}

/// Deals with a question that brought no page, or ends the connection.
async fn halted(telegram: &Telegram, halt: Halt) -> Result<(), Disconnected> {
    match halt {
        Halt::Ended(ended) => return Err(ended),
        Halt::Wait(wait) => sleep(wait).await,
        Halt::Webhook(detail) => {
            contested(telegram, detail)?;
            telegram.client.delete_webhook().await?;
        }
        Halt::Rival(detail) => {
            contested(telegram, detail)?;
            sleep(RIVAL_PAUSE).await;
        }
    }
    Ok(())
}

/// Somebody else wants our updates: this time it may be waited out, or it may not.
fn contested(telegram: &Telegram, detail: String) -> Result<(), Disconnected> {
    let verdict = telegram.known().contest.met(telegram.clock.now());
    let detail = format!("{detail}: another program uses this bot's token");
    tracing::warn!(account = %telegram.account.name, why = detail, "contested");
    match verdict {
        Verdict::Wait => Ok(()),
        Verdict::Lost => Err(Disconnected::Lost { detail }),
        Verdict::Conflict => Err(Disconnected::Conflict {
            detail: format!("{detail}; stop it, or give this account a bot of its own"),
        }),
    }
}

/// How much of a page was accepted.
enum Taken {
    Whole,
    InPart,
}

/// Hands a page to intake, as far as intake accepts it; `from` follows.
async fn take_page(
    telegram: &Telegram,
    intake: &dyn Intake,
    (me, from): (&User, &mut Option<i64>),
    page: Vec<Value>,
) -> Result<Taken, Disconnected> {
    let mut is_numbered = page.is_empty();
    for update in page {
        let Some(number) = inbound::number(&update) else {
            tracing::warn!(account = %telegram.account.name, "an update without a number is passed over");
            continue;
        };
        is_numbered = true;
        if from.is_some_and(|from| number < from) {
            continue;
        }
        if let Err(refused) = take(telegram, intake, (me, update)).await {
            tracing::warn!(account = %telegram.account.name, number, why = refused.reason, "not accepted");
            return Ok(Taken::InPart);
        }
        *from = Some(number.saturating_add(1));
    }
    if is_numbered {
        return Ok(Taken::Whole);
    }
    Err(Disconnected::Lost {
        detail: "the updates have no numbers: what answers there is not the Bot API".to_owned(),
    })
}

/// Hands an update to intake. What cannot be read is passed over: it would come again for ever.
pub(super) async fn take(
    telegram: &Telegram,
    intake: &dyn Intake,
    (me, update): (&User, Value),
) -> Result<(), NotAccepted> {
    let listener = Listener {
        account: &telegram.account,
        me,
        ids: &*telegram.ids,
        now: telegram.clock.now(),
    };
    let number = inbound::number(&update);
    let arrived = match inbound::read(listener, update) {
        Ok(arrived) => arrived,
        Err(why) => {
            tracing::warn!(account = %telegram.account.name, number, why, "an update cannot be read and is passed over");
            return Ok(());
        }
    };
    for event in arrived.events {
        intake.accept(event).await?;
    }
    if let Some(moved) = arrived.moved {
        telegram.remember_move(moved);
    }
    if let Some(press) = arrived.press {
        telegram.client.answer_press(&press).await;
    }
    Ok(())
}

/// Lets the platform call us, and looks from time to time whether it can.
async fn watch(
    telegram: &Telegram,
    intake: &dyn Intake,
    hooked: &Hooked,
) -> Result<Infallible, Disconnected> {
    telegram
        .client
        .set_webhook(&hooked.url, &hooked.secret)
        .await?;
    let mut since = telegram.clock.now();
    loop {
        // Not polling: updates are called in; this looks whether the calls still come to us.
        sleep(LOOK).await;
        let state = telegram.client.webhook().await?;
        if state.url != hooked.url.as_str() {
            let detail = "the platform was told to call somebody else".to_owned();
            contested(telegram, detail)?;
            telegram
                .client
                .set_webhook(&hooked.url, &hooked.secret)
                .await?;
            continue;
        }
        if let Some(detail) = trouble(&state, since) {
            return Err(Disconnected::Lost { detail });
        }
        intake.alive(&telegram.account);
        since = telegram.clock.now();
    }
}

/// Why the platform cannot reach us, if it could not since then and something waits.
fn trouble(state: &WebhookState, since: Timestamp) -> Option<String> {
    let failed = state.last_error_date?.saturating_mul(1_000);
    let is_current = state.pending_update_count > 0 && failed >= since.as_millis();
    let words = state
        .last_error_message
        .as_deref()
        .unwrap_or("it does not say why");
    is_current.then(|| format!("the platform cannot call us: {words}"))
}
