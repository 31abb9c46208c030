//! Who a task is: what binding, clearing and resetting mean, and that nobody else is told.

use std::sync::Arc;

use std::path::Path;

use talaria_domain::address::{Address, ChatKind, ReturnAddress};
use talaria_domain::authority::Authority;
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::ids::{RunId, SessionId};
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::{BusyPolicy, Profile};
use talaria_domain::runner::Turn;
use talaria_domain::scope::StatePolicy;
use talaria_domain::session_key::Sharing;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::{
    Context, CronTarget, Environment, Unscoped, Variable, async_delivery_supported, bind_api,
    bind_cron, bind_turn, child_environment, clear, continue_as, current, cwd, get, is_engaged,
    reset, scope, set_cwd,
};

const DELIVERING: DeliveryWindow = DeliveryWindow::Always;

/// A turn of the session `key` on `platform`.
pub(super) fn turn(platform: &str, key: &str, window: DeliveryWindow) -> Turn {
    let address = Address {
        platform: platform.into(),
        account: "bot".into(),
        chat_kind: ChatKind::Direct,
        chat: format!("chat of {key}").into(),
        thread: Some("7".into()),
        reply_to: Some("anchor".into()),
    };
    let requester = Principal {
        platform: platform.into(),
        account: "bot".into(),
        user: "ada".into(),
        alternate: Some("stable".into()),
        display_name: Some("Ada L.".to_owned()),
        role: Role::Member,
    };
    Turn {
        run: RunId::from_bytes([7; 16]),
        profile: Profile {
            name: "assistant".into(),
            runner: "native".into(),
            instructions: String::new(),
            busy: BusyPolicy::default(),
            sharing: Sharing::default(),
            state: StatePolicy::default(),
        },
        authority: Arc::new(Authority::default().freeze()),
        return_to: ReturnAddress {
            address,
            requester,
            profile: "assistant".into(),
            session: SessionId::from_bytes([8; 16]),
        },
        session_key: key.to_owned(),
        window,
        depth: 0,
        history: Vec::new(),
        input: Arc::default(),
        prompt: String::new(),
        state: talaria_domain::scope::Snapshot::default(),
        config: serde_json::Map::default(),
        options: std::collections::BTreeMap::default(),
    }
}

/// A process that was started with a value for every session variable, as if a session had left them there.
pub(super) fn stale() -> Environment {
    let session = Variable::ALL.map(|variable| (variable.name(), "stale"));
    let others = [("PATH", "/bin"), ("TALARIA_SESSION_CWD", "/stale")];
    let all = session.into_iter().chain(others);
    Environment::allowed(all.map(|(name, value)| (name.to_owned(), value.to_owned())))
}

fn platform() -> String {
    get(Variable::Platform, &stale())
}

/// The session variables that a child of this task would see.
fn seen_by_a_child(variable: Variable) -> Option<String> {
    let environment = child_environment(&stale());
    let mut found = environment
        .into_iter()
        .filter(|(name, _)| name == variable.name());
    found.next().map(|(_, value)| value)
}

/// Does `work` in a task that begins as nobody.
async fn fresh<T>(work: impl Future<Output = T>) -> T {
    scope(Context::default(), work).await
}

#[tokio::test]
async fn unbound_is_supported() {
    assert!(async_delivery_supported());
    fresh(async { assert!(async_delivery_supported()) }).await;
}

#[tokio::test]
async fn bound_to_a_conversation_that_can_be_reached_is_supported() {
    fresh(async {
        bind_turn(&turn("example", "a", DELIVERING)).unwrap();
        assert!(async_delivery_supported());
        assert_eq!(platform(), "example");
    })
    .await;
}

#[tokio::test]
async fn the_platform_stays_readable_when_delivery_is_unsupported() {
    for window in [DeliveryWindow::InTurnOnly, DeliveryWindow::Never] {
        fresh(async {
            bind_turn(&turn("example", "a", window)).unwrap();
            assert!(!async_delivery_supported(), "{window:?}");
            assert_eq!(platform(), "example");
        })
        .await;
    }
}

/// Whoever binds something else than a turn says nothing about delivery.
#[tokio::test]
async fn omitted_is_supported() {
    fresh(async {
        bind_cron(&target("example", None)).unwrap();
        continue_as(SessionId::from_bytes([9; 16])).unwrap();
        set_cwd(Path::new("/")).unwrap();
        assert!(async_delivery_supported());
    })
    .await;
}

#[tokio::test]
async fn cleared_falls_back_to_supported_and_to_no_environment() {
    fresh(async {
        bind_api(&turn("example", "a", DELIVERING)).unwrap();
        assert!(!async_delivery_supported());
        clear().unwrap();
        assert!(async_delivery_supported());
        for variable in &Variable::ALL[..11] {
            assert_eq!(get(*variable, &stale()), "", "{variable:?}");
            assert_eq!(seen_by_a_child(*variable).as_deref(), Some(""));
        }
    })
    .await;
}

