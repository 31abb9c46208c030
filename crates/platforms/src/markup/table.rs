//! Tables for dialects that have none: columns in a monospaced block where that is narrow enough, else a few lines for
//! each row.
//!
//! Pure: table in, text or blocks out.

use pulldown_cmark::Alignment;

use super::plain;
use super::tree::{Block, Cell, Inline, Table};

/// How many characters still fit beside each other on a telephone held sideways.
const WIDEST: usize = 60;
const BETWEEN: &str = " | ";
const CROSSING: &str = "-+-";

/// The table in columns, or nothing if it is too wide.
pub(super) fn columns(table: &Table) -> Option<String> {
    let rows: Vec<Vec<String>> = [&table.head]
        .into_iter()
        .chain(&table.rows)
        .map(|row| row.iter().map(|cell| plain::line(cell)).collect())
        .collect();
    let widths: Vec<usize> = (0..table.alignments.len())
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let widths = cells.map(|cell| cell.chars().count());
            widths.max().unwrap_or_default().max(1)
        })
        .collect();
    let gaps = BETWEEN.len() * widths.len().saturating_sub(1);
    if widths.iter().sum::<usize>() + gaps > WIDEST {
        return None;
    }
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| row_of(row, &widths, &table.alignments))
        .collect();
    let ruler: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    lines.insert(1.min(lines.len()), ruler.join(CROSSING));
    Some(lines.join("\n"))
}

fn row_of(row: &[String], widths: &[usize], alignments: &[Alignment]) -> String {
    let padded = widths.iter().zip(alignments).enumerate();
    let padded = padded.map(|(column, (width, alignment))| {
        let cell = row.get(column).map(String::as_str).unwrap_or_default();
        match alignment {
            Alignment::Right => format!("{cell:>width$}"),
            Alignment::Center => format!("{cell:^width$}"),
            Alignment::None | Alignment::Left => format!("{cell:<width$}"),
        }
    });
    let padded: Vec<String> = padded.collect();
    padded.join(BETWEEN).trim_end().to_owned()
}

/// The table as a paragraph for each row: a line for each cell, with what stands above it.
pub(super) fn records(table: &Table) -> Vec<Block> {
    if table.rows.is_empty() {
        let head = table.head.iter().map(strong);
        return vec![Block::Paragraph(joined(head))];
    }
    let record = |row: &Vec<Cell>| {
        let columns = table.head.len().max(row.len());
        let fields = (0..columns).map(|column| {
            let cell = |row: &Vec<Cell>| row.get(column).cloned().unwrap_or_default();
            field(&cell(&table.head), cell(row))
        });
        Block::Paragraph(joined(fields.filter(|field| !field.is_empty())))
    };
    table.rows.iter().map(record).collect()
}

fn field(head: &Cell, mut cell: Cell) -> Cell {
    if head.is_empty() {
        return cell;
    }
    let mut field = strong(head);
    let colon = if cell.is_empty() { ":" } else { ": " };
    field.push(Inline::Text(colon.to_owned()));
    field.append(&mut cell);
    field
}

fn strong(cell: &Cell) -> Cell {
    vec![Inline::Strong(cell.clone())]
}

fn joined(lines: impl Iterator<Item = Cell>) -> Vec<Inline> {
    let mut joined = Vec::new();
    for line in lines {
        if !joined.is_empty() {
            joined.push(Inline::Break);
        }
        joined.extend(line);
    }
    joined
}

#[cfg(test)]
mod tests;
