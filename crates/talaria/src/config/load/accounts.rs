//! Pure: accounts and routes. An account of a platform that this build cannot speak to, a second account of the same
//! name and a profile that nobody wrote down are refused; letting everybody in is allowed and loud.

use talaria_domain::names::{AccountName, ChatId, PlatformName, ProfileName, ThreadId, UserId};

use super::Loading;
use super::agents::Profiles;
use crate::config::effective::{AccountSettings, HomeChat, Route, Strangers, Webhook};
use crate::config::file::{AccountSection, HomeSection, RouteSection, WebhookSection};
use crate::config::problem::{did_you_mean, one_of};

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
        let usual = if allow.is_some() {
            Strangers::Ignore
        } else {
            Strangers::Pair
        };
        let allow: Vec<_> = allow
            .unwrap_or_default()
            .into_iter()
            .map(UserId::from)
            .collect();
        if allow.iter().any(|user| user.as_str() == "*") {
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
            strangers: section.strangers.unwrap_or(usual),
            home: section.home.map(|home| self.home_chat(key, home)),
            marks: section.marks,
        }
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

    pub(super) fn routes(&mut self, profiles: &Profiles) -> Vec<Route> {
        let sections: Vec<Option<RouteSection>> = self.document.list("route");
        let read = sections.into_iter().enumerate();
        read.filter_map(|(index, section)| {
            let (key, section) = (format!("route[{index}]"), section?);
            let platform = self.required(&format!("{key}.platform"), section.platform);
            let chat = self.required(&format!("{key}.chat"), section.chat);
            let profile = self.required(&format!("{key}.profile"), section.profile);
            Some(Route {
                platform: PlatformName::from(platform),
                chat: ChatId::from(chat),
                thread: section.thread.map(ThreadId::from),
                profile: self.profile_named(&format!("{key}.profile"), Some(profile), profiles),
            })
        })
        .collect()
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
