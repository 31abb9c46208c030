//! Closed by default; one decision for everything.

use talaria_domain::names::UserId;

use super::*;
use crate::access::policy::Groups;

fn person(user: &str) -> Principal {
    Principal {
        platform: "example".into(),
        account: "bot".into(),
        user: user.into(),
        alternate: None,
        display_name: Some("ada".to_owned()),
        role: Role::Owner,
    }
}

fn chat(kind: ChatKind, thread: Option<&str>) -> Address {
    Address {
        platform: "example".into(),
        account: "bot".into(),
        chat_kind: kind,
        chat: "room".into(),
        thread: thread.map(Into::into),
        reply_to: None,
    }
}

const TO_US: Deed = Deed::Wrote(Mention::Direct, Author::Person);
const TO_ALL: Deed = Deed::Wrote(Mention::Absent, Author::Person);

fn facts<'a>(principal: &'a Principal, address: &'a Address, deed: Deed) -> Facts<'a> {
    Facts {
        principal,
        address,
        deed,
        command: None,
        grant: None,
        has_spoken: false,
    }
}

fn direct(policy: &AccessPolicy, who: &Principal) -> Decision {
    let address = chat(ChatKind::Direct, None);
    decide(policy, &facts(who, &address, TO_ALL))
}

fn allowing(user: &str) -> AccessPolicy {
    AccessPolicy {
        allow: [user.into()].into(),
        ..AccessPolicy::default()
    }
}

const fn allowed(role: Role, because: Source) -> Decision {
    Decision::Allowed { role, because }
}

const STRANGER: Decision = Decision::Refused {
    reason: Refused::Stranger,
};
const UNHEARD: Decision = Decision::Ignored {
    reason: Ignored::NotMentioned,
};
const PROGRAM: Decision = Decision::Ignored {
    reason: Ignored::Bot,
};

#[test]
fn nobody_is_let_in_by_default_whatever_they_do_wherever() {
    let policy = AccessPolicy::default();
    let deeds = [
        TO_US,
        TO_ALL,
        Deed::Changed(Mention::Direct, Author::Person),
        Deed::Wrote(Mention::Reply, Author::Bot),
        Deed::Did,
    ];
    for kind in ChatKind::ALL {
        for deed in deeds {
            for command in [None, Some("help"), Some("stop")] {
                let (who, address) = (person("7"), chat(kind, Some("t")));
                let facts = Facts {
                    command,
                    has_spoken: true,
                    ..facts(&who, &address, deed)
                };
                let decision = decide(&policy, &facts);
                let is_out = matches!(
                    decision,
                    Decision::Refused { .. } | Decision::Ignored { .. }
                );
                assert!(is_out, "{kind:?} {deed:?} {command:?}: {decision:?}");
            }
        }
    }
}

#[test]
fn stable_ids_are_let_in_and_claimed_roles_are_not_believed() {
    let policy = allowing("7");
    let member = allowed(Role::Member, Source::Allow);
    assert_eq!(direct(&policy, &person("7")), member);
    let alternate = |user: &str, alternate: &str| Principal {
        alternate: Some(UserId::from(alternate)),
        ..person(user)
    };
    assert_eq!(direct(&policy, &alternate("x", "7")), member);
    for stranger in [person("8"), alternate("7", "8"), person(""), person("ada")] {
        assert_eq!(direct(&policy, &stranger), STRANGER, "{stranger:?}");
    }
}

