//! Why a model did not answer. Variants are named for what the caller does; each sentence names the server without
//! its path or password, never a key, and ends with what to do.

use std::time::Duration;

use talaria_domain::run::{Failure, FailureCode};
use talaria_domain::runner::Stopped;

/// Why a model did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// It was asked as often as it makes sense; later it may work.
    #[error(
        "the model server {server} gave no answer after {attempts} attempt(s) ({why}): try again later"
    )]
    TryLater {
        /// Host and port.
        server: String,
        /// How often it was asked.
        attempts: usize,
        /// What happened last.
        why: String,
        /// What kind of thing that is.
        code: FailureCode,
        /// When the server says to come back.
        after: Option<Duration>,
    },
    /// Part of the answer was heard already, so that it is not asked again unseen.
    #[error("the answer of the model server {server} broke off ({why}): ask again")]
    BrokenOff {
        /// Host and port.
        server: String,
        /// What happened.
        why: String,
        /// What kind of thing that is.
        code: FailureCode,
    },
    /// The server speaks, but not what we asked it to speak.
    #[error(
        "the model server {server} sent something that is not an answer ({why}): \
         check `provider` and `base_url` in talaria.toml"
    )]
    Unreadable {
        /// Host and port.
        server: String,
        /// What was found.
        why: String,
    },
    /// The same request will be refused again.
    #[error(
        "the model server {server} refused the request ({why}): check `model` and `base_url` in talaria.toml"
    )]
    Refused {
        /// Host and port.
        server: String,
        /// The server's words.
        why: String,
    },
    /// Somebody has to set another key.
    #[error(
        "the model server {server} does not accept the key ({why}): check `api_key` in talaria.toml"
    )]
    Unauthorized {
        /// Host and port.
        server: String,
        /// What is known.
        why: String,
    },
    /// What the operator wrote cannot be used.
    #[error("the model cannot be asked: {why}; correct it in talaria.toml")]
    Misconfigured {
        /// What is wrong with it.
        why: String,
    },
    /// The request was not sent: it has something in it that this model does not take.
    #[error("this cannot be asked of the model: {why}")]
    AskDifferently {
        /// What it is.
        why: String,
    },
    /// The conversation has to become shorter.
    #[error(
        "the conversation is too long for the model ({why}): shorten it with /compress, or start anew with /new"
    )]
    TooLong {
        /// The server's words.
        why: String,
    },
    /// Nobody wants to hear the answer any more.
    #[error("the run was stopped")]
    Stopped,
}

impl ModelError {
    /// What it is to programs.
    const fn code(&self) -> FailureCode {
        match self {
            Self::TryLater { code, .. } | Self::BrokenOff { code, .. } => *code,
            Self::Unreadable { .. } => FailureCode::ModelUnreadable,
            Self::Refused { .. } => FailureCode::ModelRefused,
            Self::Unauthorized { .. } => FailureCode::ModelAuth,
            Self::Misconfigured { .. } => FailureCode::ModelMisconfigured,
            Self::AskDifferently { .. } => FailureCode::Unsupported,
            Self::TooLong { .. } => FailureCode::ContextTooLong,
            // A run that was stopped does not fail.
            Self::Stopped => FailureCode::Other,
        }
    }

    /// How the run ends with it.
    pub(crate) fn failure(&self) -> Failure {
        let after = match self {
            Self::TryLater { after, .. } => *after,
            _ => None,
        };
        Failure {
            // Rather a moment too late than too early.
            retry_after_seconds: after
                .map(|after| after.as_secs() + u64::from(after.subsec_nanos() > 0)),
            ..Failure::of(self.code(), self.to_string())
        }
    }
}

impl From<Stopped> for ModelError {
    fn from(Stopped: Stopped) -> Self {
        Self::Stopped
    }
}
