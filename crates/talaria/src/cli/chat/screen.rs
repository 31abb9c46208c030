//! What a conversation looks like on a terminal: answers as they come, everything beside them dim and on lines of its
//! own. What the agent wrote cannot move the cursor.

use talaria_domain::run::ToolResult;

use super::turn::Show;
use crate::cli::text::{clean, first_lines, one_line};
use crate::output::{self, Look, Style};

const WIDEST: usize = 100;
const TOOL_LINES: usize = 4;

/// The terminal, as far as the conversation has written on it.
pub(super) struct Screen {
    style: Style,
    /// Whether a line was begun and not ended.
    is_open: bool,
}

impl Screen {
    /// A terminal whose cursor is at the start of a line.
    pub(super) const fn of(style: Style) -> Self {
        Self {
            style,
            is_open: false,
        }
    }

    /// Shows what there is to see.
    pub(super) fn show_all(&mut self, shows: Vec<Show>) {
        for show in shows {
            self.show(show);
        }
    }

    fn show(&mut self, show: Show) {
        match show {
            Show::More(text) => self.write(&text),
            Show::Answer { unseen, .. } => {
                self.write(&unseen);
                self.close();
            }
            beside => {
                self.close();
                for line in self.beside(&beside) {
                    output::line(&line);
                }
            }
        }
    }

    /// Says something that is not part of the conversation.
    pub(super) fn remark(&mut self, text: &str) {
        self.close();
        output::line(&self.style.paint(Look::Dim, text));
    }

    /// Ends a line that was begun.
    pub(super) fn end(&mut self) {
        self.close();
    }

    /// The same as lines, for when somebody is typing.
    pub(super) fn lines(&self, show: &Show) -> Vec<String> {
        match show {
            Show::More(_) => Vec::new(),
            Show::Answer { whole, .. } => {
                clean(whole).trim_end().lines().map(str::to_owned).collect()
            }
            beside => self.beside(beside),
        }
    }

    fn beside(&self, show: &Show) -> Vec<String> {
        match show {
            Show::Notice { text, .. } => {
                self.dim(clean(text).trim_end().lines().map(str::to_owned))
            }
            Show::Tool { tool, arguments } => {
                self.dim([one_line(&format!("→ {tool} {arguments}"), WIDEST)])
            }
            Show::ToolOutput { output, result } => self.dim(tool_output(output, *result)),
            Show::Again => self.dim(["that attempt failed, it is tried again".to_owned()]),
            Show::Question(text) => vec![self.style.paint(Look::Bold, clean(text).trim_end())],
            Show::More(_) | Show::Answer { .. } => Vec::new(),
        }
    }

    fn dim(&self, lines: impl IntoIterator<Item = String>) -> Vec<String> {
        let dim = |line: String| self.style.paint(Look::Dim, &line);
        lines.into_iter().map(dim).collect()
    }

    fn write(&mut self, text: &str) {
        let text = clean(text);
        if text.is_empty() {
            return;
        }
        self.is_open = !text.ends_with('\n');
        // A terminal that is gone ends the program by itself.
        drop(output::piece(&text));
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            output::line("");
        }
    }
}

fn tool_output(output: &str, result: ToolResult) -> Vec<String> {
    let (lines, more) = first_lines(output, TOOL_LINES);
    let mut shown: Vec<_> = lines
        .iter()
        .map(|line| format!("  {}", one_line(line, WIDEST)))
        .collect();
    if more > 0 {
        shown.push(format!("  … {more} more lines"));
    }
    match result {
        ToolResult::Done => {}
        ToolResult::Refused => shown.push("  refused".to_owned()),
        ToolResult::Cancelled => shown.push("  stopped".to_owned()),
    }
    shown
}
