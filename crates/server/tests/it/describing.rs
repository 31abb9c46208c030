//! The document that describes the API: it is there, it is sound, and it is about this API.

use std::path::Path;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::conformity;
use crate::world::World;

#[tokio::test]
async fn the_document_is_open_and_sound() {
    let world = World::start().await;
    let answer = world.nobody().get("/openapi.json").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.body["openapi"], "3.1.0");
    assert_eq!(answer.body["info"]["version"], "1.2.3");
    assert!(!answer.words.contains("$defs"), "nothing refers to nowhere");
    let mut ids = Vec::new();
    for (path, method, operation) in operations(&answer.body) {
        let place = format!("{method} {path}");
        ids.push(operation["operationId"].as_str().unwrap().to_owned());
        assert!(operation["summary"].is_string(), "{place}");
        let answers = operation["responses"].as_object().unwrap();
        assert!(
            answers.keys().any(|status| status.starts_with('2')),
            "{place}"
        );
        let braces = path.matches('{').count();
        let parameters = operation["parameters"].as_array().unwrap();
        let in_path = parameters.iter().filter(|one| one["in"] == "path").count();
        assert_eq!(braces, in_path, "{place}");
        for shape in shapes(&operation) {
            let is_sound = jsonschema::draft202012::meta::is_valid(&shape);
            assert!(is_sound, "{place}: {shape}");
        }
    }
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "every operation has an id of its own");
    world.end().await;
}

fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            all.push((path.clone(), method.to_uppercase(), operation.clone()));
        }
    }
    all
}

fn shapes(operation: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    if let Some(body) = operation.pointer("/requestBody/content/application~1json/schema") {
        all.push(body.clone());
    }
    for answer in operation["responses"].as_object().unwrap().values() {
        let content = answer["content"].as_object();
        let shapes = content.into_iter().flatten();
        all.extend(shapes.filter_map(|(_, it)| it.get("schema").cloned()));
    }
    all
}

#[tokio::test]
async fn what_is_described_is_answered_and_nothing_else() {
    let world = World::start().await;
    let document = &conformity::of(world.address).await.document;
    let methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
    for (path, known) in document["paths"].as_object().unwrap() {
        let address = path
            .replace("{id}", "0198c0de-0000-7000-8000-000000000001")
            .replace("{model}", "assistant")
            .replace("{platform}", "example")
            .replace("{account}", "bot");
        for method in methods {
            let operation = &known[method.to_lowercase()];
            let asked = Method::from_bytes(method.as_bytes()).unwrap();
            let answer = world.nobody().send(asked, &address, "").await;
            let status = answer.status;
            if operation.is_null() {
                answer.refused(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed");
            } else if operation["security"].is_null() {
                assert_eq!(status, StatusCode::OK, "{method} {path}");
            } else {
                answer.refused(StatusCode::UNAUTHORIZED, "unauthorized");
            }
        }
    }
    for path in [
        "/v1/models",
        "/v1/runs",
        "/api/sessions",
        "/healthz",
        "/readyz",
    ] {
        assert!(document["paths"][path].is_object(), "{path}");
    }
    world.end().await;
}

/// The router is made in one place, from the table that the document is made from; only the page is no API.
#[test]
fn no_route_is_made_beside_the_table() {
    let mut found = Vec::new();
    look(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")),
        &mut found,
    );
    found.sort();
    assert_eq!(found, ["routes.rs", "web.rs"]);
}

fn look(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            if text.contains(".route(") || text.contains(".nest(") || text.contains("_service(") {
                found.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
}

#[tokio::test]
async fn an_answer_that_was_not_promised_is_noticed() {
    let world = World::start().await;
    let described = conformity::of(world.address).await;
    let asked = (Method::GET, "/api/keys".to_owned());
    let fits = json!({ "data": [], "next": null });
    described.check(&asked, (StatusCode::OK, "application/json"), &fits);
    let row = json!({ "id": "x", "name": "x", "scopes": [], "created_at": 1, "digest": "x" });
    for (status, type_of, body) in [
        (StatusCode::OK, "application/json", json!({ "data": [] })),
        (
            StatusCode::OK,
            "application/json",
            json!({ "data": [row], "next": null }),
        ),
        (StatusCode::OK, "text/html", fits.clone()),
        (StatusCode::IM_A_TEAPOT, "application/json", fits.clone()),
        (
            StatusCode::FORBIDDEN,
            "application/json",
            json!({ "error": "no" }),
        ),
    ] {
        let check = || described.check(&asked, (status, type_of), &body);
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check));
        assert!(checked.is_err(), "{status} {type_of} {body}");
    }
    world.end().await;
}

#[tokio::test]
async fn what_a_gateway_says_it_can_do_is_what_is_described() {
    let world = World::start().await;
    let told = world.operator().get("/v1/capabilities").await;
    let told = told.body["endpoints"].as_array().unwrap();
    let mut told: Vec<String> = told
        .iter()
        .map(|one| one.as_str().unwrap().to_owned())
        .collect();
    let document = &conformity::of(world.address).await.document;
    let all = operations(document).into_iter();
    let for_programs = all.filter(|(path, _, _)| path.starts_with("/v1/"));
    let mut described: Vec<String> = for_programs
        .map(|(path, method, _)| format!("{method} {path}"))
        .collect();
    told.sort();
    described.sort();
    assert_eq!(told, described);
    world.end().await;
}
