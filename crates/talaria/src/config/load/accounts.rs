//! Pure: accounts and routes. An account of a platform that this build cannot speak to, a second account of the same
//! name or with the same credential, a profile that nobody wrote down and two routes that name the same are refused;
//! letting everybody in is allowed and loud.

use std::collections::BTreeMap;

use talaria_domain::names::{AccountName, ChatId, PlatformName, ProfileName, ThreadId, UserId};
use talaria_domain::principal::Role;
use talaria_domain::secret::ExposeSecret as _;
use talaria_gateway::access::{Groups, Strangers};
use talaria_gateway::routing::Route;

use super::Loading;
use super::agents::Profiles;
use crate::config::effective::{AccountSettings, EVERYBODY, HomeChat, Webhook, WrittenRate};
use crate::config::file::{
    AccountSection, GroupsSection, HomeSection, RateSection, RolesSection, RouteSection,
    WebhookSection,
};
use crate::config::problem::{did_you_mean, one_of};

/// Messages a second that can be asked for; time is counted in milliseconds.
const RATES: (u32, u32) = (1, 1_000);

impl Loading<'_> {
    pub(super) fn accounts(&mut self, profiles: &Profiles) -> Vec<AccountSettings> {
        let sections = self.document.list("account");
        let mut accounts: Vec<AccountSettings> = Vec::new();
        for (index, section) in sections.into_iter().enumerate() {
            let key = format!("account[{index}]");
            let Some(account) = section.map(|section| self.account(&key, section, profiles)) else {
                continue;
            };
            let is_same = |other: &AccountSettings| {
                other.platform == account.platform && other.name == account.name
            };
            if accounts.iter().any(is_same) {
                let (platform, name) = (&account.platform, &account.name);
                let what = format!(
                    "a second account {name:?} of {platform}: give each a name of its own",
                    name = name.as_str()
                );
                self.refuse(&format!("{key}.name"), what);
            }
            self.look_at_credential(&key, &account, &accounts);
            accounts.push(account);
        }
        accounts
    }

    fn account(
        &mut self,
        key: &str,
        section: AccountSection,
        profiles: &Profiles,
    ) -> AccountSettings {
        let platform = self.required(&format!("{key}.platform"), section.platform);
        self.look_at_platform(&format!("{key}.platform"), &platform);
        let allow = section.allow;
        let usual = if allow.is_some() || section.roles.is_some() {
            Strangers::Ignore
        } else {
            Strangers::Pair
        };
        let allow: Vec<_> = allow
            .unwrap_or_default()
            .into_iter()
            .map(UserId::from)
            .collect();
        if allow.iter().any(|user| user.as_str() == EVERYBODY) {
            self.warn(
                &format!("{key}.allow"),
                "\"*\" lets everybody talk to the agent".to_owned(),
            );
        }
        let api_base = section.api_base;
        AccountSettings {
            platform: PlatformName::from(platform),
            name: AccountName::from(section.name.unwrap_or_else(|| "default".to_owned())),
            profile: self.profile_named(&format!("{key}.profile"), section.profile, profiles),
            token: self.secret(&format!("{key}.token"), section.token),
            app_token: self.secret(&format!("{key}.app_token"), section.app_token),
            webhook: section
                .webhook
                .and_then(|webhook| self.webhook(&format!("{key}.webhook"), webhook)),
            api_base: api_base.and_then(|text| self.url(&format!("{key}.api_base"), &text)),
            allow,
            roles: self.roles(&format!("{key}.roles"), section.roles.unwrap_or_default()),
            groups: groups(section.groups),
            bots: section.bots,
            strangers: section.strangers.unwrap_or(usual),
            home: section.home.map(|home| self.home_chat(key, home)),
            marks: section.marks,
            rate: self.rate(&format!("{key}.rate"), &section.rate),
        }
    }

    /// How much may be written, where the platform takes more or less of this account than of others.
    fn rate(&mut self, key: &str, section: &RateSection) -> WrittenRate {
        let mut number = |name, written: Option<i64>| {
            let key = format!("{key}.{name}");
            written.map(|written| self.number(&key, Some(written), 1, RATES))
        };
        WrittenRate {
            chat: number("chat", section.chat),
            account: number("account", section.account),
        }
    }

    /// One credential is one bot: two accounts with the same would take each other's messages.
    fn look_at_credential(
        &mut self,
        key: &str,
        account: &AccountSettings,
        earlier: &[AccountSettings],
    ) {
        let Some(token) = &account.token else { return };
        let is_same = |other: &&AccountSettings| {
            let used = other.token.as_ref();
            other.platform == account.platform
                && used.is_some_and(|it| it.value.expose_secret() == token.value.expose_secret())
        };
        if let Some(other) = earlier.iter().find(is_same) {
            let name = other.name.as_str();
            let what = format!(
                "the same credential as the account {name:?}: each account needs one of its own"
            );
            self.refuse(&format!("{key}.token"), what);
        }
    }

    fn roles(&mut self, key: &str, section: RolesSection) -> BTreeMap<UserId, Role> {
        let RolesSection {
            owner,
            admin,
            member,
            guest,
        } = section;
        let lists = [owner, admin, member, guest];
        let mut roles = BTreeMap::new();
        for (role, users) in Role::ALL.into_iter().zip(lists) {
            let key = format!("{key}.{}", role.as_str());
            for user in users {
                if user == EVERYBODY {
                    let what = "expected stable user ids: \"*\" belongs into `allow`";
                    self.refuse(&key, what.to_owned());
                    continue;
                }
                let what = format!("{user:?} has another role already");
                if roles.insert(UserId::from(user), role).is_some() {
                    self.refuse(&key, what);
                }
            }
        }
        roles
    }

    /// How the platform calls us. Without a secret nobody could tell it from anybody else.
    fn webhook(&mut self, key: &str, section: WebhookSection) -> Option<Webhook> {
        let url = section.url;
        let url = url.and_then(|text| self.url(&format!("{key}.url"), &text));
        let key = format!("{key}.secret");
        if section.secret.is_none() {
            let what = "missing, and needed here: secret = { env = \"NAME\" }";
            self.refuse(&key, what.to_owned());
        }
        let secret = self.secret(&key, section.secret)?;
        Some(Webhook { secret, url })
    }

    fn home_chat(&mut self, key: &str, section: HomeSection) -> HomeChat {
        HomeChat {
            chat: ChatId::from(self.required(&format!("{key}.home.chat"), section.chat)),
            thread: section.thread.map(ThreadId::from),
        }
    }

    pub(super) fn routes(
        &mut self,
        profiles: &Profiles,
        accounts: &[AccountSettings],
    ) -> Vec<Route> {
        let sections: Vec<Option<RouteSection>> = self.document.list("route");
        let mut routes: Vec<Route> = Vec::new();
        for (index, section) in sections.into_iter().enumerate() {
            let key = format!("route[{index}]");
            let Some(route) = section.map(|section| self.route(&key, section, profiles)) else {
                continue;
            };
            self.look_at_account(&format!("{key}.account"), &route, accounts);
            if let Some(twin) = routes.iter().position(|other| other.is_equal(&route)) {
                let what = format!("names the same as route[{twin}]: nobody could choose");
                self.refuse(&key, what);
            }
            routes.push(route);
        }
        routes
    }

    fn route(&mut self, key: &str, section: RouteSection, profiles: &Profiles) -> Route {
        let platform = self.required(&format!("{key}.platform"), section.platform);
        self.look_at_platform(&format!("{key}.platform"), &platform);
        let some = |text: Option<String>| text.filter(|text| !text.is_empty());
        let (chat, user) = (some(section.chat), some(section.user));
        let thread = some(section.thread);
        if chat.is_none() && (user.is_none() || thread.is_some()) {
            self.refuse(
                &format!("{key}.chat"),
                "missing, and needed here".to_owned(),
            );
        }
        let profile = self.required(&format!("{key}.profile"), section.profile);
        Route {
            platform: PlatformName::from(platform),
            account: some(section.account).map(AccountName::from),
            chat: chat.map(ChatId::from),
            thread: thread.map(ThreadId::from),
            user: user.map(UserId::from),
            profile: self.profile_named(&format!("{key}.profile"), Some(profile), profiles),
        }
    }

    /// A route through an account that is not there would never be taken.
    fn look_at_account(&mut self, key: &str, route: &Route, accounts: &[AccountSettings]) {
        let Some(name) = &route.account else { return };
        let here = accounts.iter().filter(|it| it.platform == route.platform);
        let known: Vec<&str> = here.map(|it| it.name.as_str()).collect();
        if !known.contains(&name.as_str()) {
            let hint = did_you_mean(name.as_str(), known);
            let (name, platform) = (name.as_str(), &route.platform);
            self.refuse(
                key,
                format!("there is no account {name:?} of {platform}{hint}"),
            );
        }
    }

    fn look_at_platform(&mut self, key: &str, platform: &str) {
        let known = self.source.platforms;
        if platform.is_empty() || known.contains(&platform) {
            return;
        }
        let has = if known.is_empty() {
            "it has none yet".to_owned()
        } else {
            format!("expected {}", one_of(known.iter().copied()))
        };
        let hint = did_you_mean(platform, known.iter().copied());
        self.refuse(
            key,
            format!("this build has no adapter for {platform:?}: {has}{hint}"),
        );
    }

    pub(super) fn profile_named(
        &mut self,
        key: &str,
        written: Option<String>,
        profiles: &Profiles,
    ) -> ProfileName {
        let first = profiles.first.profile.name.clone();
        let Some(written) = written.filter(|written| !written.is_empty()) else {
            return first;
        };
        if !profiles.names().any(|name| name == written) {
            let hint = did_you_mean(&written, profiles.names());
            self.refuse(key, format!("there is no [profile.{written}]{hint}"));
        }
        ProfileName::from(written)
    }

    pub(super) fn required(&mut self, key: &str, written: Option<String>) -> String {
        let written = written.filter(|written| !written.is_empty());
        written.unwrap_or_else(|| {
            self.refuse(key, "missing, and needed here".to_owned());
            String::new()
        })
    }
}

fn groups(section: GroupsSection) -> Groups {
    Groups {
        mention: section.mention,
        allow_chats: section.allow_chats.into_iter().map(ChatId::from).collect(),
        threads: section.threads,
    }
}
