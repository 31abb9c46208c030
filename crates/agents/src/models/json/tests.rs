//! What is written is read back as it was.

use serde_json::{Value, json};

use super::Json;

fn written(write: impl FnOnce(&mut Json)) -> Value {
    let mut json = Json::with_room(0);
    write(&mut json);
    serde_json::from_slice(&json.into_bytes()).unwrap()
}

#[test]
fn every_text_is_read_back() {
    let long = "words ".repeat(50);
    let table = ["", "a", "grüße 👋", "\u{7f}\u{2028}", long.as_str()];
    let specials = (0..=0x20).chain([0x22, 0x5c]).filter_map(char::from_u32);
    for special in specials.map(String::from).chain([String::new()]) {
        for text in table {
            for text in [format!("{special}{text}"), format!("{text}{special}")] {
                assert_eq!(written(|json| json.text(&text)), text.as_str());
            }
        }
    }
}

#[test]
fn a_comma_stands_between_two_of_a_list() {
    for count in 0..4 {
        let list = written(|json| {
            json.raw("[");
            for number in 0..count {
                json.next();
                json.value(&json!({ "number": number }));
            }
            json.raw("]");
        });
        assert_eq!(list.as_array().map(Vec::len), Some(count));
    }
}
