//! What the server asks the gateway for, beside taking messages in: how it is, to say something that no agent said, and
//! to take something away from a run.

use talaria_domain::adapter::{HookAnswer, HookCall, Pending};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::authority::Revocation;
use talaria_domain::ids::{ReplyId, RunId};
use talaria_domain::names::{AccountName, PlatformName};
use talaria_gateway::Gateway;
use talaria_gateway::lifecycle::Said;
use talaria_gateway::lifecycle::health::{Condition as State, PartHealth};
use talaria_server::courier::{Courier, Destination, NotDispatched, Parcel};
use talaria_server::health::{Condition, Health, PartReport, Report, TurnedAway};
use talaria_server::hooks::Hooks;
use talaria_server::rights::Rights;

/// The gateway, as the server asks it.
pub(super) struct Desk(pub(super) Gateway);

impl Health for Desk {
    fn report(&self) -> Report {
        let away = self.0.doors().turned_away();
        Report {
            parts: self.0.health().into_iter().map(part).collect(),
            lanes_running: self.0.load().turns,
            turned_away: TurnedAway {
                ignored: away.ignored,
                refused: away.refused,
            },
        }
    }
}

fn part(health: PartHealth) -> PartReport {
    let state = match health.condition {
        State::Starting => Condition::Starting,
        State::Connected => Condition::Connected,
        State::Degraded { .. } => Condition::Degraded,
        State::AuthFailed { .. } => Condition::AuthFailed,
        State::Conflict { .. } => Condition::Conflict,
        State::Stopped => Condition::Stopped,
    };
    PartReport {
        detail: health.condition.why().map(ToOwned::to_owned),
        name: health.name,
        state,
        last_receive: health.last_receive,
        last_send: health.last_send,
    }
}

impl Desk {
    /// The place that an operator names, or what is missing.
    pub(super) fn address(&self, to: &Destination) -> Result<Address, String> {
        let platform = to.platform.as_str();
        let account = match &to.account {
            Some(account) => account.clone(),
            None => self
                .0
                .only_account(&to.platform)
                .ok_or_else(|| format!("no account, or more than one, on {platform:?}"))?,
        };
        match to.chat.clone() {
            None => self.0.home(&to.platform, &account).ok_or_else(|| {
                format!("say which chat: {platform}:CHAT, because no home is known there")
            }),
            Some(chat) => Ok(Address {
                platform: to.platform.clone(),
                account,
                chat_kind: ChatKind::Direct,
                chat,
                thread: to.thread.clone(),
                reply_to: None,
            }),
        }
    }
}

impl Courier for Desk {
    fn dispatch(&self, parcel: Parcel) -> Pending<'_, Result<ReplyId, NotDispatched>> {
        Box::pin(async move {
            let missing = |reason: String| NotDispatched::NotFound { reason };
            let address = self.address(&parcel.to).map_err(missing)?;
            let platform = parcel.to.platform.as_str();
            match self.0.say(&address, &parcel.requester, &parcel.text).await {
                Ok(Said::Recorded(reply)) => Ok(reply),
                Ok(Said::NoAccount) => Err(missing(format!("no account on {platform:?}"))),
                Err(error) => Err(NotDispatched::Retry {
                    reason: error.to_string(),
                }),
            }
        })
    }
}

impl Hooks for Desk {
    fn take(
        &self,
        (platform, account): (PlatformName, AccountName),
        call: HookCall,
    ) -> Pending<'_, Option<HookAnswer>> {
        Box::pin(async move { self.0.hook(&platform, &account, &call).await })
    }
}

impl Rights for Desk {
    fn revoke(
        &self,
        run: RunId,
        what: Revocation,
    ) -> Pending<'_, talaria_store::Result<Vec<RunId>>> {
        Box::pin(self.0.revoke(run, what))
    }
}
