//! A table of ways back.

use talaria_domain::principal::{Principal, Role};

use super::*;

const SESSION: SessionId = SessionId::from_bytes([7; 16]);
const JOB: JobId = JobId::from_bytes([1; 16]);
const NEXT: JobId = JobId::from_bytes([2; 16]);

fn asked(address: Address) -> ReturnAddress {
    ReturnAddress {
        address,
        requester: Principal {
            platform: "example".into(),
            account: "bot".into(),
            user: "key".into(),
            alternate: None,
            display_name: None,
            role: Role::Member,
        },
        profile: "assistant".into(),
        session: SESSION,
    }
}

fn chat(kind: ChatKind) -> Address {
    Address {
        platform: "example".into(),
        account: "bot".into(),
        chat_kind: kind,
        chat: "chat".into(),
        thread: Some("topic".into()),
        reply_to: Some("message".into()),
    }
}

fn hook() -> Address {
    Address {
        platform: "elsewhere".into(),
        account: "bot".into(),
        chat_kind: ChatKind::Webhook,
        chat: "https://example.org/hooks/1".into(),
        thread: None,
        reply_to: None,
    }
}

#[test]
fn without_a_callback_a_job_goes_back_to_where_it_was_asked_for() {
    for kind in ChatKind::ALL {
        let asked = asked(chat(kind));
        assert_eq!(of(&asked, None, JOB), asked, "{kind:?}");
        assert!(!is_called_back(&asked), "{kind:?}");
    }
}

#[test]
fn with_one_it_goes_there_and_says_what_it_is_about() {
    for kind in ChatKind::ALL {
        let asked = asked(chat(kind));
        let back = of(&asked, Some(&hook()), JOB);
        let expected = Address {
            thread: Some(SESSION.to_string().as_str().into()),
            reply_to: Some(JOB.to_string().as_str().into()),
            ..hook()
        };
        assert_eq!(back.address, expected, "{kind:?}");
        assert_eq!(
            (back.session, &back.requester, &back.profile),
            (asked.session, &asked.requester, &asked.profile),
            "whose it is does not change"
        );
        assert!(is_called_back(&back));
    }
}

#[test]
fn what_a_turn_begins_that_was_woken_for_it_goes_there_too_under_its_own_id() {
    let woken = of(&asked(chat(ChatKind::Direct)), Some(&hook()), JOB);
    let back = of(&woken, None, NEXT);
    assert_eq!(back.address.target(), woken.address.target());
    assert_eq!(
        back.address.reply_to,
        Some(NEXT.to_string().as_str().into())
    );
    let elsewhere = Address {
        chat: "https://example.org/hooks/2".into(),
        ..hook()
    };
    let other = of(&woken, Some(&elsewhere), NEXT);
    assert_eq!(other.address.chat, elsewhere.chat);
}

#[test]
fn a_program_is_reached_where_it_is_called_back_or_as_it_says() {
    use DeliveryWindow::{Always, InTurnOnly, Never};
    let reach = |address: &Address| match address.chat.as_str() {
        "chat" | "https://example.org/hooks/1" => Always,
        _ => Never,
    };
    let unknown = Address {
        chat: "https://example.org/hooks/2".into(),
        ..hook()
    };
    let table = [
        (None, None, Always),
        (Some(InTurnOnly), None, InTurnOnly),
        (Some(InTurnOnly), Some(hook()), Always),
        (None, Some(hook()), Always),
        (Some(Always), Some(unknown), Never),
    ];
    for (own, callback, expected) in table {
        let wishes = Wishes {
            window: own,
            callback,
            ..Wishes::default()
        };
        let found = window(Some(&wishes), &chat(ChatKind::Direct), reach);
        assert_eq!(found, expected, "{wishes:?}");
    }
    assert_eq!(window(None, &chat(ChatKind::Direct), reach), Always);
}
