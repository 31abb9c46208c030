//! Evidence of a sound universe with one thing changed in it: the promise that this breaks is named, and no other.

use talaria_domain::ids::{EventId, ReplyId, RunId, SessionId};
use talaria_domain::machine::{InboxState, JobState, PartState, RunState, ScheduleState};

use super::*;
use crate::chat::{Change, Shown};
use crate::universe::Staging;
use crate::universe::facts::{EventFact, Facts, RunFact};
use crate::universe::plan::Plan;
use crate::universe::world::World;

/// The end of the first universe in which something holds.
fn evidence(holds: impl Fn(&Evidence) -> bool) -> Evidence {
    (1..200)
        .map(|seed| {
            let mut world = World::of(Plan::of(seed, Staging::default())).unwrap();
            assert_eq!(world.play().unwrap(), [], "seed {seed}");
            let facts = world.look(Facts::read).unwrap();
            world.evidence(facts)
        })
        .find(holds)
        .unwrap()
}

fn broken(evidence: &Evidence) -> Vec<Invariant> {
    let violations = check(evidence, Moment::End);
    let mut broken: Vec<_> = violations.iter().map(|found| found.invariant).collect();
    broken.dedup();
    broken
}

/// An answer that the script gave, with the account that shows it.
fn answer(evidence: &mut Evidence) -> &mut Shown {
    let shown = evidence.vendors.iter_mut().flat_map(|it| &mut it.shown);
    let mut answers = shown.filter(|shown| shown.text.starts_with("re: "));
    answers.next().unwrap()
}

fn has_answer(evidence: &Evidence) -> bool {
    evidence
        .shown()
        .any(|(_, shown)| shown.text.starts_with("re: "))
}

#[test]
fn what_is_acknowledged_and_lost() {
    let mut evidence = evidence(has_answer);
    evidence.facts.events.pop_last();
    assert!(broken(&evidence).contains(&Invariant::Recorded));
}

#[test]
fn what_does_not_end() {
    let mut first = evidence(has_answer);
    let part = first.facts.parts.values_mut().next().unwrap();
    part.state = PartState::Sending;
    assert!(broken(&first).contains(&Invariant::Ends));
    let mut second = evidence(has_answer);
    second.vendors[0].backlog = 1;
    assert_eq!(broken(&second), [Invariant::Ends]);
}

#[test]
fn what_is_shown_twice_or_elsewhere_or_not_at_all() {
    let mut twice = evidence(has_answer);
    let again = answer(&mut twice).clone();
    twice.vendors.last_mut().unwrap().shown.push(again);
    assert!(broken(&twice).contains(&Invariant::AnsweredOnce));

    let mut elsewhere = evidence(has_answer);
    answer(&mut elsewhere).thread = Some("another".to_owned());
    assert_eq!(broken(&elsewhere), [Invariant::AnsweredOnce]);

    let mut gone = evidence(has_answer);
    answer(&mut gone).text = "something else".to_owned();
    assert_eq!(broken(&gone), [Invariant::AnsweredOnce]);
}

#[test]
fn what_is_discarded_without_a_word() {
    let mut evidence = evidence(|evidence| {
        let mut events = evidence.facts.events.values();
        events.any(|fact| fact.state == InboxState::Discarded && fact.message().is_some())
    });
    for fact in evidence.facts.events.values_mut() {
        fact.reason = None;
    }
    assert!(broken(&evidence).contains(&Invariant::AnsweredOnce));
}

#[test]
fn what_comes_out_of_order() {
    let mut evidence = evidence(|evidence| {
        let vendor = &evidence.vendors[1].shown;
        vendor
            .iter()
            .filter(|shown| shown.text.starts_with("re: "))
            .count()
            > 3
    });
    for shown in &mut evidence.vendors[1].shown {
        shown.id = 1_000 - shown.id;
    }
    assert_eq!(broken(&evidence), [Invariant::Ordered]);
}

#[test]
fn what_a_run_must_not_know() {
    let mut evidence = evidence(|evidence| !evidence.seen.is_empty());
    let number = evidence.written.len() + 500;
    evidence.seen[0].prompt = format!("m{number:03}-ada");
    assert_eq!(broken(&evidence), [Invariant::Identity]);
}

#[test]
fn what_is_done_twice() {
    let mut evidence = evidence(|evidence| !evidence.effects.is_empty());
    let again = evidence.effects[0].clone();
    evidence.effects.push(again);
    assert_eq!(broken(&evidence), [Invariant::EffectOnce]);
}

#[test]
fn what_a_run_may_not() {
    let has_effects = |evidence: &Evidence| !evidence.effects.is_empty();
    let mut never = evidence(has_effects);
    let (run, _) = never.effects[0];
    let fact = never.facts.runs.get_mut(&run).unwrap();
    fact.authority.grants.clear();
    assert_eq!(broken(&never), [Invariant::WithinAuthority]);

    let mut lost = evidence(has_effects);
    lost.lost.push((run, lost.effects.len()));
    assert_eq!(check(&lost, Moment::End), [], "before is not after");
    let (run, _) = lost.effects[0];
    lost.lost.push((run, 0));
    assert_eq!(broken(&lost), [Invariant::WithinAuthority]);

    let mut again = evidence(has_effects);
    let (run, _) = again.effects[0];
    let earlier = RunId::from_bytes([9; 16]);
    let fact = &again.facts.runs[&run];
    let fact = RunFact {
        session: fact.session,
        event: fact.event,
        state: RunState::Interrupted,
        authority: fact.authority.clone(),
    };
    again.facts.runs.insert(earlier, fact);
    again.lost.push((earlier, 0));
    assert_eq!(
        broken(&again),
        [Invariant::WithinAuthority],
        "another attempt brings nothing back"
    );
}

