//! What ends later is told once, by the conversation that asked for it, in the place that it asked from, and nowhere else.

use std::collections::{BTreeMap, BTreeSet};

use talaria_domain::ids::{EventId, JobId, ReplyId, SessionId};
use talaria_domain::job::Promise;
use talaria_domain::machine::{InboxState, Machine as _, ReplyState};

use super::Findings;
use super::answers::TOLD;
use crate::universe::cast::{canaries, job_canaries};
use crate::universe::evidence::Evidence;
use crate::universe::facts::{EventFact, Facts, JobFact};

/// What is said of a job is said where it was asked for.
pub(super) fn in_their_place(evidence: &Evidence) -> Findings {
    let mut findings = Findings::new();
    for (account, shown) in evidence.shown() {
        for number in job_canaries(&shown.text) {
            let is_home = evidence.numbered(number).is_some_and(|written| {
                (written.account, &written.chat, &written.thread)
                    == (account, &shown.chat, &shown.thread)
            });
            if !is_home {
                findings.push(format!(
                    "the job of m{number:03} is told elsewhere: {shown:?}"
                ));
            }
        }
    }
    findings
}

/// No news is in the ledger twice, or in another conversation than the one that asked.
pub(super) fn at_most_once(evidence: &Evidence) -> Findings {
    let facts = &evidence.facts;
    let mut findings = Findings::new();
    for (id, job) in &facts.jobs {
        let news = news_of(facts, *id);
        let most = usize::from(job.promise == Promise::Wake);
        if news.len() > most {
            findings.push(format!("job {id} is told {} times: {job:?}", news.len()));
        }
        for news in news {
            let is_home = news.session == job.return_to.session
                && news.event.address.target() == job.return_to.address.target()
                && news.event.principal.key() == job.return_to.requester.key();
            if !is_home {
                findings.push(format!("job {id} is told elsewhere: {news:?}"));
            }
        }
    }
    findings.extend(too_often(evidence));
    findings
}

/// The events that bring news of a job. The one that a task begins with is not news: it is in the task's own session.
fn news_of(facts: &Facts, job: JobId) -> Vec<&EventFact> {
    let events = facts.events.values();
    events
        .filter(|fact| fact.news() == Some(job) && fact.session.as_bytes() != job.as_bytes())
        .collect()
}

/// People see no news more often than there are events that bring it, or in which somebody asks for it again.
fn too_often(evidence: &Evidence) -> Findings {
    let jobs = evidence.facts.jobs.values();
    let wakes = jobs.filter(|job| job.promise == Promise::Wake && !job.told.is_empty());
    let told: BTreeSet<&str> = wakes.map(|job| job.told.as_str()).collect();
    let finding = |told: &str| {
        let events = evidence.facts.events.values();
        let brought = events.filter(|fact| fact.said().is_some_and(|said| said.contains(told)));
        let shown = evidence
            .shown()
            .filter(|(_, shown)| shown.text.starts_with("re: ") && shown.text.contains(told));
        let (brought, shown) = (brought.count(), shown.count());
        (shown > brought).then(|| format!("{told:?} is shown {shown} times, and brought {brought}"))
    };
    told.into_iter().filter_map(finding).collect()
}

/// What was promised was kept: people are woken or told, and what they are told holds what the job came to.
pub(super) fn told_once(evidence: &Evidence) -> Findings {
    let facts = &evidence.facts;
    let mut findings = Findings::new();
    let mut notices: BTreeMap<(SessionId, &str), i64> = BTreeMap::new();
    for (id, job) in facts.jobs.iter().filter(|(_, job)| job.state.is_end()) {
        match job.promise {
            Promise::Notice if !job.is_consumed => {
                let key = (job.return_to.session, job.told.as_str());
                *notices.entry(key).or_default() += 1;
            }
            Promise::Wake => findings.extend(untold(facts, *id, job)),
            Promise::Nothing | Promise::Notice => {}
        }
    }
    for reply in facts
        .replies
        .values()
        .filter(|reply| reply.kind == "notice")
    {
        let key = (reply.return_to.session, reply.text.as_str());
        if let Some(open) = notices.get_mut(&key) {
            *open -= 1;
        }
    }
    let wrong = notices.into_iter().filter(|(_, open)| *open != 0);
    findings.extend(wrong.map(|((session, told), open)| {
        format!("in session {session} the notice {told:?} is missing {open} times")
    }));
    findings
}

fn untold(facts: &Facts, id: JobId, job: &JobFact) -> Option<String> {
    let news = news_of(facts, id);
    let Some(news) = news.first() else {
        return (!job.is_consumed).then(|| format!("job {id} ended and nobody was told: {job:?}"));
    };
    let root = facts.root(news.event.id);
    let state = facts.events.get(&root).map(|fact| fact.state);
    if state != Some(InboxState::Completed) {
        // That it has not ended, or ended without a reason, is said elsewhere.
        return None;
    }
    let is_told = answer_to(facts, root).is_some_and(|text| {
        let is_excused = TOLD.iter().any(|told| text.starts_with(told));
        is_excused || text.contains(&job.told)
    });
    let is_silent = in_turn(facts, root).any(|fact| {
        let text = fact.said().unwrap_or_default();
        text.contains("silent") || text.contains(" give ") || text.contains(" errand ")
    });
    (!is_told && !is_silent).then(|| format!("job {id} is not in the answer: {job:?}"))
}

fn in_turn(facts: &Facts, root: EventId) -> impl Iterator<Item = &EventFact> {
    let events = facts.events.values();
    events.filter(move |fact| facts.root(fact.event.id) == root)
}

fn answer_to(facts: &Facts, event: EventId) -> Option<&str> {
    let reply = facts.replies.get(&ReplyId::from_bytes(*event.as_bytes()))?;
    let is_kept = reply.state != ReplyState::Discarded;
    Some(reply.text.as_str()).filter(|_| is_kept)
}

/// Nothing of a task is sent by itself: what is said in its session goes nowhere.
pub(super) fn tasks_are_silent(evidence: &Evidence) -> Findings {
    let facts = &evidence.facts;
    let is_task = |session: &SessionId| {
        let job = JobId::from_bytes(*session.as_bytes());
        facts.jobs.contains_key(&job)
    };
    let replies = facts.replies.iter();
    let said = replies.filter(|(_, reply)| is_task(&reply.return_to.session));
    let mut findings: Findings = said
        .map(|(id, reply)| format!("a task said by itself, as {id}: {:?}", reply.text))
        .collect();
    let seen = evidence.seen.iter().filter(|seen| seen.depth > 0);
    let leaks = seen.filter(|seen| !canaries(&seen.prompt).is_empty() || !seen.history.is_empty());
    findings.extend(leaks.map(|seen| {
        format!(
            "the task of run {} knows more than it was given: {:?}",
            seen.run, seen.prompt
        )
    }));
    findings
}
