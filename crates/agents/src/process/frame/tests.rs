//! Lines, whole and in pieces, and lines without an end.

use serde_json::json;

use super::*;

fn line(text: &str) -> Frame {
    Frame::Line(text.as_bytes().to_vec())
}

fn excess(frame: &Frame) -> &Excess {
    let Frame::TooLong(excess) = frame else {
        panic!("{frame:?}");
    };
    excess
}

#[test]
fn lines_come_out_however_they_were_cut() {
    let text = b"{\"a\":1}\n\n  \r\n{\"b\":2}\nrest";
    for size in 1..text.len() {
        let mut lines = Lines::of(100);
        let frames: Vec<_> = text.chunks(size).flat_map(|it| lines.push(it)).collect();
        assert_eq!(frames, [line("{\"a\":1}"), line("{\"b\":2}")], "{size}");
        assert_eq!(lines.push(b"\n"), [line("rest")], "{size}");
    }
}

#[test]
fn a_line_of_the_limit_is_a_line_and_one_more_is_too_long() {
    let mut lines = Lines::of(8);
    assert_eq!(lines.push(b"12345678\n"), [line("12345678")]);
    let frames = lines.push(b"123456789\nnext\n");
    assert_eq!(excess(&frames[0]).bytes, 9);
    assert_eq!(frames[1], line("next"), "what comes after it is read");
}

#[test]
fn a_line_without_an_end_is_never_held() {
    let mut lines = Lines::of(64 * 1024);
    let piece = vec![b'x'; 64 * 1024];
    for _ in 0..1600 {
        assert!(lines.push(&piece).is_empty());
        let excess = lines.excess.as_ref();
        let kept = excess.map_or(0, |it| it.head.capacity() + it.tail.capacity());
        assert!(
            lines.line.capacity() + kept <= 3 * 64 * 1024,
            "{kept} bytes are held"
        );
    }
    let frames = lines.push(b"\n{}\n");
    assert_eq!(excess(&frames[0]).bytes, 1600 * 64 * 1024);
    assert_eq!(frames[1], line("{}"));
}

#[test]
fn it_is_known_whose_it_was() {
    let long = "y".repeat(5000);
    let cases = [
        (
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":17,\"params\":{{\"run\":\"r1\",\"t\":\"{long}\"}}}}"
            ),
            Some("r1"),
            Some(json!(17)),
        ),
        (
            format!(
                "{{ \"id\" : \"a\", \"params\" : {{ \"text\" : \"{long}\", \"run\" : \"r2\" }} }}"
            ),
            Some("r2"),
            Some(json!("a")),
        ),
        (
            // The text says so, the line does not.
            format!("{{\"params\":{{\"text\":\"\\\"run\\\":\\\"r3\\\"{long}\"}}}}"),
            None,
            None,
        ),
        (long, None, None),
    ];
    for (text, run, id) in cases {
        let frames = Lines::of(100).push(format!("{text}\n").as_bytes());
        let excess = excess(&frames[0]);
        assert_eq!(excess.text("run").as_deref(), run, "{text:.60}");
        assert_eq!(excess.id(), id, "{text:.60}");
    }
}
