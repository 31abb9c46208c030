//! The same events come out however the bytes were cut, and whatever ends a line.

use super::{Decoder, Endless, Event, MOST_BYTES};

fn event(name: &str, data: &str) -> Event {
    Event {
        name: name.to_owned(),
        data: data.to_owned(),
    }
}

fn decode(pieces: &[&[u8]]) -> Vec<Event> {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(decoder.push(piece).unwrap());
    }
    events.extend(decoder.finish());
    events
}

/// Rules and examples: "9.2.6 Interpreting an event stream", HTML standard.
#[test]
fn lines_become_events() {
    let table: [(&str, &[(&str, &str)]); 10] = [
        ("data: a\n\n", &[("", "a")]),
        ("data:a\r\n\r\ndata:b\r\r", &[("", "a"), ("", "b")]),
        ("event: ping\ndata: {}\n\n", &[("ping", "{}")]),
        ("data: a\ndata: b\n\n", &[("", "a\nb")]),
        (": OPENROUTER PROCESSING\n\ndata: a\n\n", &[("", "a")]),
        ("id: 7\nretry: 1\nwhat\ndata: a\n\n", &[("", "a")]),
        ("data:  two blanks\n\n", &[("", " two blanks")]),
        ("\u{feff}data: a\n\n", &[("", "a")]),
        ("event: lonely\n\n", &[]),
        (
            "data: closed without a blank line\n",
            &[("", "closed without a blank line")],
        ),
    ];
    for (text, expected) in table {
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, data)| event(name, data))
            .collect();
        assert_eq!(decode(&[text.as_bytes()]), expected, "{text:?}");
    }
}

#[test]
fn half_a_line_at_the_end_is_dropped() {
    assert_eq!(decode(&[b"data: a\n\ndata: {\"cut"]), [event("", "a")]);
}

#[test]
fn a_cut_at_any_byte_changes_nothing() {
    let text = "event: one\r\ndata: grüße 👋\r\n\r\n: a comment\r\rdata: a\ndata: b\n\ndata: c\n\n";
    let bytes = text.as_bytes();
    let whole = decode(&[bytes]);
    assert_eq!(whole.len(), 3);
    for at in 0..=bytes.len() {
        let (first, second) = bytes.split_at(at);
        assert_eq!(decode(&[first, second]), whole, "cut at {at}");
    }
    let single: Vec<_> = bytes.chunks(1).collect();
    assert_eq!(decode(&single), whole);
}

#[test]
fn a_line_without_an_end_is_refused() {
    let mut decoder = Decoder::default();
    let piece = vec![b'x'; MOST_BYTES / 2 + 1];
    assert_eq!(decoder.push(&piece), Ok(Vec::new()));
    assert_eq!(decoder.push(&piece), Err(Endless));
}

#[test]
fn an_event_without_an_end_is_refused() {
    let mut decoder = Decoder::default();
    let line = [b"data: ", vec![b'x'; MOST_BYTES / 2].as_slice(), b"\n"].concat();
    assert_eq!(decoder.push(&line), Ok(Vec::new()));
    assert_eq!(decoder.push(&line), Err(Endless));
}

#[test]
fn bytes_that_are_no_text_are_marked() {
    assert_eq!(decode(&[b"data: a\xffb\n\n"]), [event("", "a\u{fffd}b")]);
}
