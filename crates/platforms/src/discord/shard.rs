//! One shard's connection: the session is taken up again where there is one, else begun; heartbeats go on while intake
//! takes its time; a connection that does not answer them is mute and lost.

use std::time::Duration;

use talaria_domain::adapter::Disconnected;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use super::arrivals;
use super::classify::Closed;
use super::connection::Hearing;
use super::gateway::{self, Dispatch, Heard};
use super::place::Shard;
use super::socket::{Came, Socket, lost};

/// How much is read ahead of intake. When it is full, Discord waits.
const AHEAD: usize = 256;
/// "Gateway", rate limiting: so many shards may begin a session in this time.
const BEGINNINGS: Duration = Duration::from_secs(5);
/// How often a connection may end before it was one.
const MOST_IN_VAIN: u32 = 3;

/// What follows from the end of a connection.
enum Next {
    /// Another one, after a while. Says whether this one was a connection at all.
    Again(Duration, Got),
    /// Another one with a session of its own.
    Fresh(Duration, Got),
    /// The end.
    Ended(Disconnected),
}

/// How far a connection got.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Got {
    /// A session was there.
    Through,
    /// It was not.
    Nowhere,
}

/// Keeps a shard connected; gives why it ended.
pub(super) async fn serve(hearing: &Hearing<'_>, shard: Shard) -> Disconnected {
    let at_once = hearing.entrance.session_start_limit.max_concurrency.max(1);
    // Not polling: shards begin one after the other.
    sleep(BEGINNINGS * (shard.index / at_once)).await;
    let mut in_vain = 0;
    loop {
        let next = connect(hearing, shard).await;
        if matches!(next, Next::Fresh(..)) {
            hearing.place().end(shard);
        }
        hearing.keep().await;
        let (wait, got) = match next {
            Next::Ended(ended) => return ended,
            Next::Again(wait, got) | Next::Fresh(wait, got) => (wait, got),
        };
        in_vain = if got == Got::Nowhere { in_vain + 1 } else { 0 };
        if in_vain > MOST_IN_VAIN {
            return lost("the gateway does not let us begin a session".to_owned());
        }
        // Not polling: Discord asked for another connection, and wants it so long afterwards.
        sleep(wait).await;
    }
}

async fn connect(hearing: &Hearing<'_>, shard: Shard) -> Next {
    let (mut socket, pace) = match open(hearing, shard).await {
        Ok(opened) => opened,
        Err(ended) => return Next::Ended(ended),
    };
    let session = hearing.place().session(shard).cloned();
    let first = match &session {
        Some(session) => hearing.discord.client.resume(session),
        None if hearing.may_begin() => hearing.discord.client.identify(shard),
        None => {
            let wait = hearing.entrance.session_start_limit.reset_after / 60_000;
            return Next::Ended(lost(format!(
                "no more sessions may be begun for {wait} minutes"
            )));
        }
    };
    if let Err(ended) = socket.say(first).await {
        return Next::Ended(ended);
    }
    let (ahead, queue) = mpsc::channel(AHEAD);
    let pumping = Pump::of(hearing, shard, socket).run(pace, ahead);
    let handing = arrivals::hand_in(hearing, shard, queue);
    let (mut pumping, mut handing) = (std::pin::pin!(pumping), std::pin::pin!(handing));
    tokio::select! {
        biased;
        ended = &mut handing => match ended {
            Err(ended) => Next::Ended(ended),
            Ok(()) => pumping.await,
        },
        next = &mut pumping => {
            // What was heard is handed in as far as intake takes it; the rest comes again.
            drop(handing.await);
            next
        }
    }
}

/// A connection that has greeted us, and how often it wants a heartbeat. A session is taken up where it was begun, or
/// at the front door if nobody is there any more.
async fn open(hearing: &Hearing<'_>, shard: Shard) -> Result<(Socket, Duration), Disconnected> {
    let client = &hearing.discord.client;
    let session = hearing.place().session(shard).cloned();
    let front = &hearing.entrance.url;
    let mut socket = match session {
        Some(session) => match Socket::open(client, &session.url).await {
            Ok(socket) => socket,
            Err(_) => Socket::open(client, front).await?,
        },
        None => Socket::open(client, front).await?,
    };
    match socket.greeting().await {
        Came::Text(text) => match gateway::heard(&text) {
            Some(Heard::Hello(pace)) => Ok((socket, pace)),
            _ => Err(lost("the gateway did not say hello first".to_owned())),
        },
        Came::Garbage => Err(lost("the gateway did not say hello first".to_owned())),
        Came::End(Closed::Ended(ended)) => Err(ended),
        Came::End(_) => Err(lost("the gateway closed before it said hello".to_owned())),
    }
}

