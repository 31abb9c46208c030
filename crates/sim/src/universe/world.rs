//! What outlives processes: the ledger, the vendors, what the runner did, what people wrote, the clock. Everything that
//! the universe itself asks of the ledger goes through [`World::look`], to which nothing happens.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures::FutureExt as _;
use talaria_domain::authority::{Authority, Grant, ResourceKind, Revocation, Right};
use talaria_domain::clock::{Clock, Timestamp};
use talaria_domain::ids::{Ids, SeededIds};
use talaria_domain::profile::{Account, Profile};
use talaria_domain::scope::StatePolicy;
use talaria_gateway::access::{AccessPolicy, Groups, Mentions};
use talaria_gateway::binding::Bindings;
use talaria_gateway::delivery::pace::Rate;
use talaria_gateway::settings::{AccountSettings, DoubtPolicy, ProfileSettings, Settings};
use talaria_gateway::{Gateway, Parts};
use talaria_platforms::split::pieces;
use talaria_store::{Ledger, Tx, runs};

use super::cast::{ACCOUNTS, PEOPLE, PLATFORM, PROFILE, STRANGER, Written};
use super::evidence::{Evidence, Testimony};
use super::facts::Facts;
use super::faults::{Connection, Faults, Temperament};
use super::plan::Plan;
use super::{Chronicle, Flaw, Tally, Violation, checks};
use crate::chat::{Offer, Vendor};
use crate::machine::{Forgetful, Machine};
use crate::script::{LEVER, Script, ScriptedRunner};
use crate::time::LastingClock;
use crate::trace::Trace;

/// When universes begin.
const BEGINNING: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// A universe.
pub(super) struct World {
    pub(super) plan: Plan,
    pub(super) clock: Arc<LastingClock>,
    pub(super) trace: Arc<Trace>,
    pub(super) faults: Arc<Faults>,
    pub(super) ledger: Ledger,
    pub(super) vendors: Vec<Arc<Vendor>>,
    pub(super) written: Vec<Written>,
    /// How many of the plan's acts have happened.
    pub(super) acted: usize,
    pub(super) tally: Tally,
    /// Those of this life.
    pub(super) gateways: Vec<Gateway>,
    script: Arc<Script>,
    machine: Arc<Machine>,
}

/// Whether it is over: some promises are about the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Between,
    End,
}

impl World {
    pub(super) fn of(plan: Plan) -> Result<Self> {
        let clock = Arc::new(LastingClock::at(BEGINNING));
        let trace = Arc::new(Trace::by(Arc::<LastingClock>::clone(&clock)));
        let faults = Arc::new(Faults::of(
            plan.chance.clone(),
            (plan.temper, plan.drag),
            &trace,
        ));
        let fates = Arc::<Faults>::clone(&faults);
        let ledger = Ledger::inline_with(Arc::<LastingClock>::clone(&clock), fates)?;
        let machine = Machine::by(Arc::<LastingClock>::clone(&clock));
        let mut script = Script::with_window(plan.settings.window)
            .traced(&trace)
            .using(&machine);
        if plan.staging.flaw != Flaw::Unchecked {
            script = script.checking();
        }
        let vendor = |(name, offer)| {
            let moods = Arc::new(Temperament(Arc::clone(&faults)));
            let vendor = Vendor::with_limit(offer, moods, plan.settings.text);
            vendor.trace_to(name, &trace);
            vendor
        };
        trace.note(&format!("seed {}: {:?}", plan.seed, plan.settings));
        Ok(Self {
            vendors: ACCOUNTS.into_iter().map(vendor).collect(),
            script: Arc::new(script),
            machine,
            plan,
            clock,
            trace,
            faults,
            ledger,
            written: Vec::new(),
            acted: 0,
            tally: Tally::default(),
            gateways: Vec::new(),
        })
    }

    /// Asks the ledger, as if from outside.
    pub(super) fn look<T: Send + 'static>(
        &self,
        closure: impl Fn(&mut Tx<'_>) -> talaria_store::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.faults.look(true);
        let seen = self.ledger.write(closure).now_or_never();
        self.faults.look(false);
        Ok(seen.context("an inline ledger answers at once")??)
    }

    /// Where new ids come from in this life: the same for the same seed, different in every life, and rising. Nodes share
    /// them, as if their clocks agreed to less than a millisecond: a target's queue is in the order of ids.
    pub(super) fn ids(&self) -> Arc<dyn Ids> {
        let life = u16::try_from(self.tally.lives).unwrap_or(u16::MAX);
        let offset = u16::try_from(self.plan.seed % 1_024).unwrap_or(0);
        Arc::new(SeededIds::from_seed(offset + life))
    }

