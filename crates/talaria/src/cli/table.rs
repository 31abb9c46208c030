//! Pure: rows under headings, aligned. Columns are as wide as what is in them; the last one is not padded.

/// Rows under headings.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings; without any it has none.
    pub(crate) fn with_headings(headings: &[&str]) -> Self {
        let headings: Vec<_> = headings.iter().map(|text| text.to_uppercase()).collect();
        let rows = Some(headings).filter(|headings| !headings.is_empty());
        Self {
            rows: rows.into_iter().collect(),
        }
    }

    /// One more row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Its lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let padded = |(cell, width): (&String, &usize)| format!("{cell:<width$}");
        let line = |row: &Vec<String>| {
            let cells: Vec<_> = row.iter().zip(&widths).map(padded).collect();
            cells.join("  ").trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests;
