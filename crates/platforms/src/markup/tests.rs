//! What each dialect makes of one long document, and what holds for any text in all of them.

mod document;
mod fitting;
mod mentions;
mod properties;
mod well_formed;

use super::*;

const DIALECTS: [Dialect; 4] = [
    Dialect::Html,
    Dialect::Mrkdwn,
    Dialect::ChatMarkdown,
    Dialect::Plain,
];

fn text(markdown: &str, dialect: Dialect) -> String {
    write(markdown, dialect).text
}

/// What has no width, made legible.
fn legible(text: &str) -> String {
    text.replace('\u{200b}', "{gap}")
        .replace('\u{2060}', "{joiner}")
        .replace(" \n", "{space}\n")
}

/// A text that is still being written is shown as far as it goes.
#[test]
fn unterminated_markup_is_shown_sensibly() {
    for (markdown, html, mrkdwn, chat, plain) in [
        (
            "**bo",
            "**bo",
            "{joiner}*{joiner}{joiner}*{joiner}bo",
            r"\*\*bo",
            "**bo",
        ),
        (
            "```rust\nfn",
            "<pre><code class=\"language-rust\">fn</code></pre>",
            "```\nfn\n```",
            "```rust\nfn\n```",
            "fn",
        ),
        ("```rust", "", "", "", ""),
        (
            "see [a](htt",
            "see [a](htt",
            "see [a](htt",
            r"see \[a](htt",
            "see [a](htt",
        ),
        ("a `co", "a `co", "a `co", r"a \`co", "a `co"),
        (
            "| a | b |\n|--",
            "| a | b |\n|--",
            "| a | b |\n|--",
            "| a | b |\n|--",
            "| a | b |\n|--",
        ),
        ("- one\n- ", "• one\n•", "• one\n•", "- one\n-", "• one\n•"),
        (
            "> quo",
            "<blockquote>quo</blockquote>",
            "> quo",
            "> quo",
            "> quo",
        ),
        ("", "", "", "", ""),
    ] {
        let expected = [html, mrkdwn, chat, plain];
        for (dialect, expected) in DIALECTS.into_iter().zip(expected) {
            assert_eq!(
                legible(&text(markdown, dialect)),
                expected,
                "{dialect:?} of {markdown:?}"
            );
        }
    }
}

#[test]
fn what_is_counted_has_no_tags_and_no_entities() {
    let html = write("**a** & [b](https://example.org)", Dialect::Html);
    assert_eq!(html.visible, "a & b");
    assert_eq!(html.visible_len(TextUnit::Chars), 5);
    let mrkdwn = write("**a** & b", Dialect::Mrkdwn);
    assert_eq!(mrkdwn.visible_len(TextUnit::Bytes), "*a* &amp; b".len());
}

#[test]
fn styles_that_overlap_are_nested() {
    let markdown = "***a** b* **c*d*e**";
    assert_eq!(
        text(markdown, Dialect::Html),
        "<i><b>a</b> b</i> <b>c<i>d</i>e</b>"
    );
    assert_eq!(
        legible(&text(markdown, Dialect::Mrkdwn)),
        "_*a* b_ *c{gap}_d_{gap}e*"
    );
    assert_eq!(text(markdown, Dialect::ChatMarkdown), "_**a** b_ **c*d*e**");
}

#[test]
fn a_link_is_written_once_if_it_shows_its_address() {
    let markdown = "[https://example.org/a_b_](https://example.org/a_b_) <https://example.org>";
    for (dialect, expected) in [
        (
            Dialect::Html,
            "https://example.org/a_b_ https://example.org",
        ),
        (
            Dialect::Mrkdwn,
            "<https://example.org/a_b_> <https://example.org>",
        ),
        (
            Dialect::ChatMarkdown,
            "https://example.org/a_b_ https://example.org",
        ),
        (
            Dialect::Plain,
            "https://example.org/a_b_ https://example.org",
        ),
    ] {
        assert_eq!(text(markdown, dialect), expected);
    }
}

/// A client that does not follow an address drops it, and shows only the words.
#[test]
fn an_address_that_no_platform_follows_is_shown() {
    for dialect in DIALECTS {
        let shown = text(
            "[run](javascript:alert) [up](../a.md) [b](tg://user?id=1)",
            dialect,
        );
        assert_eq!(
            shown,
            "run (javascript:alert) up (../a.md) b (tg://user?id=1)"
        );
    }
}

#[test]
fn a_picture_in_a_link_keeps_both_addresses() {
    let markdown = "[![build](https://example.org/b.svg)](https://example.org/ci)";
    assert_eq!(
        text(markdown, Dialect::Mrkdwn),
        "<https://example.org/ci|build (https://example.org/b.svg)>"
    );
    for dialect in DIALECTS {
        let shown = text(markdown, dialect);
        assert!(shown.contains("https://example.org/ci"), "{shown}");
        assert!(shown.contains("https://example.org/b.svg"), "{shown}");
    }
}
