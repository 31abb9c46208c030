//! The side that a test or a person talks to: somebody writes, somebody looks, something goes wrong.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use super::fault::Fault;
use super::vendor::Vendor;
use super::world::{Asked, Chat, Written, WrittenId};

pub(super) fn routes(vendor: &Arc<Vendor>) -> Router {
    Router::new()
        .route("/sim/message", post(write))
        .route("/sim/chats", get(chats))
        .route("/sim/chats/{chat}", get(chat))
        .route("/sim/requests", get(requests))
        .route("/sim/backlog", get(backlog))
        .route("/sim/fault", post(order))
        .with_state(Arc::clone(vendor))
}

async fn write(State(vendor): State<Arc<Vendor>>, Json(written): Json<Written>) -> Json<WrittenId> {
    Json(vendor.write(&written))
}

async fn chats(State(vendor): State<Arc<Vendor>>) -> Json<Vec<Chat>> {
    Json(vendor.chats())
}

/// One thread, or what is in none if it is empty, or everything if it is not named.
#[derive(Deserialize)]
struct Thread {
    thread: Option<String>,
}

async fn chat(
    State(vendor): State<Arc<Vendor>>,
    Path(chat): Path<String>,
    Query(Thread { thread }): Query<Thread>,
) -> Json<Chat> {
    let mut chat = vendor.chat(&chat);
    if let Some(thread) = thread {
        let in_thread = |other: &Option<String>| other.as_deref().unwrap_or_default() == thread;
        chat.messages.retain(|shown| in_thread(&shown.thread));
    }
    Json(chat)
}

async fn requests(State(vendor): State<Arc<Vendor>>) -> Json<Vec<Asked>> {
    Json(vendor.requests())
}

async fn backlog(State(vendor): State<Arc<Vendor>>) -> Json<Value> {
    Json(json!({ "backlog": vendor.backlog() }))
}

async fn order(State(vendor): State<Arc<Vendor>>, Json(fault): Json<Fault>) -> Json<Value> {
    vendor.order(fault);
    Json(json!({}))
}
