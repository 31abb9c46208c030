//! What the gateway says to a runner.
//!
//! Pure: types.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use talaria_domain::authority::ResourceKind;
use talaria_domain::ids::RunId;
use talaria_domain::runner::{Said, Speaker, ToolCall};

#[cfg(test)]
use super::schema;

/// What the gateway says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "method", content = "params")]
pub(in crate::process) enum Order {
    /// The first words, answered with an introduction.
    #[serde(rename = "initialize")]
    Initialize {
        /// The version of this protocol.
        protocol: u32,
        /// The version of the gateway.
        gateway: &'static str,
        /// What the runner is called here. It is what its connection stands for, whatever it says itself.
        runner: String,
        /// What is taken from it.
        limits: Takes,
    },
    /// Begin a run. Not answered: reports tell how it goes.
    #[serde(rename = "run")]
    Run(Box<RunOrder>),
    /// End a run. What comes of it from here on is not part of the conversation; it should end with `completed` or
    /// `failed` soon.
    #[serde(rename = "cancel")]
    Cancel {
        /// Which.
        #[cfg_attr(test, schemars(with = "schema::Id"))]
        run: RunId,
    },
    /// People said more. Answered with anything as soon as the runner takes it into account; sent only to those that
    /// have the capability `steering`.
    #[serde(rename = "steer")]
    Steer {
        /// Which run they talk to.
        #[cfg_attr(test, schemars(with = "schema::Id"))]
        run: RunId,
        /// What they said.
        texts: Vec<String>,
    },
    /// A piece of what a model says, for whoever asked with `model.stream`.
    #[serde(rename = "model.delta")]
    ModelDelta {
        /// Whose model it is.
        #[cfg_attr(test, schemars(with = "schema::Id"))]
        run: RunId,
        /// The id of the request that it belongs to.
        request: Value,
        /// A piece of the answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// A piece of what it thinks.
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
    },
    /// No more runs come, and the input closes: end.
    #[serde(rename = "shutdown")]
    Shutdown {},
}

/// What is taken from a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::process) struct Takes {
    /// Bytes of a line.
    pub(in crate::process) frame_bytes: usize,
    /// Callbacks of a run that may be under way.
    pub(in crate::process) in_flight: usize,
    /// Callbacks of a run in a second.
    pub(in crate::process) per_second: u32,
}

/// What a runner answers `initialize` with.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::process) struct Introduction {
    /// The version of the protocol that it speaks.
    pub(in crate::process) protocol: u32,
    /// What it is called; if it is given, it has to be what it is called here.
    #[serde(default)]
    pub(in crate::process) id: Option<String>,
    /// Its own version, for people.
    #[serde(default)]
    pub(in crate::process) version: String,
    /// What it can do. Others than these are passed over.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "BTreeSet<schema::Capability>"))]
    pub(in crate::process) capabilities: BTreeSet<String>,
}

impl Introduction {
    /// Whether it can do this.
    pub(in crate::process) fn has(&self, capability: &str) -> bool {
        self.capabilities.contains(capability)
    }
}

/// The capability of a runner that wants to be told what was said before, with every run.
pub(in crate::process) const HISTORY: &str = "history";

/// One run, and all that belongs to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::process) struct RunOrder {
    /// Its id, which every report and callback names.
    #[cfg_attr(test, schemars(with = "schema::Id"))]
    pub(in crate::process) run: RunId,
    /// The event that it answers: the last one.
    pub(in crate::process) event: Option<Happened>,
    /// What is said.
    pub(in crate::process) input: Input,
    /// What the profile's agents are told about themselves.
    pub(in crate::process) instructions: String,
    /// What was said before, for those that have the capability `history`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::process) history: Option<Vec<Spoken>>,
    /// What is remembered, by scope and key: a copy.
    pub(in crate::process) state: Map<String, Value>,
    /// Whether that is everything: what is too much can be asked for.
    pub(in crate::process) is_state_whole: bool,
    /// The scopes that it may read and write, and that somebody holds. The others are empty whatever happens.
    #[cfg_attr(test, schemars(with = "Vec<schema::StateScope>"))]
    pub(in crate::process) scopes: Vec<&'static str>,
    /// The callbacks that it can use.
    pub(in crate::process) methods: BTreeSet<&'static str>,
    /// What the run may use.
    pub(in crate::process) resources: Vec<Resource>,
    /// What the operator configured for it.
    pub(in crate::process) config: Value,
    /// Where its answers go.
    pub(in crate::process) delivery: Delivery,
    /// What is asked of a model for this run, under the names that OpenAI gave it.
    pub(in crate::process) options: BTreeMap<String, Value>,
}

