//! What a runner is: its id, its version, what it can do and what it may do at most. Capabilities say how it is
//! spoken to and grant nothing; permissions are an upper bound, and whatever is not in them is refused.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::authority::{ResourceKind, Right};
use crate::names::RunnerId;

const PLUGIN: &str = "plugin:";

/// The runner that is built in.
pub const NATIVE: &str = "native";

/// A runner's id, taken apart. It cannot be changed, only parsed again.
///
/// ```
/// use talaria_domain::descriptor::RunnerName;
///
/// let name = RunnerName::parse("plugin:acme/weather/default").unwrap();
/// assert_eq!((name.owner().as_str(), name.to_string().as_str()), ("acme/weather", "plugin:acme/weather/default"));
/// assert!(RunnerName::parse("weather").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunnerName(Parts);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Parts {
    Native,
    Plugin {
        author: String,
        plugin: String,
        runner: String,
    },
}

/// Why a text is no runner's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotARunner {
    /// It begins with `plugin:` and does not have three parts.
    #[error("expected plugin:AUTHOR/PLUGIN/RUNNER, found {0:?}")]
    PartCount(String),
    /// One of the three is empty.
    #[error("the parts of plugin:AUTHOR/PLUGIN/RUNNER must be non-empty, found {0:?}")]
    EmptyPart(String),
    /// It is neither.
    #[error("expected `native` or plugin:AUTHOR/PLUGIN/RUNNER, found {0:?}")]
    Unknown(String),
}

impl RunnerName {
    /// Takes an id apart.
    pub fn parse(text: &str) -> Result<Self, NotARunner> {
        if text == NATIVE {
            return Ok(Self(Parts::Native));
        }
        let Some(rest) = text.strip_prefix(PLUGIN) else {
            return Err(NotARunner::Unknown(text.to_owned()));
        };
        let parts: Vec<&str> = rest.split('/').collect();
        let [author, plugin, runner] = parts.as_slice() else {
            return Err(NotARunner::PartCount(text.to_owned()));
        };
        if parts.iter().any(|part| part.trim().is_empty()) {
            return Err(NotARunner::EmptyPart(text.to_owned()));
        }
        Ok(Self(Parts::Plugin {
            author: (*author).to_owned(),
            plugin: (*plugin).to_owned(),
            runner: (*runner).to_owned(),
        }))
    }

    /// Whether a text has the form of an id from outside.
    pub fn is_plugin(text: &str) -> bool {
        text.starts_with(PLUGIN)
    }

    /// Whose runner it is: `AUTHOR/PLUGIN`, or `native`. This is the identity that callbacks have to have.
    pub fn owner(&self) -> String {
        match &self.0 {
            Parts::Native => NATIVE.to_owned(),
            Parts::Plugin { author, plugin, .. } => format!("{author}/{plugin}"),
        }
    }

    /// Its name among its owner's.
    pub fn runner(&self) -> &str {
        match &self.0 {
            Parts::Native => NATIVE,
            Parts::Plugin { runner, .. } => runner,
        }
    }

    /// The same as one name.
    pub fn id(&self) -> RunnerId {
        RunnerId::from(self.to_string())
    }
}

impl fmt::Display for RunnerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Parts::Native => f.write_str(NATIVE),
            Parts::Plugin {
                author,
                plugin,
                runner,
            } => write!(f, "{PLUGIN}{author}/{plugin}/{runner}"),
        }
    }
}

/// What a runner is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    /// Its id.
    pub name: RunnerName,
    /// Its version, if it says one.
    pub version: Option<String>,
    /// What it can do.
    pub capabilities: BTreeSet<Capability>,
    /// What it may do at most.
    pub permissions: Permissions,
}

impl Descriptor {
    /// The runner that is built in: it can do everything, and what it may is decided by its profile.
    pub fn native() -> Self {
        Self {
            name: RunnerName(Parts::Native),
            version: None,
            capabilities: Capability::ALL.into(),
            permissions: Permissions::all(),
        }
    }

    /// Whether it can do this.
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }
}

/// Makes an enum of words that stand for themselves in configuration, on the wire and in the ledger.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$item_doc:meta])* $item:ident = $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$item_doc])* #[serde(rename = $word)] $item,)*
        }

        impl $name {
            /// All of them, for tables and tests.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$item),*];

            /// Its name.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$item => $word,)* }
            }
        }
    )*};
}

