//! Remembering without anybody outside: the same calls, straight to the ledger.

use std::sync::Arc;
use std::time::Instant;

use futures::stream::{self, StreamExt as _};
use serde_json::json;
use talaria_domain::clock::Timestamp;
use talaria_domain::effects::{Memory, MemoryRequest};
use talaria_domain::scope::{StatePolicy, StateScope};
use talaria_gateway::state::{self, rules};
use talaria_store::Ledger;

use crate::{KEYS, Plan, WINDOW};

const MEMORY: Memory = Memory::State(StateScope::Actor);

/// Calls in a second.
pub(crate) async fn measure(plan: Plan, ledger: &Ledger) -> f64 {
    let owner = rules::Owner {
        profile: "assistant".into(),
        runner: "plugin:acme/agent/main".into(),
        binding: "own".into(),
        policy: StatePolicy::default(),
    };
    let facts = rules::Facts {
        conversation: Some("conversation".to_owned()),
        actor: Some((None, "ada".to_owned())),
        ..rules::Facts::default()
    };
    let drawers = Arc::new(rules::Drawers::of(&owner, &facts));
    let start = Instant::now();
    let calls = stream::iter(0..plan.values).map(|number| call(ledger, &drawers, number));
    let done = calls.buffer_unordered(WINDOW).count().await;
    assert_eq!(done, plan.values as usize);
    f64::from(plan.values) / start.elapsed().as_secs_f64()
}

async fn call(ledger: &Ledger, drawers: &Arc<rules::Drawers>, number: u32) {
    let (drawers, key) = (Arc::clone(drawers), format!("k{}", number % KEYS));
    let at = Timestamp::from_millis(1_790_000_000_000);
    let answered = if number.is_multiple_of(2) {
        let request = MemoryRequest::Get { key };
        let read = ledger.read(move |tx| state::answer(tx, &drawers, (MEMORY, &request), at));
        read.await
    } else {
        let (value, expected) = (json!(number), None);
        let request = MemoryRequest::Set {
            key,
            value,
            expected,
        };
        let write = ledger.write(move |tx| state::answer(tx, &drawers, (MEMORY, &request), at));
        write.await
    };
    answered.unwrap().unwrap();
}
