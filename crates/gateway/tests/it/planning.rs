//! Who may plan what: people their own in their own chat, agents for whoever asks them, operators anything; and several
//! gateways on one server.

use std::sync::{Arc, Mutex};

use serde_json::Map;
use talaria_domain::adapter::Pending;
use talaria_domain::address::Address;
use talaria_domain::binding::{Binding, BindingScope, EventPattern, Policy};
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::descriptor::Descriptor;
use talaria_domain::event::Wishes;
use talaria_domain::machine::{OccurrenceState, ScheduleState};
use talaria_domain::principal::Principal;
use talaria_domain::run::{RunEvent, RunOutcome, Usage};
use talaria_domain::runner::{Host, Runner, Said, Turn};
use talaria_domain::schedule::words::split;
use talaria_domain::schedule::{Schedule, ScheduleOrder, ScheduleRequest, What};
use talaria_gateway::binding::{Bindings, Bound, Thinker};
use talaria_gateway::schedule::{Change, Settled};
use talaria_gateway::settings::Limits;
use talaria_sim::chat::{AlwaysFine, Offer, Vendor};
use talaria_sim::people::{direct_chat, person};
use talaria_store::maintenance::integrity;
use talaria_store::{Ledger, Tx, outbox, schedules};

use crate::scheduling::{HOUR, MINUTE, SOON, all, ends, occurrences, states, thread};
use crate::world::{Setup, World, known};

/// Whoever runs the gateway is known on a surface of its own.
fn operator() -> Principal {
    Principal {
        platform: "terminal".into(),
        ..person("operator")
    }
}

#[tokio::test(start_paused = true)]
async fn people_see_and_change_their_own_in_their_own_chat() {
    let world = World::begin(Setup::default()).await;
    world.says_at("ada", thread(), "/schedule add every 1h say water");
    world.says("ada", "/schedule add every 1h say secret");
    world.passes(SOON).await;
    let ids: Vec<String> = all(&world)
        .await
        .iter()
        .map(|it| it.id.to_string())
        .collect();
    for who in ["bob", "ada"] {
        // In the same thread, which is one conversation for all.
        world.says_at(who, thread(), "/schedule list");
        world.passes(SOON).await;
        let seen = world.sees_in(&thread());
        let last = seen.last().unwrap();
        assert_eq!(last.contains("water"), who == "ada", "{last}");
        assert!(!last.contains("secret"), "{last}");
    }
    for id in &ids {
        for verb in ["pause", "remove"] {
            world.says_at("bob", thread(), &format!("/schedule {verb} {id}"));
            world.passes(SOON).await;
            let seen = world.sees_in(&thread());
            assert!(
                seen.last().unwrap().contains("you have no schedule"),
                "{seen:?}"
            );
        }
    }
    let states: Vec<_> = all(&world).await.iter().map(|it| it.state).collect();
    assert_eq!(states, [ScheduleState::Active; 2]);
    ends(&world).await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_kept_or_understood_is_refused_in_words() {
    let limits = Limits {
        schedules: 2,
        ..Limits::default()
    };
    let world = World::begin(Setup {
        limits,
        ..Setup::default()
    })
    .await;
    let table = [
        ("/schedule nonsense", "`/schedule add WHEN say TEXT`"),
        ("/schedule add in 5m", "`/schedule add WHEN say TEXT`"),
        ("/schedule add soon say x", "`30m`"),
        ("/schedule add every 5s say x", "once in a minute"),
        ("/schedule add 0 0 30 2 * say x", "never comes"),
        ("/schedule add in 5m say", "expected some text"),
        ("/schedule pause", "say which one"),
        (
            "/schedule remove nothing",
            "you have no schedule \"nothing\"",
        ),
        ("/schedule add in 1h say a", "Planned"),
        ("/schedule add in 2h say a", "Planned"),
        ("/schedule add in 3h say a", "may have 2"),
        ("/schedule remove a", "several of your schedules"),
    ];
    for (text, expected) in table {
        world.says("ada", text);
        world.passes(SOON).await;
        let seen = world.sees("ada");
        assert!(seen.last().unwrap().contains(expected), "{text}: {seen:?}");
    }
    ends(&world).await;
}

#[tokio::test(start_paused = true)]
async fn nobody_who_may_not_talk_any_more_has_anything_happen() {
    let mut world = World::begin(Setup::default()).await;
    world.says("ada", "/schedule add every 10m ask how are you?");
    world.passes(SOON).await;
    let mut access = known();
    access.allow = ["bob"].map(Into::into).into();
    world.setup.access = access;
    world.crash().await;
    world.passes(10 * MINUTE).await;
    assert_eq!(world.sees("ada").len(), 1);
    let [passed] = occurrences(&world).await.try_into().unwrap();
    assert_eq!(passed.state, OccurrenceState::Skipped);
    assert!(passed.reason.unwrap().contains("may not talk"));
    ends(&world).await;
}

/// A runner that plans what it is told: `WHEN say TEXT`.
#[derive(Default)]
struct Planner(Mutex<Vec<Schedule>>);

impl Planner {
    async fn plan(&self, turn: &Turn, host: &dyn Host) -> String {
        // Where several people meet, their names stand before what they say.
        let said = turn.prompt.rsplit("] ").next().unwrap_or_default();
        let Ok((when, what)) = split(said) else {
            return format!("re: {}", turn.prompt);
        };
        let order = ScheduleOrder {
            name: None,
            when: when.to_owned(),
            zone: None,
            what,
        };
        match host
            .effects()
            .schedule(ScheduleRequest::Create(order))
            .await
        {
            Ok(planned) => {
                self.0.lock().unwrap().extend(planned);
                "planned".to_owned()
            }
            Err(refusal) => refusal.reason,
        }
    }
}

impl Runner for Planner {
    fn run<'a>(&'a self, turn: &'a Turn, host: &'a dyn Host) -> Pending<'a, RunOutcome> {
        Box::pin(async move {
            let text = self.plan(turn, host).await;
            match host.journal(RunEvent::MessageCompleted { text }).await {
                Ok(()) => RunOutcome::completed(Usage::default()),
                Err(_) => RunOutcome::Cancelled,
            }
        })
    }

    fn window(&self) -> usize {
        1_000_000
    }

    fn summarise<'a>(&'a self, _: &'a [Said]) -> Pending<'a, Result<String, String>> {
        Box::pin(std::future::ready(Ok(String::new())))
    }
}

