//! "Formatting message text" (<https://docs.slack.dev/messaging/formatting-message-text>), as it comes to us.

use super::{Names, escaped, mentioned, mentions, readable, without_address};

fn names() -> Names {
    Names::from([("U1".to_owned(), "Ada".to_owned())])
}

#[test]
fn every_token_has_a_meaning() {
    for (text, expected) in [
        ("hello", "hello"),
        ("", ""),
        ("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"),
        ("&amp;lt;", "&lt;"),
        ("<@U1> is here", "@Ada is here"),
        ("<@U2> is here", "@U2 is here"),
        ("<@U2|ben> is here", "@ben is here"),
        ("<@U1|ada.l> is here", "@Ada is here"),
        ("<#C1|general>", "#general"),
        ("<#C1>", "#C1"),
        ("<#C1|>", "#C1"),
        ("<!here> <!channel> <!everyone>", "@here @channel @everyone"),
        ("<!here|here>", "@here"),
        ("<!subteam^S1|@team>", "@team"),
        ("<!subteam^S1>", "@subteam"),
        ("<!date^1392734382^{date}|in 2014>", "in 2014"),
        ("<https://example.org>", "https://example.org"),
        (
            "<https://example.org/?a=1&amp;b=2>",
            "https://example.org/?a=1&b=2",
        ),
        (
            "<https://example.org|the page>",
            "the page (https://example.org)",
        ),
        ("<http://example.org|example.org>", "http://example.org"),
        (
            "<mailto:ada@example.org|ada@example.org>",
            "ada@example.org",
        ),
        ("<mailto:ada@example.org|Ada>", "Ada"),
        ("a < b", "a < b"),
        ("a <<@U1>", "a <@Ada"),
        ("<", "<"),
        ("<>", "<>"),
        ("<@>", "@"),
        ("ä<@U1>ö", "ä@Adaö"),
    ] {
        assert_eq!(readable(text, &names()), expected, "{text}");
    }
}

#[test]
fn somebody_is_mentioned_by_their_id_alone() {
    assert!(mentions("hey <@U9>!", "U9"));
    assert!(mentions("hey <@U9|bot>!", "U9"));
    for text in [
        "hey @bot",
        "hey U9",
        "&lt;@U9&gt;",
        "<@U99>",
        "<#U9>",
        "<https://example.org/@U9>",
    ] {
        assert!(!mentions(text, "U9"), "{text}");
    }
    let all: Vec<_> = mentioned("<@U1> and <@U2|ben> and <#C1>").collect();
    assert_eq!(all, ["U1", "U2"]);
}

#[test]
fn an_address_at_the_start_is_not_part_of_what_is_said() {
    for (text, rest) in [
        ("<@U9> hello", "hello"),
        (" <@U9>: hello", "hello"),
        ("<@U9>, <@U9> hello", "hello"),
        ("<@U9|bot> /stop", "/stop"),
        ("<@U9>", ""),
        ("<@U1> hello <@U9>", "<@U1> hello <@U9>"),
        ("hello <@U9>", "hello <@U9>"),
        ("<https://example.org>", "<https://example.org>"),
    ] {
        assert_eq!(without_address(text, "U9"), rest, "{text}");
    }
}

#[test]
fn what_is_escaped_is_read_back() {
    for text in ["a < b & c > d", "<@U1>", "&lt;", "&amp;amp;", "<!channel>"] {
        assert_eq!(readable(&escaped(text), &names()), text);
    }
}
