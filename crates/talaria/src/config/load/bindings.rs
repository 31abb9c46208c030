//! Pure: bindings. Those of the file, and after them what each profile says by itself where nothing else is for it. Two
//! that could not be chosen between stop the start, with both of their names.

use talaria_domain::binding::{self, Binding, BindingScope, EventPattern, Policy, ResourcePolicy};
use talaria_domain::descriptor::StoreName;
use talaria_domain::names::{AccountName, BindingId, ChatId, PlatformName, ProfileName, ThreadId};
use talaria_domain::scope::StatePolicy;

use super::Loading;
use super::agents::Profiles;
use crate::config::effective::{
    AccountSettings, BindingSettings, ProfileSettings, RunnerKind, RunnerSettings,
};
use crate::config::file::BindingSection;
use crate::config::keys::join;

/// Where a binding of the file stands, and what it is.
struct Written {
    key: String,
    binding: Binding,
}

impl Loading<'_> {
    pub(super) fn bindings(
        &mut self,
        profiles: &Profiles,
        accounts: &[AccountSettings],
        runners: &[RunnerSettings],
    ) -> Vec<BindingSettings> {
        let sections: Vec<Option<BindingSection>> = self.document.list("binding");
        let mut written: Vec<Written> = Vec::new();
        for (index, section) in sections.into_iter().enumerate() {
            let key = format!("binding[{index}]");
            let Some(section) = section else { continue };
            let Some(scope) = self.scope(&key, &section, (profiles, accounts)) else {
                continue;
            };
            let binding = self.binding(&key, section, scope, (profiles, runners));
            written.push(Written { key, binding });
        }
        let count = written.len();
        for profile in profiles.all() {
            written.extend(self.own(profile, &written));
        }
        self.refuse_clashes(&written);
        let settings = written.into_iter().enumerate();
        settings
            .map(|(index, Written { binding, .. })| BindingSettings {
                binding,
                is_own: index >= count,
            })
            .collect()
    }

    /// Where a binding counts: a chat, an account, a profile, or everywhere.
    fn scope(
        &mut self,
        key: &str,
        section: &BindingSection,
        (profiles, accounts): (&Profiles, &[AccountSettings]),
    ) -> Option<BindingScope> {
        let BindingSection {
            profile,
            platform,
            account,
            chat,
            thread,
            ..
        } = section;
        let is_place = account.is_some() || chat.is_some() || thread.is_some();
        let Some(platform) = platform else {
            if is_place {
                let what = "missing: a chat or an account is on a platform".to_owned();
                self.refuse(&format!("{key}.platform"), what);
                return None;
            }
            let Some(profile) = profile else {
                return Some(BindingScope::Global);
            };
            let (key, written) = (format!("{key}.profile"), Some(profile.clone()));
            let profile = self.profile_named(&key, written, profiles);
            return Some(BindingScope::Profile(profile));
        };
        if profile.is_some() {
            let what = "a binding is for a profile or for a place, not for both: an account has its profile already";
            self.refuse(&format!("{key}.profile"), what.to_owned());
            return None;
        }
        let account = account.clone().unwrap_or_else(|| "default".to_owned());
        let (platform, account) = (
            PlatformName::from(platform.as_str()),
            AccountName::from(account),
        );
        let is_here = |it: &AccountSettings| (&it.platform, &it.name) == (&platform, &account);
        let mut surfaces = talaria_platforms::local::SURFACES.iter();
        let is_surface = surfaces.any(|(surface, _)| *surface == platform.as_str());
        if !is_surface && !accounts.iter().any(is_here) {
            let (platform, account) = (platform.as_str(), account.as_str());
            let what = format!("there is no [[account]] {account:?} on {platform:?}");
            self.refuse(&format!("{key}.platform"), what);
        }
        match (chat, thread) {
            (Some(chat), thread) => Some(BindingScope::Chat {
                platform,
                account,
                chat: ChatId::from(chat.as_str()),
                thread: thread.as_deref().map(ThreadId::from),
            }),
            (None, None) => Some(BindingScope::Account { platform, account }),
            (None, Some(_)) => {
                let what = "missing: a thread is in a chat".to_owned();
                self.refuse(&format!("{key}.chat"), what);
                None
            }
        }
    }

    fn binding(
        &mut self,
        key: &str,
        section: BindingSection,
        scope: BindingScope,
        (profiles, runners): (&Profiles, &[RunnerSettings]),
    ) -> Binding {
        let (kind, runner) =
            self.runner_named(&format!("{key}.runner"), section.runner.as_deref(), runners);
        if kind == RunnerKind::Native && section.models.is_empty() {
            // The loop that is built in does nothing without one; a program may have its own.
            let what = "missing: this binding's runs may use no model, and answer nothing but that"
                .to_owned();
            self.warn(&format!("{key}.models"), what);
        }
        let events = section.events.unwrap_or_else(|| vec![EventPattern::any()]);
        if events.is_empty() {
            let what = "expected at least one event, such as \"message\"".to_owned();
            self.refuse(&format!("{key}.events"), what);
        }
        let id = section.id.filter(|id| !id.trim().is_empty());
        Binding {
            id: id.map_or_else(|| scope.identity(), BindingId::from),
            policy: Policy {
                resources: ResourcePolicy {
                    models: section.models,
                    tools: section.tools,
                    knowledge_bases: section.knowledge_bases,
                    files: section.files,
                    storage: section.storage,
                },
                state: section
                    .state
                    .unwrap_or_else(|| usual_state(&scope, profiles)),
                delivery: section.delivery.unwrap_or_default(),
            },
            scope,
            events,
            runner,
            config: section.config,
        }
    }

    /// What a profile says by itself: everything where its runner was written down, and what nothing else is for.
    fn own(&self, profile: &ProfileSettings, written: &[Written]) -> Option<Written> {
        let name = &profile.profile.name;
        let key = join(&join("profile", name.as_str()), "runner");
        let bindings: Vec<Binding> = written.iter().map(|it| it.binding.clone()).collect();
        let is_for = |it: &Binding| match &it.scope {
            BindingScope::Global => true,
            BindingScope::Profile(other) => other == name,
            BindingScope::Account { .. } | BindingScope::Chat { .. } => false,
        };
        let is_alone = !bindings.iter().any(is_for);
        let gaps = binding::gaps(&bindings, name);
        let events = if is_alone || self.document.line(&key).is_some() {
            vec![EventPattern::any()]
        } else {
            let patterns = gaps.iter().filter_map(|gap| EventPattern::parse(gap).ok());
            patterns.collect()
        };
        if events.is_empty() {
            return None;
        }
        let binding = own_binding(profile, events);
        Some(Written { key, binding })
    }

    fn refuse_clashes(&mut self, written: &[Written]) {
        let bindings: Vec<Binding> = written.iter().map(|it| it.binding.clone()).collect();
        for clash in binding::clashes(&bindings) {
            let (Some(one), Some(other)) = (written.get(clash.one), written.get(clash.other))
            else {
                continue;
            };
            let what = if one.binding.id == other.binding.id {
                format!(
                    "{} and {} are both called {}: give each an id of its own",
                    one.key, other.key, other.binding.id
                )
            } else {
                format!(
                    "{} ({}) and {} ({}) are for the same events at the same place: take one away, or make one nearer",
                    one.key, one.binding.id, other.key, other.binding.id
                )
            };
            self.refuse(&other.key, what);
        }
    }
}

/// What may be remembered where a binding says nothing: what its profile may.
fn usual_state(scope: &BindingScope, profiles: &Profiles) -> StatePolicy {
    let named = |name: &ProfileName| profiles.all().find(|it| it.profile.name == *name);
    let profile = match scope {
        BindingScope::Profile(name) => named(name),
        BindingScope::Global | BindingScope::Account { .. } | BindingScope::Chat { .. } => None,
    };
    profile.map_or_else(StatePolicy::default, |profile| {
        profile.profile.state.clone()
    })
}

/// What a profile says by itself: its runner, with what the profile names.
fn own_binding(settings: &ProfileSettings, events: Vec<EventPattern>) -> Binding {
    let profile = &settings.profile;
    let scope = BindingScope::Profile(profile.name.clone());
    Binding {
        id: scope.identity(),
        scope,
        events,
        runner: profile.runner.clone(),
        config: serde_json::Map::new(),
        policy: Policy {
            resources: ResourcePolicy {
                models: [settings.model.name.clone()].into(),
                tools: settings.tools.iter().cloned().collect(),
                files: true,
                storage: StoreName::ALL.into(),
                ..ResourcePolicy::default()
            },
            state: profile.state.clone(),
            ..Policy::default()
        },
    }
}
