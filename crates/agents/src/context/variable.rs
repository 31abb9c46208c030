//! Pure: the variables of a session as its tools and children see them, by name.

macro_rules! variables {
    ($($(#[$doc:meta])* $variable:ident = $name:literal;)*) => {
        /// One variable of a session.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Variable {
            $($(#[$doc])* $variable,)*
        }

        impl Variable {
            /// Every one, for tables and tests: the session's first, then the schedule's.
            pub const ALL: [Self; 14] = [$(Self::$variable,)*];

            /// What a child knows it by.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variable => concat!("TALARIA_", $name),)*
                }
            }

            /// What a child that was made for Hermes knows it by.
            pub const fn hermes_name(self) -> &'static str {
                match self {
                    $(Self::$variable => concat!("HERMES_", $name),)*
                }
            }
        }
    };
}

variables! {
    /// The chat service.
    Platform = "SESSION_PLATFORM";
    /// What began the turn.
    Source = "SESSION_SOURCE";
    /// The chat.
    ChatId = "SESSION_CHAT_ID";
    /// What the chat is called.
    ChatName = "SESSION_CHAT_NAME";
    /// The thread in it.
    ThreadId = "SESSION_THREAD_ID";
    /// Who asked.
    UserId = "SESSION_USER_ID";
    /// What they call themselves.
    UserName = "SESSION_USER_NAME";
    /// The conversation's key.
    Key = "SESSION_KEY";
    /// The conversation.
    Id = "SESSION_ID";
    /// The message that is answered.
    MessageId = "SESSION_MESSAGE_ID";
    /// Whose agent this is.
    Profile = "SESSION_PROFILE";
    /// Where a schedule's result goes: the chat service.
    CronPlatform = "CRON_AUTO_DELIVER_PLATFORM";
    /// Where a schedule's result goes: the chat.
    CronChatId = "CRON_AUTO_DELIVER_CHAT_ID";
    /// Where a schedule's result goes: the thread.
    CronThreadId = "CRON_AUTO_DELIVER_THREAD_ID";
}

/// How many of them are a session's own; the rest is a schedule's.
pub(super) const OF_SESSION: usize = 11;
/// How many are a schedule's.
pub(super) const OF_CRON: usize = Variable::ALL.len() - OF_SESSION;

impl Variable {
    /// The variable that a process was given under this name, ours or the other.
    pub(super) fn is_name(name: &str) -> bool {
        Self::ALL
            .iter()
            .any(|variable| variable.name() == name || variable.hermes_name() == name)
    }
}
