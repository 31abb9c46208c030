//! Pure: models and profiles. Without a word about them there is one profile, `assistant`, that thinks with the demo
//! model and has tools, so that a newcomer sees the whole machine move.

use std::time::Duration;

use talaria_domain::names::ProfileName;
use talaria_domain::profile::Profile;
use talaria_domain::session_key::Sharing;

use super::{Loading, MINUTE};
use crate::config::effective::{Model, ProfileSettings, Provider, Reset, RunnerSettings};
use crate::config::file::{ModelSection, ProfileSection, ResetSection, SessionSection};
use crate::config::keys::join;
use crate::config::problem::did_you_mean;

const DEMO: &str = "demo";
const ASSISTANT: &str = "assistant";
const INSTRUCTIONS: &str = "You are a helpful assistant in a chat. Answer briefly and in the language you are \
spoken to. Use your tools when they help, say what you did with them, and say so when you do not know.";
const OPENAI: &str = "https://api.openai.com/v1";
const ANTHROPIC: &str = "https://api.anthropic.com/v1";
/// What a profile may name as a tool: the native runner's tools and their groups.
const TOOLS: &[&str] = &[
    "terminal",
    "process",
    "delegate_task",
    "files",
    "read_file",
    "write_file",
    "edit_file",
    "search_files",
    "fetch_url",
    "send_message",
    "schedule",
    "memory",
    "session_search",
    "ask_user",
    "kanban",
];

/// What the profile has that nobody wrote a word about.
const USUAL_TOOLS: [&str; 6] = [
    "terminal",
    "process",
    "delegate_task",
    "send_message",
    "schedule",
    "ask_user",
];

/// Profiles, of which there is always one.
pub(super) struct Profiles {
    pub(super) first: ProfileSettings,
    others: Vec<ProfileSettings>,
}

impl Profiles {
    pub(super) fn into_all(self) -> Vec<ProfileSettings> {
        std::iter::once(self.first).chain(self.others).collect()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &ProfileSettings> {
        std::iter::once(&self.first).chain(&self.others)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.all().map(|settings| settings.profile.name.as_str())
    }
}

impl Loading<'_> {
    pub(super) fn models(&mut self) -> Vec<Model> {
        let sections = self.document.named("model");
        let mut models: Vec<_> = sections
            .into_iter()
            .map(|(name, section)| self.model(name, section))
            .collect();
        if models.iter().all(|model| model.name != DEMO) {
            models.push(demo(DEMO.to_owned()));
        }
        models
    }

    fn model(&mut self, name: String, section: Option<ModelSection>) -> Model {
        let Some(section) = section else {
            return demo(name);
        };
        let key = join("model", &name);
        let Some(provider) = section.provider else {
            self.refuse(
                &join(&key, "provider"),
                "missing, expected `openai`, `anthropic` or `demo`".to_owned(),
            );
            return demo(name);
        };
        let usual = match provider {
            Provider::OpenAi => Some(OPENAI),
            Provider::Anthropic => Some(ANTHROPIC),
            Provider::Demo => None,
        };
        let base_url = section.base_url.or_else(|| usual.map(str::to_owned));
        let base_url = base_url.and_then(|text| self.url(&join(&key, "base_url"), &text));
        let model = section.model.filter(|model| !model.is_empty());
        if model.is_none() && provider != Provider::Demo {
            let what = "missing, expected the model's name at its provider".to_owned();
            self.refuse(&join(&key, "model"), what);
        }
        let api_key = self.secret(&join(&key, "api_key"), section.api_key);
        let window = section
            .window
            .map(|written| self.number(&join(&key, "window"), Some(written), 0, (256, u32::MAX)));
        Model {
            name,
            provider,
            base_url,
            served_as: model.unwrap_or_else(|| DEMO.to_owned()),
            api_key,
            window: window.and_then(|window| usize::try_from(window).ok()),
        }
    }

