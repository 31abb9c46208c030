//! The rules of sharing as a table, and the property that distinct structures never share a key.

use proptest::prelude::*;

use super::*;

const DIRECT: ChatKind = ChatKind::Direct;
const GROUP: ChatKind = ChatKind::Group;

fn source(kind: ChatKind, chat: &str, thread: &str, user: &str) -> Source {
    let filled = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Source {
        platform: "example".into(),
        account: "bot".into(),
        chat_kind: kind,
        chat: filled(chat).map(ChatId::from),
        thread: filled(thread).map(ThreadId::from),
        participant: filled(user).map(UserId::from),
    }
}

fn shape(key: &SessionKey) -> (&str, &str, &str) {
    (
        key.chat.as_ref().map_or("", ChatId::as_str),
        key.thread.as_ref().map_or("", ThreadId::as_str),
        key.participant.as_ref().map_or("", UserId::as_str),
    )
}

#[test]
fn who_shares_a_conversation() {
    let sharing = |group_per_user, thread_per_user| Sharing {
        group_per_user,
        thread_per_user,
    };
    let (default, shared, own) = (
        Sharing::default(),
        sharing(false, false),
        sharing(true, true),
    );
    let table = [
        // a direct chat is its chat and thread, never its user
        (source(DIRECT, "c", "", "u"), default, ("c", "", "")),
        (source(DIRECT, "c", "t", "u"), default, ("c", "t", "")),
        (source(DIRECT, "c", "", "u"), own, ("c", "", "")),
        // no chat: the participant stands in
        (source(DIRECT, "", "", "u"), default, ("", "", "u")),
        (source(DIRECT, "", "t", "u"), default, ("", "t", "u")),
        // neither: the thread, then one sink
        (source(DIRECT, "", "t", ""), default, ("", "t", "")),
        (source(DIRECT, "", "", ""), default, ("", "", "")),
        // other chats: per user, threads shared
        (source(GROUP, "c", "", "u"), default, ("c", "", "u")),
        (source(GROUP, "c", "t", "u"), default, ("c", "t", "")),
        (source(GROUP, "c", "", "u"), shared, ("c", "", "")),
        (source(GROUP, "c", "t", "u"), own, ("c", "t", "u")),
        // a thread per user needs groups per user
        (
            source(GROUP, "c", "t", "u"),
            sharing(false, true),
            ("c", "t", ""),
        ),
        // nobody known: one conversation for the chat
        (source(GROUP, "c", "", ""), default, ("c", "", "")),
    ];
    for (source, sharing, expected) in table {
        let key = SessionKey::derive(&"assistant".into(), &source, sharing);
        assert_eq!(shape(&key), expected, "{source:?} with {sharing:?}");
    }
}

#[test]
fn shared_means_several_people_can_meet() {
    let default = Sharing::default();
    assert!(!default.is_shared(&source(DIRECT, "c", "t", "u")));
    assert!(!default.is_shared(&source(GROUP, "c", "", "u")));
    assert!(default.is_shared(&source(GROUP, "c", "t", "u")));
    assert!(
        Sharing {
            group_per_user: false,
            ..default
        }
        .is_shared(&source(GROUP, "c", "", "u"))
    );
}

#[test]
fn the_alternate_user_id_wins_and_empty_ids_are_absent() {
    let address = Address {
        platform: "example".into(),
        account: "bot".into(),
        chat_kind: GROUP,
        chat: "c".into(),
        thread: Some("".into()),
        reply_to: None,
    };
    let mut ada = Principal {
        platform: "example".into(),
        account: "bot".into(),
        user: "7".into(),
        alternate: Some("stable".into()),
        display_name: None,
        role: crate::principal::Role::Guest,
    };
    let made = Source::of(&address, &ada);
    assert_eq!(made, source(GROUP, "c", "", "stable"));
    ada.alternate = Some("".into());
    assert_eq!(Source::of(&address, &ada), source(GROUP, "c", "", "7"));
    ada.user = "".into();
    assert_eq!(Source::of(&address, &ada), source(GROUP, "c", "", ""));
}

#[test]
fn profile_and_account_are_always_part_of_it_and_no_profile_is_special() {
    let base = source(DIRECT, "c", "", "u");
    let key = |profile: &str, source: &Source| {
        SessionKey::derive(&profile.into(), source, Sharing::default()).id()
    };
    let other_account = Source {
        account: "second".into(),
        ..base.clone()
    };
    assert_ne!(key("assistant", &base), key("assistant", &other_account));
    let ids = ["main", "default", "", "assistant"].map(|profile| key(profile, &base));
    for (index, id) in ids.iter().enumerate() {
        assert!(!ids[..index].contains(id), "two profiles met in one key");
    }
}

/// The digest is part of every stored row: if this vector changes, every stored conversation is orphaned.
#[test]
fn the_id_never_changes_between_releases() {
    let key = SessionKey::derive(
        &"assistant".into(),
        &source(GROUP, "c", "", "u"),
        Sharing::default(),
    );
    assert_eq!(
        key.id().0.to_string(),
        "77b65e35839294806a476caa6c5797de226e8cf8529fe436b51605476939fd34"
    );
}

#[test]
fn keys_of_chats_that_we_named_lie_in_the_order_of_their_naming() {
    let key = |kind, chat: &str| {
        SessionKey::derive(
            &"assistant".into(),
            &source(kind, chat, "", "u"),
            Sharing::default(),
        )
        .id()
    };
    let named = |time: &str| format!("{time}-7000-8000-000000000001");
    let keys =
        ["0198c0de-0000", "0198c0de-0001", "0298c0de-0000"].map(|it| key(DIRECT, &named(it)));
    assert!(keys.is_sorted(), "{keys:?}");
    assert!(keys[0].0.to_string().starts_with("0198c0de0000"));
    let same_time = key(DIRECT, "0198c0de-0000-7000-8000-000000000002");
    assert_ne!(keys[0], same_time, "the rest tells them apart");
    // What has no time of ours, or is no chat with one person, stays all digest.
    for (kind, chat) in [
        (DIRECT, "0198c0de-0000-4000-8000-000000000001"),
        (DIRECT, "0198c0de00007000800000000000000001"),
        (GROUP, "0198c0de-0000-7000-8000-000000000001"),
    ] {
        assert!(
            !key(kind, chat).0.to_string().starts_with("0198c0de"),
            "{chat}"
        );
    }
}

/// Fields made of few characters, separators among them, so that a joined text would collide soon.
fn tricky() -> impl Strategy<Value = String> {
    "[a:/|\\x00\u{1f}]{0,4}"
}

fn keys() -> impl Strategy<Value = SessionKey> {
    let kind = prop::sample::select(ChatKind::ALL.to_vec());
    let optional = || prop::option::of(tricky());
    let names = (tricky(), tricky(), tricky());
    (names, kind, optional(), optional(), optional()).prop_map(
        |(names, chat_kind, chat, thread, participant)| SessionKey {
            profile: names.0.into(),
            platform: names.1.into(),
            account: names.2.into(),
            chat_kind,
            chat: chat.map(ChatId::from),
            thread: thread.map(ThreadId::from),
            participant: participant.map(UserId::from),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn distinct_structures_never_share_a_key(keys in prop::collection::vec(keys(), 2..60)) {
        let keys: Vec<_> = keys.into_iter().map(|key| (key.id(), key)).collect();
        for (index, (id, key)) in keys.iter().enumerate() {
            for (other_id, other) in &keys[..index] {
                prop_assert_eq!(key == other, id == other_id, "{:?} and {:?}", key, other);
            }
        }
    }
}
