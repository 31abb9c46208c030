//! Lives of processes. Each is a runtime whose time stands until everybody waits; when it ends it is dropped with
//! everything in it, wherever that was. The last one is left alone until all has come to an end.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use talaria_domain::clock::Clock as _;
use talaria_domain::machine::PartState;
use talaria_gateway::Gateway;
use talaria_store::dead::{self, Thing};
use talaria_store::{Tx, bind, outbox};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

use super::cast;
use super::plan::{Act, Deed, End, Life, Meddling, Settling};
use super::world::{Moment, World};
use super::{Flaw, Invariant, Violation};

/// By then everything has come to an end: the longest turns, all that can wait behind them, the longest pauses.
const CALM: Duration = Duration::from_hours(8);
/// A gateway that was asked to end has ended by then.
const PATIENCE: Duration = Duration::from_mins(5);

/// How a life went.
type Lived = Result<(), Violation>;

impl World {
    /// Plays the plan. Stops at the first promise that was not kept.
    pub(super) fn play(&mut self) -> Result<Vec<Violation>> {
        for life in self.plan.lives.clone() {
            if let Err(violation) = self.live(&life)? {
                return Ok(vec![violation]);
            }
            let violations = self.check(Moment::Between)?;
            if !violations.is_empty() {
                return Ok(violations);
            }
            self.rest(&life)?;
        }
        if let Err(violation) = self.live_on()? {
            return Ok(vec![violation]);
        }
        self.check(Moment::End)
    }

    /// Nobody is there; people write all the same.
    fn rest(&mut self, life: &Life) -> Result<()> {
        self.clock.jump(life.rest);
        for _ in 0..life.meanwhile {
            if let Some(act) = self.plan.acts.get(self.acted).cloned() {
                self.act(&act)?;
            }
        }
        Ok(())
    }

    fn live(&mut self, life: &Life) -> Result<Lived> {
        self.begin(&format!("{life:?}"));
        self.faults.begin(life.doom);
        self.within_runtime(async |world| {
            let faults = Arc::clone(&world.faults);
            tokio::select! {
                biased;
                () = faults.fallen() => {
                    world.tally.crashes += 1;
                    Ok(Ok(()))
                }
                lived = world.follow(life) => lived,
            }
        })
    }

    /// The last life, which nothing ends.
    fn live_on(&mut self) -> Result<Lived> {
        self.begin("the last one");
        self.faults.begin(None);
        self.within_runtime(async |world| {
            let gateways = match world.start().await {
                Ok(gateways) => gateways,
                Err(violation) => return Ok(Err(violation)),
            };
            world.gateways.clone_from(&gateways);
            world.go_on().await?;
            world.trace.note("nothing goes wrong any more");
            world.faults.calm();
            sleep(CALM).await;
            world.ask_to_end(&gateways, End::Drained).await
        })
    }

    fn begin(&mut self, how: &str) {
        self.tally.lives += 1;
        let life = self.tally.lives;
        self.trace.note(&format!("life {life} begins: {how}"));
    }

    fn within_runtime(
        &mut self,
        life: impl AsyncFnOnce(&mut Self) -> Result<Lived>,
    ) -> Result<Lived> {
        let runtime: Runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()?;
        let lived = runtime.block_on(async {
            self.clock.follow();
            let lived = life(self).await;
            self.gateways.clear();
            self.clock.stand_still();
            lived
        });
        self.faults.end();
        drop(runtime);
        lived
    }

    async fn follow(&mut self, life: &Life) -> Result<Lived> {
        let gateways = match self.start().await {
            Ok(gateways) => gateways,
            Err(violation) => return Ok(Err(violation)),
        };
        self.gateways.clone_from(&gateways);
        let acted = timeout(life.time, async {
            self.go_on().await?;
            std::future::pending::<Result<()>>().await
        });
        if let Ok(acted) = acted.await {
            acted?;
        }
        if life.end == End::Killed {
            self.trace.note("the process is killed");
            self.tally.crashes += 1;
            return Ok(Ok(()));
        }
        self.ask_to_end(&gateways, life.end).await
    }

    async fn start(&self) -> Result<Vec<Gateway>, Violation> {
        let (mut gateways, ids) = (Vec::new(), self.ids());
        for node in 0..self.plan.nodes {
            let gateway = Gateway::start(self.parts(node, &ids))
                .await
                .map_err(|error| {
                    let found = format!("the gateway does not start: {error}");
                    Violation::of(Invariant::Ends, found)
                })?;
            gateways.push(gateway);
        }
        self.trace.note("started");
        Ok(gateways)
    }

    async fn ask_to_end(&self, gateways: &[Gateway], end: End) -> Result<Lived> {
        self.trace
            .note(&format!("the process is asked to end: {end:?}"));
        for gateway in gateways {
            let ended = match end {
                End::Drained => timeout(PATIENCE, gateway.drain()).await,
                End::Killed | End::Stopped => timeout(PATIENCE, gateway.stop()).await,
            };
            if ended.is_err() {
                let found = format!(
                    "a gateway was asked to end ({end:?}) and has not: {:?}",
                    gateway.load()
                );
                self.trace.note(&found);
                return Ok(Err(Violation::of(Invariant::Ends, found)));
            }
        }
        self.trace.note("the process has ended");
        Ok(Ok(()))
    }

