//! Who is let through, and when.

use std::future::{pending, ready};

use futures::FutureExt as _;

use super::*;

/// What of a courtesy's state counts: unheard, ending, waiting.
fn standing(courtesy: &Courtesy) -> (usize, usize, usize) {
    let state = courtesy.state();
    (state.unheard, state.ending, state.waiting.len())
}

#[test]
fn where_there_is_little_to_do_nobody_waits() {
    let courtesy = Courtesy::default();
    let unheard: Vec<_> = (0..FEW_UNHEARD).map(|_| courtesy.begin()).collect();
    let ending: Vec<_> = (0..MOST_ENDING)
        .map(|_| courtesy.end(pending()).now_or_never().unwrap())
        .collect();
    assert_eq!(standing(&courtesy), (FEW_UNHEARD, MOST_ENDING, 0));
    drop((unheard, ending));
    assert_eq!(standing(&courtesy), (0, 0, 0));
}

#[test]
fn ends_wait_for_first_words_and_go_in_order() {
    let courtesy = Courtesy::default();
    let mut unheard: Vec<_> = (0..=FEW_UNHEARD).map(|_| courtesy.begin()).collect();
    let mut first = Box::pin(courtesy.end(pending()));
    let mut second = Box::pin(courtesy.end(pending()));
    assert!(first.as_mut().now_or_never().is_none());
    assert!(second.as_mut().now_or_never().is_none());
    assert_eq!(standing(&courtesy), (FEW_UNHEARD + 1, 0, 2));
    unheard.pop();
    assert_eq!(standing(&courtesy), (FEW_UNHEARD, 2, 0));
    assert!(first.now_or_never().is_some() && second.now_or_never().is_some());
    assert_eq!(standing(&courtesy), (FEW_UNHEARD, 0, 0));
}

#[test]
fn an_end_follows_another() {
    let courtesy = Courtesy::default();
    let mut ending: Vec<_> = (0..MOST_ENDING)
        .map(|_| courtesy.end(pending()).now_or_never().unwrap())
        .collect();
    let mut next = Box::pin(courtesy.end(pending()));
    let mut last = Box::pin(courtesy.end(pending()));
    assert!(next.as_mut().now_or_never().is_none() && last.as_mut().now_or_never().is_none());
    ending.pop();
    assert!(last.as_mut().now_or_never().is_none(), "in order");
    assert!(next.as_mut().now_or_never().is_some());
    // That one is over, too.
    assert!(last.as_mut().now_or_never().is_some());
    assert_eq!(standing(&courtesy), (0, MOST_ENDING - 1, 0));
}

#[test]
fn nobody_waits_for_longer_than_enough() {
    let courtesy = Courtesy::default();
    let unheard: Vec<_> = (0..=FEW_UNHEARD).map(|_| courtesy.begin()).collect();
    let ending = courtesy.end(ready(())).now_or_never().unwrap();
    assert_eq!(standing(&courtesy), (FEW_UNHEARD + 1, 1, 0));
    drop((ending, unheard));
    assert_eq!(standing(&courtesy), (0, 0, 0));
}

#[test]
fn whoever_goes_away_leaves_no_trace() {
    let courtesy = Courtesy::default();
    let unheard: Vec<_> = (0..=FEW_UNHEARD).map(|_| courtesy.begin()).collect();
    let mut waits = Box::pin(courtesy.end(pending()));
    let mut let_through = Box::pin(courtesy.end(pending()));
    assert!(waits.as_mut().now_or_never().is_none());
    assert!(let_through.as_mut().now_or_never().is_none());
    drop(waits);
    assert_eq!(standing(&courtesy), (FEW_UNHEARD + 1, 0, 1));
    drop(unheard);
    assert_eq!(standing(&courtesy), (0, 1, 0));
    // It was let through and does not know yet.
    drop(let_through);
    assert_eq!(standing(&courtesy), (0, 0, 0));
}
