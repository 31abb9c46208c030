//! What holds for any text: it has an answer, the same each time; no word of it is missing; tags are well-formed; what
//! fits stays within the limit; and plain words are left alone.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::*;

const MARKS: &[&str] = &[
    "\n",
    "\n\n",
    "\n    ",
    "\n  ",
    "*",
    "**",
    "_",
    "__",
    "~~",
    "`",
    "``",
    "```rust\n",
    "\n```\n",
    "~~~\n",
    "- ",
    "+ ",
    "* ",
    "1. ",
    "7) ",
    "- [x] ",
    "- [ ] ",
    "> ",
    "# ",
    "###### ",
    "\n---\n",
    "\n===\n",
    "[",
    "](",
    ")",
    "![",
    "](https://example.org/a_b(c) \"a title\")",
    "](./x)",
    "<https://example.org>",
    "https://example.org/a_b_c?d=1&e=2).",
    "<ada@example.org>",
    "<b>",
    "</b>",
    "<!-- x -->",
    "<div>\n",
    "&lt;",
    "&amp;",
    "&",
    "<",
    ">",
    "\"",
    "'",
    "|",
    "||",
    "\\",
    "@everyone",
    "<@42>",
    "[^n]",
    "\n[^n]: ",
    "\n[word]: ",
    "| a | b |\n|---|:-:|\n| c | d | e |\n",
    "| a | b |\n|---|---|\n",
    "\u{202e}",
    "\u{200d}",
    "\t",
    "\r\n",
    "\0",
];

/// Words, marks and blocks in any order, nested or broken.
fn markdown() -> impl Strategy<Value = String> {
    let bit = prop_oneof![
        3 => "[a-z\u{e9}\u{5d0}\u{1f980}0-9]{1,12} ?".prop_map(String::from),
        4 => prop::sample::select(MARKS).prop_map(str::to_owned),
    ];
    prop::collection::vec(bit, 0..60).prop_map(|bits| bits.concat())
}

/// Structured or not.
fn anything() -> impl Strategy<Value = String> {
    prop_oneof![3 => markdown(), 1 => any::<String>()]
}

fn dialect() -> impl Strategy<Value = Dialect> {
    prop::sample::select(DIALECTS.to_vec())
}

/// The words of the source as its parser sees them, and apart from them those above the columns of tables: a table that
/// is too wide has them once more in each row, and in another order.
fn words(markdown: &str) -> (Vec<String>, Vec<String>) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES;
    let (mut words, mut heads) = (Vec::new(), Vec::new());
    let mut is_head = false;
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(Tag::TableHead) => is_head = true,
            Event::End(TagEnd::TableHead) => is_head = false,
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                let found = text.split(|char: char| !char.is_alphanumeric());
                let found = found.filter(|word| !word.is_empty()).map(str::to_owned);
                if is_head { &mut heads } else { &mut words }.extend(found);
            }
            _ => {}
        }
    }
    (words, heads)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_text_has_an_answer_and_always_the_same(markdown in anything(), dialect in dialect()) {
        prop_assert_eq!(write(&markdown, dialect), write(&markdown, dialect));
    }

    #[test]
    fn no_word_is_missing_and_all_are_in_order(markdown in anything(), dialect in dialect()) {
        let written = write(&markdown, dialect);
        let (words, heads) = words(&markdown);
        let mut rest = written.visible.as_str();
        for word in words {
            let Some(at) = rest.find(&word) else {
                return Err(TestCaseError::fail(format!("{word:?} is not in {rest:?} of {written:?}")));
            };
            rest = &rest[at + word.len()..];
        }
        for head in heads {
            prop_assert!(written.visible.contains(&head), "{head:?} is not in {written:?}");
        }
    }

    #[test]
    fn tags_are_well_formed(markdown in anything()) {
        let html = text(&markdown, Dialect::Html);
        prop_assert_eq!(well_formed::fault(&html), None, "{}", html);
    }

    #[test]
    fn what_fits_as_it_is_stays_within_the_limit(
        markdown in anything(),
        dialect in dialect(),
        unit in prop::sample::select(vec![TextUnit::Bytes, TextUnit::Chars, TextUnit::Utf16]),
        spare in 0..40_usize,
    ) {
        let limit = TextLimit { max: unit.measure(&markdown) + spare, unit };
        let fitted = fit(&markdown, dialect, limit);
        let counted = counted(fitted.text, dialect);
        prop_assert!(counted.visible_len(unit) <= limit.max, "{counted:?} is more than {limit:?}");
    }

    #[test]
    fn plain_words_are_the_same_everywhere(
        words in prop::collection::vec("[a-zA-Z0-9\u{e9}\u{5d0}\u{1f980}]{1,12}[,!?]?( |\n|\n\n)", 0..40),
        dialect in dialect(),
    ) {
        let words = words.concat();
        let words = words.trim();
        prop_assert_eq!(write(words, dialect).visible, words);
        prop_assert_eq!(text(words, dialect), words);
    }

    /// Whatever stands between brackets in this dialect does something: nothing of a text may.
    #[test]
    fn only_links_and_mentions_have_brackets_in_mrkdwn(markdown in anything()) {
        let written = text(&markdown, Dialect::Mrkdwn);
        for (at, _) in written.match_indices('<') {
            let rest = &written[at + 1..];
            prop_assert!(rest.to_lowercase().starts_with("http"), "{written:?}");
        }
    }

    #[test]
    fn nobody_is_called_in_chat_markdown(bits in prop::collection::vec(
        prop::sample::select(vec!["@everyone", "@here", "<@1>", "<@&2>", "*", "a", " ", "\\", "[", "](https://a/", ")", "`", "\n"]),
        0..30,
    )) {
        let written = text(&bits.concat(), Dialect::ChatMarkdown);
        for call in ["@everyone", "@here", "<@"] {
            prop_assert!(!written.contains(call), "{written:?}");
        }
    }

    /// The dialect is Markdown enough to be read back: marks that were text are text again.
    #[test]
    fn text_with_marks_is_text_again_in_chat_markdown(
        lines in prop::collection::vec("[ab1 *_`()\\[\\]<>#+\\-.!\\\\]{0,12}[ab]", 0..6),
    ) {
        let escape = |char: char| match char {
            char if char.is_ascii_punctuation() => format!("\\{char}"),
            char => char.to_string(),
        };
        let source: String = lines.join("\n").chars().map(escape).collect();
        let written = text(&source, Dialect::ChatMarkdown);
        let read = text(&written, Dialect::Plain).replace('\u{200b}', "");
        prop_assert_eq!(read, text(&source, Dialect::Plain), "{}", written);
    }
}

/// Stacks are finite, and so is patience.
#[test]
fn deep_and_long_texts_have_an_answer() {
    for (bit, times) in [
        ("> ", 3_000),
        ("- ", 3_000),
        ("*a **b ", 3_000),
        ("[", 20_000),
        ("![a](", 3_000),
        ("http://a.b/)))) ", 5_000),
        ("https://", 20_000),
        ("`a ", 9_999),
        ("a|", 2_000),
        ("[a]: b\n", 3_000),
        ("  * * *", 5_000),
    ] {
        let markdown = format!("{}end", bit.repeat(times));
        for dialect in DIALECTS {
            assert!(text(&markdown, dialect).contains("end"), "{bit:?}");
        }
    }
}