    /// What a gateway is made of here.
    pub(super) fn parts(&self, node: u16, ids: &Arc<dyn Ids>) -> Parts {
        let settings = &self.plan.settings;
        let profile = ProfileSettings {
            profile: Profile {
                name: PROFILE.into(),
                runner: "scripted".into(),
                instructions: String::new(),
                busy: settings.busy,
                sharing: settings.sharing,
                state: StatePolicy::default(),
            },
            runner: Arc::new(ScriptedRunner(Arc::clone(&self.script))),
            authority: self.authority(),
            reset: settings.reset,
        };
        let vendors = self.vendors.iter().zip(ACCOUNTS);
        Parts {
            ledger: self.ledger.clone(),
            clock: Arc::<LastingClock>::clone(&self.clock),
            settings: Settings {
                node: format!("node {node}").into(),
                profiles: [(profile.profile.name.clone(), profile)].into(),
                accounts: vendors
                    .map(|(vendor, (name, _))| self.account(vendor, name, ids))
                    .collect(),
                routes: Vec::new(),
                bindings: Bindings::default(),
                files: None,
                zone: talaria_domain::schedule::Zone::default(),
                limits: settings.limits,
                split: pieces,
                worker: match self.plan.staging.flaw {
                    Flaw::ForgottenJobs => Arc::new(Forgetful),
                    _ => Arc::<Machine>::clone(&self.machine),
                },
            },
            ids: Arc::clone(ids),
        }
    }

    /// What runs are admitted with in this life. Now and then an operator has taken the tool out of the profile.
    fn authority(&self) -> Authority {
        let authority = Authority {
            rights: Right::ALL.into(),
            ..Authority::default()
        };
        if self.plan.is_without_lever(self.tally.lives) {
            return authority;
        }
        authority.with(ResourceKind::Tool, LEVER, Grant::of(["call"]))
    }

    /// An operator takes the tool away from every run that is under way, for good: as the gateway does it, in the ledger
    /// first. A run that has ended there loses nothing, whoever still believes in it.
    pub(super) fn revoke(&self) {
        let revocation = Revocation::Resource {
            kind: ResourceKind::Tool,
            name: LEVER.to_owned(),
            operation: None,
        };
        for gateway in &self.gateways {
            for run in gateway.active_runs().list() {
                let id = run.registration().run;
                let (what, now) = (revocation.clone(), self.clock.now());
                if self
                    .look(move |tx| runs::revoke(tx, id, &what, now))
                    .is_err()
                {
                    continue;
                }
                gateway.active_runs().revoke_from(id, &revocation);
                self.script.lose(id);
                self.trace
                    .note(&format!("run {id} loses the lever to an operator"));
            }
        }
    }

    fn account(&self, vendor: &Arc<Vendor>, name: &str, ids: &Arc<dyn Ids>) -> AccountSettings {
        let (settings, flaw) = (&self.plan.settings, self.plan.staging.flaw);
        let clock: Arc<dyn Clock> = Arc::<LastingClock>::clone(&self.clock);
        let account = Account {
            platform: PLATFORM.into(),
            name: name.into(),
            profile: PROFILE.into(),
        };
        let connection = Arc::new(Connection(Arc::clone(&self.faults)));
        let mut adapter = vendor
            .adapter(account, clock)
            .stamping(Arc::clone(ids))
            .connected_by(connection);
        if flaw == Flaw::AcknowledgedFirst {
            adapter = adapter.acknowledging_first();
        }
        let known = PEOPLE.into_iter().filter(|who| *who != STRANGER);
        let is_resent = flaw == Flaw::ResendUnknown && vendor.offer() == Offer::Plain;
        AccountSettings {
            adapter: Arc::new(adapter),
            access: AccessPolicy {
                allow: known.map(Into::into).collect(),
                groups: Groups {
                    mention: Mentions::Optional,
                    ..Groups::default()
                },
                ..AccessPolicy::default()
            },
            merge_window: settings.merge_window,
            rate: settings.rate,
            account_rate: Rate::UNLIMITED,
            edit_pace: Duration::from_millis(1_200),
            doubt: if is_resent {
                DoubtPolicy::PreferDuplicate
            } else {
                DoubtPolicy::PreferLoss
            },
            marks: false,
            home: None,
        }
    }

    /// Looks whether all promises were kept so far.
    pub(super) fn check(&mut self, moment: Moment) -> Result<Vec<Violation>> {
        let facts = self.look(Facts::read)?;
        if moment == Moment::End {
            self.count(&facts);
            facts.lines().iter().for_each(|line| self.trace.note(line));
        }
        let violations = checks::check(&self.evidence(facts), moment);
        for violation in &violations {
            self.trace.note(&violation.to_string());
        }
        Ok(violations)
    }

    pub(super) fn evidence(&self, facts: Facts) -> Evidence {
        let testify = |vendor: &Arc<Vendor>| Testimony {
            offer: vendor.offer(),
            acknowledged: vendor.acknowledged(),
            shown: vendor.all(),
            changes: vendor.changes(),
            backlog: vendor.backlog(),
        };
        Evidence {
            facts,
            vendors: self.vendors.iter().map(testify).collect(),
            written: self.written.clone(),
            seen: self.script.seen(),
            effects: self.script.effects(),
            lost: self.script.lost(),
            limits: self.plan.settings.limits,
        }
    }

    fn count(&mut self, facts: &Facts) {
        let answers = facts.delivered_answers();
        self.tally.answers += answers as u64;
        self.tally.jobs += facts.jobs.len() as u64;
        self.tally.unknown += facts.unknown_parts() as u64;
        self.tally.dead += facts.letters.len() as u64;
    }

    pub(super) fn chronicle(self, violations: Vec<Violation>) -> Chronicle {
        Chronicle {
            seed: self.plan.seed,
            trace: self.trace.text(),
            tally: Tally {
                seeds: 1,
                ..self.tally
            },
            violations,
        }
    }
}
