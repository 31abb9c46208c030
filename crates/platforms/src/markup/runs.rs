//! A line as a row of runs, each with its whole style, so that a writer only has to say how a style begins and ends.
//!
//! **Invariant:** a run with a style neither begins nor ends its style with a space, and no style goes over the end of a
//! line: what dialects with marks would not read as markup.
//!
//! Pure: inlines in, runs out.

use super::address;
use super::tree::{Inline, text_of};

/// How words are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Style {
    pub(super) emphasis: bool,
    pub(super) strong: bool,
    pub(super) strike: bool,
}

impl Style {
    /// Of a line that stands for a heading.
    pub(super) const STRONG: Self = Self {
        emphasis: false,
        strong: true,
        strike: false,
    };

    /// The marks of the style, out of a mark for each kind.
    pub(super) fn marks(self, [emphasis, strong, strike]: [&str; 3]) -> Vec<&str> {
        [
            (self.emphasis, emphasis),
            (self.strong, strong),
            (self.strike, strike),
        ]
        .into_iter()
        .filter_map(|(is_on, mark)| is_on.then_some(mark))
        .collect()
    }

    /// Whether another style has all that this one has.
    pub(super) fn is_within(self, other: Self) -> bool {
        self.and(other) == self
    }

    const fn and(self, other: Self) -> Self {
        Self {
            emphasis: self.emphasis && other.emphasis,
            strong: self.strong && other.strong,
            strike: self.strike && other.strike,
        }
    }
}

/// How many of the marks that are open stay open in another style: up to the first that it does not have.
pub(super) fn still_open(open: &[&str], marks: &[&str]) -> usize {
    open.iter().take_while(|mark| marks.contains(mark)).count()
}

/// What a run shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Span {
    Text(String),
    Code(String),
    /// An address that is shown as it is.
    Bare(String),
    /// Words that lead to a web address.
    Link {
        address: String,
        label: String,
        is_code: bool,
    },
    Mention {
        user: String,
        name: String,
    },
}

impl Span {
    /// What a reader sees first.
    pub(super) fn first(&self) -> Option<char> {
        match self {
            Self::Text(text) | Self::Bare(text) => text.chars().next(),
            Self::Code(_) => Some('`'),
            Self::Link { label, .. } => label.chars().next(),
            Self::Mention { name, .. } => name.chars().next(),
        }
    }
}

/// Some of a line in one style.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    pub(super) span: Span,
    pub(super) style: Style,
}

/// The lines that the inlines make.
pub(super) fn lines(inlines: &[Inline], style: Style) -> Vec<Vec<Run>> {
    let mut lines = vec![Vec::new()];
    collect(inlines, style, &mut lines);
    for line in &mut lines {
        settle_spaces(line);
    }
    lines
}

fn collect(inlines: &[Inline], style: Style, lines: &mut Vec<Vec<Run>>) {
    for inline in inlines {
        match inline {
            Inline::Text(text) => push_text(lines, text, style),
            Inline::Code(code) => push(lines, Span::Code(code.clone()), style),
            Inline::Break => lines.push(Vec::new()),
            Inline::Strong(content) => {
                let strong = true;
                collect(content, Style { strong, ..style }, lines);
            }
            Inline::Emphasis(content) => {
                let emphasis = true;
                collect(content, Style { emphasis, ..style }, lines);
            }
            Inline::Strike(content) => {
                let strike = true;
                collect(content, Style { strike, ..style }, lines);
            }
            Inline::Link { address, content } => push_link(lines, address, content, style),
            Inline::Mention { user, name } => {
                let (user, name) = (user.clone(), name.clone());
                push(lines, Span::Mention { user, name }, style);
            }
        }
    }
}

fn push_link(lines: &mut Vec<Vec<Run>>, address: &str, content: &[Inline], style: Style) {
    let label = text_of(content);
    let is_code = matches!(content, [Inline::Code(_)]);
    let is_same = label == address || address.strip_prefix("mailto:") == Some(&label);
    match (address::is_web(address), is_same || label.trim().is_empty()) {
        (true, true) => push(lines, Span::Bare(address.to_owned()), style),
        (true, false) => {
            let link = Span::Link {
                address: address.to_owned(),
                label,
                is_code,
            };
            push(lines, link, style);
        }
        (false, true) if label.trim().is_empty() => push_text(lines, address, style),
        (false, is_same) => {
            collect(content, style, lines);
            if !is_same && !address.is_empty() {
                push_text(lines, &format!(" ({address})"), style);
            }
        }
    }
}

/// Text next to text in the same style is one run, so that what is between two marks is seen as a whole.
fn push_text(lines: &mut [Vec<Run>], text: &str, style: Style) {
    let last = lines.last_mut().and_then(|line| line.last_mut());
    match last {
        Some(Run {
            span: Span::Text(known),
            style: around,
        }) if *around == style => known.push_str(text),
        _ if text.is_empty() => {}
        _ => push(lines, Span::Text(text.to_owned()), style),
    }
}

fn push(lines: &mut [Vec<Run>], span: Span, style: Style) {
    if let Some(line) = lines.last_mut() {
        line.push(Run { span, style });
    }
}

/// Spaces at the edge of a run are runs of their own, in what the runs on both sides have in common.
fn settle_spaces(line: &mut Vec<Run>) {
    let mut apart = Vec::with_capacity(line.len());
    for run in line.drain(..) {
        match run.span {
            Span::Text(text) if run.style != Style::default() => {
                let style = run.style;
                let words = text.trim();
                let start = text.len() - text.trim_start().len();
                let end = if words.is_empty() {
                    text.len()
                } else {
                    start + words.len()
                };
                for part in [text.get(..start), text.get(start..end), text.get(end..)] {
                    let span = Span::Text(part.unwrap_or_default().to_owned());
                    apart.push(Run { span, style });
                }
            }
            span => apart.push(Run { span, ..run }),
        }
    }
    apart.retain(|run| run.span != Span::Text(String::new()));
    let styles: Vec<_> = apart.iter().map(words_style).collect();
    let mut before = Style::default();
    for (at, mut run) in apart.into_iter().enumerate() {
        let after = styles.iter().skip(at).find_map(|style| *style);
        match styles.get(at).copied().flatten() {
            Some(style) => before = style,
            None => run.style = before.and(after.unwrap_or_default()),
        }
        line.push(run);
    }
}

/// The style of a run that is more than spaces.
fn words_style(run: &Run) -> Option<Style> {
    match &run.span {
        Span::Text(text) if text.trim().is_empty() => None,
        _ => Some(run.style),
    }
}
