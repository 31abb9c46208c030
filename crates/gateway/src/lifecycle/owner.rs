//! Tells the owner what nobody asked for, where they can hear it: at the home of an account that works, that of the same
//! profile first. Where there is none, the log and the status have to do.

use std::sync::Arc;

use talaria_domain::address::Address;
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::Account;

use super::health::Condition;
use super::{Gateway, Said};
use crate::shared::Shared;

/// Tells that an account needs somebody.
pub(super) async fn tell(shared: &Arc<Shared>, about: &Account, condition: &Condition) {
    let why = condition.why().unwrap_or_default();
    let text = format!(
        "The account {:?} on {} does not work: {} ({why}). It needs you: `talaria status` says how it is.",
        about.name.as_str(),
        about.platform,
        condition.as_str()
    );
    let Some(home) = elsewhere(shared, about) else {
        tracing::error!(account = %about.name, platform = %about.platform, why, "an account needs somebody, and no other account has a home");
        return;
    };
    say(shared, &home, &text).await;
}

/// Tells what nobody asked for at a home.
pub(crate) async fn say(shared: &Arc<Shared>, home: &Address, text: &str) {
    let said = Gateway(Arc::clone(shared))
        .say(home, &ourselves(home), text)
        .await;
    if !matches!(said, Ok(Said::Recorded(_))) {
        tracing::error!(account = %home.account, ?said, "the owner could not be told");
    }
}

/// The home of another account that has proved itself: of the same profile, or else of any.
fn elsewhere(shared: &Shared, about: &Account) -> Option<Address> {
    let works = |account: &Account| account != about && shared.pulse.is_connected(account);
    let homes = shared.settings.accounts.iter().filter_map(|settings| {
        let account = settings.adapter.account();
        let home = settings.home.as_ref().filter(|_| works(account))?;
        Some((account.profile == about.profile, home))
    });
    // Of those that are as good as each other the last is taken, so the list is walked backwards.
    let homes: Vec<_> = homes.collect();
    let best = homes.into_iter().rev().max_by_key(|(is_own, _)| *is_own);
    best.map(|(_, home)| home.clone())
}

/// Whoever speaks when nobody asked.
fn ourselves(home: &Address) -> Principal {
    Principal {
        platform: home.platform.clone(),
        account: home.account.clone(),
        user: "talaria".into(),
        alternate: None,
        display_name: None,
        role: Role::Owner,
    }
}
