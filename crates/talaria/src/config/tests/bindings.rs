//! What thinks where, as the file says it.

use talaria_domain::address::{Address, ChatKind};
use talaria_domain::authority::ResourceKind;
use talaria_domain::binding::{self, Binding, EventPattern, ResourcePolicy};
use talaria_domain::descriptor::{Capability, Permissions, ToolOperation};
use talaria_domain::scope::StateScope;

use super::{Effective, RunnerKind, holds};

const WEATHER: &str = "[[runner]]\nid = \"plugin:acme/weather/main\"\ncommand = \"weather\"\n";

fn message_at(effective: &Effective, profile: &str, platform: &str, chat: &str) -> Binding {
    let at = Address {
        platform: platform.into(),
        account: "default".into(),
        chat_kind: ChatKind::Direct,
        chat: chat.into(),
        thread: None,
        reply_to: None,
    };
    let bindings = effective.bindings.iter().map(|it| &it.binding);
    let found = binding::resolve(bindings, (&profile.into(), &at), "message");
    found.unwrap().clone()
}

#[test]
fn without_a_word_every_profile_thinks_by_itself() {
    let effective =
        holds("[profile.a]\ntools = [\"terminal\"]\n[profile.b]\nstate = { enable = false }\n");
    let all: Vec<_> = effective
        .bindings
        .iter()
        .map(|it| (it.binding.id.as_str(), it.is_own))
        .collect();
    assert_eq!(all, [("profile:a", true), ("profile:b", true)]);
    let own = message_at(&effective, "a", "web", "1");
    assert_eq!(own.runner.as_str(), "native");
    assert!(own.policy.resources.names(ResourceKind::Tool, "terminal"));
    assert!(!message_at(&effective, "b", "web", "1").policy.state.enable);
}

#[test]
fn a_runner_is_named_by_its_id_or_by_being_the_only_one() {
    for name in ["process", "plugin:acme/weather/main"] {
        let effective = holds(&format!("{WEATHER}[profile.a]\nrunner = {name:?}\n"));
        assert_eq!(effective.profiles[0].runner, RunnerKind::Process);
        let own = message_at(&effective, "a", "web", "1");
        assert_eq!(own.runner.as_str(), "plugin:acme/weather/main");
    }
}

#[test]
fn a_runner_may_what_is_written_and_nothing_else() {
    let quiet = &holds(WEATHER).runners[0];
    assert!(quiet.descriptor.capabilities.is_empty());
    assert_eq!(quiet.descriptor.permissions, Permissions::default());
    let text = format!(
        "{WEATHER}args = [\"-v\"]\nenv = [\"LANG\"]\ncapabilities = [\"streaming\"]\npermissions = {{ tools = [\"call\"] }}\n"
    );
    let runner = &holds(&text).runners[0];
    assert!(runner.descriptor.can(Capability::Streaming));
    assert_eq!(
        runner.descriptor.permissions.tools,
        [ToolOperation::Call].into()
    );
    assert_eq!(
        (runner.args.as_slice(), runner.env.as_slice()),
        (&["-v".to_owned()][..], &["LANG".to_owned()][..])
    );
}

#[test]
fn the_nearest_binding_of_the_file_counts() {
    let effective = holds(&format!(
        "{WEATHER}[profile.a]\n[profile.b]\n\
         [[binding]]\nid = \"everywhere\"\nrunner = \"process\"\n\
         [[binding]]\nid = \"web\"\nplatform = \"web\"\n\
         [[binding]]\nid = \"room\"\nplatform = \"web\"\nchat = \"room\"\n\
         [[binding]]\nid = \"b\"\nprofile = \"b\"\n"
    ));
    let table = [
        ("a", "terminal", "room", "everywhere"),
        ("b", "terminal", "room", "b"),
        ("b", "web", "hall", "web"),
        ("a", "web", "room", "room"),
    ];
    for (profile, platform, chat, expected) in table {
        let found = message_at(&effective, profile, platform, chat);
        assert_eq!(found.id.as_str(), expected, "{profile} {platform} {chat}");
    }
    assert!(
        effective.bindings.iter().all(|it| !it.is_own),
        "nothing is left to say"
    );
}

#[test]
fn what_nothing_else_is_for_the_profile_says_by_itself() {
    let text = "[profile.a]\n[[binding]]\nid = \"talk\"\nprofile = \"a\"\nevents = [\"message\"]\n";
    let effective = holds(text);
    assert_eq!(message_at(&effective, "a", "web", "1").id.as_str(), "talk");
    let own = effective.bindings.iter().find(|it| it.is_own).unwrap();
    let events: Vec<&str> = own
        .binding
        .events
        .iter()
        .map(EventPattern::as_str)
        .collect();
    assert!(
        events.contains(&"internal.job_ended") && !events.contains(&"message"),
        "{events:?}"
    );
    let chats = holds("[[binding]]\nplatform = \"web\"\nchat = \"1\"\nid = \"one\"\n");
    assert_eq!(
        message_at(&chats, "assistant", "web", "2").id.as_str(),
        "profile:assistant"
    );
}

#[test]
fn a_binding_names_what_it_allows_and_remembers_as_its_profile_does() {
    let effective = holds(
        "[profile.a]\nstate = { scopes = [\"runner\"] }\n[[binding]]\nid = \"mine\"\nprofile = \"a\"\n\
         [[binding]]\nplatform = \"web\"\nstate = { scopes = [\"subject\"] }\ndelivery = { interactions = false }\n",
    );
    let mine = message_at(&effective, "a", "terminal", "1");
    assert_eq!(mine.policy.state.scopes, [StateScope::Runner].into());
    assert_eq!(
        mine.policy.resources,
        ResourcePolicy::default(),
        "what is not named is refused"
    );
    assert!(mine.policy.delivery.interactions && mine.policy.delivery.streaming);
    let web = message_at(&effective, "a", "web", "1");
    assert_eq!(web.policy.state.scopes, [StateScope::Subject].into());
    assert!(!web.policy.delivery.interactions && web.policy.delivery.streaming);
    assert_eq!(web.id.as_str(), "account:\"web\"/\"default\"");
}

#[test]
fn a_native_binding_without_a_model_is_a_warning() {
    let named = "[model.main]\nprovider = \"demo\"\n";
    let quiet = format!(
        "{named}{WEATHER}[[binding]]\nid = \"talk\"\nplatform = \"web\"\nmodels = [\"main\"]\n"
    );
    assert_eq!(holds(&quiet).warnings, []);
    let outside =
        format!("{WEATHER}[[binding]]\nid = \"out\"\nplatform = \"web\"\nrunner = \"process\"\n");
    assert_eq!(
        holds(&outside).warnings,
        [],
        "a program may have a model of its own"
    );
    for text in [
        "[[binding]]\nid = \"talk\"\n",
        "[[binding]]\nid = \"talk\"\nrunner = \"native\"\nmodels = []\n",
    ] {
        let warnings = holds(text).warnings;
        let [warning] = warnings.as_slice() else {
            panic!("{warnings:?}");
        };
        assert_eq!(warning.key.as_deref(), Some("binding[0].models"));
        assert!(
            warning
                .what
                .contains("this binding's runs may use no model"),
            "{warning}"
        );
    }
}
