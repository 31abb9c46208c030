//! Line editing, on a thread of its own because it blocks. It reads a line when it is asked to and never otherwise, so
//! that the terminal belongs to the answer while one is written.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use reedline::{
    ExternalPrinter, FileBackedHistory, Prompt, PromptEditMode, PromptHistorySearch, Reedline,
    Signal,
};
use tokio::sync::mpsc;

const HISTORY: usize = 1_000;
/// What may be said while somebody is typing, until it is drawn.
const ASIDES: usize = 256;

/// Somebody at the keyboard.
pub(super) struct Editor {
    asks: SyncSender<()>,
    lines: mpsc::Receiver<Line>,
    asides: SyncSender<String>,
}

/// What came of asking for a line.
pub(super) enum Line {
    /// A line.
    Text(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or a terminal that is gone.
    End,
}

impl Editor {
    /// Starts it.
    pub(super) fn start(history: PathBuf, is_coloured: bool) -> std::io::Result<Self> {
        let (asks, asked) = sync_channel(1);
        let (answers, lines) = mpsc::channel(1);
        let printer = ExternalPrinter::new(ASIDES);
        let asides = printer.sender();
        let reedline = Reedline::create()
            .with_external_printer(printer)
            .with_ansi_colors(is_coloured);
        let reedline = match remember(history) {
            Some(history) => reedline.with_history(Box::new(history)),
            None => reedline,
        };
        std::thread::Builder::new()
            .name("editor".to_owned())
            .spawn(move || edit(reedline, &asked, &answers))?;
        Ok(Self {
            asks,
            lines,
            asides,
        })
    }

    /// Asks for a line; [`Self::line`] has it.
    pub(super) fn ask(&self) {
        // A thread that is gone is told by `line`.
        let _ = self.asks.try_send(());
    }

    /// The line that was asked for.
    pub(super) async fn line(&mut self) -> Line {
        self.lines.recv().await.unwrap_or(Line::End)
    }

    /// Says something above the line that is being typed. What finds no room is in the ledger.
    pub(super) fn aside(&self, text: String) {
        drop(self.asides.try_send(text));
    }
}

fn edit(mut reedline: Reedline, asked: &Receiver<()>, answers: &mpsc::Sender<Line>) {
    while asked.recv().is_ok() {
        let line = match reedline.read_line(&Arrow) {
            Ok(Signal::Success(text)) => Line::Text(text),
            Ok(Signal::CtrlC) => Line::Interrupt,
            Ok(Signal::CtrlD) | Err(_) => Line::End,
            Ok(_) => Line::Text(String::new()),
        };
        drop(reedline.sync_history());
        if answers.blocking_send(line).is_err() {
            return;
        }
    }
}

/// What was typed before; only its owner can read it.
fn remember(path: PathBuf) -> Option<FileBackedHistory> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(&path)
        .ok()?;
    FileBackedHistory::with_file(HISTORY, path).ok()
}

struct Arrow;

impl Prompt for Arrow {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("> ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("(search: {}) ", search.term))
    }
}
