//! Runners outside, and what joins them to places: each `[[runner]]` is one process for all its bindings, and has every
//! model and tool of this build to offer; what of that a run may use is decided for each run.

use std::collections::BTreeMap;
use std::sync::Arc;

use talaria_agents::models;
use talaria_agents::process::{
    Limits, ModelOffer, ProcessRunner, ProcessRunnerSettings, Resources, ToolOffer,
};
use talaria_agents::processes::Processes;
use talaria_agents::tools::{self, Environment as ChildEnvironment};
use talaria_domain::descriptor::Descriptor;
use talaria_domain::names::RunnerId;
use talaria_domain::runner::Runner;
use talaria_gateway::binding::{Bindings, Bound, Thinker};

use super::rooms;
use crate::config::{Effective, Environment};

/// The runners by their ids.
type Outside = BTreeMap<RunnerId, (Arc<Descriptor>, Arc<dyn Runner>)>;

/// What thinks where.
pub(super) fn bindings(
    effective: &Effective,
    environment: &Environment,
    client: &models::Client,
    (children, processes): (&ChildEnvironment, &Arc<Processes>),
) -> anyhow::Result<Bindings> {
    let resources = resources(effective, client, (children, processes));
    let (tasks, stop) = processes.lifetime();
    let mut outside = Outside::new();
    for configured in &effective.runners {
        let name = &configured.descriptor.name;
        let variable = |name: &String| Some((name.clone(), environment.text(name)?));
        let settings = ProcessRunnerSettings {
            id: name.id(),
            command: configured.command.clone(),
            arguments: configured.args.clone(),
            cwd: configured.cwd.clone(),
            variables: configured.env.iter().filter_map(variable).collect(),
            limits: Limits::default(),
        };
        let (tasks, stop) = (tasks.clone(), stop.clone());
        let runner = ProcessRunner::new(settings, resources.clone(), children.clone(), tasks, stop);
        let descriptor = Arc::new(configured.descriptor.clone());
        outside.insert(name.id(), (descriptor, Arc::new(runner)));
    }
    let bound = effective.bindings.iter().map(|configured| Bound {
        binding: configured.binding.clone(),
        thinker: match outside.get(&configured.binding.runner) {
            Some((descriptor, runner)) => Thinker::Other {
                descriptor: Arc::clone(descriptor),
                runner: Arc::clone(runner),
            },
            None if configured.is_own => Thinker::Own,
            None => Thinker::Profile,
        },
    });
    Ok(Bindings::of(bound.collect())?)
}

/// Everything that there is, under the names and the implementations that authorities know.
fn resources(
    effective: &Effective,
    client: &models::Client,
    (children, processes): (&ChildEnvironment, &Arc<Processes>),
) -> Resources {
    if effective.runners.is_empty() {
        return Resources::default();
    }
    let models = effective.models.iter().map(|model| ModelOffer {
        name: model.name.clone(),
        implementation: rooms::served(model),
        model: models::build(rooms::model(model), client.clone()),
    });
    let tools = tools::all(children, processes).into_iter();
    let tools = tools.map(|tool| ToolOffer {
        implementation: rooms::built_in(tool.name()),
        tool,
    });
    // A runner thinks for any profile: what one of them wants to be asked about is asked about.
    let approve = effective.profiles.iter().flat_map(|it| &it.approve);
    Resources {
        models: models.collect(),
        tools: tools.collect(),
        approve: approve.cloned().collect(),
    }
}
