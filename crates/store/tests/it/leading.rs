//! What leads to a conversation whose chat is named after it: nothing but the conversation itself, until somebody changes
//! that.

use talaria_domain::address::ChatKind;
use talaria_domain::ids::SessionId;
use talaria_domain::session_key::{SessionKey, SessionKeyId, Sharing, Source};
use talaria_store::erasure::{self, Erased};
use talaria_store::maintenance::integrity;
use talaria_store::sessions::{self, Apart, Opening};
use talaria_store::transcripts::{self, Speaker, Utterance};
use talaria_store::{StoreError, forking, keys};

use crate::world::{World, person};

/// The conversation of this chat, called `session` if it is new.
fn opening_of(world: &World, chat: &str, session: SessionId) -> Opening {
    let source = Source {
        platform: "api".into(),
        account: "default".into(),
        chat_kind: ChatKind::Direct,
        chat: Some(chat.into()),
        thread: None,
        participant: None,
    };
    let key = SessionKey::derive(&"assistant".into(), &source, Sharing::default());
    Opening::of(key, person("ada").key(), session, world.now())
}

/// Opens a conversation as it is opened of which nobody can know yet, in a chat named after it.
async fn opened(world: &World) -> (Opening, SessionId) {
    let session = world.id(SessionId::from_bytes);
    let opening = opening_of(world, &session.to_string(), session);
    opens(world, &opening).await;
    (opening, session)
}

async fn opens(world: &World, opening: &Opening) {
    let (opening, at) = (opening.clone(), world.now());
    let open = move |tx: &mut talaria_store::Tx<'_>| sessions::open_with(tx, &opening, 1, at);
    let session = world.write(open).await;
    let said = Utterance {
        speaker: Speaker::User,
        text: "a heron".to_owned(),
        detail: serde_json::Value::Null,
        run: None,
        at,
    };
    let owner = person("ada").key();
    world
        .write(move |tx| transcripts::begin(tx, (session, owner), std::slice::from_ref(&said)))
        .await;
}

/// The same chat, of which a later conversation would be called something else.
fn later(world: &World, opening: &Opening) -> Opening {
    let session = world.id(SessionId::from_bytes);
    Opening::of(opening.key().clone(), opening.owner(), session, world.now())
}

async fn led(world: &World, opening: &Opening) -> SessionId {
    let opening = later(world, opening);
    world.write(move |tx| sessions::resolve(tx, &opening)).await
}

async fn current(world: &World, key: SessionKeyId) -> Option<SessionId> {
    world.read(move |tx| keys::current(tx, key)).await
}

/// How many keys have rows.
async fn rows(world: &World) -> i64 {
    let sql = "SELECT COUNT(*) FROM session_keys";
    let count = world.read(move |tx| tx.row(sql, &[], |row| row.get(0)));
    count.await.unwrap()
}

async fn erases(world: &World, session: SessionId) -> Erased {
    let owner = person("ada").key();
    let estate = world
        .read(move |tx| erasure::survey(tx, owner, session))
        .await;
    world.write(move |tx| erasure::erase(tx, &estate)).await
}

/// Starts anew in a chat.
async fn resets(world: &World, opening: &Opening) -> SessionId {
    let opening = later(world, opening);
    world
        .write(move |tx| sessions::reset(tx, &opening, "new"))
        .await
}

async fn generation(world: &World, session: SessionId) -> u32 {
    let session = world.read(move |tx| sessions::get(tx, session)).await;
    session.generation
}

async fn holds_together(world: &World) {
    assert_eq!(world.read(integrity::check).await, Vec::<String>::new());
}

