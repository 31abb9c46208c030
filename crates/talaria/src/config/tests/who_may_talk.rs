//! Who may talk where, and who answers there, as the file says it.

use talaria_domain::address::{Address, ChatKind};
use talaria_domain::event::{Author, Mention};
use talaria_domain::principal::{Principal, Role};
use talaria_gateway::access::decide::{Deed, Source};
use talaria_gateway::access::{
    AccessPolicy, Bots, Decision, Facts, Mentions, Strangers, Threads, decide,
};

use super::{HIDDEN, holds, mistakes, spot};

const ACCOUNT: &str = "[[account]]\nplatform = \"telegram\"\n";

fn policy(lines: &str) -> AccessPolicy {
    holds(&format!("{ACCOUNT}{lines}")).accounts[0].access()
}

fn direct(policy: &AccessPolicy, user: &str) -> Decision {
    let principal = Principal {
        platform: "telegram".into(),
        account: "default".into(),
        user: user.into(),
        alternate: None,
        display_name: None,
        role: Role::Owner,
    };
    let address = Address {
        platform: "telegram".into(),
        account: "default".into(),
        chat_kind: ChatKind::Direct,
        chat: user.into(),
        thread: None,
        reply_to: None,
    };
    let facts = Facts {
        principal: &principal,
        address: &address,
        deed: Deed::Wrote(Mention::Absent, Author::Person),
        command: None,
        grant: None,
        has_spoken: false,
    };
    decide(policy, &facts)
}

#[test]
fn an_account_without_a_word_lets_nobody_in() {
    let policy = policy("");
    assert_eq!(policy.strangers, Strangers::Pair);
    assert_eq!(policy.groups.mention, Mentions::Required);
    assert_eq!(policy.groups.threads, Threads::Follow);
    assert_eq!(policy.bots, Bots::Ignore);
    assert_eq!(direct(&policy, "1"), Decision::Pair);
}

#[test]
fn people_have_the_role_that_is_written() {
    let policy = policy(
        "allow = [\"5\"]\nroles = { owner = [\"1\"], admin = [\"2\"], member = [\"3\"], guest = [\"4\"] }\n",
    );
    assert_eq!(policy.strangers, Strangers::Ignore);
    let table = [
        ("1", Role::Owner, Source::Roles),
        ("2", Role::Admin, Source::Roles),
        ("3", Role::Member, Source::Roles),
        ("4", Role::Guest, Source::Roles),
        ("5", Role::Member, Source::Allow),
    ];
    for (user, role, because) in table {
        assert_eq!(direct(&policy, user), Decision::Allowed { role, because });
    }
    assert!(matches!(direct(&policy, "6"), Decision::Refused { .. }));
}

#[test]
fn everybody_is_a_guest_and_no_id_is_everybody() {
    let policy = policy("allow = [\"*\", \"5\"]\n");
    let guest = Decision::Allowed {
        role: Role::Guest,
        because: Source::Anyone,
    };
    assert_eq!(direct(&policy, "6"), guest);
    assert_eq!(direct(&policy, "*"), guest);
}

#[test]
fn roles_alone_are_enough_to_ignore_strangers() {
    let policy = policy("roles = { owner = [\"1\"] }\n");
    assert_eq!(policy.strangers, Strangers::Ignore);
}

#[test]
fn a_credential_used_twice_is_refused_and_not_repeated() {
    let account = |platform: &str, name: &str, token: &str| {
        format!("[[account]]\nplatform = {platform:?}\nname = {name:?}\ntoken = {token}\n")
    };
    let literal = format!("{HIDDEN:?}");
    let twice =
        account("telegram", "one", "{ file = \"key\" }") + &account("telegram", "two", &literal);
    let problems = mistakes(&twice);
    let told = problems.iter().map(ToString::to_string).collect::<String>();
    assert_eq!(problems.len(), 1, "{told}");
    assert_eq!(spot(&problems[0]).2, "account[1].token");
    assert!(
        told.contains("the same credential as the account \"one\""),
        "{told}"
    );
    assert!(!told.contains(HIDDEN), "{told}");
    let elsewhere = account("telegram", "one", "{ file = \"key\" }")
        + &account("slack", "one", &literal)
        + &account("telegram", "two", "\"another\"");
    assert_eq!(holds(&elsewhere).accounts.len(), 3);
}

#[test]
fn two_routes_that_name_the_same_are_refused() {
    let route = |more: &str| {
        format!("[[route]]\nplatform = \"telegram\"\nchat = \"1\"\nprofile = \"assistant\"\n{more}")
    };
    let problems = mistakes(&(route("") + &route("thread = \"2\"\n") + &route("")));
    assert_eq!(spot(&problems[0]).2, "route[2]");
    assert!(problems[0].what.contains("route[0]"), "{}", problems[0]);
    let account = format!("{ACCOUNT}token = \"x\"\n");
    let apart = [
        "",
        "thread = \"2\"\n",
        "user = \"3\"\n",
        "account = \"default\"\n",
    ];
    let apart: String = apart.into_iter().map(route).collect();
    assert_eq!(holds(&(account + &apart)).routes.len(), 4);
}

#[test]
fn a_route_of_one_person_needs_no_chat() {
    let effective =
        holds("[[route]]\nplatform = \"telegram\"\nuser = \"3\"\nprofile = \"assistant\"\n");
    assert_eq!(effective.routes[0].chat, None);
}