async fn planned() -> (Arc<Planner>, World) {
    let planner = Arc::new(Planner::default());
    let native = Descriptor::native();
    let bound = Bound {
        binding: Binding {
            id: "office".into(),
            scope: BindingScope::Profile("assistant".into()),
            events: vec![EventPattern::any()],
            runner: native.name.id(),
            config: Map::new(),
            policy: Policy::default(),
        },
        thinker: Thinker::Other {
            descriptor: Arc::new(native),
            runner: Arc::<Planner>::clone(&planner),
        },
    };
    let setup = Setup {
        bindings: Bindings::of(vec![bound]).unwrap(),
        ..Setup::default()
    };
    (planner, World::begin(setup).await)
}

#[tokio::test(start_paused = true)]
async fn a_run_plans_for_whoever_asks_it_and_where_they_ask() {
    let (planner, world) = planned().await;
    world.says_at("bob", thread(), "in 5m say stand up");
    world.passes(5 * MINUTE + SOON).await;
    assert_eq!(world.sees_in(&thread()), ["planned", "stand up"]);
    let made = planner.0.lock().unwrap()[0].clone();
    assert_eq!(made.owner(), person("bob").key());
    assert_eq!(made.return_to.address.reply_to, None, "it answers nothing");
    ends(&world).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_planned_for_whoever_cannot_be_reached_then() {
    let (planner, world) = planned().await;
    let until = |window| Wishes {
        window: Some(window),
        ..Wishes::default()
    };
    let hour = DeliveryWindow::Until(world.now().plus(HOUR));
    let table = [
        (DeliveryWindow::InTurnOnly, "in 5m say x", false),
        (DeliveryWindow::Never, "in 5m say x", false),
        (hour, "in 5m say x", true),
        (hour, "in 2h say x", false),
        (hour, "every 5m say x", false),
        (DeliveryWindow::Always, "every 5m say x", true),
    ];
    for (window, text, is_kept) in table {
        let before = planner.0.lock().unwrap().len();
        world.asks("ada", text, until(window));
        world.passes(SOON).await;
        let is_planned = planner.0.lock().unwrap().len() > before;
        assert_eq!(is_planned, is_kept, "{window:?} {text}");
        let seen = world.sees("ada");
        let is_told = seen.last().unwrap().contains("cannot be reached later");
        assert_eq!(is_told, !is_kept, "{seen:?}");
    }
    ends(&world).await;
}

#[tokio::test(start_paused = true)]
async fn an_operator_plans_for_a_place_and_has_the_last_word() {
    let world = World::begin(Setup::default()).await;
    let plans = world.gateway.schedules();
    let order = ScheduleOrder {
        name: Some("backup".to_owned()),
        when: "every 1h".to_owned(),
        zone: None,
        what: What::Say("the backup is due".to_owned()),
    };
    let operator = operator();
    let made = plans
        .create(&direct_chat("ada"), &operator, order.clone())
        .await
        .unwrap();
    let Settled::Done(made) = made else {
        panic!("{made:?}")
    };
    let run = plans.change(made.id, Change::Run).await.unwrap();
    assert!(matches!(run, Settled::Done(_)), "{run:?}");
    world.passes(SOON).await;
    assert_eq!(world.sees("ada"), ["the backup is due"], "at once");
    world.passes(HOUR).await;
    assert_eq!(world.sees("ada").len(), 2, "and at its time");
    plans.change(made.id, Change::Remove).await.unwrap();
    let ended = plans.change(made.id, Change::Run).await.unwrap();
    assert!(matches!(ended, Settled::Refused(_)), "{ended:?}");
    let nowhere = Address {
        platform: "nowhere".into(),
        ..direct_chat("ada")
    };
    let refused = plans.create(&nowhere, &operator, order).await.unwrap();
    assert!(matches!(refused, Settled::Refused(_)), "{refused:?}");
    ends(&world).await;
}

/// A gateway of this name, on a real server.
async fn node(url: &str, vendor: &Arc<Vendor>, node: &'static str, seed: u16) -> World {
    let ledger = Ledger::open(url).await.unwrap();
    let setup = Setup {
        node,
        seed,
        ..Setup::default()
    };
    World::beside(setup, vendor, ledger).await
}

#[tokio::test]
async fn two_gateways_on_one_server_let_each_time_happen_once() {
    const MANY: usize = 20;
    let made = tokio::task::spawn_blocking(talaria_sim::servers::fresh_database);
    let url = made.await.unwrap().unwrap();
    let vendor = Vendor::offering(Offer::Keys, Arc::new(AlwaysFine));
    let north = node(&url, &vendor, "north", 1).await;
    let south = node(&url, &vendor, "south", 2).await;
    let operator = operator();
    for number in 0..MANY {
        let order = ScheduleOrder {
            name: None,
            when: "in 1s".to_owned(),
            zone: None,
            what: What::Say(format!("number {number}")),
        };
        let world = if number % 2 == 0 { &north } else { &south };
        let chat = direct_chat(&format!("chat {number}"));
        let made = world
            .gateway
            .schedules()
            .create(&chat, &operator, order)
            .await;
        assert!(matches!(made, Ok(Settled::Done(_))), "{made:?}");
    }
    let is_over = |tx: &mut Tx<'_>| {
        let due = schedules::next(tx)?;
        Ok(due.is_none() && outbox::open_targets(tx)?.is_empty())
    };
    let all_over = async { while !north.ledger.read(is_over).await.unwrap() {} };
    tokio::time::timeout(MINUTE, all_over).await.unwrap();
    let mut seen: Vec<String> = vendor.all().into_iter().map(|shown| shown.text).collect();
    seen.sort();
    let mut expected: Vec<String> = (0..MANY).map(|number| format!("number {number}")).collect();
    expected.sort();
    assert_eq!(seen, expected);
    assert_eq!(states(&south).await, [OccurrenceState::Served; MANY]);
    let findings = north.read(integrity::check).await;
    assert_eq!(findings, Vec::<String>::new());
    for world in [north, south] {
        world.gateway.drain().await;
        world.ledger.close().await;
    }
}