#[tokio::test]
async fn reset_is_nobody_again() {
    fresh(async {
        bind_cron(&target("example", Some("7"))).unwrap();
        bind_api(&turn("example", "a", DELIVERING)).unwrap();
        reset().unwrap();
        assert_eq!(current(), Context::default());
        assert!(async_delivery_supported());
        for variable in Variable::ALL {
            assert_eq!(get(variable, &stale()), "stale", "{variable:?}");
            assert_eq!(seen_by_a_child(variable), None, "{variable:?}");
        }
    })
    .await;
}

/// Its signature is the test: a turn, and nothing that says whether a late result can be delivered. What the turn itself
/// says about that does not count.
#[tokio::test]
async fn the_api_choke_point_cannot_be_given_a_flag() {
    let bind: fn(&Turn) -> Result<(), Unscoped> = bind_api;
    let of: fn(&Turn) -> Context = Context::of_api;
    fresh(async {
        for window in [
            DELIVERING,
            DeliveryWindow::InTurnOnly,
            DeliveryWindow::Never,
        ] {
            let turn = turn("example", "a", window);
            bind(&turn).unwrap();
            assert!(!async_delivery_supported(), "{window:?}");
            assert!(!of(&turn).supports_async_delivery(), "{window:?}");
            assert_eq!(platform(), "example");
        }
    })
    .await;
}

#[tokio::test]
async fn no_delivery_does_not_outlive_the_turn() {
    fresh(async {
        bind_api(&turn("program", "shared", DELIVERING)).unwrap();
        assert!(!async_delivery_supported());
        clear().unwrap();
        bind_turn(&turn("example", "shared", DELIVERING)).unwrap();
        assert!(async_delivery_supported());
        assert_eq!(get(Variable::Key, &stale()), "shared");
    })
    .await;
    // Neither where the turn was a scope of its own.
    let over_api = Context::of_api(&turn("program", "shared", DELIVERING));
    assert!(!scope(over_api, async { async_delivery_supported() }).await);
    assert!(async_delivery_supported());
}

#[tokio::test]
async fn a_binding_replaces_the_one_before_it() {
    fresh(async {
        bind_api(&turn("one", "a", DELIVERING)).unwrap();
        set_cwd(Path::new("/one")).unwrap();
        continue_as(SessionId::from_bytes([9; 16])).unwrap();
        let second = turn("two", "b", DELIVERING);
        bind_turn(&second).unwrap();
        assert_eq!(current(), Context::of_turn(&second));
    })
    .await;
}

#[tokio::test]
async fn a_task_outside_of_every_scope_cannot_be_bound() {
    let turn = turn("example", "a", DELIVERING);
    assert_eq!(bind_turn(&turn), Err(Unscoped));
    assert_eq!(bind_api(&turn), Err(Unscoped));
    assert_eq!(bind_cron(&target("example", None)), Err(Unscoped));
    assert_eq!(clear(), Err(Unscoped));
    assert_eq!(reset(), Err(Unscoped));
    assert_eq!(current(), Context::default());
}

#[tokio::test]
async fn a_task_spawned_from_a_session_is_nobody_until_it_binds() {
    let a = Context::of_api(&turn("a", "a", DELIVERING));
    let tasks = scope(a, async {
        let mut tasks = JoinSet::new();
        tasks.spawn(async {
            assert_eq!(current(), Context::default());
            assert!(async_delivery_supported());
            assert_eq!(seen_by_a_child(Variable::Platform), None);
        });
        tasks.spawn(scope(Context::default(), async {
            assert_eq!(seen_by_a_child(Variable::Platform), None);
            bind_turn(&turn("b", "b", DELIVERING)).unwrap();
            assert_eq!(seen_by_a_child(Variable::Platform).as_deref(), Some("b"));
            assert_eq!(seen_by_a_child(Variable::Key).as_deref(), Some("b"));
        }));
        tasks.spawn_blocking(|| assert_eq!(current(), Context::default()));
        tasks
    });
    tasks.await.join_all().await;
}

#[tokio::test]
async fn a_task_is_somebody_if_it_is_told_so() {
    let a = Context::of_turn(&turn("a", "a", DELIVERING));
    let tasks = scope(a, async {
        let mut tasks = JoinSet::new();
        tasks.spawn(scope(current(), async {
            assert_eq!(platform(), "a");
            clear().unwrap();
        }));
        tasks.join_next().await.unwrap().unwrap();
        assert_eq!(platform(), "a", "it was given a copy");
    });
    tasks.await;
}

#[tokio::test]
async fn a_session_within_another_hides_it_whole_and_gives_it_back() {
    fresh(async {
        bind_turn(&turn("outer", "a", DELIVERING)).unwrap();
        bind_cron(&target("outer", None)).unwrap();
        fresh(async {
            assert_eq!(current(), Context::default());
            bind_api(&turn("inner", "b", DELIVERING)).unwrap();
        })
        .await;
        assert_eq!(platform(), "outer");
        assert!(async_delivery_supported());
    })
    .await;
}

