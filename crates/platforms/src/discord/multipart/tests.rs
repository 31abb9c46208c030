//! The form of "API Reference", uploading files.

use talaria_domain::ids::PartId;

use super::{boundary, head, tail};

#[test]
fn a_form_is_a_payload_and_a_file() {
    let line = boundary(PartId::from_bytes([7; 16]));
    let mut form = head(&line, r#"{"content":""}"#, ("a.txt", "text/plain"));
    form.extend_from_slice(b"hello");
    form.extend(tail(&line));
    let form = String::from_utf8(form).unwrap();
    let expected = format!(
        "--{line}\r\nContent-Disposition: form-data; name=\"payload_json\"\r\nContent-Type: application/json\r\n\r\n\
         {{\"content\":\"\"}}\r\n--{line}\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"a.txt\"\r\n\
         Content-Type: text/plain\r\n\r\nhello\r\n--{line}--\r\n"
    );
    assert_eq!(form, expected);
}

#[test]
fn a_media_type_breaks_no_line() {
    let form = head("b", "{}", ("a", "text/plain\r\nX-Evil: 1"));
    let form = String::from_utf8(form).unwrap();
    assert!(
        form.ends_with("Content-Type: text/plainX-Evil:1\r\n\r\n"),
        "{form}"
    );
    let form = String::from_utf8(head("b", "{}", ("a", ""))).unwrap();
    assert!(form.contains("application/octet-stream"), "{form}");
}
