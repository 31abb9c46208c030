//! The side that a test or a person talks to: somebody writes, presses or marks, somebody looks, something goes wrong.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use super::fault::Fault;
use super::room::{Asked, Chat, Press, Reaction, Written, WrittenId};
use super::stage::{Stage, World};

pub(super) fn routes<W: World>(stage: &Arc<Stage<W>>) -> Router {
    Router::new()
        .route("/sim/message", post(write::<W>))
        .route("/sim/press", post(press::<W>))
        .route("/sim/reaction", post(react::<W>))
        .route("/sim/chats", get(chats::<W>))
        .route("/sim/chats/{chat}", get(chat::<W>))
        .route("/sim/requests", get(requests::<W>))
        .route("/sim/backlog", get(backlog::<W>))
        .route("/sim/fault", post(order::<W>))
        .with_state(Arc::clone(stage))
}

type At<W> = State<Arc<Stage<W>>>;

async fn write<W: World>(State(stage): At<W>, Json(written): Json<Written>) -> Json<WrittenId> {
    Json(stage.write(&written))
}

async fn press<W: World>(
    State(stage): At<W>,
    Json(press): Json<Press>,
) -> (StatusCode, Json<Value>) {
    found(stage.press(&press))
}

async fn react<W: World>(
    State(stage): At<W>,
    Json(reaction): Json<Reaction>,
) -> (StatusCode, Json<Value>) {
    found(stage.react(&reaction))
}

fn found(is_found: bool) -> (StatusCode, Json<Value>) {
    let status = if is_found {
        StatusCode::OK
    } else {
        StatusCode::NOT_FOUND
    };
    (status, Json(json!({ "found": is_found })))
}

async fn chats<W: World>(State(stage): At<W>) -> Json<Vec<Chat>> {
    Json(stage.chats())
}

/// One thread, or what is in none if it is empty, or everything if it is not named.
#[derive(Deserialize)]
struct Thread {
    thread: Option<String>,
}

async fn chat<W: World>(
    State(stage): At<W>,
    Path(chat): Path<String>,
    Query(Thread { thread }): Query<Thread>,
) -> Json<Chat> {
    let mut chat = stage.chat(&chat);
    if let Some(thread) = thread {
        let in_thread = |other: &Option<String>| other.as_deref().unwrap_or_default() == thread;
        chat.messages.retain(|shown| in_thread(&shown.thread));
        chat.signs.retain(|signed| in_thread(&signed.thread));
    }
    Json(chat)
}

async fn requests<W: World>(State(stage): At<W>) -> Json<Vec<Asked>> {
    Json(stage.requests())
}

async fn backlog<W: World>(State(stage): At<W>) -> Json<Value> {
    Json(json!({ "backlog": stage.backlog() }))
}

async fn order<W: World>(State(stage): At<W>, Json(fault): Json<Fault>) -> Json<Value> {
    stage.order(fault);
    Json(json!({}))
}
