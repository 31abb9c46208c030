//! The state machines that the ledger enforces. Each is a table: the states, whether a state is an end, and
//! every arrow with the verb that causes it. A change of state that is not in its table is refused by the
//! store, on both engines, before anything is written.
//!
//! The same tables are printed in ARCHITECTURE.md; a test keeps the two equal.

use serde::{Deserialize, Serialize};

/// What all state machines have in common.
pub trait Machine: Copy + Eq + 'static {
    /// The thing that is in a state.
    const THING: &'static str;
    /// Every arrow: from, verb, to.
    const ARROWS: &'static [(Self, &'static str, Self)];
    /// Every state.
    const STATES: &'static [Self];

    /// The state's name in the ledger, the API and logs.
    fn as_str(self) -> &'static str;

    /// Whether this is an end: nothing more happens by itself.
    fn is_end(self) -> bool;

    /// The state that this name stands for.
    fn parse(name: &str) -> Option<Self> {
        Self::STATES
            .iter()
            .copied()
            .find(|state| state.as_str() == name)
    }

    /// Whether `verb` leads from here to `next`.
    fn may(self, verb: &str, next: Self) -> bool {
        let arrow =
            |(from, cause, to): &(Self, &str, Self)| *from == self && *cause == verb && *to == next;
        Self::ARROWS.iter().any(arrow)
    }
}

macro_rules! machines {
    ($(
        $(#[$doc:meta])*
        $name:ident, $thing:literal {
            $($(#[$state_doc:meta])* $state:ident $text:literal $rest:ident { $($verb:ident => $to:ident),* $(,)? })*
        }
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$state_doc])* $state,)*
        }

        impl Machine for $name {
            const THING: &'static str = $thing;
            const ARROWS: &'static [(Self, &'static str, Self)] =
                &[$($((Self::$state, stringify!($verb), Self::$to),)*)*];
            const STATES: &'static [Self] = &[$(Self::$state),*];

            fn as_str(self) -> &'static str {
                match self {
                    $(Self::$state => $text,)*
                }
            }

            fn is_end(self) -> bool {
                match self {
                    $(Self::$state => machines!(@$rest),)*
                }
            }
        }
    )*};
    (@open) => { false };
    (@end) => { true };
}

