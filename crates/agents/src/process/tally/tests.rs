//! What follows from what was told.

use super::*;

const RUN: RunId = RunId::from_bytes([7; 16]);

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_message_is_what_was_given_or_what_its_deltas_come_to() {
    let mut tally = Tally::default();
    tally.grow("a");
    tally.grow("b");
    assert_eq!(tally.complete(None).as_deref(), Some("ab"));
    assert_eq!(tally.complete(None), None, "it is said once");
    tally.grow("draft");
    let given = tally.complete(Some("final".to_owned()));
    assert_eq!(given.as_deref(), Some("final"));
    assert_eq!(tally.complete(None), None, "the draft is part of it");
    assert_eq!(tally.complete(Some(" \n".to_owned())), None);
}

#[test]
fn every_call_has_an_id_of_its_own() {
    let mut tally = Tally::after(["old"].into_iter());
    let mut id = |wanted: Option<&str>| tally.call_id(RUN, wanted.map(str::to_owned));
    let long = "x".repeat(201);
    assert_eq!(id(Some("mine")), "mine");
    let others = [
        id(Some("mine")),
        id(Some("old")),
        id(Some("")),
        id(Some(&long)),
        id(None),
    ];
    let distinct: HashSet<_> = others.iter().collect();
    assert_eq!(distinct.len(), others.len());
    let ours = |id: &String| id.starts_with(&format!("call_{RUN}_"));
    assert!(others.iter().all(ours), "{others:?}");
}

#[test]
fn a_call_ends_once_and_only_after_it_began() {
    let mut tally = Tally::after(["old"].into_iter());
    assert!(!tally.end("a"));
    assert!(tally.start("a"));
    assert!(!tally.start("a") && !tally.start("old") && !tally.start(""));
    assert!(tally.end("a"));
    assert!(!tally.end("a") && !tally.start("a"));
}

#[test]
fn silence_after_a_loss_is_no_answer() {
    let mut tally = Tally::default();
    assert!(!tally.is_speechless(), "silence may be meant");
    tally.lose();
    assert!(tally.is_speechless());
    tally.complete(Some("words".to_owned()));
    assert!(!tally.is_speechless());
}

#[test]
fn what_nobody_took_up_is_regretted_once() {
    let mut tally = Tally::default();
    assert_eq!(tally.regret(), None);
    tally.tell(&texts(&["one"]));
    tally.tell(&texts(&["two"]));
    tally.hear(&texts(&["one"]));
    let regret = tally.regret().unwrap();
    assert!(
        regret.contains("two") && !regret.contains("one"),
        "{regret}"
    );
    assert_eq!(tally.regret(), None);
}
