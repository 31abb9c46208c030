//! RFC 1950 and 1951: the header, stored blocks, and what a flush leaves behind.

use super::ZlibStream;

#[test]
fn the_header_comes_once_and_every_payload_is_flushed() {
    let mut stream = ZlibStream::default();
    let first = stream.write("ab");
    assert_eq!(
        first,
        [
            0x78, 0x01, 0, 2, 0, 0xfd, 0xff, b'a', b'b', 0, 0, 0, 0xff, 0xff
        ]
    );
    let second = stream.write("c");
    assert_eq!(second, [0, 1, 0, 0xfe, 0xff, b'c', 0, 0, 0, 0xff, 0xff]);
}

#[test]
fn what_is_long_is_in_several_blocks() {
    let bytes = ZlibStream::default().write(&"x".repeat(65_536));
    assert_eq!(bytes.len(), 2 + 5 + 65_535 + 5 + 1 + 5);
    assert!(bytes.ends_with(&[0, 0, 0xff, 0xff]));
}
