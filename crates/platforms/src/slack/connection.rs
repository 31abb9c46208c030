//! The receive loop. Events come over a socket, or Slack calls us and there is only our own standing to look after. An
//! envelope is acknowledged only after intake has accepted it, one by one and in order; what is not acknowledged comes
//! again, over whichever socket is there then.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::time::Duration;

use talaria_domain::adapter::{Disconnected, Identity, Intake, Pending};
use talaria_domain::ids::EventId;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};

use self::socket::{Frame, Socket};
use super::inbound::{self, Arrived, Listener, Me, Told};
use super::wire::Envelope;
use super::{Slack, classify, lock};

mod socket;

/// How long an event that was not accepted is left alone.
const AGAIN: Duration = Duration::from_millis(500);
/// How often we ask Slack whether it is there; it asks us as well.
const PING: Duration = Duration::from_secs(10);
/// A socket on which nothing came for so long is mute.
const MUTE: Duration = Duration::from_secs(30);
/// How often we look whether we are still let in, where nothing else would tell.
const CHECK: Duration = Duration::from_secs(45);
/// How much waits for intake; more is left on the socket.
const MOST_WAITING: usize = 1_000;

/// Receives until the connection ends; gives why it did.
pub(super) async fn receive(slack: &Slack, intake: &dyn Intake) -> Disconnected {
    match Box::pin(listen(slack, intake)).await {
        Ok(never) => match never {},
        Err(ended) => ended,
    }
}

async fn listen(slack: &Slack, intake: &dyn Intake) -> Result<Infallible, Disconnected> {
    let (me, name) = ask(slack).await?;
    if slack.client.has_socket() {
        // Whoever is told that we are connected may write at once, so the socket has to be there by then.
        let socket = Socket::open(&slack.client).await?;
        tell(slack, intake, &me, name)?;
        return Box::pin(Line::on(slack, intake, &me, socket).serve()).await;
    }
    tell(slack, intake, &me, name)?;
    loop {
        // Not polling: events come by themselves; that our token was revoked does not.
        sleep(CHECK).await;
        slack.client.identify().await?;
        intake.alive(&slack.account);
    }
}

/// Tells who we are, and that a message can get in and out.
fn tell(slack: &Slack, intake: &dyn Intake, me: &Me, name: String) -> Result<(), Disconnected> {
    let identity = Identity {
        id: format!("{}/{}", me.team, me.user).into(),
        name,
    };
    let connected = intake.connected(&slack.account, &identity);
    // What is called in is for somebody else, too.
    let is_turned_away = connected.is_err();
    slack.is_turned_away.store(is_turned_away, Ordering::SeqCst);
    connected?;
    tracing::info!(account = %slack.account.name, bot = %identity.id, "connected");
    Ok(())
}

/// Who we are: without that nobody can say whom a message is for. A process that is called need not be the one that is
/// connected. None if Slack does not tell, or somebody else serves this bot.
pub(super) async fn learn_me(slack: &Slack) -> Option<Me> {
    if slack.is_turned_away.load(Ordering::SeqCst) {
        return None;
    }
    let known = lock(&slack.me).clone();
    match known {
        Some(me) => Some(me),
        None => ask(slack).await.ok().map(|(me, _)| me),
    }
}

/// Asks Slack who we are, and what we are called.
async fn ask(slack: &Slack) -> Result<(Me, String), Disconnected> {
    let found = slack.client.identify().await?;
    if found.team_id.is_empty() || found.user_id.is_empty() {
        let detail = "the answer to `auth.test` does not say who we are".to_owned();
        return Err(Disconnected::Lost { detail });
    }
    let name = format!("{} in {}", found.user, found.team);
    let me = Me {
        team: found.team_id,
        user: found.user_id,
        bot: found.bot_id,
    };
    *lock(&slack.me) = Some(me.clone());
    Ok((me, name))
}

/// What became of something that Slack told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// It is recorded, or there was nothing to record.
    Taken,
    /// It is not: Slack has to tell it again.
    NotTaken,
    /// It is for another workspace.
    Foreign,
    /// We may not be let in any more.
    Revoked,
}

/// Hands what Slack told to intake.
pub(super) async fn hear(slack: &Slack, intake: &dyn Intake, me: &Me, told: Told<'_>) -> Heard {
    let account = &slack.account;
    let now = slack.clock.now();
    let people = told.people();
    let names = slack.people.names(&slack.client, &people, now).await;
    let listener = Listener {
        account,
        me,
        names: &names,
        id: EventId::next(&*slack.ids, now),
        now,
    };
    match inbound::read(listener, told) {
        Ok(Arrived::Event(event)) => match intake.accept(*event).await {
            Ok(_) => Heard::Taken,
            Err(refused) => {
                tracing::warn!(account = %account.name, why = refused.reason, "not accepted");
                Heard::NotTaken
            }
        },
        Ok(Arrived::Nothing) => Heard::Taken,
        Ok(Arrived::Revoked) => Heard::Revoked,
        Ok(Arrived::Foreign) => {
            tracing::warn!(account = %account.name, "an event of another workspace was passed over");
            Heard::Foreign
        }
        Err(why) => {
            skip(slack, &why);
            Heard::Taken
        }
    }
}

