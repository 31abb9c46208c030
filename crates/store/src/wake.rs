//! Who has to look again after a commit. A closure says what it changed with [`crate::Tx::wake`]; subscribers hear of
//! it only if the commit happened. Between nodes the same signal travels as PostgreSQL's NOTIFY.
//!
//! A wake is a hint, never the message: whoever wakes looks into the ledger. A subscriber that fell behind gets
//! [`Wake::Everything`] and looks at all of it.

use talaria_domain::address::TargetKey;
use talaria_domain::ids::{QuestionId, RunId, SessionId};
use tokio::sync::broadcast;

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wake {
    /// A session's lane has something to do.
    Lane(SessionId),
    /// Something may be sent to a target.
    Target(TargetKey),
    /// A job ended or started.
    Jobs,
    /// A schedule was made or has another next time.
    Schedules,
    /// A question has ended.
    Question(QuestionId),
    /// Something was taken away from a run.
    Revoked(RunId),
    /// Somebody was let in, or no longer is.
    Access,
    /// Signals were lost: look at everything.
    Everything,
}

impl Wake {
    /// As it travels between nodes.
    pub(crate) fn encode(self) -> String {
        match self {
            Self::Lane(session) => format!("lane {session}"),
            Self::Target(target) => format!("target {}", target.0),
            Self::Jobs => "jobs".to_owned(),
            Self::Schedules => "schedules".to_owned(),
            Self::Question(question) => format!("question {question}"),
            Self::Revoked(run) => format!("revoked {run}"),
            Self::Access => "access".to_owned(),
            Self::Everything => "everything".to_owned(),
        }
    }

    /// Back again. What a newer node says and we do not know means: look at everything.
    pub(crate) fn decode(text: &str) -> Self {
        let understood = match text.split_once(' ') {
            Some(("lane", id)) => id.parse().ok().map(Self::Lane),
            Some(("target", id)) => id.parse().ok().map(|id| Self::Target(TargetKey(id))),
            Some(("question", id)) => id.parse().ok().map(Self::Question),
            Some(("revoked", id)) => id.parse().ok().map(Self::Revoked),
            None if text == "jobs" => Some(Self::Jobs),
            None if text == "schedules" => Some(Self::Schedules),
            None if text == "access" => Some(Self::Access),
            _ => None,
        };
        understood.unwrap_or(Self::Everything)
    }
}

/// Tells everybody who listens; nobody listening is not a failure.
pub(crate) fn announce(listeners: &broadcast::Sender<Wake>, wakes: Vec<Wake>) {
    for wake in wakes {
        drop(listeners.send(wake));
    }
}

/// Hears of every commit that changed something.
#[derive(Debug)]
pub struct Wakes(broadcast::Receiver<Wake>);

impl Wakes {
    pub(crate) const fn from_receiver(receiver: broadcast::Receiver<Wake>) -> Self {
        Self(receiver)
    }

    /// The next wake; none once the ledger is closed.
    pub async fn next(&mut self) -> Option<Wake> {
        match self.0.recv().await {
            Ok(wake) => Some(wake),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Wake::Everything),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    //! What one node says, another understands.

    use talaria_domain::clock::Timestamp;
    use talaria_domain::digest::Digest;
    use talaria_domain::ids::SeededIds;

    use super::*;

    #[test]
    fn wakes_survive_the_wire() {
        let lane = Wake::Lane(SessionId::next(&SeededIds::from_seed(1), Timestamp::ZERO));
        let target = Wake::Target(TargetKey(Digest::from_bytes([7; 32])));
        let question = Wake::Question(QuestionId::from_bytes([7; 16]));
        let revoked = Wake::Revoked(RunId::from_bytes([7; 16]));
        let plain = [Wake::Jobs, Wake::Schedules, Wake::Access, Wake::Everything];
        for wake in [lane, target, question, revoked].into_iter().chain(plain) {
            assert_eq!(Wake::decode(&wake.encode()), wake);
        }
        assert_eq!(Wake::decode("something newer"), Wake::Everything);
        assert_eq!(Wake::decode("lane nonsense"), Wake::Everything);
    }
}
