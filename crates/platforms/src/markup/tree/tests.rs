//! What Markdown would swallow is kept, and nothing is too deep.

use super::*;

fn words(text: &str) -> Inline {
    Inline::Text(text.to_owned())
}

fn paragraph(text: &str) -> Block {
    Block::Paragraph(vec![words(text)])
}

#[test]
fn a_definition_that_nothing_refers_to_is_text() {
    assert_eq!(parse("[INFO]: done"), [paragraph("[INFO]: done")]);
    let quoted = parse("> [a]: b");
    assert_eq!(quoted, [Block::Quote(vec![paragraph("[a]: b")])]);
}

#[test]
fn a_definition_beside_it_is_still_one() {
    let tree = parse("See [two].\n\n[one]: https://a\n[two]: https://b\n[three]: https://c");
    let link = Inline::Link {
        address: "https://b".to_owned(),
        content: vec![words("two")],
    };
    let first = Block::Paragraph(vec![words("See "), link, words(".")]);
    assert_eq!(tree.first(), Some(&first));
    assert_eq!(tree.len(), 3, "{tree:?}");
}

#[test]
fn a_row_with_too_many_cells_keeps_them() {
    let tree = parse("|a|b|\n|-|-|\n|1|2|3|4|\n|5|");
    let [Block::Table(table)] = tree.as_slice() else {
        panic!("{tree:?}");
    };
    let text = |row: &Vec<Cell>| row.iter().map(|cell| text_of(cell)).collect::<Vec<_>>();
    let rows: Vec<_> = table.rows.iter().map(text).collect();
    assert_eq!(rows, [["1", "2 | 3|4"], ["5", ""]]);
}

#[test]
fn the_title_of_a_link_is_kept() {
    let tree = parse("[a](https://a \"why\")");
    let [Block::Paragraph(line)] = tree.as_slice() else {
        panic!("{tree:?}");
    };
    assert_eq!(line.last(), Some(&words(" (why)")));
}

#[test]
fn tasks_and_numbers_and_room_are_kept() {
    let tree = parse("7. [x] a\n8. [ ] b\n9. c");
    let [Block::List(list)] = tree.as_slice() else {
        panic!("{tree:?}");
    };
    let tasks: Vec<_> = list.items.iter().map(|item| item.is_done).collect();
    assert_eq!((list.first, list.is_loose), (Some(7), false));
    assert_eq!(tasks, [Some(true), Some(false), None]);
    let tree = parse("- [x] a\n\n- b");
    let [Block::List(list)] = tree.as_slice() else {
        panic!("{tree:?}");
    };
    assert!(list.is_loose);
    assert_eq!(list.items[0].is_done, Some(true));
}

#[test]
fn the_language_of_a_fence_is_a_word() {
    for (line, expected) in [
        ("rust", "rust"),
        ("c++ title=\"x\"", "c++"),
        ("js,linenos", "js"),
        ("\"><script>", ""),
        ("", ""),
    ] {
        let tree = parse(&format!("```{line}\na\n\nb\n```"));
        let expected = Block::Code {
            language: expected.to_owned(),
            text: "a\n\nb".to_owned(),
        };
        assert_eq!(tree, [expected], "{line}");
    }
}

fn depth(blocks: &[Block]) -> usize {
    let inner = blocks.iter().map(|block| match block {
        Block::Quote(blocks) | Block::Footnote { blocks, .. } => 1 + depth(blocks),
        Block::List(list) => {
            let items = list.items.iter().map(|item| depth(&item.blocks));
            2 + items.max().unwrap_or_default()
        }
        _ => 1,
    });
    inner.max().unwrap_or_default()
}

#[test]
fn nothing_is_too_deep() {
    for bit in ["> ", "- ", "1. > "] {
        let tree = parse(&format!("{}end", bit.repeat(500)));
        let depth = depth(&tree);
        assert!((30..40).contains(&depth), "{bit:?}: {depth}");
    }
}
