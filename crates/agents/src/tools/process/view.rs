//! Lines of an output.
//!
//! Pure: text in, lines out.

/// Which lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    /// The first one, from 0; the last lines if it is not given.
    pub(super) offset: Option<usize>,
    /// How many.
    pub(super) limit: usize,
}

/// Lines that are shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lines {
    /// Them.
    pub(super) text: String,
    /// The number of the first one.
    pub(super) first: usize,
    /// How many they are.
    pub(super) count: usize,
    /// How many there are in all.
    pub(super) total: usize,
}

/// The lines in the window.
pub(super) fn lines(text: &str, window: &Window) -> Lines {
    let all: Vec<&str> = text.lines().collect();
    let total = all.len();
    let first = window.offset.unwrap_or(total.saturating_sub(window.limit));
    let shown: Vec<_> = all.into_iter().skip(first).take(window.limit).collect();
    Lines {
        text: shown.join("\n"),
        first,
        count: shown.len(),
        total,
    }
}

#[cfg(test)]
mod tests {
    //! Which lines are shown.

    use super::{Window, lines};

    #[test]
    fn the_last_lines_or_those_from_an_offset_are_shown() {
        let text = "a\nb\nc\nd\n";
        let table = [
            (None, 2, "c\nd", 2, 2),
            (None, 200, "a\nb\nc\nd", 0, 4),
            (Some(0), 2, "a\nb", 0, 2),
            (Some(1), 2, "b\nc", 1, 2),
            (Some(3), 2, "d", 3, 1),
            (Some(9), 2, "", 9, 0),
        ];
        for (offset, limit, shown, first, count) in table {
            let lines = lines(text, &Window { offset, limit });
            let found = (lines.text.as_str(), lines.first, lines.count, lines.total);
            assert_eq!(found, (shown, first, count, 4), "{offset:?} {limit}");
        }
        let empty = lines(
            "",
            &Window {
                offset: None,
                limit: 2,
            },
        );
        assert_eq!((empty.text.as_str(), empty.total), ("", 0));
    }
}
