//! Pure: runners outside. A program is named by an id that cannot be taken for another's, and may do what is written
//! down and nothing else.

use std::path::PathBuf;

use talaria_domain::descriptor::{Descriptor, NATIVE, RunnerName};
use talaria_domain::names::RunnerId;

use super::Loading;
use crate::config::effective::{RunnerKind, RunnerSettings};
use crate::config::file::RunnerSection;
use crate::config::problem::did_you_mean;
use crate::config::secret::is_variable_name;

impl Loading<'_> {
    pub(super) fn runners(&mut self) -> Vec<RunnerSettings> {
        let sections: Vec<Option<RunnerSection>> = self.document.list("runner");
        let mut runners: Vec<RunnerSettings> = Vec::new();
        for (index, section) in sections.into_iter().enumerate() {
            let key = format!("runner[{index}]");
            let Some(runner) = section.and_then(|section| self.runner(&key, section)) else {
                continue;
            };
            let name = &runner.descriptor.name;
            if runners.iter().any(|other| other.descriptor.name == *name) {
                let what = format!("a second runner {name}: give each an id of its own");
                self.refuse(&format!("{key}.id"), what);
            }
            runners.push(runner);
        }
        runners
    }

    fn runner(&mut self, key: &str, section: RunnerSection) -> Option<RunnerSettings> {
        let id = self.required(&format!("{key}.id"), section.id);
        let command = self.required(&format!("{key}.command"), section.command);
        for name in section.env.iter().filter(|name| !is_variable_name(name)) {
            let letters = name.chars().count();
            let what = format!(
                "expected the names of environment variables, found {letters} letters that are none"
            );
            self.refuse(&format!("{key}.env"), what);
        }
        if id.is_empty() {
            return None;
        }
        let name = match RunnerName::parse(&id) {
            Ok(name) if id != NATIVE => name,
            Ok(_) => {
                let what =
                    format!("{NATIVE:?} is built in: call yours plugin:AUTHOR/PLUGIN/RUNNER");
                self.refuse(&format!("{key}.id"), what);
                return None;
            }
            Err(why) => {
                self.refuse(&format!("{key}.id"), why.to_string());
                return None;
            }
        };
        Some(RunnerSettings {
            descriptor: Descriptor {
                name,
                version: section.version,
                capabilities: section.capabilities,
                permissions: section.permissions,
            },
            command: PathBuf::from(command),
            args: section.args,
            env: section.env,
            cwd: section.cwd.map(PathBuf::from),
        })
    }

    /// The runner that is meant: the built-in one, one of the file by its id, or the only one of the file.
    pub(super) fn runner_named(
        &mut self,
        key: &str,
        written: Option<&str>,
        runners: &[RunnerSettings],
    ) -> (RunnerKind, RunnerId) {
        let native = (RunnerKind::Native, RunnerId::from(NATIVE));
        let ids: Vec<RunnerId> = runners.iter().map(|it| it.descriptor.name.id()).collect();
        match written {
            None | Some(NATIVE) => native,
            Some("acp") => (RunnerKind::Acp, RunnerId::from("acp")),
            Some("process") => match ids.as_slice() {
                [only] => (RunnerKind::Process, only.clone()),
                [] => {
                    let what = "there is no [[runner]]: write down its id and its command";
                    self.refuse(key, what.to_owned());
                    native
                }
                _ => {
                    let what = "there is more than one [[runner]]: name one by its id";
                    self.refuse(key, what.to_owned());
                    native
                }
            },
            Some(id) => {
                if let Some(found) = ids.iter().find(|found| found.as_str() == id) {
                    return (RunnerKind::Process, found.clone());
                }
                let hint = did_you_mean(id, ids.iter().map(RunnerId::as_str));
                let what = format!(
                    "expected `native`, `process`, `acp` or the id of a [[runner]], found {id:?}{hint}"
                );
                self.refuse(key, what);
                native
            }
        }
    }
}