#[tokio::test]
async fn two_sessions_at_once_do_not_meet() {
    let (say_a, mut hear_a) = mpsc::channel::<()>(1);
    let (say_b, mut hear_b) = mpsc::channel::<()>(1);
    let a = fresh(async move {
        bind_turn(&turn("a", "a", DELIVERING)).unwrap();
        say_a.send(()).await.unwrap();
        hear_b.recv().await.unwrap();
        assert_eq!(platform(), "a");
    });
    let b = fresh(async move {
        hear_a.recv().await.unwrap();
        bind_api(&turn("b", "b", DELIVERING)).unwrap();
        say_b.send(()).await.unwrap();
        assert_eq!(platform(), "b");
    });
    tokio::join!(a, b);
}

#[tokio::test]
async fn a_session_that_is_dropped_midway_leaves_nothing() {
    let (say, heard) = oneshot::channel();
    let turn = turn("a", "a", DELIVERING);
    let stuck = scope(Context::of_api(&turn), async {
        say.send(platform()).unwrap();
        std::future::pending::<()>().await;
    });
    tokio::select! {
        biased;
        () = stuck => panic!("it does not end"),
        platform = heard => assert_eq!(platform.unwrap(), "a"),
    }
    assert_eq!(current(), Context::default());
    assert!(async_delivery_supported());
}

#[tokio::test]
async fn a_schedules_target_is_touched_by_neither_bind_nor_clear() {
    fresh(async {
        bind_cron(&target("example", Some("7"))).unwrap();
        let expected = ["example", "chat", "7"];
        let found = || Variable::ALL.map(|variable| get(variable, &stale()));
        bind_turn(&turn("other", "a", DELIVERING)).unwrap();
        assert_eq!(found()[11..], expected);
        clear().unwrap();
        assert_eq!(found()[11..], expected);
        reset().unwrap();
        assert_eq!(found()[11..], ["stale"; 3]);
    })
    .await;
}

#[tokio::test]
async fn schedules_at_once_do_not_clobber_each_other() {
    let (say_one, mut hear_one) = mpsc::channel::<()>(1);
    let (say_two, mut hear_two) = mpsc::channel::<()>(1);
    let one = fresh(async move {
        bind_cron(&target("one", Some("1"))).unwrap();
        say_one.send(()).await.unwrap();
        hear_two.recv().await.unwrap();
        assert_eq!(get(Variable::CronPlatform, &stale()), "one");
        assert_eq!(get(Variable::CronThreadId, &stale()), "1");
    });
    let two = fresh(async move {
        hear_one.recv().await.unwrap();
        bind_cron(&target("two", None)).unwrap();
        say_two.send(()).await.unwrap();
        assert_eq!(get(Variable::CronPlatform, &stale()), "two");
        assert_eq!(
            get(Variable::CronThreadId, &stale()),
            "",
            "not the process's"
        );
    });
    tokio::join!(one, two);
}

#[tokio::test]
async fn a_conversation_that_goes_on_under_another_id_is_seen_under_that_one() {
    let id = SessionId::from_bytes([9; 16]);
    fresh(async {
        bind_turn(&turn("example", "a", DELIVERING)).unwrap();
        continue_as(id).unwrap();
        assert_eq!(get(Variable::Id, &stale()), id.to_string());
        assert_eq!(seen_by_a_child(Variable::Id), Some(id.to_string()));
        assert_eq!(platform(), "example", "all else stays");
        clear().unwrap();
        assert_eq!(get(Variable::Id, &stale()), "");
    })
    .await;
    assert_eq!(get(Variable::Id, &stale()), "stale", "nobody else was told");
}

#[tokio::test]
async fn the_working_directory_has_the_same_three_states() {
    let found = || cwd(&stale());
    fresh(async {
        assert_eq!(found().as_deref(), Some(Path::new("/stale")));
        bind_turn(&turn("example", "a", DELIVERING)).unwrap();
        assert_eq!(found(), None, "a turn does not work where the process does");
        set_cwd(Path::new("/work")).unwrap();
        assert_eq!(found().as_deref(), Some(Path::new("/work")));
        clear().unwrap();
        assert_eq!(found(), None);
        reset().unwrap();
        assert_eq!(found().as_deref(), Some(Path::new("/stale")));
    })
    .await;
}

#[tokio::test]
async fn some_session_was_bound_here_is_never_taken_back() {
    fresh(async {
        bind_turn(&turn("example", "a", DELIVERING)).unwrap();
        assert!(is_engaged());
        clear().unwrap();
        assert!(is_engaged());
        reset().unwrap();
        assert!(is_engaged());
    })
    .await;
    assert!(is_engaged());
    assert_eq!(seen_by_a_child(Variable::Platform), None);
}

fn target(platform: &str, thread: Option<&str>) -> CronTarget {
    CronTarget {
        platform: platform.into(),
        chat: "chat".into(),
        thread: thread.map(Into::into),
    }
}