    pub(super) fn profiles(&mut self, models: &[Model], runners: &[RunnerSettings]) -> Profiles {
        let sections = self.document.named("profile");
        let mut all: Vec<_> = sections
            .into_iter()
            .map(|(name, section)| {
                self.profile(&name, section.unwrap_or_default(), (models, runners))
            })
            .collect();
        if all.is_empty() {
            let section = ProfileSection {
                tools: Some(USUAL_TOOLS.map(str::to_owned).to_vec()),
                ..ProfileSection::default()
            };
            all.push(self.profile(ASSISTANT, section, (models, runners)));
        }
        let first = all.remove(0);
        Profiles { first, others: all }
    }

    fn profile(
        &mut self,
        name: &str,
        section: ProfileSection,
        (models, runners): (&[Model], &[RunnerSettings]),
    ) -> ProfileSettings {
        let key = join("profile", name);
        if name.is_empty() {
            self.refuse(&key, "a profile needs a name".to_owned());
        }
        let model = self.model_named(&join(&key, "model"), section.model.as_deref(), models);
        let tools = section.tools.unwrap_or_default();
        self.look_at_tools(&join(&key, "tools"), &tools);
        let approve = section.approve.unwrap_or_default();
        self.look_at_approve(&join(&key, "approve"), &approve, &tools);
        let (runner, id) =
            self.runner_named(&join(&key, "runner"), section.runner.as_deref(), runners);
        let instructions = section.instructions;
        let profile = Profile {
            name: ProfileName::from(name),
            runner: id,
            instructions: instructions.unwrap_or_else(|| INSTRUCTIONS.to_owned()),
            busy: section.busy.unwrap_or_default(),
            sharing: sharing(&section.session),
            state: section.state.unwrap_or_default(),
        };
        ProfileSettings {
            profile,
            runner,
            model,
            tools,
            approve,
            reset: self.reset(
                &join(&join(&key, "session"), "reset"),
                &section.session.reset,
            ),
        }
    }

    fn model_named(&mut self, key: &str, written: Option<&str>, models: &[Model]) -> Model {
        let first = models.first().cloned();
        let first = first.unwrap_or_else(|| demo(DEMO.to_owned()));
        let Some(written) = written else {
            return first;
        };
        let found = models.iter().find(|model| model.name == written);
        found.cloned().unwrap_or_else(|| {
            let names = models.iter().map(|model| model.name.as_str());
            let hint = did_you_mean(written, names);
            self.refuse(key, format!("there is no [model.{written}]{hint}"));
            first
        })
    }

    /// A tool may come from elsewhere, so a name that nobody knows is no error; but most of the time it is a typo.
    fn look_at_tools(&mut self, key: &str, tools: &[String]) {
        for tool in tools {
            if !TOOLS.contains(&tool.as_str()) && !tool.starts_with("kanban_") {
                let hint = did_you_mean(tool, TOOLS.iter().copied());
                self.warn(key, format!("no built-in tool is called {tool:?}{hint}"));
            }
        }
    }

    /// Whoever wants to be asked must not find out later that they never were.
    fn look_at_approve(&mut self, key: &str, approve: &[String], tools: &[String]) {
        for tool in approve.iter().filter(|tool| !tools.contains(tool)) {
            let hint = did_you_mean(tool, tools.iter().map(String::as_str));
            self.refuse(key, format!("this profile has no tool {tool:?}{hint}"));
        }
    }

    fn reset(&mut self, key: &str, section: &ResetSection) -> Reset {
        let (idle, hour) = (join(key, "idle_minutes"), join(key, "at_hour"));
        let idle = self.number(&idle, section.idle_minutes, 1_440, (1, 525_600));
        let at_hour = self.number(&hour, section.at_hour, 4, (0, 23));
        Reset {
            mode: section.mode.unwrap_or_default(),
            idle: Duration::from_secs(u64::from(idle) * MINUTE),
            at_hour: u8::try_from(at_hour).unwrap_or(0),
        }
    }
}

fn sharing(section: &SessionSection) -> Sharing {
    let default = Sharing::default();
    Sharing {
        group_per_user: section.group_per_user.unwrap_or(default.group_per_user),
        thread_per_user: section.thread_per_user.unwrap_or(default.thread_per_user),
    }
}

fn demo(name: String) -> Model {
    Model {
        name,
        provider: Provider::Demo,
        base_url: None,
        served_as: DEMO.to_owned(),
        api_key: None,
        window: None,
    }
}
