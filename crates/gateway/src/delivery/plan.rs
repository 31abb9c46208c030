//! How a reply's parts become what its text is. Pure. Parts that are there are changed, missing ones are added: doing
//! it twice changes nothing.

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A part that was not there.
    Add {
        /// Its place in the reply.
        ordinal: usize,
        /// What it shows.
        markdown: String,
    },
    /// A part that shows something else.
    Revise {
        /// Which of those that are there.
        index: usize,
        /// What it is to show.
        markdown: String,
    },
}

/// What has to change so that parts that show `shown` show `wanted`. A part that is not needed any more shows an
/// ellipsis: platforms differ in whether messages can be taken back.
pub fn reconcile(shown: &[&str], wanted: &[String]) -> Vec<Change> {
    let left_over = shown.len().saturating_sub(wanted.len());
    let ellipsis = std::iter::repeat_n("…", left_over);
    let wanted = wanted.iter().map(String::as_str).chain(ellipsis);
    wanted
        .enumerate()
        .filter_map(|(index, markdown)| match shown.get(index) {
            Some(shown) if *shown == markdown => None,
            Some(_) => Some(Change::Revise {
                index,
                markdown: markdown.to_owned(),
            }),
            None => Some(Change::Add {
                ordinal: index,
                markdown: markdown.to_owned(),
            }),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    //! Reconciling is idempotent.

    use super::*;

    fn apply(shown: &[&str], wanted: &[&str]) -> Vec<String> {
        let wanted: Vec<String> = wanted.iter().map(|&text| text.to_owned()).collect();
        let mut after: Vec<String> = shown.iter().map(|&text| text.to_owned()).collect();
        for change in reconcile(shown, &wanted) {
            match change {
                Change::Add { ordinal, markdown } => {
                    assert_eq!(ordinal, after.len());
                    after.push(markdown);
                }
                Change::Revise { index, markdown } => after[index] = markdown,
            }
        }
        let again: Vec<&str> = after.iter().map(String::as_str).collect();
        let left: Vec<Change> = reconcile(&again, &wanted);
        assert_eq!(left, [], "a second time changes nothing");
        after
    }

    #[test]
    fn what_is_shown_becomes_what_is_wanted() {
        assert_eq!(apply(&[], &["a", "b"]), ["a", "b"]);
        assert_eq!(apply(&["a"], &["a", "b"]), ["a", "b"]);
        assert_eq!(apply(&["a so"], &["a so far", "b"]), ["a so far", "b"]);
        assert_eq!(apply(&["a", "b"], &["c"]), ["c", "…"]);
        assert_eq!(apply(&["a"], &["a"]), ["a"]);
    }
}