/// What is said.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::process) struct Input {
    /// As one text for a model.
    pub(in crate::process) text: String,
    /// One event, or several that were merged.
    pub(in crate::process) events: Vec<Happened>,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::process) struct Happened {
    /// Its id.
    pub(in crate::process) id: String,
    /// `message`, `edited`, `reaction`, `command`, `internal`, `membership`; there may be more one day.
    pub(in crate::process) kind: &'static str,
    /// What it says.
    pub(in crate::process) text: String,
    /// Where.
    pub(in crate::process) place: Place,
    /// Who: the platform's stable id.
    pub(in crate::process) sender: String,
    /// What they call themselves.
    pub(in crate::process) sender_name: Option<String>,
    /// The platform's id of the message.
    pub(in crate::process) message: Option<String>,
    /// When it reached the gateway, in milliseconds since 1970.
    pub(in crate::process) received_at: i64,
    /// What came with it.
    pub(in crate::process) attachments: Vec<Attached>,
}

/// A file that came with an event.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::process) struct Attached {
    /// What `file.read` takes.
    pub(in crate::process) file: String,
    /// `image`, `audio`, `voice`, `video`, `file`.
    pub(in crate::process) kind: Value,
    /// The file's name, as it was sent: never a path.
    pub(in crate::process) name: Option<String>,
    /// The media type, as it was declared.
    pub(in crate::process) media_type: Option<String>,
    /// The size, as it was declared.
    pub(in crate::process) size_bytes: Option<u64>,
}

/// A place on a platform.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::process) struct Place {
    /// The chat service.
    pub(in crate::process) platform: String,
    /// The gateway's account there.
    pub(in crate::process) account: String,
    /// `direct`, `group`, `channel`, `forum`, `thread`, `webhook`.
    pub(in crate::process) chat_kind: &'static str,
    /// The chat.
    pub(in crate::process) chat: String,
    /// The thread in it.
    pub(in crate::process) thread: Option<String>,
}

/// Where answers go. It cannot be changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::process) struct Delivery {
    /// The place.
    pub(in crate::process) place: Place,
    /// Whose agent answers.
    pub(in crate::process) profile: String,
    /// The conversation.
    pub(in crate::process) session: String,
    /// Whether something that comes after the run could still be delivered there.
    pub(in crate::process) is_reachable_later: bool,
}

/// Something that the run may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::process) struct Resource {
    /// What kind of thing it is.
    #[cfg_attr(test, schemars(with = "schema::ResourceKind"))]
    pub(in crate::process) kind: ResourceKind,
    /// Its name.
    pub(in crate::process) name: String,
    /// What may be done with it.
    pub(in crate::process) operations: BTreeSet<String>,
    /// How much a model can be shown, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::process) window: Option<usize>,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::process) struct Spoken {
    /// By whom.
    #[cfg_attr(test, schemars(with = "schema::Speaker"))]
    pub(in crate::process) speaker: Speaker,
    /// The words; a tool's output.
    #[serde(default)]
    pub(in crate::process) text: String,
    /// The tools that the agent called with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(with = "Vec<schema::ToolCall>"))]
    pub(in crate::process) calls: Vec<ToolCall>,
    /// The call that a tool's output answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::process) answers: Option<String>,
    /// Pictures that belong to it: addresses that start with `data:` or `https:`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::process) images: Vec<String>,
}

impl From<Said> for Spoken {
    fn from(said: Said) -> Self {
        Self {
            speaker: said.speaker,
            text: said.text,
            calls: said.calls,
            answers: said.answers,
            images: said.images,
        }
    }
}

impl From<Spoken> for Said {
    fn from(spoken: Spoken) -> Self {
        Self {
            speaker: spoken.speaker,
            text: spoken.text,
            calls: spoken.calls,
            answers: spoken.answers,
            images: spoken.images,
        }
    }
}