#[test]
fn the_highest_role_of_all_sources_counts() {
    let who = person("7");
    let room = chat(ChatKind::Group, None);
    let here = Groups {
        allow_chats: ["room".into()].into(),
        ..Groups::default()
    };
    let table = [
        (AccessPolicy::default(), None, STRANGER),
        (
            AccessPolicy {
                groups: here.clone(),
                ..AccessPolicy::default()
            },
            None,
            allowed(Role::Guest, Source::Chat),
        ),
        (
            AccessPolicy {
                anyone: true,
                ..AccessPolicy::default()
            },
            None,
            allowed(Role::Guest, Source::Anyone),
        ),
        (
            AccessPolicy::default(),
            Some(Role::Member),
            allowed(Role::Member, Source::Grant),
        ),
        (
            allowing("7"),
            Some(Role::Admin),
            allowed(Role::Admin, Source::Grant),
        ),
        (
            AccessPolicy {
                roles: [("7".into(), Role::Owner)].into(),
                groups: here,
                anyone: true,
                ..allowing("7")
            },
            Some(Role::Guest),
            allowed(Role::Owner, Source::Roles),
        ),
        (
            AccessPolicy {
                roles: [("7".into(), Role::Guest)].into(),
                ..AccessPolicy::default()
            },
            None,
            allowed(Role::Guest, Source::Roles),
        ),
    ];
    for (policy, grant, expected) in table {
        let facts = Facts {
            grant,
            ..facts(&who, &room, TO_US)
        };
        assert_eq!(decide(&policy, &facts), expected, "{policy:?} {grant:?}");
    }
}

#[test]
fn a_chat_lets_nobody_into_direct_chats() {
    let policy = AccessPolicy {
        groups: Groups {
            allow_chats: ["room".into()].into(),
            ..Groups::default()
        },
        ..AccessPolicy::default()
    };
    assert_eq!(direct(&policy, &person("7")), STRANGER);
}

#[test]
fn a_checked_key_has_its_role_and_needs_no_mention() {
    let policy = AccessPolicy {
        surface: Trust::Checked,
        ..AccessPolicy::default()
    };
    let (who, room) = (person("8"), chat(ChatKind::Group, None));
    assert_eq!(
        decide(&policy, &facts(&who, &room, TO_ALL)),
        allowed(Role::Owner, Source::Surface)
    );
}

#[test]
fn where_several_are_something_has_to_be_said_to_us() {
    let member = allowed(Role::Member, Source::Allow);
    let said = |mention| Deed::Wrote(mention, Author::Person);
    let changed = Deed::Changed(Mention::Absent, Author::Person);
    let table = [
        (ChatKind::Direct, said(Mention::Absent), member),
        (ChatKind::Group, said(Mention::Absent), UNHEARD),
        (ChatKind::Group, said(Mention::Direct), member),
        (ChatKind::Group, said(Mention::Reply), member),
        (ChatKind::Channel, said(Mention::Absent), UNHEARD),
        (ChatKind::Forum, said(Mention::Absent), UNHEARD),
        (ChatKind::Forum, said(Mention::Direct), member),
        (ChatKind::Thread, said(Mention::Absent), UNHEARD),
        (ChatKind::Thread, said(Mention::Reply), member),
        (ChatKind::Group, changed, UNHEARD),
        (ChatKind::Group, Deed::Did, member),
    ];
    let (policy, who) = (allowing("7"), person("7"));
    for (kind, deed, expected) in table {
        let address = chat(kind, None);
        assert_eq!(
            decide(&policy, &facts(&who, &address, deed)),
            expected,
            "{kind:?} {deed:?}"
        );
    }
    let mut open = policy;
    open.groups.mention = Mentions::Optional;
    let room = chat(ChatKind::Group, None);
    assert_eq!(decide(&open, &facts(&who, &room, TO_ALL)), member);
}

#[test]
fn a_thread_that_we_have_answered_in_is_followed_unless_the_operator_said_no() {
    let (policy, who) = (allowing("7"), person("7"));
    let topic = chat(ChatKind::Forum, Some("42"));
    let unasked = facts(&who, &topic, TO_ALL);
    assert_eq!(decide(&policy, &unasked), UNHEARD);
    assert!(may_follow(&policy, &unasked));
    let followed = Facts {
        has_spoken: true,
        ..unasked
    };
    assert_eq!(
        decide(&policy, &followed),
        allowed(Role::Member, Source::Allow)
    );
    let mut strict = policy.clone();
    strict.groups.threads = Threads::Mention;
    assert_eq!(decide(&strict, &followed), UNHEARD);
    assert!(!may_follow(&strict, &unasked));
    let stranger = person("8");
    assert!(
        !may_follow(&policy, &facts(&stranger, &topic, TO_ALL)),
        "nobody looks for a stranger"
    );
    let room = chat(ChatKind::Group, None);
    assert!(
        !may_follow(&policy, &facts(&who, &room, TO_ALL)),
        "a room is no thread"
    );
}