/// Reads what comes, and keeps the heart beating.
struct Pump<'a> {
    hearing: &'a Hearing<'a>,
    shard: Shard,
    socket: Socket,
    /// Whether the last heartbeat was answered.
    is_answered: bool,
    /// Whether nothing was read for a time since the last heartbeat, so that its answer may be there unread.
    was_full: bool,
    got: Got,
    /// What could not be read.
    garbage: u64,
}

impl<'a> Pump<'a> {
    const fn of(hearing: &'a Hearing<'a>, shard: Shard, socket: Socket) -> Self {
        Self {
            hearing,
            shard,
            socket,
            is_answered: true,
            was_full: false,
            got: Got::Nowhere,
            garbage: 0,
        }
    }

    async fn run(mut self, pace: Duration, ahead: mpsc::Sender<Dispatch>) -> Next {
        let mut pending: Option<Dispatch> = None;
        let mut next_beat = Instant::now() + gateway::first_beat(pace, self.chance());
        loop {
            let full = pending.is_some();
            self.was_full |= full;
            let step = tokio::select! {
                biased;
                () = sleep_until(next_beat) => {
                    next_beat = Instant::now() + pace;
                    self.beat().await
                }
                room = ahead.reserve(), if full => {
                    // Whoever takes it is gone only when everything is.
                    if let (Ok(room), Some(dispatch)) = (room, pending.take()) {
                        room.send(dispatch);
                    }
                    None
                }
                came = self.socket.next(), if !full => self.hear(came, &mut pending).await,
            };
            if let Some(next) = step {
                self.socket.leave().await;
                return next;
            }
        }
    }

    /// Sends a heartbeat, unless the one before was not answered. It says what was accepted and not what was heard, so
    /// that nothing is taken for ours that is not.
    async fn beat(&mut self) -> Option<Next> {
        if !self.is_answered && !self.was_full {
            return Some(Next::Ended(lost(
                "the gateway is mute: a heartbeat was not answered".to_owned(),
            )));
        }
        (self.is_answered, self.was_full) = (false, false);
        self.say_beat().await
    }

    async fn say_beat(&mut self) -> Option<Next> {
        let seq = self.hearing.place().session(self.shard).map(|it| it.seq);
        let said = self.socket.say(gateway::beat(seq)).await;
        said.err().map(Next::Ended)
    }

    async fn hear(&mut self, came: Came, pending: &mut Option<Dispatch>) -> Option<Next> {
        let text = match came {
            Came::Text(text) => text,
            Came::Garbage => String::new(),
            Came::End(Closed::Ended(ended)) => return Some(Next::Ended(ended)),
            Came::End(Closed::Resume) => return Some(Next::Again(Duration::ZERO, self.got)),
            Came::End(Closed::Fresh) => return Some(self.fresh()),
        };
        match gateway::heard(&text) {
            Some(Heard::Dispatch(dispatch)) => {
                self.got = Got::Through;
                *pending = Some(dispatch);
            }
            Some(Heard::Ack) => {
                self.is_answered = true;
                let account = &self.hearing.discord.account;
                self.hearing.intake.alive(account);
            }
            Some(Heard::BeatNow) => return self.say_beat().await,
            Some(Heard::Reconnect) => return Some(Next::Again(Duration::ZERO, self.got)),
            Some(Heard::Invalid { is_resumable: true }) => {
                return Some(Next::Again(self.pause(), self.got));
            }
            Some(Heard::Invalid {
                is_resumable: false,
            }) => return Some(self.fresh()),
            Some(Heard::Hello(_) | Heard::Nothing) => {}
            None => {
                self.garbage += 1;
                let account = &self.hearing.discord.account.name;
                tracing::warn!(%account, so_far = self.garbage, "something from the gateway cannot be read");
            }
        }
        None
    }

    /// The session is over; another is begun.
    fn fresh(&self) -> Next {
        Next::Fresh(self.pause(), self.got)
    }

    /// "Gateway", resuming: one to five seconds, not the same for all.
    fn pause(&self) -> Duration {
        Duration::from_secs(1) + Duration::from_secs(4).mul_f64(f64::from(self.chance()) / 256.0)
    }

    fn chance(&self) -> u8 {
        let discord = self.hearing.discord;
        let id = discord.ids.next(discord.clock.now());
        id.as_bytes()[15]
    }
}
