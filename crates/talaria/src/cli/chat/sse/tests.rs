//! However the bytes are cut, the events are the same.

use super::{Decoder, Sent};

const STREAM: &str = ": watching\nretry: 1000\n\nevent: said\ndata: {\"a\":\"grüße\"}\n\n:\n\ndata: one\r\ndata:two\r\n\r\n\n";

fn expected() -> Vec<Sent> {
    vec![
        Sent::Comment,
        Sent::Event("{\"a\":\"grüße\"}".to_owned()),
        Sent::Comment,
        Sent::Event("one\ntwo".to_owned()),
    ]
}

#[test]
fn pieces_of_any_size_make_the_same_events() {
    for size in 1..STREAM.len() {
        let mut decoder = Decoder::default();
        let mut sent = Vec::new();
        for piece in STREAM.as_bytes().chunks(size) {
            decoder.push(piece);
            sent.extend(std::iter::from_fn(|| decoder.next()));
        }
        assert_eq!(sent, expected(), "in pieces of {size}");
    }
}

#[test]
fn an_event_is_not_there_before_its_end() {
    let mut decoder = Decoder::default();
    decoder.push(b"data: half\n");
    assert_eq!(decoder.next(), None);
    decoder.push(b"\n");
    assert_eq!(decoder.next(), Some(Sent::Event("half".to_owned())));
}
