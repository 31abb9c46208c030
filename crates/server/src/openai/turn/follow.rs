//! Following a turn: every event of its journal once and in order, then how it ended. What is told live is only a hint
//! of what the ledger has; whoever missed something reads it there, so that any number may follow, at any time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use talaria_domain::ids::{EventId, ReplyId, RunId};
use talaria_domain::live::{Happening, Watch};
use talaria_domain::run::{Finish, RunEvent, RunOutcome, Usage};
use talaria_store::inbox::InboxRow;
use talaria_store::{Result, StoreError, Tx, inbox, outbox, runs};

use super::standing::{self, Over, Standing};
use crate::shared::App;

/// How much of a journal is read at once.
const PAGE: u32 = 500;

/// A turn may be under way on another node, whose happenings are not told here: so often the ledger is asked.
const UNTOLD: Duration = Duration::from_secs(5);

/// One event of a turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// Its number in the turn: the journal's own, counted on where the turn was begun again.
    pub(crate) number: i64,
    pub(crate) what: RunEvent,
}

/// What comes next in a turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    Line(Line),
    Over(Over),
    /// The gateway stops.
    Left,
}

/// How far a journal was read.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Bookmark {
    run: Option<RunId>,
    seq: i64,
    /// How many there were in the runs before.
    before: i64,
}

/// What the ledger has.
pub(crate) struct Look {
    pub(crate) row: InboxRow,
    pub(crate) standing: Standing,
    /// The event whose turn it is: another one if this one became part of it.
    turn: EventId,
    lines: Vec<Line>,
    bookmark: Bookmark,
    is_more: bool,
}

/// Looks at a turn, without its journal.
pub(crate) fn look(tx: &mut Tx<'_>, event: EventId) -> Result<Look> {
    look_from(tx, event, None)
}

/// Everything that a turn has yielded so far, and how it stands.
pub(crate) fn read_all(tx: &mut Tx<'_>, event: EventId) -> Result<(Look, Vec<Line>)> {
    let mut look = look_from(tx, event, Some(Bookmark::default()))?;
    let mut lines = std::mem::take(&mut look.lines);
    while look.is_more {
        look = look_from(tx, event, Some(look.bookmark))?;
        lines.append(&mut look.lines);
    }
    Ok((look, lines))
}

fn look_from(tx: &mut Tx<'_>, event: EventId, from: Option<Bookmark>) -> Result<Look> {
    let row = inbox::get(tx, event)?;
    let turn = row.merged_into.unwrap_or(event);
    let leading = if turn == event {
        row.clone()
    } else {
        inbox::get(tx, turn)?
    };
    let tries = runs::for_event(tx, turn)?;
    // The answer to an event has the event's own id.
    let said = match outbox::get(tx, ReplyId::from_bytes(*turn.as_bytes())) {
        Ok(reply) => Some(reply.text),
        Err(StoreError::NotFound { .. }) => None,
        Err(error) => return Err(error),
    };
    let standing = standing::decide(&leading, tries.last(), said.as_deref());
    let mut look = Look {
        row,
        standing,
        turn,
        lines: Vec::new(),
        bookmark: from.unwrap_or_default(),
        is_more: false,
    };
    if from.is_some() {
        let tries: Vec<RunId> = tries.iter().map(|run| run.id).collect();
        read_on(tx, &tries, &mut look)?;
    }
    Ok(look)
}

/// Reads the journals on from the bookmark, a page at most.
fn read_on(tx: &mut Tx<'_>, tries: &[RunId], look: &mut Look) -> Result<()> {
    let known = look.bookmark.run;
    let at = tries.iter().position(|run| Some(*run) == known);
    for run in &tries[at.unwrap_or(0)..] {
        if look.bookmark.run != Some(*run) {
            let number = look.bookmark.before + look.bookmark.seq;
            if look.bookmark.run.is_some() {
                // One that was killed had no time to say so: what it was saying is not gone on with.
                let what = RunEvent::Ended(RunOutcome::Interrupted);
                look.lines.push(Line { number, what });
            }
            look.bookmark = Bookmark {
                run: Some(*run),
                seq: 0,
                before: number,
            };
        }
        let mark = &mut look.bookmark;
        let page = runs::journal(tx, *run, mark.seq, PAGE)?;
        let is_full = page.len() == PAGE as usize;
        for (seq, what) in page {
            mark.seq = seq;
            let number = mark.before + seq;
            look.lines.push(Line { number, what });
        }
        if is_full {
            look.is_more = true;
            return Ok(());
        }
    }
    Ok(())
}

