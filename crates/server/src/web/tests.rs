//! What the page must not become.

use super::*;

#[test]
fn the_page_is_one_small_document_that_loads_nothing() {
    assert!(PAGE.len() < 44_000, "{} bytes", PAGE.len());
    let filled = PAGE.replace(NONCE, "");
    assert!(!filled.contains("{{"), "everything was filled in");
    for from_elsewhere in [
        "src=\"",
        "@import",
        "url(",
        "style=\"",
        "innerHTML",
        "eval(",
    ] {
        assert!(!PAGE.contains(from_elsewhere), "{from_elsewhere}");
    }
    let links = PAGE.matches("href=\"").count();
    let inside = PAGE.matches("href=\"#").count() + PAGE.matches("href=\"data:").count();
    assert_eq!(
        links, inside,
        "links of the document itself lead nowhere else"
    );
    assert_eq!(PAGE.matches(NONCE).count(), 2, "one style and one script");
}