words! {
    /// What a runner can do. None of it is a right.
    Capability {
        /// Its answers grow while it thinks.
        Streaming = "streaming",
        /// It calls tools.
        ToolCalling = "tool_calling",
        /// It asks knowledge bases.
        Knowledge = "knowledge",
        /// It can be stopped while it thinks.
        Interrupt = "interrupt",
        /// It can be told something while it thinks.
        Steering = "steering",
        /// It asks people.
        Interactions = "interactions",
    }

    /// What can be done with a model.
    ModelOperation {
        /// Ask it and wait.
        Invoke = "invoke",
        /// Ask it and listen.
        Stream = "stream",
        /// Have documents put in order.
        Rerank = "rerank",
        /// Have tokens counted.
        CountTokens = "count_tokens",
    }

    /// What can be done with a tool.
    ToolOperation {
        /// Read what it takes.
        Detail = "detail",
        /// Call it.
        Call = "call",
    }

    /// What can be done with a knowledge base.
    KnowledgeOperation {
        /// See that it is there.
        List = "list",
        /// Ask it.
        Retrieve = "retrieve",
    }

    /// What can be done with a file.
    FileOperation {
        /// Read it.
        Read = "read",
    }

    /// The stores that a runner can have.
    StoreName {
        /// Its own.
        Plugin = "plugin",
        /// Its profile's.
        Workspace = "workspace",
    }

    /// What can be done in a store.
    StoreOperation {
        /// Read a value.
        Get = "get",
        /// Remember one.
        Set = "set",
        /// Forget one.
        Delete = "delete",
        /// See what there is.
        List = "list",
        /// Forget everything.
        Clear = "clear",
    }

    /// How the past can be looked at.
    HistoryOperation {
        /// From the newest on.
        Page = "page",
        /// By words.
        Search = "search",
    }

    /// What can be done with events.
    EventOperation {
        /// Read one.
        Get = "get",
    }

    /// What can be done with people.
    InteractionOperation {
        /// Ask one.
        Request = "request",
    }
}

/// What a runner may do at most. What is not written down is refused, and what nobody knows cannot be written down.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Permissions {
    /// With models.
    pub models: BTreeSet<ModelOperation>,
    /// With tools.
    pub tools: BTreeSet<ToolOperation>,
    /// With knowledge bases.
    pub knowledge_bases: BTreeSet<KnowledgeOperation>,
    /// With files.
    pub files: BTreeSet<FileOperation>,
    /// In which stores.
    pub storage: BTreeSet<StoreName>,
    /// With the past of its conversation.
    pub history: BTreeSet<HistoryOperation>,
    /// With the events of its conversation.
    pub events: BTreeSet<EventOperation>,
    /// With people.
    pub interactions: BTreeSet<InteractionOperation>,
}

impl Permissions {
    /// Everything that there is.
    pub fn all() -> Self {
        Self {
            models: ModelOperation::ALL.into(),
            tools: ToolOperation::ALL.into(),
            knowledge_bases: KnowledgeOperation::ALL.into(),
            files: FileOperation::ALL.into(),
            storage: StoreName::ALL.into(),
            history: HistoryOperation::ALL.into(),
            events: EventOperation::ALL.into(),
            interactions: InteractionOperation::ALL.into(),
        }
    }

    /// The operations on the resource called `name` that it may do at most.
    pub fn operations(&self, kind: ResourceKind, name: &str) -> BTreeSet<&'static str> {
        match kind {
            ResourceKind::Model => self.models.iter().map(|it| it.as_str()).collect(),
            ResourceKind::Tool => self.tools.iter().map(|it| it.as_str()).collect(),
            ResourceKind::KnowledgeBase => {
                self.knowledge_bases.iter().map(|it| it.as_str()).collect()
            }
            ResourceKind::File => self.files.iter().map(|it| it.as_str()).collect(),
            ResourceKind::Storage if self.storage.iter().any(|it| it.as_str() == name) => {
                StoreOperation::ALL.map(StoreOperation::as_str).into()
            }
            ResourceKind::Storage => BTreeSet::new(),
        }
    }

    /// The rights that it may have at most.
    pub fn rights(&self) -> impl Iterator<Item = Right> + '_ {
        let history = self.history.iter().map(|operation| match operation {
            HistoryOperation::Page => Right::HistoryPage,
            HistoryOperation::Search => Right::HistorySearch,
        });
        let events = self
            .events
            .iter()
            .map(|EventOperation::Get| Right::EventGet);
        let people = self.interactions.iter();
        let people = people.map(|InteractionOperation::Request| Right::Ask);
        history.chain(events).chain(people)
    }
}

#[cfg(test)]
mod tests;
