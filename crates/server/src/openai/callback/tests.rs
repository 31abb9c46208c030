//! Where an address may stand.

use axum::http::HeaderValue;
use serde_json::json;

use super::*;

fn found(header: Option<&'static str>, body: &Value) -> Result<Option<String>, String> {
    let header = header.map(|url| (HEADER, HeaderValue::from_static(url)));
    let headers = header.into_iter().collect();
    let body = body.as_object().cloned().unwrap_or_default();
    named(&headers, &body).map_err(|refusal| refusal.to_string())
}

#[test]
fn an_address_stands_in_the_body_or_among_the_headers_and_only_one_does() {
    let (one, other) = ("https://example.org/1", "https://example.org/2");
    let table = [
        (None, json!({}), Ok(None)),
        (None, json!({ PARAM: null }), Ok(None)),
        (None, json!({ PARAM: one }), Ok(Some(one))),
        (Some(one), json!({}), Ok(Some(one))),
        (Some(one), json!({ PARAM: null }), Ok(Some(one))),
        (Some(one), json!({ PARAM: one }), Ok(Some(one))),
        (Some(one), json!({ PARAM: other }), Err("another one")),
        (None, json!({ PARAM: 7 }), Err("a text")),
        (None, json!({ PARAM: [one] }), Err("a text")),
    ];
    for (header, body, expected) in table {
        let found = found(header, &body);
        match expected {
            Ok(url) => assert_eq!(found, Ok(url.map(str::to_owned)), "{header:?} {body}"),
            Err(words) => {
                let why = found.unwrap_err();
                assert!(why.contains(words), "{header:?} {body}: {why}");
            }
        }
    }
}
