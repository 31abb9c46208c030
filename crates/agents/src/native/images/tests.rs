//! Kinds of pictures, by their first bytes.

use super::media_type;

#[test]
fn four_kinds_are_known_by_how_they_begin() {
    let table: [(&[u8], Option<&str>); 7] = [
        (b"\x89PNG\r\n\x1a\n", Some("image/png")),
        (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
        (b"GIF89a", Some("image/gif")),
        (b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp")),
        (b"RIFF\0\0\0\0WAVEfmt ", None),
        (b"<svg", None),
        (b"", None),
    ];
    for (bytes, expected) in table {
        assert_eq!(media_type(bytes), expected, "{bytes:?}");
    }
}
