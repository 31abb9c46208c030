//! Whether an answer is one that the document promises. Every answer of every story is looked at, so that the document
//! and what is really said cannot part.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use jsonschema::Validator;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

static DOCUMENT: OnceCell<Described> = OnceCell::const_new();

/// What is promised.
pub(crate) struct Described {
    pub(crate) document: Value,
    /// By operation and status.
    shapes: Mutex<HashMap<String, Arc<Validator>>>,
}

/// What the server at this address promises: the same as all the others.
pub(crate) async fn of(address: SocketAddr) -> &'static Described {
    let fetched = DOCUMENT.get_or_init(|| async move {
        let client = reqwest::Client::builder().build().unwrap();
        let answer = client.get(format!("http://{address}/openapi.json"));
        let answer = answer.send().await.unwrap();
        Described {
            document: answer.json().await.unwrap(),
            shapes: Mutex::default(),
        }
    });
    fetched.await
}

impl Described {
    /// The path as the document has it; none where nothing is there.
    pub(crate) fn template(&self, path: &str) -> Option<&str> {
        let steps: Vec<&str> = path.split('/').collect();
        let fits = |template: &&String| {
            let wanted: Vec<&str> = template.split('/').collect();
            let same = |(wanted, step): (&&str, &&str)| {
                wanted == step || (wanted.starts_with('{') && !step.is_empty())
            };
            wanted.len() == steps.len() && wanted.iter().zip(&steps).all(same)
        };
        let paths = self.document["paths"].as_object().unwrap();
        // What has a name of its own goes before what only has a place for one.
        let found = paths.keys().filter(fits);
        found
            .min_by_key(|path| path.matches('{').count())
            .map(String::as_str)
    }

    /// Asserts that an answer was promised.
    pub(crate) fn check(
        &self,
        (method, path): &(Method, String),
        (status, type_of): (StatusCode, &str),
        body: &Value,
    ) {
        // What browsers ask before they ask is no operation.
        let Some(template) = self.template(path).filter(|_| method != Method::OPTIONS) else {
            return;
        };
        let operation = &self.document["paths"][template][method.as_str().to_lowercase()];
        if operation.is_null() {
            assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
            return;
        }
        let promised = &operation["responses"][status.as_str()];
        assert!(
            promised.is_object(),
            "{method} {path} answers {status}: {body}"
        );
        if promised["content"].is_null() {
            return;
        }
        let type_of = type_of.split(';').next().unwrap_or_default();
        let format = &promised["content"][type_of];
        assert!(format.is_object(), "{method} {path} {status}: {type_of}");
        if type_of != "application/json" {
            return;
        }
        let shape = &format["schema"];
        let name = format!("{method} {template} {status}");
        let validator = self.validator(&name, shape, template.starts_with("/api/"));
        let faults = validator.iter_errors(body);
        let faults: Vec<String> = faults
            .map(|fault| format!("{fault} at {}", fault.instance_path()))
            .collect();
        assert_eq!(faults, Vec::<String>::new(), "{name}: {body}");
    }

    fn validator(&self, name: &str, shape: &Value, is_whole: bool) -> Arc<Validator> {
        let mut shapes = self.shapes.lock().unwrap();
        let made = shapes.entry(name.to_owned()).or_insert_with(|| {
            let mut shape = shape.clone();
            if is_whole {
                close(&mut shape);
            }
            shape["components"] = self.document["components"].clone();
            let options = jsonschema::draft202012::options().should_validate_formats(true);
            Arc::new(options.build(&shape).expect(name))
        });
        Arc::clone(made)
    }
}

/// Nothing is there that the document does not name: a field that was forgotten is found.
fn close(shape: &mut Value) {
    match shape {
        Value::Object(fields) => {
            if fields.contains_key("properties") && !fields.contains_key("additionalProperties") {
                fields.insert("additionalProperties".to_owned(), json!(false));
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
