//! Remembering for an agent outside: somebody writes, a real process thinks about it and asks the real host, which
//! checks, journals and commits every call.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Map;
use talaria_agents::process::{ProcessRunner, ProcessRunnerSettings, Resources};
use talaria_agents::tools::Environment;
use talaria_domain::authority::Authority;
use talaria_domain::binding::{Binding, BindingScope, EventPattern, Policy};
use talaria_domain::clock::{Clock, SystemClock};
use talaria_domain::descriptor::{Descriptor, Permissions, RunnerName};
use talaria_domain::ids::RandomIds;
use talaria_domain::profile::{Account, BusyPolicy, Profile};
use talaria_domain::scope::StatePolicy;
use talaria_domain::session_key::Sharing;
use talaria_gateway::access::AccessPolicy;
use talaria_gateway::binding::{Bindings, Bound, Thinker};
use talaria_gateway::delivery::pace::Rate;
use talaria_gateway::settings::{
    AccountSettings, DoubtPolicy, Limits, ProfileSettings, Reset, Settings,
};
use talaria_gateway::{Gateway, Parts};
use talaria_platforms::split::pieces;
use talaria_sim::chat::{AlwaysFine, Offer, Vendor};
use talaria_sim::machine::Machine;
use talaria_sim::people::{People, direct_chat};
use talaria_sim::script::{Script, ScriptedRunner};
use talaria_store::Ledger;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Plan;

const NAME: &str = "plugin:bench/host/main";
/// How many calls are made before it is measured.
const WARM: u32 = 1_000;
/// More than it takes.
const TOO_LONG: Duration = Duration::from_mins(5);

/// Calls in a second, by the agent's own watch.
pub(crate) async fn measure(plan: Plan, ledger: &Ledger) -> f64 {
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let vendor = Vendor::offering(Offer::Keys, Arc::new(AlwaysFine));
    let bindings = bindings(&tasks, &stop);
    let settings = settings(&vendor, &clock, bindings);
    let gateway = Gateway::start(Parts {
        ledger: ledger.clone(),
        clock: Arc::clone(&clock),
        ids: Arc::new(RandomIds::default()),
        settings,
    });
    let gateway = gateway.await.unwrap();
    let people = People::default();
    let mut answers = Vec::new();
    for count in [WARM, plan.values] {
        vendor.write(people.said("ada", &count.to_string(), clock.now()));
        let answered = answer(&vendor, answers.len());
        answers.push(tokio::time::timeout(TOO_LONG, answered).await.unwrap());
    }
    gateway.drain().await;
    stop.cancel();
    tasks.close();
    tasks.wait().await;
    let answer = answers.pop().unwrap();
    let numbers: Option<f64> = answer.split(' ').find_map(|word| word.parse().ok());
    assert!(answer.starts_with("done in "), "{answer}");
    f64::from(plan.values) * 1e6 / numbers.unwrap()
}

/// What is answered after so many answers.
async fn answer(vendor: &Vendor, before: usize) -> String {
    let chat = direct_chat("ada").chat;
    loop {
        // Nobody is kept waiting by this: what is measured is measured by the agent.
        tokio::time::sleep(Duration::from_millis(20)).await;
        if let Some(shown) = vendor.chat(chat.as_str()).into_iter().nth(before) {
            return shown.text;
        }
    }
}

fn bindings(tasks: &TaskTracker, stop: &CancellationToken) -> Bindings {
    let descriptor = Descriptor {
        name: RunnerName::parse(NAME).unwrap(),
        version: None,
        capabilities: BTreeSet::new(),
        permissions: Permissions::default(),
    };
    let mut outside = ProcessRunnerSettings::of(NAME, std::env::current_exe().unwrap());
    outside.arguments = vec!["--runner".to_owned()];
    let environment = Environment::allowed([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let runner = ProcessRunner::new(
        outside,
        Resources::default(),
        environment,
        tasks.clone(),
        stop.clone(),
    );
    let bound = Bound {
        binding: Binding {
            id: "bench".into(),
            scope: BindingScope::Profile("assistant".into()),
            events: vec![EventPattern::any()],
            runner: descriptor.name.id(),
            config: Map::new(),
            policy: Policy::default(),
        },
        thinker: Thinker::Other {
            descriptor: Arc::new(descriptor),
            runner: Arc::new(runner),
        },
    };
    Bindings::of(vec![bound]).unwrap()
}

fn settings(vendor: &Arc<Vendor>, clock: &Arc<dyn Clock>, bindings: Bindings) -> Settings {
    let profile = ProfileSettings {
        profile: Profile {
            name: "assistant".into(),
            runner: "scripted".into(),
            instructions: String::new(),
            busy: BusyPolicy::Queue,
            sharing: Sharing::default(),
            state: StatePolicy::default(),
        },
        // Never asked: the binding has another one.
        runner: Arc::new(ScriptedRunner(Arc::new(Script::default()))),
        authority: Authority::default(),
        reset: Reset::default(),
    };
    let account = Account {
        platform: "example".into(),
        name: "bot".into(),
        profile: profile.profile.name.clone(),
    };
    Settings {
        node: "node".into(),
        profiles: [(profile.profile.name.clone(), profile)].into(),
        accounts: vec![AccountSettings {
            adapter: Arc::new(vendor.adapter(account, Arc::clone(clock))),
            access: AccessPolicy {
                allow: ["ada".into()].into(),
                ..AccessPolicy::default()
            },
            merge_window: Duration::ZERO,
            rate: Rate::UNLIMITED,
            account_rate: Rate::UNLIMITED,
            edit_pace: Duration::ZERO,
            doubt: DoubtPolicy::PreferLoss,
            marks: false,
            home: None,
        }],
        routes: Vec::new(),
        bindings,
        limits: Limits::default(),
        split: pieces,
        worker: Machine::by(Arc::clone(clock)),
        files: None,
        zone: talaria_domain::schedule::Zone::default(),
    }
}
