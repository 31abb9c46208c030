//! "HTML style" of core.telegram.org/bots/api#formatting-options.

use serde_json::json;

use super::read;

#[test]
fn tags_become_entities_in_utf16() {
    let plain = read(
        "🦀 <b>bold <i>both</i></b> &lt;x&gt; &amp; <a href=\"https://x.org/?a=1&amp;b=2\">l</a>",
        Some("HTML"),
    )
    .unwrap();
    assert_eq!(plain.text, "🦀 bold both <x> & l");
    assert_eq!(
        json!(plain.entities),
        json!([
            { "type": "bold", "offset": 3, "length": 9 },
            { "type": "italic", "offset": 8, "length": 4 },
            { "type": "text_link", "offset": 19, "length": 1, "url": "https://x.org/?a=1&b=2" },
        ])
    );
}

#[test]
fn what_is_wrong_is_said_in_its_words() {
    for (text, words) in [
        ("<p>x</p>", "Unsupported start tag \"p\" at byte offset 0"),
        (
            "<b>x",
            "Can't find end tag corresponding to start tag \"b\"",
        ),
        (
            "<b>x</i>",
            "Unmatched end tag at byte offset 4, expected \"</b>\", found \"</i>\"",
        ),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("a < b", "Unclosed start tag at byte offset 2"),
    ] {
        let said = read(text, Some("HTML")).unwrap_err();
        assert_eq!(said, format!("can't parse entities: {words}"));
    }
}

#[test]
fn without_a_mode_everything_is_text() {
    assert_eq!(read("<b>x & y", None).unwrap().text, "<b>x & y");
    assert!(read("x", Some("Klingon")).is_err());
}
