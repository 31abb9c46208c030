//! What a locator may name.

use super::{Files, place};

#[test]
fn a_locator_names_something_below_out_or_nothing() {
    let files = Files {
        root: "/data/files".into(),
        shareable: Vec::new(),
        private: None,
    };
    let named = place(&files, "file:out/1-a.pdf");
    assert_eq!(named, Some("/data/files/out/1-a.pdf".into()));
    let others = [
        "",
        "out/1-a.pdf",
        "file:out/",
        "file:out/../../operator.key",
        "file:out/..",
        "file:out/a/b",
        "file:in/a",
        "file:/etc/passwd",
        "AgACAgI",
    ];
    for locator in others {
        assert_eq!(place(&files, locator), None, "{locator}");
    }
}