#[test]
fn what_appears_after_it_was_stopped() {
    let is_stopped = |fact: &&EventFact| fact.reason.as_deref() == Some("stopped by /stop");
    let answer_to = |id: EventId| ReplyId::from_bytes(*id.as_bytes());
    let mut evidence = evidence(|evidence| {
        let mut events = evidence.facts.events.values();
        events.any(|fact| is_stopped(&fact))
    });
    let events = &evidence.facts.events;
    let stopped = events.values().find(is_stopped).unwrap();
    let account = stopped.event.address.account.clone();
    let late = Change {
        message: 1_000,
        reply: answer_to(stopped.event.id),
        text: "re: it goes on".to_owned(),
    };
    let names = crate::universe::cast::ACCOUNTS.map(|(name, _)| name);
    let index = names.iter().position(|name| *name == account.as_str());
    let changes = &mut evidence.vendors[index.unwrap()].changes;
    changes.insert(0, late.clone());
    assert_eq!(check(&evidence, Moment::End), [], "before is not after");
    let later = Change {
        text: format!("{} and on", late.text),
        ..late
    };
    evidence.vendors[index.unwrap()].changes.push(later);
    assert_eq!(broken(&evidence), [Invariant::Stopped]);
}

#[test]
fn what_is_forgotten_or_remembered_twice() {
    let is_asked = |evidence: &Evidence| !evidence.facts.asked.is_empty();
    let mut forgotten = evidence(is_asked);
    forgotten.facts.asked.pop();
    assert_eq!(broken(&forgotten), [Invariant::Remembered]);
    let mut doubled = evidence(is_asked);
    let again = doubled.facts.asked[0].clone();
    doubled.facts.asked.push(again);
    assert_eq!(broken(&doubled), [Invariant::Remembered]);
}

/// Whether somebody was woken by a job, and answered.
fn has_news(evidence: &Evidence) -> bool {
    let events = evidence.facts.events.values();
    let mut news = events.filter(|fact| fact.news().is_some());
    news.any(|fact| fact.state == InboxState::Completed)
}

#[test]
fn what_ended_and_is_told_elsewhere_twice_or_not_at_all() {
    let is_news = |fact: &EventFact| fact.news().is_some();
    let mut gone = evidence(has_news);
    gone.facts.events.retain(|_, fact| !is_news(fact));
    assert!(broken(&gone).contains(&Invariant::ToldLater));

    let mut elsewhere = evidence(has_news);
    let other = SessionId::from_bytes([9; 16]);
    let events = elsewhere.facts.events.values_mut();
    for fact in events.filter(|fact| is_news(fact)) {
        fact.session = other;
    }
    assert!(broken(&elsewhere).contains(&Invariant::ToldLater));

    let mut unsaid = evidence(has_news);
    for job in unsaid.facts.jobs.values_mut() {
        job.told.push_str(", and so is everything else");
    }
    assert!(broken(&unsaid).contains(&Invariant::ToldLater));

    let mut moved = evidence(has_news);
    let shown = moved.vendors.iter_mut().flat_map(|it| &mut it.shown);
    for shown in shown.filter(|shown| shown.text.contains("j-m")) {
        shown.chat.push_str(" next door");
    }
    assert!(broken(&moved).contains(&Invariant::ToldLater));
}

#[test]
fn a_job_that_does_not_end() {
    let mut evidence = evidence(has_news);
    for job in evidence.facts.jobs.values_mut() {
        job.state = JobState::Running;
    }
    assert!(broken(&evidence).contains(&Invariant::Ends));
}

/// Whether something was planned, and became a turn and a message.
fn has_plans(evidence: &Evidence) -> bool {
    let times = &evidence.facts.occurrences;
    times.iter().any(|time| time.event.is_some()) && times.iter().any(|time| time.reply.is_some())
}

#[test]
fn what_is_planned_and_happens_elsewhere_twice_or_not_at_all() {
    let mut gone = evidence(has_plans);
    gone.facts.occurrences.pop();
    assert!(broken(&gone).contains(&Invariant::Planned));

    let mut doubled = evidence(has_plans);
    let mut again = doubled.facts.occurrences[0].clone();
    again.due = again.due.plus(std::time::Duration::from_secs(1));
    doubled.facts.occurrences.push(again);
    assert!(broken(&doubled).contains(&Invariant::Planned));

    let mut unserved = evidence(has_plans);
    for time in &mut unserved.facts.occurrences {
        (time.event, time.reply) = (None, None);
    }
    assert!(broken(&unserved).contains(&Invariant::Planned));

    let mut elsewhere = evidence(has_plans);
    for schedule in elsewhere.facts.schedules.values_mut() {
        schedule.return_to.address.chat = "next door".into();
    }
    assert_eq!(broken(&elsewhere), [Invariant::Planned]);

    let mut open = evidence(has_plans);
    for schedule in open.facts.schedules.values_mut() {
        schedule.state = ScheduleState::Active;
    }
    assert_eq!(broken(&open), [Invariant::Planned]);
}
