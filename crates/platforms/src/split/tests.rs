//! Nothing lost, nothing doubled, every piece within the limit, code blocks whole.

use proptest::prelude::*;
use talaria_domain::capabilities::TextUnit;

use super::*;

fn shown(answer: &str, max: usize, unit: TextUnit) -> Vec<String> {
    let limit = TextLimit { max, unit };
    let pieces = split(answer, limit);
    let joined: String = pieces
        .iter()
        .map(|piece| &answer[piece.source.clone()])
        .collect();
    assert_eq!(joined, answer, "joined, the pieces are the answer");
    let shown: Vec<String> = pieces.iter().map(|piece| piece.render(answer)).collect();
    for piece in &shown {
        assert!(
            unit.measure(piece) <= max,
            "{} is more than {max}: {piece:?}",
            unit.measure(piece)
        );
    }
    shown
}

#[test]
fn what_fits_is_one_piece_and_nothing_is_none() {
    assert_eq!(shown("hello", 100, TextUnit::Chars), ["hello"]);
    assert_eq!(shown("", 100, TextUnit::Chars), Vec::<String>::new());
}

#[test]
fn cuts_between_blocks_before_lines_before_words() {
    let blocks = "First paragraph here.\n\nSecond paragraph here.\n";
    assert_eq!(
        shown(blocks, 30, TextUnit::Chars),
        ["First paragraph here.\n\n", "Second paragraph here.\n"]
    );
    let list = "- one two three\n- four five six\n";
    assert_eq!(
        shown(list, 24, TextUnit::Chars),
        ["- one two three\n", "- four five six\n"]
    );
    assert_eq!(
        shown("one two three four", 9, TextUnit::Chars),
        ["one two ", "three ", "four"]
    );
}

#[test]
fn what_stands_together_stays_together() {
    let answer = "some words and [a link with words](http://example.com/x) after";
    let pieces = shown(answer, 50, TextUnit::Chars);
    assert!(
        pieces
            .iter()
            .any(|piece| piece.contains("[a link with words](http://example.com/x)")),
        "{pieces:?}"
    );
}

#[test]
fn a_cut_code_block_is_closed_and_opened_again_with_its_language() {
    let answer = format!(
        "Look:\n\n```rust\n{}```\n\nDone.",
        "let a = 1;\n".repeat(20)
    );
    let pieces = shown(&answer, 100, TextUnit::Chars);
    assert!(pieces.len() > 2);
    for piece in &pieces {
        let marks = piece.lines().filter(|line| line.starts_with("```")).count();
        assert_eq!(marks % 2, 0, "{piece:?}");
        assert!(!piece.contains("```rust\n```"), "an empty block: {piece:?}");
    }
    let code: usize = pieces
        .iter()
        .map(|piece| piece.matches("let a = 1;\n").count())
        .sum();
    assert_eq!(code, 20);
}

#[test]
fn long_answers_arrive_whole_in_each_unit() {
    let answer = format!(
        "{}\n\n```text\n{}\n```\n\n{}\n\n{}",
        "An introduction of some length. ".repeat(120),
        "code code code\n".repeat(200),
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{1f980}".repeat(300),
        "x".repeat(20_000),
    );
    for (max, unit) in [
        (4_096, TextUnit::Utf16),
        (2_000, TextUnit::Chars),
        (1_000, TextUnit::Bytes),
    ] {
        let pieces = shown(&answer, max, unit);
        let is_torn = |piece: &String| piece.starts_with('\u{200d}') || piece.ends_with('\u{200d}');
        assert!(!pieces.iter().any(is_torn), "a family was torn apart");
    }
}

/// Words, marks and blocks in any order, nested or broken.
fn markdown() -> impl Strategy<Value = String> {
    let bit = prop_oneof![
        4 => "[a-z\u{e9}\u{1f980}]{1,12} ?".prop_map(String::from),
        1 => Just("\n".to_owned()),
        1 => Just("\n\n".to_owned()),
        1 => Just("```rust\n".to_owned()),
        1 => Just("\n```\n".to_owned()),
        1 => Just("~~~\n".to_owned()),
        1 => Just("- ".to_owned()),
        1 => Just("> ".to_owned()),
        1 => Just("**".to_owned()),
        1 => Just("[a b](c)".to_owned()),
        1 => Just("`x y`".to_owned()),
        1 => Just("| a | b |\n|---|---|\n| c | d |\n".to_owned()),
    ];
    prop::collection::vec(bit, 0..60).prop_map(|bits| bits.concat())
}

proptest! {
    #[test]
    fn whatever_it_is_nothing_is_lost_and_everything_fits(
        answer in markdown(),
        max in 4..120_usize,
        unit in prop::sample::select(vec![TextUnit::Bytes, TextUnit::Chars, TextUnit::Utf16]),
    ) {
        shown(&answer, max, unit);
    }
}