    /// Plays what is left of the acts.
    async fn go_on(&mut self) -> Result<()> {
        while let Some(act) = self.plan.acts.get(self.acted).cloned() {
            sleep(act.after).await;
            if self.plan.staging.flaw == Flaw::MixedSenders {
                self.mix_senders()?;
            }
            self.act(&act)?;
        }
        Ok(())
    }

    fn act(&mut self, act: &Act) -> Result<()> {
        self.acted += 1;
        self.faults.acted();
        match &act.deed {
            Deed::Write {
                number,
                who,
                place,
                text,
            } => {
                let (name, _) = cast::ACCOUNTS[place.account];
                self.trace.note(&format!(
                    "{who} writes to {name} in {:?} {:?}: {text:?} (w{number:03})",
                    place.room, place.thread
                ));
                let sharing = self.plan.settings.sharing;
                let said = (*number, text.as_str());
                let (event, written) = cast::write(said, who, *place, sharing, self.clock.now());
                self.tally.messages += 1;
                self.written.push(written);
                self.vendors[place.account].write(event);
            }
            Deed::DeliverAgain { account, which } => {
                let vendor = &self.vendors[*account];
                let length = vendor.acknowledged().len().max(1) as u64;
                self.trace.note("something is delivered again");
                vendor.deliver_again(usize::try_from(which % length).unwrap_or(0));
            }
            Deed::Settle { which, how } => self.settle(*which, *how)?,
            Deed::Jump(time) => {
                self.trace.note(&format!("the clock jumps by {time:?}"));
                self.clock.jump(*time);
            }
            Deed::Revoke => self.revoke(),
            Deed::Meddle(meddling) => self.meddle(*meddling)?,
        }
        Ok(())
    }

    /// An operator looks at a dead letter. One about a part that may be there is only ever dropped: who replays it wants
    /// it twice.
    fn settle(&self, which: u64, how: Settling) -> Result<()> {
        let now = self.clock.now();
        let settled = self.look(move |tx| {
            let mut letters = dead::list(tx, None, u32::MAX)?;
            let length = letters.len().max(1) as u64;
            let index = usize::try_from(which % length).unwrap_or(0);
            if index >= letters.len() {
                return Ok(None);
            }
            let letter = letters.swap_remove(index);
            let is_unknown = match letter.thing {
                Thing::Part(part) => outbox::get_part(tx, part)?.state == PartState::Unknown,
                Thing::Event(_) => false,
            };
            let how = if is_unknown { Settling::Drop } else { how };
            match how {
                Settling::Replay => dead::replay(tx, letter.id, now)?,
                Settling::Drop => dead::drop(tx, letter.id, now)?,
            }
            Ok(Some((how, letter.thing)))
        })?;
        if let Some((how, thing)) = settled {
            self.trace
                .note(&format!("an operator settles {thing:?}: {how:?}"));
        }
        Ok(())
    }

    /// What would be if nobody looked at epochs: an owner that was taken over from finds its own to be current.
    fn meddle(&self, meddling: Meddling) -> Result<()> {
        self.trace.note(&format!("somebody meddles: {meddling:?}"));
        let now = self.clock.now();
        self.look(move |tx| match meddling {
            Meddling::Earlier => {
                tx.execute(
                    "UPDATE leases SET epoch = epoch - 1 WHERE name LIKE 'lane/%' AND expires_at > 0",
                    &[],
                )?;
                tx.execute(
                    "UPDATE runs SET state = 'running', ended_at = NULL WHERE state = 'interrupted' AND epoch IN
                         (SELECT epoch FROM leases WHERE name LIKE 'lane/%' AND expires_at > 0)",
                    &[],
                )
            }
            Meddling::Later => {
                tx.execute(
                    "UPDATE runs SET state = 'interrupted', ended_at = ?1 WHERE state = 'running' AND epoch IN
                         (SELECT epoch FROM leases WHERE name LIKE 'lane/%' AND expires_at > 0)",
                    bind![now],
                )?;
                tx.execute(
                    "UPDATE leases SET epoch = epoch + 1 WHERE name LIKE 'lane/%' AND expires_at > 0",
                    &[],
                )
            }
        })
        .map(drop)
    }

    /// What would be if anything that came soon after were merged: the next message becomes part of another's turn, which
    /// finds it there as if it were tried again.
    fn mix_senders(&self) -> Result<()> {
        let now = self.clock.now();
        let mixed = self.look(move |tx: &mut Tx<'_>| {
            let mixed = tx.execute(
                "UPDATE inbox SET state = 'merged', ended_at = ?1, merged_into = (
                     SELECT o.event_id FROM inbox o WHERE o.state = 'queued' AND o.kind = 'message'
                         AND o.seq < inbox.seq AND o.session_id <> inbox.session_id ORDER BY o.seq LIMIT 1)
                 WHERE seq = (
                     SELECT i.seq FROM inbox i JOIN inbox o ON o.seq < i.seq AND o.session_id <> i.session_id
                     WHERE i.state = 'queued' AND i.kind = 'message' AND o.state = 'queued' AND o.kind = 'message'
                     ORDER BY i.seq LIMIT 1)",
                bind![now],
            )?;
            tx.execute(
                "UPDATE inbox SET run_id = event_id WHERE state = 'queued' AND run_id IS NULL
                     AND event_id IN (SELECT merged_into FROM inbox)",
                &[],
            )?;
            Ok(mixed)
        })?;
        if mixed > 0 {
            self.trace.note("somebody mixes two senders");
        }
        Ok(())
    }
}
