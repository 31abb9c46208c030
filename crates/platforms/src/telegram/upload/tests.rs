//! A form, word for word, as RFC 7578 has it.

use serde_json::json;

use super::{head, quoted};
use crate::telegram::outbound::Upload;

#[test]
fn fields_come_first_and_objects_are_written_as_json() {
    let fields =
        json!({ "chat_id": 42, "caption": "look", "reply_parameters": { "message_id": 1 } });
    let upload = Upload {
        field: "document",
        file_name: "a \"b\"\r\nc.txt".to_owned(),
        media_type: "text/plain".to_owned(),
    };
    let written = head(fields.as_object().unwrap(), &upload, "EDGE");
    let expected = "--EDGE\r\nContent-Disposition: form-data; name=\"caption\"\r\n\r\nlook\r\n\
                    --EDGE\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n42\r\n\
                    --EDGE\r\nContent-Disposition: form-data; name=\"reply_parameters\"\r\n\r\n{\"message_id\":1}\r\n\
                    --EDGE\r\nContent-Disposition: form-data; name=\"document\"; filename=\"a %22b%22  c.txt\"\r\n\
                    Content-Type: text/plain\r\n\r\n";
    assert_eq!(written, expected);
    assert_eq!(quoted("ö.txt"), "ö.txt");
}