/// Takes note of something that makes no sense, without quoting anybody.
pub(super) fn skip(slack: &Slack, why: &str) {
    let skipped = slack.garbled.fetch_add(1, Ordering::Relaxed) + 1;
    tracing::warn!(account = %slack.account.name, why, skipped, "passed over");
}

/// An envelope, and the socket that it came over.
struct Letter {
    socket: u64,
    envelope: Envelope,
}

/// What became of a letter: whether it is to be acknowledged, or why everything ends.
type Answered = Result<Option<(u64, String)>, Disconnected>;

/// A connection while it lasts: a socket, the one before it for as long as something of it waits, and what waits.
struct Line<'a> {
    slack: &'a Slack,
    intake: &'a dyn Intake,
    me: &'a Me,
    socket: Socket,
    before: Option<Socket>,
    sockets: u64,
    waiting: VecDeque<Letter>,
    heard: Instant,
}

impl<'a> Line<'a> {
    fn on(slack: &'a Slack, intake: &'a dyn Intake, me: &'a Me, socket: Socket) -> Self {
        Self {
            slack,
            intake,
            me,
            socket,
            before: None,
            sockets: 0,
            waiting: VecDeque::new(),
            heard: Instant::now(),
        }
    }

    async fn serve(mut self) -> Result<Infallible, Disconnected> {
        // Not polling: whether somebody is still there cannot be told without asking.
        let mut beat = interval(PING);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut taking: Option<Pending<'a, Answered>> = None;
        loop {
            if taking.is_none() {
                taking = self.next_letter();
            }
            let answered = async {
                match taking.as_mut() {
                    Some(taking) => taking.await,
                    None => std::future::pending().await,
                }
            };
            let may_read = self.waiting.len() < MOST_WAITING;
            tokio::select! {
                biased;
                answered = answered => {
                    taking = None;
                    self.acknowledge(answered?).await?;
                }
                frame = self.socket.next(), if may_read => self.read(frame?).await?,
                _ = beat.tick() => self.socket.ping().await?,
                () = sleep_until(self.heard + MUTE), if may_read => {
                    let detail = "nothing came for half a minute".to_owned();
                    return Err(Disconnected::Lost { detail });
                }
            }
        }
    }

    fn next_letter(&mut self) -> Option<Pending<'a, Answered>> {
        let letter = self.waiting.pop_front();
        let Some(letter) = letter else {
            // Everything of the socket before is answered.
            self.before = None;
            return None;
        };
        let (slack, intake, me) = (self.slack, self.intake, self.me);
        Some(Box::pin(answer(slack, intake, me, letter)))
    }

    async fn acknowledge(&mut self, answered: Option<(u64, String)>) -> Result<(), Disconnected> {
        let Some((socket, envelope)) = answered else {
            return Ok(());
        };
        if socket == self.sockets {
            return self.socket.acknowledge(&envelope).await;
        }
        // A socket that is gone takes no answer; the letter comes again, and is known by then.
        let is_before = socket + 1 == self.sockets;
        if let Some(before) = self.before.as_mut().filter(|_| is_before)
            && before.acknowledge(&envelope).await.is_err()
        {
            self.before = None;
        }
        Ok(())
    }

    async fn read(&mut self, frame: Frame) -> Result<(), Disconnected> {
        self.heard = Instant::now();
        let text = match frame {
            Frame::Alive => {
                self.intake.alive(&self.slack.account);
                return Ok(());
            }
            Frame::Text(text) => text,
        };
        let Ok(envelope) = serde_json::from_str::<Envelope>(text.as_str()) else {
            skip(self.slack, "a frame cannot be read");
            return Ok(());
        };
        if envelope.kind == "disconnect" {
            return self.change(&envelope.reason).await;
        }
        if envelope.id.is_some() {
            let socket = self.sockets;
            self.waiting.push_back(Letter { socket, envelope });
        } else if envelope.kind != "hello" {
            skip(self.slack, "a frame is no envelope");
        }
        Ok(())
    }

    /// Slack takes the socket away: the next one is opened before this one ends.
    async fn change(&mut self, reason: &str) -> Result<(), Disconnected> {
        if let Some(ended) = classify::goodbye(reason) {
            return Err(ended);
        }
        tracing::debug!(account = %self.slack.account.name, reason, "the next socket is opened");
        let next = Socket::open(&self.slack.client).await?;
        self.before = Some(std::mem::replace(&mut self.socket, next));
        self.sockets += 1;
        self.heard = Instant::now();
        Ok(())
    }
}

/// Hands a letter to intake until it is taken; nothing overtakes it meanwhile.
async fn answer(slack: &Slack, intake: &dyn Intake, me: &Me, letter: Letter) -> Answered {
    let Letter { socket, envelope } = letter;
    let answer = envelope.id.map(|id| (socket, id));
    let Some(told) = Told::of(&envelope.kind, &envelope.payload) else {
        return Ok(answer);
    };
    loop {
        match hear(slack, intake, me, told).await {
            Heard::Taken => return Ok(answer),
            // Whoever it is for has to hear of it: an answer of ours would end that.
            Heard::Foreign => return Ok(None),
            Heard::Revoked => {
                slack.client.identify().await?;
                return Ok(answer);
            }
            // Not polling: intake refused for now, and does not tell when it will take more.
            Heard::NotTaken => sleep(AGAIN).await,
        }
    }
}
