//! Addresses of pictures, good and bad.

use super::Image;
use crate::models::ModelError;

#[test]
fn a_picture_is_in_its_address_or_is_fetched() {
    let inline = |media_type, base64| Image::Inline { media_type, base64 };
    let table = [
        (
            "data:image/png;base64,iVBORw0K",
            inline("image/png", "iVBORw0K"),
        ),
        (
            "data:image/gif;base64,R0lG+/A=",
            inline("image/gif", "R0lG+/A="),
        ),
        (
            "data:image/jpeg;name=a.jpg;base64,QQ==",
            inline("image/jpeg", "QQ=="),
        ),
        (
            "https://example.org/cat.png?size=9",
            Image::Remote("https://example.org/cat.png?size=9"),
        ),
    ];
    for (address, expected) in table {
        assert_eq!(Image::read(address), Ok(expected), "{address}");
    }
}

#[test]
fn what_is_no_picture_is_an_answer() {
    let head = "expected `data:image/...;base64,` in front of it";
    let base64 = "what comes after the comma is not base64";
    let other = "expected an address that starts with `https://` or `data:image/`, without blanks";
    let table = [
        ("data:", head),
        ("data:image/png;base64", head),
        ("data:,hello", head),
        ("data:image/png,hello", head),
        ("data:;base64,QUFB", head),
        ("data:image/;base64,QUFB", head),
        ("data:text/plain;base64,QUFB", head),
        ("data:image/png;base64,", base64),
        ("data:image/png;base64,====", base64),
        ("data:image/png;base64,Q===", base64),
        ("data:image/png;base64,QUF", base64),
        ("data:image/png;base64,QU=B", base64),
        ("data:image/png;base64,QU B", base64),
        ("data:image/png;base64,QU-_", base64),
        ("data:image/png;base64,QQ%3D", base64),
        ("data:image/png;base64,üü", base64),
        ("https:", other),
        ("https://", other),
        ("https:///cat.png", other),
        ("https://?cat", other),
        ("https://example.org/a cat.png", other),
        ("https:example.org", other),
        ("http://example.org/cat.png", other),
        ("file:///etc/passwd", other),
        ("", other),
    ];
    for (address, expected) in table {
        let why = format!("the picture {address:?} cannot be read: {expected}");
        let refused = Image::read(address);
        assert_eq!(
            refused,
            Err(ModelError::AskDifferently { why }),
            "{address}"
        );
    }
}

#[test]
fn a_sentence_quotes_only_the_start() {
    let address = format!("data:image/png;base64,{}", "?".repeat(1_000_000));
    let refused = Image::read(&address).unwrap_err().to_string();
    assert!(refused.len() < 200, "{}", refused.len());
    assert!(refused.contains("data:image/png;base64,?"), "{refused}");
}
