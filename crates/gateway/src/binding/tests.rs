//! What a run may use under a binding, and that nothing else decides it.

use serde_json::json;
use talaria_domain::authority::Authority;
use talaria_domain::binding::{EventPattern, Policy, ResourcePolicy};
use talaria_domain::clock::Timestamp;
use talaria_domain::descriptor::{Permissions, RunnerName, ToolOperation};
use talaria_domain::event::{Attachment, AttachmentKind};
use talaria_domain::profile::{BusyPolicy, Profile};
use talaria_domain::scope::{StatePolicy, StateScope};
use talaria_domain::session_key::Sharing;
use talaria_sim::people::People;
use talaria_sim::script::{Script, ScriptedRunner};

use super::*;
use crate::settings::Reset;

fn runner() -> Arc<dyn Runner> {
    Arc::new(ScriptedRunner(Arc::new(Script::default())))
}

fn profile() -> ProfileSettings {
    ProfileSettings {
        profile: Profile {
            name: "assistant".into(),
            runner: "native".into(),
            instructions: String::new(),
            busy: BusyPolicy::Queue,
            sharing: Sharing::default(),
            state: StatePolicy::default(),
        },
        runner: runner(),
        authority: Authority::default()
            .with(
                ResourceKind::Tool,
                "terminal",
                Grant::of(["call", "detail"]),
            )
            .with(ResourceKind::Tool, "files", Grant::of(["call", "detail"])),
        reset: Reset::default(),
    }
}

fn bound(scope: BindingScope, policy: Policy) -> Bound {
    let descriptor = Descriptor {
        name: RunnerName::parse("plugin:acme/agent/main").unwrap(),
        version: Some("1".to_owned()),
        capabilities: [].into(),
        permissions: Permissions {
            tools: [ToolOperation::Call].into(),
            ..Permissions::all()
        },
    };
    let config = json!({ "mood": "kind" });
    Bound {
        binding: Binding {
            id: scope.identity(),
            scope,
            events: vec![EventPattern::any()],
            runner: descriptor.name.id(),
            config: config.as_object().unwrap().clone(),
            policy,
        },
        thinker: Thinker::Other {
            descriptor: Arc::new(descriptor),
            runner: runner(),
        },
    }
}

fn said(files: &[&str]) -> Vec<Event> {
    let mut event = People::default().said("ada", "hello", Timestamp::ZERO);
    if let EventKind::Message(content) = &mut event.kind {
        let attachment = |locator: &&str| Attachment {
            kind: AttachmentKind::File,
            locator: (*locator).to_owned(),
            file_name: None,
            media_type: None,
            size_bytes: None,
            kept: None,
        };
        content.attachments = files.iter().map(attachment).collect();
    }
    vec![event]
}

fn policy(tools: &[&str], files: bool) -> Policy {
    Policy {
        resources: ResourcePolicy {
            tools: tools.iter().map(ToString::to_string).collect(),
            files,
            ..ResourcePolicy::default()
        },
        ..Policy::default()
    }
}

#[test]
fn without_a_binding_the_profile_decides() {
    let chosen = Bindings::default().choose(&Chosen::own(&profile()), &said(&[]));
    assert_eq!(chosen.id.as_str(), "profile:assistant");
    assert_eq!(chosen.profile.profile.runner.as_str(), "native");
    assert_eq!(chosen.profile.authority, profile().authority);
    assert!(chosen.config.is_empty());
}

#[test]
fn what_the_profile_may_remember_is_part_of_what_is_frozen() {
    let mut forgetful = profile();
    forgetful.profile.state.enable = false;
    let chosen = Bindings::default().choose(&Chosen::own(&forgetful), &said(&[]));
    assert!(!chosen.profile.authority.state.enable);
}

#[test]
fn under_a_binding_a_run_may_what_runner_binding_and_profile_all_allow() {
    let policy = Policy {
        state: StatePolicy {
            enable: true,
            scopes: [StateScope::Runner].into(),
        },
        ..policy(&["terminal", "launch"], true)
    };
    let bindings = Bindings::of(vec![bound(BindingScope::Global, policy.clone())]).unwrap();
    let chosen = bindings.choose(&Chosen::own(&profile()), &said(&["a.pdf"]));
    let expected = Authority {
        rights: Right::ALL.into(),
        state: policy.state,
        ..Authority::default()
            .with(ResourceKind::Tool, "terminal", Grant::of(["call"]))
            .with(ResourceKind::File, "a.pdf", Grant::of(["read"]))
    };
    assert_eq!(chosen.profile.authority, expected);
    assert_eq!(
        chosen.profile.profile.runner.as_str(),
        "plugin:acme/agent/main"
    );
    assert_eq!(
        chosen.profile.profile.state.scopes,
        [StateScope::Runner].into()
    );
    assert_eq!(chosen.id.as_str(), "global");
    assert_eq!(chosen.config["mood"], "kind");
}

#[test]
fn files_are_those_of_what_was_said_and_only_where_the_binding_says_so() {
    let open = Bindings::of(vec![bound(BindingScope::Global, policy(&[], true))]).unwrap();
    let closed = Bindings::of(vec![bound(BindingScope::Global, policy(&[], false))]).unwrap();
    let may = |bindings: &Bindings, file: &str| {
        let chosen = bindings.choose(&Chosen::own(&profile()), &said(&["a.pdf"]));
        let authority = &chosen.profile.authority;
        authority.allows(ResourceKind::File, file, "read")
    };
    assert!(may(&open, "a.pdf") && !may(&open, "b.pdf") && !may(&closed, "a.pdf"));
}

#[test]
fn the_nearest_binding_is_the_one_that_counts() {
    let own = BindingScope::Profile("assistant".into());
    let other = BindingScope::Profile("other".into());
    let bindings = [BindingScope::Global, own, other].map(|scope| bound(scope, Policy::default()));
    let bindings = Bindings::of(bindings.into()).unwrap();
    let found = bindings.find(&profile(), &said(&[])[0]).unwrap();
    assert_eq!(found.binding.id.as_str(), "profile:assistant");
}

#[test]
fn bindings_that_cannot_be_told_apart_are_refused_with_both_names() {
    let twice =
        [BindingScope::Global, BindingScope::Global].map(|scope| bound(scope, Policy::default()));
    let Err(error) = Bindings::of(twice.into()) else {
        panic!("two were taken");
    };
    assert_eq!(error.to_string().matches("global").count(), 2, "{error}");
}

#[test]
fn the_profiles_own_runner_under_a_binding_is_narrowed_and_alone_is_not() {
    let mut narrowed = bound(BindingScope::Global, policy(&["files"], false));
    narrowed.thinker = Thinker::Profile;
    let bindings = Bindings::of(vec![narrowed]).unwrap();
    let authority = &bindings
        .choose(&Chosen::own(&profile()), &said(&[]))
        .profile
        .authority;
    assert!(authority.allows(ResourceKind::Tool, "files", "call"));
    assert!(!authority.allows(ResourceKind::Tool, "terminal", "call"));
    let mut own = bound(BindingScope::Global, Policy::default());
    own.thinker = Thinker::Own;
    let bindings = Bindings::of(vec![own]).unwrap();
    let chosen = bindings.choose(&Chosen::own(&profile()), &said(&[]));
    assert_eq!(chosen.profile.authority, profile().authority);
    assert_eq!(chosen.id.as_str(), "profile:assistant");
}
