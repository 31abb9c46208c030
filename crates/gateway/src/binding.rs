//! Which runner thinks about an event, and what its run may use: the binding that counts there, or what the profile
//! says by itself. The authority is put together here, once for each run, from what the runner may at most, what the
//! binding allows and what the profile has; afterwards nobody asks the configuration again.

use std::sync::Arc;

use serde_json::{Map, Value};
use talaria_domain::authority::{Authority, Frozen, Grant, ResourceKind, Right, intersect};
use talaria_domain::binding::{
    self, Binding, BindingScope, DeliveryPolicy, Unresolved, event_name,
};
use talaria_domain::descriptor::{Descriptor, FileOperation, StoreName, StoreOperation};
use talaria_domain::event::{Event, EventKind};
use talaria_domain::names::BindingId;
use talaria_domain::runner::Runner;
use talaria_store::kept::Kept;

use crate::settings::ProfileSettings;

/// Bindings of which no two can be taken for each other.
#[derive(Clone, Default)]
pub struct Bindings(Vec<Bound>);

/// A binding and what thinks under it.
#[derive(Clone)]
pub struct Bound {
    /// Where, for what, and what it may.
    pub binding: Binding,
    /// What thinks.
    pub thinker: Thinker,
}

/// What thinks under a binding.
#[derive(Clone)]
pub enum Thinker {
    /// What the profile says by itself, with what the profile may: the binding adds nothing.
    Own,
    /// The profile's own runner, with what the binding allows.
    Profile,
    /// Another one.
    Other {
        /// What it is.
        descriptor: Arc<Descriptor>,
        /// How it is reached.
        runner: Arc<dyn Runner>,
    },
}

/// What was decided for one run. Cheap to copy: most runs of a profile have the same.
#[derive(Clone)]
pub(crate) struct Chosen {
    pub(crate) id: BindingId,
    pub(crate) profile: Arc<ProfileSettings>,
    /// What it may use.
    pub(crate) authority: Kept<Authority>,
    /// The same, made ready to be asked at every effect.
    pub(crate) frozen: Arc<Frozen>,
    pub(crate) config: Map<String, Value>,
    pub(crate) delivery: DeliveryPolicy,
    /// Whether a binding says what it may use.
    pub(crate) is_bound: bool,
}

impl Chosen {
    /// What a profile says by itself.
    pub(crate) fn own(profile: &ProfileSettings) -> Self {
        let mut own = profile.clone();
        own.authority.state = profile.profile.state.clone();
        Self {
            id: BindingScope::Profile(profile.profile.name.clone()).identity(),
            authority: Kept::from(own.authority.clone()),
            frozen: Arc::new(own.authority.clone().freeze()),
            profile: Arc::new(own),
            config: Map::new(),
            delivery: DeliveryPolicy::default(),
            is_bound: false,
        }
    }

    /// The same with another authority.
    pub(crate) fn with(mut self, authority: Authority) -> Self {
        self.frozen = Arc::new(authority.clone().freeze());
        Arc::make_mut(&mut self.profile).authority = authority.clone();
        self.authority = Kept::from(authority);
        self
    }
}

impl Bindings {
    /// Bindings, if each can be told from the others.
    pub fn of(bound: Vec<Bound>) -> Result<Self, Unresolved> {
        let bindings: Vec<Binding> = bound.iter().map(|bound| bound.binding.clone()).collect();
        let clash = binding::clashes(&bindings).into_iter().next();
        match clash.and_then(|it| Some((bindings.get(it.one)?, bindings.get(it.other)?))) {
            None => Ok(Self(bound)),
            Some((one, other)) => Err(Unresolved::Equal {
                event: "the same".to_owned(),
                one: one.id.clone(),
                other: other.id.clone(),
            }),
        }
    }

    /// The one that counts for an event of a profile; none means what the profile says by itself.
    pub fn find(&self, profile: &ProfileSettings, event: &Event) -> Option<&Bound> {
        let place = (&profile.profile.name, &event.address);
        let bindings = self.0.iter().map(|bound| &bound.binding);
        let found = binding::resolve(bindings, place, event_name(&event.kind)).ok()?;
        self.0.iter().find(|bound| bound.binding.id == found.id)
    }

    /// Who thinks about these events, and what they may use; `own` is what the profile says by itself.
    pub(crate) fn choose(&self, own: &Chosen, events: &[Event]) -> Chosen {
        let bound = events
            .first()
            .and_then(|first| self.find(&own.profile, first));
        let Some(bound) = bound else {
            return own.clone();
        };
        let native;
        let (descriptor, runner) = match &bound.thinker {
            Thinker::Own => return own.clone(),
            Thinker::Profile => {
                native = Descriptor::native();
                (&native, None)
            }
            Thinker::Other { descriptor, runner } => (&**descriptor, Some(runner)),
        };
        let mut profile = (*own.profile).clone();
        if let Some(runner) = runner {
            profile.runner = Arc::clone(runner);
            profile.profile.runner = descriptor.name.id();
        }
        let Binding {
            id, config, policy, ..
        } = &bound.binding;
        let scope = surroundings(&own.profile.authority, events);
        let authority = intersect(&descriptor.permissions, policy, &scope);
        profile.profile.state = policy.state.clone();
        let chosen = Chosen {
            id: id.clone(),
            profile: Arc::new(profile),
            authority: own.authority.clone(),
            frozen: Arc::clone(&own.frozen),
            config: config.clone(),
            delivery: policy.delivery,
            is_bound: true,
        };
        chosen.with(authority)
    }
}

/// What there is where a run thinks: what its profile has, its stores, the files that came with what was said.
fn surroundings(profile: &Authority, events: &[Event]) -> Authority {
    let mut scope = Authority {
        rights: Right::ALL.into(),
        ..profile.clone()
    };
    for store in StoreName::ALL {
        let grant = Grant::of(StoreOperation::ALL.map(StoreOperation::as_str));
        scope = scope.with(ResourceKind::Storage, store.as_str(), grant);
    }
    for event in events {
        let EventKind::Message(content) = &event.kind else {
            continue;
        };
        for attachment in &content.attachments {
            let grant = Grant::of([FileOperation::Read.as_str()]);
            scope = scope.with(ResourceKind::File, &attachment.locator, grant);
        }
    }
    scope
}

#[cfg(test)]
mod tests;
