//! Columns while they are narrow enough, then a few lines for each row.

use super::super::{Dialect, write};

fn plain(markdown: &str) -> String {
    write(markdown, Dialect::Plain).text
}

#[test]
fn columns_are_aligned() {
    assert_eq!(
        plain("|left|mid|right|\n|:-|:-:|-:|\n|a|b|c|\n|\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}|bbbbb|1|"),
        "left  |  mid  | right\n------+-------+------\na     |   b   |     c\n\u{e9}\u{e9}\u{e9}\u{e9}\u{e9} | bbbbb |     1"
    );
}

#[test]
fn sixty_columns_are_the_most() {
    let table = |width: usize| format!("|{}|b|\n|-|-|\n|c|d|", "a".repeat(width));
    assert!(plain(&table(56)).starts_with(&format!("{} | b\n", "a".repeat(56))));
    let wide = "a".repeat(57);
    assert_eq!(plain(&table(57)), format!("{wide}: c\nb: d"));
}

#[test]
fn a_wide_table_loses_nothing() {
    let wide = "a".repeat(60);
    assert_eq!(plain(&format!("|{wide}|b|\n|-|-|")), format!("{wide}\nb"));
    assert_eq!(
        plain(&format!("|{wide}||\n|-|-|\n||x|\n|y|z|")),
        format!("{wide}:\nx\n\n{wide}: y\nz")
    );
}
