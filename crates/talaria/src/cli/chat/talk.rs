//! One side of a conversation: posts messages, listens, and looks into the ledger when listening is not enough. A
//! message is posted under an id of its own, so that it can be posted again when nobody knows whether it arrived.

use std::time::Duration;

use serde_json::json;
use talaria_domain::clock::{Clock as _, SystemClock};
use talaria_domain::ids::{EventId, Ids as _, RandomIds, SessionId};
use tokio::time::{Instant, sleep, sleep_until};

use super::turn::{Conversation, Next, Show};
use super::watch::{Heard, Watch};
use crate::cli::Failure;
use crate::cli::client::Gateway;
use crate::cli::text::field;

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
const SOON: Duration = Duration::from_millis(50);
const LATEST: Duration = Duration::from_secs(5);
/// Without a reason to look, one looks after this long all the same.
const SILENCE: Duration = Duration::from_secs(3);

/// One side of a conversation.
pub(super) struct Talk<'g> {
    gateway: &'g Gateway,
    session: SessionId,
    watch: Watch<'g>,
    conversation: Conversation,
    ids: RandomIds,
    look_at: Instant,
    pause: Duration,
}

/// What happened next.
#[derive(Debug)]
pub(super) enum Step {
    /// Something to see.
    Show(Vec<Show>),
    /// Something to see, and the turn is over.
    Over(Vec<Show>),
    /// The connection is gone.
    Lost,
    /// It is back.
    Back,
}

impl<'g> Talk<'g> {
    /// Attaches to a session.
    pub(super) async fn attach(gateway: &'g Gateway, session: SessionId) -> Result<Self, Failure> {
        Ok(Self {
            gateway,
            session,
            watch: Watch::attach(gateway, session).await?,
            conversation: Conversation::default(),
            ids: RandomIds::default(),
            look_at: Instant::now(),
            pause: SOON,
        })
    }

    /// The conversation's id.
    pub(super) const fn session(&self) -> SessionId {
        self.session
    }

    /// Whether the gateway is there.
    pub(super) const fn is_attached(&self) -> bool {
        self.watch.is_attached()
    }

    /// How long it has been gone.
    pub(super) fn lost_for(&self) -> Duration {
        self.watch.lost_for()
    }

    /// Says something and begins to wait for its answer. It counts as not sent after so many tries.
    pub(super) async fn say(&mut self, text: &str, tries: u32) -> Result<(), Failure> {
        let (event, session) = self.post(text, tries).await?;
        self.conversation.begin(event, text);
        self.pause = SOON;
        self.look_at = Instant::now() + SILENCE;
        if session != self.session {
            // A reset moved the chat on to another conversation. What happened before we listen there is looked up.
            self.watch = Watch::attach(self.gateway, session).await?;
            self.session = session;
            self.look_at = Instant::now();
        }
        Ok(())
    }

    /// Asks for the running turn to be stopped.
    pub(super) async fn stop(&self) -> Result<(), Failure> {
        self.post("/stop", 1).await.map(|_| ())
    }

    /// Waits no longer for an answer.
    pub(super) fn leave(&mut self) {
        self.conversation.leave();
    }

    /// What happens next. It can be dropped at any time without losing anything.
    pub(super) async fn step(&mut self) -> Step {
        let may_look = self.watch.is_attached() && self.conversation.event().is_some();
        tokio::select! {
            biased;
            heard = self.watch.next() => self.heard(heard),
            () = sleep_until(self.look_at), if may_look => self.look().await,
        }
    }

    fn heard(&mut self, heard: Heard) -> Step {
        match heard {
            Heard::Happening(happening) => {
                self.pause = SOON;
                let (shows, next) = self.conversation.hear(*happening);
                self.decide(shows, next)
            }
            Heard::Lost => Step::Lost,
            Heard::Back => {
                self.look_at = Instant::now();
                Step::Back
            }
        }
    }

    async fn look(&mut self) -> Step {
        self.look_at = Instant::now() + LATEST;
        let Some(event) = self.conversation.event() else {
            return Step::Show(Vec::new());
        };
        let trace = self
            .gateway
            .get(&["api", "trace", &event.to_string()])
            .await;
        let (shows, next) = match trace {
            Ok(trace) => self.conversation.learn(&trace),
            Err(Failure::NotReachable(_)) => (Vec::new(), Next::Listen),
            Err(_) => (Vec::new(), self.conversation.learn_nothing()),
        };
        self.decide(shows, next)
    }

    fn decide(&mut self, shows: Vec<Show>, next: Next) -> Step {
        let now = Instant::now();
        match next {
            Next::Listen => {
                self.look_at = now + SILENCE;
                Step::Show(shows)
            }
            Next::Look => {
                self.look_at = now + self.pause;
                self.pause = (self.pause * 2).min(LATEST);
                Step::Show(shows)
            }
            Next::Over => {
                self.conversation.leave();
                Step::Over(shows)
            }
        }
    }

    async fn post(&self, text: &str, tries: u32) -> Result<(EventId, SessionId), Failure> {
        let id = self.ids.next(SystemClock.now()).to_string();
        let session = self.session.to_string();
        let body = json!({ "text": text, "id": id });
        let mut pause = FIRST_PAUSE;
        let mut count = 1;
        let answer = loop {
            match self
                .gateway
                .post(&["api", "sessions", &session, "messages"], &body)
                .await
            {
                Err(Failure::NotReachable(_)) if count < tries => {}
                answer => break answer?,
            }
            count += 1;
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        };
        let event = field(&answer, "event_id")
            .parse()
            .map_err(anyhow::Error::from)?;
        // A duplicate's answer does not repeat the session.
        let session = field(&answer, "session_id").parse().unwrap_or(self.session);
        Ok((event, session))
    }
}
