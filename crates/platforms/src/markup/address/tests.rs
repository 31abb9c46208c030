//! Which addresses are found in a text, and which are followed.

use super::*;

#[test]
fn an_address_ends_where_the_sentence_goes_on() {
    for (text, expected) in [
        ("see https://a.org/b_c, or", Some("https://a.org/b_c")),
        ("(https://a.org/b)", Some("https://a.org/b")),
        ("https://a.org/b_(c)", Some("https://a.org/b_(c)")),
        ("(https://a.org/b_(c)).", Some("https://a.org/b_(c)")),
        ("[https://a.org/b]", Some("https://a.org/b")),
        ("\"http://a.org\">", Some("http://a.org")),
        (
            "https://a.org/\u{e9}\u{3002}next",
            Some("https://a.org/\u{e9}"),
        ),
        ("xhttps://a.org", None),
        ("http and https://", None),
        ("https://...", None),
        ("ftp://a.org", None),
    ] {
        let found = find(text).map(|(start, end)| &text[start..end]);
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn only_the_web_is_followed() {
    for (address, expected) in [
        ("https://a", true),
        ("HTTP://a", true),
        ("https://", false),
        ("javascript:alert(1)", false),
        ("mailto:a@b", false),
        ("tg://user?id=1", false),
        ("#part", false),
        ("", false),
    ] {
        assert_eq!(is_web(address), expected, "{address}");
    }
}

#[test]
fn what_ends_an_address_early_is_encoded() {
    assert_eq!(
        encoded("https://a/b c|d\n>", "|>"),
        "https://a/b%20c%7Cd%0A%3E"
    );
    assert_eq!(encoded("https://a/\u{e9}", "|"), "https://a/\u{e9}");
}

#[test]
fn a_link_in_one_style_is_in_that_style_as_a_whole() {
    let words = || vec![Inline::Text("a".to_owned())];
    let address = || "https://a".to_owned();
    let styled = link(address(), vec![Inline::Strong(words())]);
    let inside = Inline::Link {
        address: address(),
        content: words(),
    };
    assert_eq!(styled, Inline::Strong(vec![inside]));
}