#[test]
fn programs_are_ignored_unless_the_operator_said_otherwise() {
    let said = |mention| Deed::Wrote(mention, Author::Bot);
    let member = allowed(Role::Member, Source::Allow);
    let table = [
        (Bots::Ignore, ChatKind::Direct, Mention::Direct, PROGRAM),
        (Bots::Ignore, ChatKind::Group, Mention::Direct, PROGRAM),
        (Bots::Mentions, ChatKind::Group, Mention::Absent, PROGRAM),
        (Bots::Mentions, ChatKind::Group, Mention::Direct, member),
        (Bots::Mentions, ChatKind::Direct, Mention::Absent, member),
        (Bots::All, ChatKind::Group, Mention::Absent, UNHEARD),
        (Bots::All, ChatKind::Group, Mention::Reply, member),
        (Bots::All, ChatKind::Direct, Mention::Absent, member),
    ];
    let who = person("7");
    for (bots, kind, mention, expected) in table {
        let policy = AccessPolicy {
            bots,
            ..allowing("7")
        };
        let address = chat(kind, None);
        let decision = decide(&policy, &facts(&who, &address, said(mention)));
        assert_eq!(decision, expected, "{bots:?} {kind:?} {mention:?}");
    }
    let open = AccessPolicy {
        bots: Bots::All,
        ..allowing("8")
    };
    let address = chat(ChatKind::Direct, None);
    let decision = decide(&open, &facts(&who, &address, said(Mention::Direct)));
    assert_eq!(
        decision, STRANGER,
        "they have to be let in like everybody else"
    );
}

#[test]
fn only_people_who_write_to_us_alone_may_ask_to_be_paired() {
    let policy = AccessPolicy {
        strangers: Strangers::Pair,
        bots: Bots::All,
        ..AccessPolicy::default()
    };
    let who = person("7");
    let table = [
        (ChatKind::Direct, TO_ALL, Decision::Pair),
        (ChatKind::Direct, Deed::Did, STRANGER),
        (
            ChatKind::Direct,
            Deed::Changed(Mention::Absent, Author::Person),
            STRANGER,
        ),
        (
            ChatKind::Direct,
            Deed::Wrote(Mention::Direct, Author::Bot),
            STRANGER,
        ),
        (ChatKind::Group, TO_US, STRANGER),
        (ChatKind::Thread, TO_US, STRANGER),
        (ChatKind::Webhook, TO_US, STRANGER),
    ];
    for (kind, deed, expected) in table {
        let address = chat(kind, None);
        assert_eq!(
            decide(&policy, &facts(&who, &address, deed)),
            expected,
            "{kind:?} {deed:?}"
        );
    }
    assert_eq!(
        direct(&policy, &person("")),
        STRANGER,
        "nobody is not somebody"
    );
}

#[test]
fn a_command_takes_a_role() {
    let address = chat(ChatKind::Direct, None);
    let who = person("7");
    for role in Role::ALL {
        let policy = AccessPolicy {
            roles: [("7".into(), role)].into(),
            ..AccessPolicy::default()
        };
        for (command, least) in [("help", Role::Guest), ("jobs", Role::Member)] {
            let facts = Facts {
                command: Some(command),
                ..facts(&who, &address, TO_ALL)
            };
            let because = Source::Roles;
            let expected = if role <= least {
                allowed(role, because)
            } else {
                Decision::Refused {
                    reason: Refused::Command { role, because },
                }
            };
            assert_eq!(decide(&policy, &facts), expected, "{role:?} {command}");
        }
    }
}

#[test]
fn every_source_is_told_in_order() {
    let (who, address) = (person("8"), chat(ChatKind::Direct, None));
    let (decision, steps) = explain(&allowing("7"), &facts(&who, &address, TO_ALL));
    assert_eq!(decision, STRANGER);
    let looks: Vec<Look> = steps.iter().map(|step| step.at).collect();
    assert_eq!(
        looks,
        [
            Look::Source(Source::Roles),
            Look::Source(Source::Allow),
            Look::Source(Source::Grant),
            Look::Source(Source::Chat),
            Look::Source(Source::Anyone),
            Look::Strangers,
        ]
    );
}