both_engines! {
    async fn a_conversation_leads_its_own_chat_to_it(world) {
        let (opening, session) = opened(world).await;
        let (key, made_of) = (opening.key_id(), opening.key().clone());
        assert_eq!(rows(world).await, 0, "its own row says it all");
        assert_eq!(led(world, &opening).await, session);
        assert_eq!(current(world, key).await, Some(session));
        let origins = world.read(move |tx| Ok([keys::origin(tx, key)?, keys::origin_of(tx, session)?])).await;
        assert_eq!(origins, [made_of.clone(), made_of]);
        assert!(world.read(move |tx| sessions::has_history(tx, key)).await);
        assert_eq!(rows(world).await, 0, "looking changes nothing");
    }

    async fn those_of_one_moment_are_told_apart(world) {
        // Ids of one millisecond begin alike, and so do the keys.
        let (first, first_session) = opened(world).await;
        let (second, second_session) = opened(world).await;
        assert_eq!(first.key_id().0.as_bytes()[..6], second.key_id().0.as_bytes()[..6]);
        assert_eq!(led(world, &first).await, first_session);
        assert_eq!(led(world, &second).await, second_session);
        let nobodys = world.id(SessionId::from_bytes);
        let third = opening_of(world, &nobodys.to_string(), nobodys);
        assert_eq!(current(world, third.key_id()).await, None);
        let key = third.key_id();
        let refused = world.refusal(move |tx| keys::origin(tx, key)).await;
        assert!(matches!(refused, StoreError::NotFound { .. }), "{refused}");
    }

    async fn a_chat_that_is_named_otherwise_has_a_key_with_a_row(world) {
        let names: [fn(SessionId) -> String; 3] = [
            |_| "chat of ada".to_owned(),
            |_| "0198c0de-0000-7000-8000-000000000001".to_owned(),
            |own| own.to_string().to_uppercase(),
        ];
        for chat_of in names {
            let session = world.id(SessionId::from_bytes);
            let before = rows(world).await;
            let opening = opening_of(world, &chat_of(session), session);
            opens(world, &opening).await;
            assert_eq!(rows(world).await, before + 1);
            assert_eq!(led(world, &opening).await, session);
        }
    }

    async fn a_chat_that_leads_elsewhere_is_not_led_to_it(world) {
        let first = world.id(SessionId::from_bytes);
        let opening = opening_of(world, "chat of ada", first);
        opens(world, &opening).await;
        let (again, at) = (later(world, &opening), world.now());
        let refused = world.refusal(move |tx| sessions::open_with(tx, &again, 0, at)).await;
        assert!(matches!(refused, StoreError::NotFound { .. }), "{refused}");
        assert_eq!(led(world, &opening).await, first);
    }

    async fn a_chat_that_moves_on_has_a_row_that_counts(world) {
        let (opening, first) = opened(world).await;
        let second = resets(world, &opening).await;
        assert_eq!((rows(world).await, generation(world, second).await), (1, 1));
        assert_eq!(led(world, &opening).await, second);
        let (key, owner, at) = (opening.key_id(), opening.owner(), world.now());
        holds_together(world).await;
        world.write(move |tx| sessions::resume(tx, key, owner, first, at)).await;
        assert_eq!(led(world, &opening).await, first, "and back");
        holds_together(world).await;
        assert_eq!(erases(world, first).await, Erased::Gone);
        assert_eq!(current(world, key).await, None, "to nowhere, though there was another one");
        let third = led(world, &opening).await;
        assert_eq!(generation(world, third).await, 2);
    }

    async fn a_row_that_leads_nowhere_counts_before_a_conversation(world) {
        let (opening, first) = opened(world).await;
        let second = resets(world, &opening).await;
        assert_eq!(erases(world, second).await, Erased::Gone);
        assert_eq!(current(world, opening.key_id()).await, None);
        let third = led(world, &opening).await;
        assert_ne!(third, first);
        assert_eq!(generation(world, third).await, 1);
        for session in [first, third] {
            assert_eq!(erases(world, session).await, Erased::Gone);
        }
        assert_eq!(rows(world).await, 0);
    }

    async fn an_erased_conversation_leads_nothing_to_it(world) {
        let (opening, session) = opened(world).await;
        assert_eq!(erases(world, session).await, Erased::Gone);
        assert_eq!(current(world, opening.key_id()).await, None);
        let next = led(world, &opening).await;
        assert_eq!((generation(world, next).await, rows(world).await), (0, 1));
    }

    async fn another_chat_can_be_led_to_it(world) {
        let (opening, session) = opened(world).await;
        let (elsewhere, own) = opened(world).await;
        let (key, owner, at) = (elsewhere.key_id(), opening.owner(), world.now());
        world.write(move |tx| sessions::resume(tx, key, owner, session, at)).await;
        assert_eq!((led(world, &elsewhere).await, led(world, &opening).await), (session, session));
        assert_eq!(rows(world).await, 1, "only the one that was led");
        holds_together(world).await;
        assert_eq!(erases(world, session).await, Erased::Gone);
        assert_eq!(current(world, key).await, None);
        assert_eq!(erases(world, own).await, Erased::Gone);
        assert_eq!(rows(world).await, 0);
    }

    async fn an_agent_that_works_for_it_has_its_place(world) {
        let (opening, parent) = opened(world).await;
        let (session, owner) = (world.id(SessionId::from_bytes), opening.owner());
        let apart = Apart { session, parent, owner, at: world.now() };
        world.write(move |tx| sessions::open_apart(tx, &apart)).await;
        let origin = world.read(move |tx| keys::origin_of(tx, session)).await;
        assert_eq!(origin, *opening.key());
        assert_eq!(current(world, opening.key_id()).await, Some(parent));
    }

    async fn it_is_not_opened_as_a_new_one(world) {
        let (opening, session) = opened(world).await;
        let (owner, again) = (opening.owner(), later(world, &opening));
        let refused = world.refusal(move |tx| forking::fork(tx, owner, session, &again)).await;
        assert!(matches!(refused, StoreError::NotFound { .. }), "{refused}");
        assert_eq!(led(world, &opening).await, session);
    }
}