machines! {
    /// An event that was accepted.
    InboxState, "inbox row" {
        /// Recorded; waits for its lane.
        Queued "queued" open { claim => Claimed, merge => Merged, discard => Discarded, execute => Completed }
        /// A turn has it, under an epoch.
        Claimed "claimed" open { complete => Completed, retry_at => Queued, rescue => Queued, give_up => Dead, discard => Discarded }
        /// Answered, or deliberately not.
        Completed "completed" end {}
        /// Became part of an earlier event of the same sender.
        Merged "merged" end {}
        /// Dropped for a recorded reason.
        Discarded "discarded" end {}
        /// Given up; a dead letter says why.
        Dead "dead" end { replay => Queued, drop => Discarded }
    }

    /// A conversation.
    SessionState, "session" {
        /// May have turns.
        Active "active" open { end => Ended }
        /// Was reset, left or closed; its transcript stays.
        Ended "ended" end { resume => Active }
    }

    /// One execution of a runner.
    RunState, "run" {
        /// Admitted, not started.
        Queued "queued" open { start => Running, cancel => Cancelled, interrupt => Interrupted, fail => Failed }
        /// The runner works.
        Running "running" open { wait => Waiting, complete => Completed, fail => Failed, cancel => Cancelled, interrupt => Interrupted }
        /// A person is asked.
        Waiting "waiting" open { start => Running, fail => Failed, cancel => Cancelled, interrupt => Interrupted }
        /// Ended with an answer.
        Completed "completed" end {}
        /// Ended with an error that somebody was told.
        Failed "failed" end {}
        /// Was stopped.
        Cancelled "cancelled" end {}
        /// The gateway stopped under it.
        Interrupted "interrupted" end {}
    }

    /// Something that a person is asked.
    QuestionState, "question" {
        /// Its run waits for the answer.
        Open "open" open { answer => Answered, expire => Expired, withdraw => Withdrawn }
        /// Somebody who may has answered.
        Answered "answered" end {}
        /// Nobody did in time.
        Expired "expired" end {}
        /// Its run does not wait for it any more.
        Withdrawn "withdrawn" end {}
    }

    /// One logical answer.
    ReplyState, "reply" {
        /// Its text may still grow.
        Open "open" open { finish => Finished, discard => Discarded }
        /// Its text is final; parts are on their way.
        Finished "finished" open { deliver => Delivered, fail => Failed, discard => Discarded }
        /// Every part has its receipt.
        Delivered "delivered" end {}
        /// A part was given up; a dead letter says why.
        Failed "failed" end { replay => Finished, discard => Discarded }
        /// Withdrawn before anybody saw all of it.
        Discarded "discarded" end {}
    }

    /// One visible piece of an answer.
    PartState, "part" {
        /// Waits for its turn in its target's queue.
        Queued "queued" open { claim => Sending, discard => Discarded }
        /// Handed to the adapter.
        Sending "sending" open { deliver => Delivered, fail => Failed, retry_at => Retry, doubt => Doubted }
        /// Was certainly not sent; waits for its time.
        Retry "retry" open { claim => Sending, fail => Failed, discard => Discarded }
        /// No answer came, or its sender is gone; holds its queue until it is settled what that means.
        Doubted "doubted" open { deliver => Delivered, retry_at => Retry, fail => Failed, settle => Unknown }
        /// Nobody can know whether it arrived; a dead letter says so.
        Unknown "unknown" end { replay => Queued, discard => Discarded }
        /// The platform's receipt is there.
        Delivered "delivered" end { revise => Queued }
        /// Given up; a dead letter says why.
        Failed "failed" end { replay => Queued, discard => Discarded }
        /// Withdrawn.
        Discarded "discarded" end {}
    }

    /// Work that outlives its turn.
    JobState, "job" {
        /// Recorded with its return address; not started.
        Queued "queued" open { start => Running, fail => Failed, cancel => Cancelled, lose => Lost }
        /// Runs.
        Running "running" open { complete => Completed, fail => Failed, cancel => Cancelled, lose => Lost }
        /// Ended well.
        Completed "completed" end {}
        /// Ended badly.
        Failed "failed" end {}
        /// Was stopped.
        Cancelled "cancelled" end {}
        /// Was gone after a restart; the asker is told.
        Lost "lost" end {}
    }

    /// A conversation on its way to another place.
    HandoffState, "handoff" {
        /// Asked for.
        Pending "pending" open { claim => Running, fail => Failed }
        /// Somebody moves it.
        Running "running" open { complete => Completed, fail => Failed, rescue => Pending }
        /// It goes on in the other place.
        Completed "completed" end {}
        /// It stays where it was, and whoever asked is told why.
        Failed "failed" end {}
    }

    /// One piece of shared work.
    TaskState, "task" {
        /// Somebody has to say what it means.
        Triage "triage" open { specify => Todo, archive => Archived }
        /// Waits for other tasks.
        Todo "todo" open { ready => Ready, block => Blocked, archive => Archived }
        /// May be taken.
        Ready "ready" open { claim => Running, block => Blocked, complete => Done, archive => Archived }
        /// Somebody does it.
        Running "running" open { complete => Done, block => Blocked, wait => Todo, rescue => Ready, archive => Archived }
        /// Somebody has to help.
        Blocked "blocked" open { unblock => Ready, escalate => Triage, complete => Done, archive => Archived }
        /// Done.
        Done "done" end { archive => Archived }
        /// Put away.
        Archived "archived" end {}
    }

    /// When something is to happen.
    ScheduleState, "schedule" {
        /// In force: it knows its next time.
        Active "active" open { pause => Paused, finish => Done, remove => Done }
        /// Nothing of it is due until somebody says so.
        Paused "paused" open { resume => Active, remove => Done }
        /// Its last time has come, or somebody removed it.
        Done "done" end {}
    }

    /// One time that a schedule is due.
    OccurrenceState, "occurrence" {
        /// Its time has come.
        Due "due" open { serve => Served, skip => Skipped }
        /// What it wants is in the ledger: a message on its way, or an event that waits for its turn.
        Served "served" end {}
        /// Passed over for a recorded reason.
        Skipped "skipped" end {}
    }

    /// Something given up, for an operator to look at.
    DeadState, "dead letter" {
        /// Nobody has looked at it.
        Open "open" open { replay => Replayed, drop => Dropped }
        /// Sent on its way again.
        Replayed "replayed" end {}
        /// Laid to rest.
        Dropped "dropped" end {}
    }
}

#[cfg(test)]
mod tests;
