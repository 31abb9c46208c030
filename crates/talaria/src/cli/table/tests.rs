//! Columns stand below each other.

use super::Table;

#[test]
fn columns_are_as_wide_as_what_is_in_them() {
    let mut table = Table::with_headings(&["id", "title"]);
    table.row(["1".to_owned(), "größer".to_owned(), "x".to_owned()]);
    table.row(["22222".to_owned(), String::new()]);
    assert_eq!(table.lines(), ["ID     TITLE", "1      größer  x", "22222"]);
}

#[test]
fn without_rows_there_are_only_headings() {
    assert_eq!(Table::with_headings(&["id"]).lines(), ["ID"]);
    assert_eq!(Table::with_headings(&[]).lines(), [""; 0]);
}
