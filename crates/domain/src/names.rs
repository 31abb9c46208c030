//! Names that come from outside: the operator's (profile, account) and the platforms' (chat, thread, user,
//! message). Each is a type of its own over a text that is kept exactly as it was given. Every event, run and reply has a
//! dozen of them, so that copying one costs no memory.

use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(SmolStr);

        impl $name {
            /// The text as it was given.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Whether there is nothing in it. Platforms send empty ids where they mean none.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

names! {
    /// An agent's identity. No name is special.
    ProfileName;
    /// A chat service.
    PlatformName;
    /// One credential on a platform, unique there.
    AccountName;
    /// A chat, channel, room or direct conversation, as its platform calls it.
    ChatId;
    /// A thread or topic inside a chat.
    ThreadId;
    /// A person or bot, by the platform's stable id.
    UserId;
    /// A message, by the platform's id.
    MessageId;
    /// What thinks: a runner's id.
    RunnerId;
    /// What joins a scope to a runner: a binding's id.
    BindingId;
    /// The owner of a lease: one gateway process.
    NodeName;
}
