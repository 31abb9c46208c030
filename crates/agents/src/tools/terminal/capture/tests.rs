//! Start and end are kept, whatever comes between, however it comes.

use super::{Capture, MOST_BYTES};

fn capture(bytes: &[u8], piece: usize) -> String {
    let mut capture = Capture::default();
    for piece in bytes.chunks(piece) {
        capture.push(piece);
    }
    capture.complete()
}

#[test]
fn what_fits_is_kept_as_it_is() {
    assert_eq!(capture(b"hello\n", 1), "hello\n");
    let whole = "x".repeat(2 * MOST_BYTES);
    assert_eq!(capture(whole.as_bytes(), 7_777), whole);
    assert_eq!(capture(b"", 1), "");
}

#[test]
fn what_does_not_fit_is_left_out_in_the_middle() {
    let text = format!(
        "{}{}{}",
        "a".repeat(MOST_BYTES),
        "b".repeat(1_234),
        "c".repeat(MOST_BYTES)
    );
    let expected = format!(
        "{}\n[1234 bytes are left out here]\n{}",
        "a".repeat(MOST_BYTES),
        "c".repeat(MOST_BYTES)
    );
    for piece in [1, 999, MOST_BYTES, text.len()] {
        assert_eq!(capture(text.as_bytes(), piece), expected, "{piece}");
    }
}

#[test]
fn no_letter_is_cut_in_two() {
    // One byte in front shifts every two-byte letter across both borders.
    let text = format!("x{}", "ü".repeat(2 * MOST_BYTES));
    let shown = capture(text.as_bytes(), 4_096);
    assert!(!shown.contains('\u{fffd}'), "{}", shown.len());
    assert!(shown.starts_with("xü") && shown.ends_with("ü"));
}

#[test]
fn what_is_no_text_is_marked() {
    assert_eq!(capture(b"a\xffb\0c", 2), "a\u{fffd}b\u{fffd}c");
}

#[test]
fn what_is_held_is_bounded() {
    let mut capture = Capture::default();
    for _ in 0..1_000 {
        capture.push(&[b'y'; 16 * 1024]);
    }
    assert!(capture.start.len() + capture.end.len() <= 2 * MOST_BYTES);
    assert!(
        capture.end.capacity() < 8 * MOST_BYTES,
        "{}",
        capture.end.capacity()
    );
    assert_eq!(capture.left_out, 1_000 * 16 * 1024 - 2 * MOST_BYTES as u64);
}
