//! Which profile answers where.
//!
//! Pure: routes and an address in, the nearest route out. A route names a chat, perhaps a thread of it, perhaps one
//! person, perhaps one of our accounts; what it does not name may be anything. A thread is nearer than its chat, a
//! chat nearer than a person, a person nearer than an account. Two routes that name the same are refused before they get
//! here, so the nearest is always one.

#[cfg(test)]
mod tests;

use talaria_domain::address::Address;
use talaria_domain::names::{AccountName, ChatId, PlatformName, ProfileName, ThreadId, UserId};
use talaria_domain::principal::Principal;

/// A place that another profile answers at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The chat service.
    pub platform: PlatformName,
    /// Only through this account.
    pub account: Option<AccountName>,
    /// Only in this chat.
    pub chat: Option<ChatId>,
    /// Only in this thread of it.
    pub thread: Option<ThreadId>,
    /// Only what this person says, by stable id.
    pub user: Option<UserId>,
    /// Who answers.
    pub profile: ProfileName,
}

impl Route {
    /// Whether it names the same as another: nobody could choose between them.
    pub fn is_equal(&self, other: &Self) -> bool {
        let place = |route: &Self| {
            let Self {
                platform,
                account,
                chat,
                thread,
                user,
                profile: _,
            } = route.clone();
            (platform, account, chat, thread, user)
        };
        place(self) == place(other)
    }

    fn covers(&self, at: &Address, who: &Principal) -> bool {
        self.platform == at.platform
            && self.account.as_ref().is_none_or(|name| *name == at.account)
            && self.chat.as_ref().is_none_or(|chat| *chat == at.chat)
            && (self.thread.is_none() || self.thread == at.thread)
            && (self.user.is_none() || self.user.as_ref() == who.stable_user())
    }

    const fn nearness(&self) -> (bool, bool, bool, bool) {
        (
            self.thread.is_some(),
            self.chat.is_some(),
            self.user.is_some(),
            self.account.is_some(),
        )
    }
}

/// The nearest route for what somebody says somewhere; none where the account's own profile answers.
pub fn nearest<'a>(routes: &'a [Route], at: &Address, who: &Principal) -> Option<&'a Route> {
    let covering = routes.iter().filter(|route| route.covers(at, who));
    covering.max_by_key(|route| route.nearness())
}

/// The profile that the nearest route names.
pub fn route<'a>(routes: &'a [Route], at: &Address, who: &Principal) -> Option<&'a ProfileName> {
    nearest(routes, at, who).map(|route| &route.profile)
}
