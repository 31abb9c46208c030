//! The rules of the page "Markdown Text 101".

use super::super::{Dialect, write};

fn chat(markdown: &str) -> String {
    let text = write(markdown, Dialect::ChatMarkdown).text;
    text.replace('\u{200b}', "{gap}")
}

#[test]
fn only_what_would_change_meaning_is_escaped() {
    for (markdown, expected) in [
        (
            "2 * 3 * 4 snake_case <3 a < b",
            "2 * 3 * 4 snake_case <3 a < b",
        ),
        (r"\*a\* \_b\_ \`c\`", r"\*a\* \_b\_ \`c\`"),
        (r"\~\~a\~\~ \|\|b\|\| ~5 c|d", r"\~\~a\~\~ \|\|b\|\| ~5 c|d"),
        (r"C:\dir \\- \\", r"C:\dir \\- \\"),
        (r"\# a", r"\# a"),
        (r"\#a", "#a"),
        (r"\- a", r"\- a"),
        (r"\-# a", r"\-# a"),
        ("-5 a", "-5 a"),
        (r"1\. a", r"1\. a"),
        ("1.5 a", "1.5 a"),
        (r"\> a", r"\> a"),
        (r"a \> b", "a > b"),
        (r"\[a](https://b)", r"\[a](https://b)"),
        (r"\[a] b", "[a] b"),
        (r"https://a/b_c\*d\*e", "https://a/b_c*d*e"),
        ("a_*b*", r"a\__b_"),
    ] {
        assert_eq!(chat(markdown), expected, "{markdown}");
    }
}

#[test]
fn a_link_does_not_begin_on_the_line_before() {
    assert_eq!(chat("\\[a\nb](https://c)"), "\\[a\nb](https://c)");
}

#[test]
fn headings_have_three_levels() {
    assert_eq!(
        chat("# a\n## b\n### c\n#### d"),
        "# a\n\n## b\n\n### c\n\n**d**"
    );
    assert_eq!(chat("#"), "");
}

#[test]
fn code_has_a_fence_that_is_not_in_it() {
    for (markdown, expected) in [
        ("`a`", "`a`"),
        ("`` a`b ``", "``a`b``"),
        ("`` `a` ``", "`` `a` ``"),
        ("` a``b `", "`a``b`"),
        ("``` a`b``c ```", r"a\`b\`\`c"),
        ("~~~\n```\n~~~", "```\n`{gap}`{gap}`\n```"),
    ] {
        assert_eq!(chat(markdown), expected, "{markdown}");
    }
}

#[test]
fn links_are_not_ended_early() {
    for (markdown, expected) in [
        ("[a](https://b/c_(d))", "[a](https://b/c_%28d%29)"),
        ("[a [b] c](https://d)", "a [b] c (https://d)"),
        ("[https://a](https://b)", "https://a (https://b)"),
        ("[`a`](https://b)", "[`a`](https://b)"),
        ("![cat](https://b)", "[cat](https://b)"),
    ] {
        assert_eq!(chat(markdown), expected, "{markdown}");
    }
}

#[test]
fn emphasis_is_told_from_strong_words() {
    for (markdown, expected) in [
        ("*a* **b**", "_a_ **b**"),
        ("*a***b**", "_a_{gap}**b**"),
        ("un*believ*able", "un*believ*able"),
        ("***a***", "_**a**_"),
        ("**a *b***", "**a _b_**"),
    ] {
        assert_eq!(chat(markdown), expected, "{markdown}");
    }
}

#[test]
fn lists_and_quotes_keep_their_shape() {
    assert_eq!(
        chat("1. a\n   - b\n     - [x] c\n2. d\n\n> e\n>\n> > f"),
        "1. a\n   - b\n     - ☑ c\n2. d\n\n> e\n> \n> > f"
    );
}
