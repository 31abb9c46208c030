//! One Markdown tree, one writer for each dialect that platforms read. A dialect is named for what it is; which platform
//! speaks it is that platform's business.
//!
//! **Invariant:** what a dialect lacks degrades and never vanishes: every word of the source is in every dialect, and
//! nothing in it is markup, or calls anybody, but what was meant so.
//!
//! Pure: text in, text out.

mod address;
mod chat;
mod html;
mod layout;
mod mrkdwn;
mod pen;
mod plain;
mod runs;
mod table;
mod tree;

use talaria_domain::capabilities::{TextLimit, TextUnit};

/// How a platform writes what Markdown says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// A small set of tags: `b i s code pre a blockquote`.
    Html,
    /// Single marks for styles, brackets around links and mentions.
    Mrkdwn,
    /// Markdown without tables, pictures, tags and rules.
    ChatMarkdown,
    /// No markup.
    Plain,
}

/// A text in a dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// What is sent.
    pub text: String,
    /// What a platform counts: with tags, what is left without them; with marks, all of it.
    pub visible: String,
}

impl Written {
    /// How long it is to the platform.
    pub fn visible_len(&self, unit: TextUnit) -> usize {
        unit.measure(&self.visible)
    }
}

/// A text for a message of limited length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fitted {
    /// What is sent, in the dialect either way.
    pub text: String,
    /// Whether it says what the Markdown means, or shows the source.
    pub is_markup: bool,
}

/// `markdown`, written in that dialect.
///
/// A link to `mention:` and the id of a user is a mention where the dialect has them, else the name that it shows.
///
/// ```
/// use talaria_platforms::markup::{Dialect, write};
///
/// let markdown = "**Done**, see [the log](https://example.org/log), [Ada](mention:U1) & `co`.";
/// let text = |dialect| write(markdown, dialect).text;
/// assert_eq!(
///     text(Dialect::Html),
///     r#"<b>Done</b>, see <a href="https://example.org/log">the log</a>, Ada &amp; <code>co</code>."#
/// );
/// assert_eq!(
///     text(Dialect::Mrkdwn),
///     "*Done*, see <https://example.org/log|the log>, <@U1> &amp; `co`."
/// );
/// assert_eq!(
///     text(Dialect::ChatMarkdown),
///     "**Done**, see [the log](https://example.org/log), <@U1> & `co`."
/// );
/// assert_eq!(
///     text(Dialect::Plain),
///     "Done, see the log (https://example.org/log), Ada & co."
/// );
/// ```
pub fn write(markdown: &str, dialect: Dialect) -> Written {
    let tree = tree::parse(markdown);
    let text = match dialect {
        Dialect::Html => html::write(&tree),
        Dialect::Mrkdwn => mrkdwn::write(&tree),
        Dialect::ChatMarkdown => chat::write(&tree),
        Dialect::Plain => plain::write(&tree),
    };
    counted(text, dialect)
}

/// Written in the dialect if it fits, else the source as it is, escaped for the dialect: nothing is ever cut.
///
/// A source that fits the limit never comes out longer than it.
pub fn fit(markdown: &str, dialect: Dialect, limit: TextLimit) -> Fitted {
    let fits = |written: &Written| written.visible_len(limit.unit) <= limit.max;
    let written = write(markdown, dialect);
    if fits(&written) {
        let text = written.text;
        return Fitted {
            text,
            is_markup: true,
        };
    }
    let escaped = match dialect {
        Dialect::Html => html::escape(markdown),
        Dialect::Mrkdwn => mrkdwn::escape(markdown),
        // The source is readable Markdown to it.
        Dialect::ChatMarkdown => uncalling(markdown),
        Dialect::Plain => markdown.to_owned(),
    };
    let escaped = counted(escaped, dialect);
    // Only escapes that are counted can make it too long; then those have to do that take no room.
    let text = if fits(&escaped) || dialect != Dialect::Mrkdwn {
        escaped.text
    } else {
        uncalling(markdown)
    };
    Fitted {
        text,
        is_markup: false,
    }
}

fn counted(text: String, dialect: Dialect) -> Written {
    let visible = match dialect {
        Dialect::Html => html::visible(&text),
        Dialect::Mrkdwn | Dialect::ChatMarkdown | Dialect::Plain => text.clone(),
    };
    Written { text, visible }
}

/// The source, just as long, in which nobody is called: another bracket, a capital letter.
fn uncalling(markdown: &str) -> String {
    let mut text = markdown.to_owned();
    for (call, words) in [
        ("<@", "(@"),
        ("<!", "(!"),
        ("<#", "(#"),
        ("@everyone", "@Everyone"),
        ("@here", "@Here"),
    ] {
        text = text.replace(call, words);
    }
    text
}

#[cfg(test)]
mod tests;
