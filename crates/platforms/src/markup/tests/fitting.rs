//! What is too long with its markup is the source, and never cut.

use super::*;

const fn chars(max: usize) -> TextLimit {
    let unit = TextUnit::Chars;
    TextLimit { max, unit }
}

#[test]
fn what_fits_is_markup() {
    let fitted = fit("**a** <", Dialect::Html, chars(3));
    assert_eq!(fitted.text, "<b>a</b> &lt;");
    assert!(fitted.is_markup);
}

#[test]
fn what_does_not_fit_is_the_source_in_the_dialect() {
    let table = "|a|b|\n|-|-|\n|<c|@here <@1>|";
    for (dialect, max, expected) in [
        (Dialect::Html, 28, "|a|b|\n|-|-|\n|&lt;c|@here &lt;@1&gt;|"),
        (
            Dialect::Mrkdwn,
            40,
            "|a|b|\n|-|-|\n|&lt;c|@here &lt;@1&gt;|",
        ),
        (Dialect::Mrkdwn, 29, "|a|b|\n|-|-|\n|<c|@Here (@1>|"),
        (Dialect::ChatMarkdown, 29, "|a|b|\n|-|-|\n|<c|@Here (@1>|"),
        (Dialect::Plain, 28, table),
        // More than there is room for: that is for whoever cuts it.
        (Dialect::Plain, 5, table),
    ] {
        let fitted = fit(table, dialect, chars(max));
        assert_eq!(fitted.text, expected, "{dialect:?}");
        assert!(!fitted.is_markup, "{dialect:?}");
    }
}
