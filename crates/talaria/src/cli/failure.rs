//! How a command ends when it does not do what was asked, and the exit code that programs see.

use std::process::ExitCode;

use crate::config::Problem;
use crate::config::key::KeyError;

const FAILED: u8 = 1;
const WRONG_USAGE: u8 = 2;
const NOT_REACHABLE: u8 = 69;
const BAD_CONFIGURATION: u8 = 78;

/// Why a command did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// It was tried and did not work.
    #[error("{0:#}")]
    Failed(#[from] anyhow::Error),
    /// Everything there is to say was said already.
    #[error("failed")]
    Told,
    /// It was not asked for in a way that makes sense.
    #[error("{0}")]
    Usage(String),
    /// There is no gateway that answers.
    #[error("{0}")]
    NotReachable(String),
    /// The configuration has to be mended first.
    #[error("the configuration has mistakes")]
    Configuration(Vec<Problem>),
    /// The operator's key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl Failure {
    /// What programs see.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Failed(_) | Self::Told => FAILED,
            Self::Usage(_) => WRONG_USAGE,
            Self::NotReachable(_) => NOT_REACHABLE,
            Self::Configuration(_) | Self::Key(_) => BAD_CONFIGURATION,
        })
    }

    /// What people see, a line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        match self {
            Self::Told => Vec::new(),
            Self::Configuration(problems) => problems.iter().map(ToString::to_string).collect(),
            other => vec![format!("talaria: {other}")],
        }
    }
}
