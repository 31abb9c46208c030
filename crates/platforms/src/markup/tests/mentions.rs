//! Nobody is called by what a model wrote, but by a mention that was meant.

use super::*;

#[test]
fn a_mention_is_a_link_to_a_user() {
    for (dialect, expected) in [
        (Dialect::Html, "Hi Ada!"),
        (Dialect::Mrkdwn, "Hi <@U123>!"),
        (Dialect::ChatMarkdown, "Hi <@U123>!"),
        (Dialect::Plain, "Hi Ada!"),
    ] {
        assert_eq!(text("Hi [Ada](mention:U123)!", dialect), expected);
    }
}

#[test]
fn a_mention_of_anything_but_a_user_is_its_name() {
    for user in ["", "!channel", "&42", "here|x", r"U1\>", "%3E", "\u{661}"] {
        for dialect in DIALECTS {
            assert_eq!(
                text(&format!("[all](<mention:{user}>)"), dialect),
                "all",
                "{user}"
            );
        }
    }
}

/// Escaping the bracket is not enough for one platform, and the name of everybody needs no bracket there.
#[test]
fn what_only_looks_like_a_mention_is_text() {
    let markdown =
        r"\@everyone, @here: \<@42> \<@&42> \<!channel> <!here> <@U1> <#C1> @**everyone**";
    let chat = text(markdown, Dialect::ChatMarkdown);
    assert_eq!(
        legible(&chat),
        r"@{gap}everyone, @{gap}here: <{gap}@42> <{gap}@&42> <{gap}!channel> <{gap}!here> <{gap}@U1> \<#C1> @**everyone**"
    );
    assert_eq!(
        text(markdown, Dialect::Mrkdwn),
        "@everyone, @here: &lt;@42&gt; &lt;@&amp;42&gt; &lt;!channel&gt; &lt;!here&gt; &lt;@U1&gt; &lt;#C1&gt; @*everyone*"
    );
}

/// Code is copied: nothing else in it is touched.
#[test]
fn code_calls_nobody() {
    let markdown = "`@here` `<@U>`\n\n```\n<!doctype> <@1> <@&2> @everyone\n```";
    assert_eq!(
        legible(&text(markdown, Dialect::ChatMarkdown)),
        "`@{gap}here` `<@U>`\n\n```\n<!doctype> <{gap}@1> <{gap}@&2> @{gap}everyone\n```"
    );
}

#[test]
fn an_address_calls_nobody() {
    let markdown = "https://example.org/@everyone [a](https://example.org/@here/x)";
    assert_eq!(
        text(markdown, Dialect::ChatMarkdown),
        "https://example.org/%40everyone [a](https://example.org/%40here/x)"
    );
}
