//! A turn as a runner outside is told of it. Where a file is kept, and everything that only the gateway needs to know,
//! stays here.
//!
//! Pure: a turn in, an order out.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};
use talaria_domain::address::Address;
use talaria_domain::authority::ResourceKind;
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Attachment, Event, EventKind};
use talaria_domain::names::{MessageId, ThreadId};
use talaria_domain::runner::Turn;

use super::ModelOffer;
use super::methods;
use super::wire::{
    Attached, Delivery, HISTORY, Happened, Input, Introduction, Place, Resource, RunOrder, Spoken,
};

/// Of what was said before, so many bytes are told at once; the rest can be asked for.
const MOST_HISTORY: usize = 1 << 20;

/// The order for a turn.
pub(super) fn order(turn: &Turn, runner: &Introduction, models: &[ModelOffer]) -> RunOrder {
    let is_wanted = runner.has(HISTORY);
    RunOrder {
        run: turn.run,
        event: turn.input.last().map(happened),
        input: Input {
            text: turn.prompt.clone(),
            events: turn.input.iter().map(happened).collect(),
        },
        instructions: turn.profile.instructions.clone(),
        history: is_wanted.then(|| history(turn)),
        state: state(turn),
        is_state_whole: turn.state.is_whole,
        scopes: turn.state.open.iter().map(|scope| scope.as_str()).collect(),
        methods: methods::methods(turn.authority.authority(), &turn.state.open),
        resources: resources(turn, models),
        config: Value::Object(turn.config.clone()),
        delivery: delivery(turn),
        options: turn.options.clone(),
    }
}

/// An event as it is told. A locator is not: it is the adapter's, and may hold a credential.
pub(super) fn happened(event: &Event) -> Happened {
    Happened {
        id: event.id.to_string(),
        kind: event.kind.as_str(),
        text: text(&event.kind),
        place: place(&event.address),
        sender: event.principal.user.to_string(),
        sender_name: event.principal.display_name.clone(),
        message: event
            .message
            .as_ref()
            .map(MessageId::as_str)
            .map(str::to_owned),
        received_at: event.received_at.as_millis(),
        attachments: attachments(event)
            .iter()
            .enumerate()
            .map(|(number, attachment)| attached(event, number, attachment))
            .collect(),
    }
}

/// The attachment that a runner knows by this name, if it came with what this turn answers.
pub(super) fn find_file<'a>(turn: &'a Turn, file: &str) -> Option<&'a Attachment> {
    let files = turn.input.iter().flat_map(|event| {
        let numbered = attachments(event).iter().enumerate();
        numbered.map(|(number, attachment)| (file_name(event, number), attachment))
    });
    let mut found = files.filter(|(name, _)| name == file);
    found.next().map(|(_, attachment)| attachment)
}

fn file_name(event: &Event, number: usize) -> String {
    format!("{}/{number}", event.id)
}

const fn attachments(event: &Event) -> &[Attachment] {
    match &event.kind {
        EventKind::Message(content) | EventKind::Edited(content) => content.attachments.as_slice(),
        _ => &[],
    }
}

fn attached(event: &Event, number: usize, attachment: &Attachment) -> Attached {
    Attached {
        file: file_name(event, number),
        kind: json!(attachment.kind),
        name: attachment.file_name.clone(),
        media_type: attachment.media_type.clone(),
        size_bytes: attachment.size_bytes,
    }
}

fn text(kind: &EventKind) -> String {
    match kind {
        EventKind::Message(content) | EventKind::Edited(content) => content.text.clone(),
        EventKind::Reaction { reaction, .. } => reaction.clone(),
        EventKind::Command { name, arguments } => format!("/{name} {arguments}").trim().to_owned(),
        EventKind::Internal { text, .. } => text.clone(),
        // A button's token is nobody's to know.
        EventKind::Membership { .. } | EventKind::Pressed { .. } => String::new(),
    }
}

fn place(address: &Address) -> Place {
    Place {
        platform: address.platform.to_string(),
        account: address.account.to_string(),
        chat_kind: address.chat_kind.as_str(),
        chat: address.chat.to_string(),
        thread: address.thread.as_ref().map(ThreadId::to_string),
    }
}

fn delivery(turn: &Turn) -> Delivery {
    let asked_at = turn.input.last().map(|event| event.received_at);
    let to = &turn.return_to;
    Delivery {
        place: place(&to.address),
        profile: to.profile.to_string(),
        session: to.session.to_string(),
        is_reachable_later: turn.window.may_promise(asked_at.unwrap_or(Timestamp::ZERO)),
    }
}

/// The newest of what was said, as much as is told at once. It begins with somebody's words, not with a tool's.
fn history(turn: &Turn) -> Vec<Spoken> {
    let mut room = MOST_HISTORY;
    let mut start = turn.history.len();
    for said in turn.history.iter().rev() {
        let calls: usize = said
            .calls
            .iter()
            .map(|it| it.arguments.to_string().len())
            .sum();
        let images: usize = said.images.iter().map(String::len).sum();
        let Some(left) = room.checked_sub(said.text.len() + calls + images + 64) else {
            break;
        };
        room = left;
        start -= 1;
    }
    let told = turn.history.iter().skip(start);
    let told = told.skip_while(|said| said.answers.is_some());
    told.cloned().map(Spoken::from).collect()
}

fn state(turn: &Turn) -> Map<String, Value> {
    let scopes = turn.state.scopes.iter();
    let scopes = scopes.map(|(scope, values)| (scope.as_str().to_owned(), json!(values)));
    scopes.collect()
}

/// What the run may use. Files go by the names that the events give them.
fn resources(turn: &Turn, models: &[ModelOffer]) -> Vec<Resource> {
    let window = |kind: ResourceKind, name: &str| {
        let mut models = models.iter().filter(|_| kind == ResourceKind::Model);
        let model = models.find(|offer| offer.name == name)?;
        Some(model.model.window())
    };
    let granted = turn
        .authority
        .authority()
        .grants
        .iter()
        .flat_map(|(kind, grants)| {
            let named = grants.iter();
            named.map(move |(name, grant)| (*kind, name, &grant.operations))
        });
    let others = granted.clone();
    let others = others.filter(|(kind, ..)| *kind != ResourceKind::File);
    let mut all: Vec<_> = others
        .map(|(kind, name, operations)| Resource {
            kind,
            window: window(kind, name),
            name: name.clone(),
            operations: operations.clone(),
        })
        .collect();
    let files = turn.authority.authority().grants.get(&ResourceKind::File);
    for event in turn.input.iter() {
        for (number, attachment) in attachments(event).iter().enumerate() {
            let grant = files.and_then(|files| files.get(&attachment.locator));
            all.extend(grant.map(|grant| Resource {
                kind: ResourceKind::File,
                name: file_name(event, number),
                operations: grant.operations.clone(),
                window: None,
            }));
        }
    }
    all
}
