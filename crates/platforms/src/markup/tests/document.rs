//! One document that has everything, as each dialect writes it. What has no width is written out in the files.

use super::*;

const DOCUMENT: &str = include_str!("document.md");

fn assert_written(dialect: Dialect, expected: &str) {
    let written = format!("{}\n", legible(&text(DOCUMENT, dialect)));
    assert_eq!(written, expected, "{dialect:?}:\n{written}");
}

#[test]
fn in_html() {
    assert_written(Dialect::Html, include_str!("document.html"));
}

#[test]
fn in_mrkdwn() {
    assert_written(Dialect::Mrkdwn, include_str!("document.mrkdwn"));
}

#[test]
fn in_chat_markdown() {
    assert_written(Dialect::ChatMarkdown, include_str!("document.chat"));
}

#[test]
fn in_plain() {
    assert_written(Dialect::Plain, include_str!("document.txt"));
}
