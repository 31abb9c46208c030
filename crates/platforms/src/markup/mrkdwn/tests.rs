//! The rules of the page "Formatting text for app surfaces". It has no escape for marks; that an escaped bracket at the
//! start of a line is still a quote is from the document "About escape and exact mode" of the library jsx-slack.

use super::super::{Dialect, write};

fn mrkdwn(markdown: &str) -> String {
    let text = write(markdown, Dialect::Mrkdwn).text;
    text.replace('\u{200b}', "{gap}")
        .replace(super::JOINER, "{}")
}

#[test]
fn marks_that_are_text_are_left_alone_where_that_is_safe() {
    for (markdown, expected) in [
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("snake_case_name", "snake_case_name"),
        ("about ~5", "about ~5"),
        ("5* hotel", "5* hotel"),
        (r"\*a\*", "{}*{}a{}*{}"),
        (r"\~5 to \~7", "{}~{}5 to {}~{}7"),
        (r"\_a\_ b", "{}_{}a{}_{} b"),
        (r"5\* and **b**", "5{}*{} and *b*"),
        (r"\* a **b**", "* a *b*"),
        (r"\`a\`", "{}`{}a{}`{}"),
        (r"\> a", "{}&gt; a"),
        (r"a \> b", "a &gt; b"),
    ] {
        assert_eq!(mrkdwn(markdown), expected, "{markdown}");
    }
}

#[test]
fn styles_end_with_the_line_and_begin_at_words() {
    for (markdown, expected) in [
        ("**a\nb**", "*a*\n*b*"),
        ("un**believ**able", "un{gap}*believ*{gap}able"),
        ("(**a**).", "(*a*)."),
        ("**a***b*", "*a*{gap}_b_"),
        ("**a `b`**", "*a `b`*"),
        ("~~a~~", "~a~"),
    ] {
        assert_eq!(mrkdwn(markdown), expected, "{markdown}");
    }
}

#[test]
fn links_are_brackets() {
    for (markdown, expected) in [
        (
            "[a | b > c](https://d?e=1&f=|2)",
            "<https://d?e=1&amp;f=%7C2|a | b &gt; c>",
        ),
        ("[**a**](https://b)", "*<https://b|a>*"),
        ("[`a`](https://b)", "<https://b|a>"),
        ("![](https://b)", "<https://b>"),
    ] {
        assert_eq!(mrkdwn(markdown), expected, "{markdown}");
    }
}

#[test]
fn code_keeps_its_backticks() {
    for (markdown, expected) in [
        ("`a < b`", "`a &lt; b`"),
        ("`` a`b ``", "a`b"),
        (
            "````\n```\na\n```\n````",
            "```\n`{gap}`{gap}`\na\n`{gap}`{gap}`\n```",
        ),
        ("> ```\n> a\n>\n> b\n> ```", "> `a`\n> \n> `b`"),
    ] {
        assert_eq!(mrkdwn(markdown), expected, "{markdown}");
    }
}
