//! The form of "API Reference", uploading files.

use super::fields;

const FORM: &[u8] = b"--boundary\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\
Content-Type: application/json\r\n\r\n{\"content\": \"Hello, World!\"}\r\n--boundary\r\n\
Content-Disposition: form-data; name=\"files[0]\"; filename=\"cat.png\"\r\nContent-Type: image/png\r\n\r\n\
\x00--bound\r\n\xff\r\n--boundary--\r\n";

#[test]
fn the_example_is_read() {
    let fields = fields("multipart/form-data; boundary=boundary", FORM).unwrap();
    assert_eq!(fields[0].name, "payload_json");
    assert_eq!(fields[0].content, b"{\"content\": \"Hello, World!\"}");
    assert_eq!(fields[1].file_name.as_deref(), Some("cat.png"));
    assert_eq!(fields[1].media_type.as_deref(), Some("image/png"));
    assert_eq!(fields[1].content, b"\x00--bound\r\n\xff");
    assert_eq!(fields.len(), 2);
}

#[test]
fn what_is_no_form_is_none() {
    for (media_type, body) in [
        ("application/json", FORM),
        ("multipart/form-data; boundary=other", FORM),
        ("multipart/form-data; boundary=boundary", &FORM[..40]),
        ("multipart/form-data; boundary=boundary", b""),
    ] {
        assert!(fields(media_type, body).is_none(), "{media_type}");
    }
}