/// Somebody who follows a turn.
pub(crate) struct Follower {
    app: Arc<App>,
    event: EventId,
    turn: EventId,
    watch: Box<dyn Watch>,
    bookmark: Bookmark,
    lines: VecDeque<Line>,
    over: Option<Over>,
    /// Whether the ledger may have more than was heard.
    is_behind: bool,
    is_left: bool,
    /// Whether the run has said something since its last tool: then it is told once more as the answer.
    has_words: bool,
    /// How the run ended, before its answer is told.
    ended: Option<(Finish, Usage)>,
}

impl Follower {
    /// Follows a turn from its beginning.
    pub(crate) fn of(app: &Arc<App>, turn: &super::Turn) -> Self {
        // Before the first look: what happens in between is heard.
        let watch = app.shared.live.watch(turn.session);
        Self {
            is_behind: true,
            ..Self::from_the_start(app, turn.event, watch)
        }
    }

    /// Follows a turn whose conversation was watched before it was handed in: nothing of it was missed.
    pub(crate) fn from_the_start(app: &Arc<App>, event: EventId, watch: Box<dyn Watch>) -> Self {
        Self {
            app: Arc::clone(app),
            event,
            turn: event,
            watch,
            bookmark: Bookmark::default(),
            lines: VecDeque::new(),
            over: None,
            is_behind: false,
            is_left: false,
            has_words: false,
            ended: None,
        }
    }

    /// What comes next. Nothing does after the end.
    pub(crate) async fn next(&mut self) -> Result<Step> {
        loop {
            if let Some(line) = self.lines.pop_front() {
                return Ok(Step::Line(line));
            }
            if self.is_behind {
                self.catch_up().await?;
            } else if let Some(over) = self.over.take() {
                return Ok(Step::Over(over));
            } else if self.is_left {
                return Ok(Step::Left);
            } else {
                self.listen().await;
            }
        }
    }

    async fn catch_up(&mut self) -> Result<()> {
        let (event, from) = (self.event, self.bookmark);
        let work = move |tx: &mut Tx<'_>| look_from(tx, event, Some(from));
        let look = self.app.shared.ledger.read(work).await?;
        self.turn = look.turn;
        self.bookmark = look.bookmark;
        self.lines.extend(look.lines);
        self.is_behind = look.is_more;
        if let Standing::Over(over) = look.standing {
            self.over = Some(over);
        }
        Ok(())
    }

    /// Waits until something happens.
    async fn listen(&mut self) {
        // What was told already needs neither a timer nor an ear for the gateway's end, which all who wait share.
        if let Some(Some(happening)) = self.watch.next().now_or_never() {
            return self.hear(happening);
        }
        let heard = tokio::select! {
            biased;
            () = self.app.stop.cancelled() => None,
            heard = tokio::time::timeout(UNTOLD, self.watch.next()) => Some(heard),
        };
        match heard {
            Some(Ok(Some(happening))) => self.hear(happening),
            Some(Err(_)) => self.is_behind = true,
            Some(Ok(None)) | None => {
                // The last words may be written already.
                self.is_behind = true;
                self.is_left = true;
            }
        }
    }

    /// What an event of the run says about its end.
    fn note(&mut self, what: &RunEvent) {
        match what {
            RunEvent::MessageCompleted { text } => self.has_words |= !text.trim().is_empty(),
            RunEvent::ToolStarted { .. } => self.has_words = false,
            RunEvent::Ended(RunOutcome::Completed { finish, usage }) if self.has_words => {
                // Its answer is told next.
                self.ended = Some((*finish, *usage));
            }
            // It may be one that is tried again, or one that said nothing.
            RunEvent::Ended(_) => self.is_behind = true,
            _ => {}
        }
    }

    fn hear(&mut self, happening: Happening) {
        match happening {
            Happening::Started { run, event } if event == self.turn => {
                if self.bookmark.run.is_some() {
                    self.is_behind = true;
                } else {
                    self.bookmark.run = Some(run);
                }
            }
            Happening::Yielded { run, seq, what } if Some(run) == self.bookmark.run => {
                let next = self.bookmark.seq + 1;
                if seq != next {
                    self.is_behind |= seq > next;
                    return;
                }
                self.note(&what);
                self.bookmark.seq = seq;
                let number = self.bookmark.before + seq;
                self.lines.push_back(Line { number, what });
            }
            Happening::Said { run, text, .. } if run.is_some() && run == self.bookmark.run => {
                match self.ended.take() {
                    Some((finish, usage)) => self.over = Some(Over::answered(finish, usage, text)),
                    None => self.is_behind = true,
                }
            }
            Happening::Said { .. } | Happening::Missed => self.is_behind = true,
            // Another turn of the same conversation.
            Happening::Started { .. } | Happening::Yielded { .. } => {}
        }
    }
}
