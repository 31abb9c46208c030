//! The four ways of "Making requests" in core.telegram.org/bots/api.

use serde_json::json;

use super::Parameters;

#[test]
fn the_same_question_in_every_way() {
    let json = br#"{"chat_id":42,"text":"a & b","reply_parameters":{"message_id":1},"flag":true}"#;
    let form = b"chat_id=42&text=a+%26+b&reply_parameters=%7B%22message_id%22%3A1%7D&flag=true";
    let multipart = b"--X\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n42\r\n\
        --X\r\nContent-Disposition: form-data; name=\"text\"\r\nContent-Type: text/plain\r\n\r\na & b\r\n\
        --X\r\ncontent-disposition:form-data;name=\"reply_parameters\"\r\n\r\n{\"message_id\":1}\r\n\
        --X\r\nContent-Disposition: form-data; name=\"flag\"\r\n\r\ntrue\r\n--X--\r\n";
    let query = "chat_id=42&text=a+%26+b&reply_parameters=%7B%22message_id%22%3A1%7D&flag=true";
    for asked in [
        Parameters::read("", "application/json", json),
        Parameters::read("", "application/x-www-form-urlencoded", form),
        Parameters::read("", "multipart/form-data; boundary=X", multipart),
        Parameters::read(query, "", b""),
    ] {
        assert_eq!(asked.number("chat_id"), Some(42));
        assert_eq!(asked.text("text"), Some("a & b"));
        assert_eq!(
            asked.json("reply_parameters"),
            Some(json!({ "message_id": 1 }))
        );
        assert!(asked.flag("flag") && !asked.flag("other"));
    }
}

#[test]
fn files_are_found_by_their_field_or_by_what_it_names() {
    let body = b"--X\r\nContent-Disposition: form-data; name=\"document\"; filename=\"a.txt\"\r\n\
        Content-Type: text/plain\r\n\r\nwhat\r\nis in it\r\n\
        --X\r\nContent-Disposition: form-data; name=\"photo\"\r\n\r\nattach://other\r\n\
        --X\r\nContent-Disposition: form-data; name=\"other\"; filename=\"b.png\"\r\n\r\n\x00\xff\r\n--X--\r\n";
    let asked = Parameters::read("", "multipart/form-data; boundary=\"X\"", body);
    let document = asked.file("document").unwrap();
    assert_eq!(
        (document.name.as_str(), document.media_type.as_str()),
        ("a.txt", "text/plain")
    );
    assert_eq!(document.content, b"what\r\nis in it");
    assert_eq!(asked.file("photo").unwrap().content, b"\x00\xff");
    assert_eq!(asked.file("voice"), None);
    assert_eq!(asked.shown()["document"], json!("[14 bytes of a.txt]"));
}
