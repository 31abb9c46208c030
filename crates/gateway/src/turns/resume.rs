//! What to do with a turn that was interrupted. Pure: the journal in, a decision out.
//!
//! A run that only thought can be done again: nobody saw anything of it. A run that had started a tool cannot, because
//! nobody knows what the tool did; the person is told and decides.

use talaria_domain::run::RunEvent;

use crate::settings::ResumePolicy;

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resume {
    /// Do it again.
    Again,
    /// Tell the person what was going on.
    Tell {
        /// The tools that were started.
        tools: Vec<String>,
    },
    /// It was tried often enough.
    GiveUp,
}

/// What to do at attempt number `attempt`, from one, of `most`, if the one before it left this journal.
pub fn decide(journal: &[RunEvent], attempt: u32, most: u32, policy: ResumePolicy) -> Resume {
    let tools: Vec<String> = journal
        .iter()
        .filter_map(|event| match event {
            RunEvent::ToolStarted { tool, .. } => Some(tool.clone()),
            _ => None,
        })
        .collect();
    if !tools.is_empty() || policy == ResumePolicy::Tell {
        return Resume::Tell { tools };
    }
    if attempt > most {
        return Resume::GiveUp;
    }
    Resume::Again
}

#[cfg(test)]
mod tests {
    //! A table of journals.

    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_touched_nothing_is_done_again() {
        let thought = RunEvent::MessageDelta {
            text: "hm".to_owned(),
        };
        let tool = RunEvent::ToolStarted {
            call: "1".to_owned(),
            tool: "terminal".to_owned(),
            arguments: json!({}),
        };
        let tell = Resume::Tell {
            tools: vec!["terminal".to_owned()],
        };
        let table = [
            (vec![], 2, Resume::Again),
            (vec![thought.clone()], 3, Resume::Again),
            (vec![thought.clone()], 4, Resume::GiveUp),
            (vec![thought, tool.clone()], 2, tell.clone()),
            (vec![tool], 4, tell),
        ];
        for (journal, attempt, expected) in table {
            assert_eq!(
                decide(&journal, attempt, 3, ResumePolicy::Auto),
                expected,
                "{journal:?} {attempt}"
            );
        }
        let told = decide(&[], 2, 3, ResumePolicy::Tell);
        assert_eq!(told, Resume::Tell { tools: vec![] });
    }
}
