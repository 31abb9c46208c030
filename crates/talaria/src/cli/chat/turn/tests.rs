//! Everything that can happen in a turn ends it, and is shown once.

use serde_json::{Value, json};
use talaria_domain::delivery::ReplyKind;
use talaria_domain::live::Happening;
use talaria_domain::run::{FailureCode, RunEvent, RunOutcome, ToolResult, Usage};

use super::{Conversation, Next, QUIET_LOOKS, Show};

/// The id with this number.
fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(number: u8) -> T {
    let text = format!("0198c0de-0000-7000-8000-0000000000{number:02x}");
    text.parse().unwrap()
}

const EVENT: u8 = 1;
const RUN: u8 = 2;
const REPLY: u8 = 3;
const OTHER: u8 = 9;

fn asked(text: &str) -> Conversation {
    let mut conversation = Conversation::default();
    conversation.begin(id(EVENT), text);
    conversation
}

fn started(run: u8) -> Happening {
    Happening::Started {
        run: id(run),
        event: id(EVENT),
    }
}

fn yielded(run: u8, what: RunEvent) -> Happening {
    Happening::Yielded {
        run: id(run),
        seq: 1,
        what,
    }
}

fn delta(text: &str) -> Happening {
    yielded(
        RUN,
        RunEvent::MessageDelta {
            text: text.to_owned(),
        },
    )
}

fn segment(text: &str) -> Happening {
    yielded(
        RUN,
        RunEvent::MessageCompleted {
            text: text.to_owned(),
        },
    )
}

fn ended(run: u8, outcome: RunOutcome) -> Happening {
    yielded(run, RunEvent::Ended(outcome))
}

fn completed() -> RunOutcome {
    RunOutcome::completed(Usage::default())
}

fn failed() -> RunOutcome {
    RunOutcome::failed(FailureCode::Other, "broken")
}

fn said(reply: u8, kind: ReplyKind, run: Option<u8>, text: &str) -> Happening {
    Happening::Said {
        reply: id(reply),
        kind,
        run: run.map(id),
        text: text.to_owned(),
    }
}

fn final_words(text: &str) -> Happening {
    said(REPLY, ReplyKind::Final, Some(RUN), text)
}

fn notice(reply: u8, text: &str) -> Happening {
    said(reply, ReplyKind::Notice, None, text)
}

fn more(text: &str) -> Show {
    Show::More(text.to_owned())
}

fn answer(whole: &str, unseen: &str) -> Show {
    let (whole, unseen) = (whole.to_owned(), unseen.to_owned());
    Show::Answer { whole, unseen }
}

fn told(text: &str, is_answer: bool) -> Show {
    let text = text.to_owned();
    Show::Notice { text, is_answer }
}

/// Lets everything happen; what is seen of it, and what is next after each.
fn play(conversation: &mut Conversation, happenings: Vec<Happening>) -> (Vec<Show>, Vec<Next>) {
    let heard = happenings
        .into_iter()
        .map(|happening| conversation.hear(happening));
    let (shows, nexts): (Vec<_>, Vec<_>) = heard.unzip();
    (shows.concat(), nexts)
}

fn trace(state: &str, run: Option<&str>, replies: &[(u8, &str, &str)]) -> Value {
    let runs: Vec<_> = run
        .iter()
        .map(|state| json!({ "id": id::<talaria_domain::ids::RunId>(RUN), "state": state }))
        .collect();
    let reply = |(number, kind, text): &(u8, &str, &str)| {
        let id: talaria_domain::ids::ReplyId = id(*number);
        json!({ "id": id, "kind": kind, "state": "finished", "text": text })
    };
    let replies: Vec<_> = replies.iter().map(reply).collect();
    json!({ "event": { "state": state, "reason": "why" }, "runs": runs, "replies": replies })
}

#[test]
fn an_answer_is_shown_as_it_comes_and_ends_the_turn() {
    let mut talk = asked("hello");
    let (shows, nexts) = play(
        &mut talk,
        vec![
            started(RUN),
            delta("Hel"),
            delta("lo."),
            segment("Hello."),
            final_words("Hello."),
            ended(RUN, completed()),
        ],
    );
    assert_eq!(
        shows,
        [more("Hel"), more("lo."), more(""), answer("Hello.", "")]
    );
    assert_eq!(nexts.last(), Some(&Next::Over));
    assert_eq!(nexts.iter().filter(|next| **next == Next::Over).count(), 1);
}

#[test]
fn the_end_and_the_words_may_come_in_either_order() {
    for outcome in [completed(), failed()] {
        let mut talk = asked("hello");
        let happenings = vec![started(RUN), ended(RUN, outcome), final_words("Hello.")];
        let (shows, nexts) = play(&mut talk, happenings);
        assert_eq!(shows, [answer("Hello.", "Hello.")], "nothing was streamed");
        assert_eq!(nexts, [Next::Listen, Next::Look, Next::Over]);
    }
}

#[test]
fn what_was_streamed_is_not_shown_again() {
    // What was streamed, what was complete in between, what was said in the end, what is still to be shown.
    let table: &[(&[&str], Option<&str>, &str, &str)] = &[
        (&["Hel", "lo."], None, "Hello.", ""),
        (&["Hel"], None, "Hello.", "lo."),
        (&["Hello.\n"], None, "Hello.", ""),
        (&[], None, "Hello.", "Hello."),
        (&["Hullo"], None, "Hello.", "Hello."),
        (
            &["Let me see. "],
            Some("Let me see. "),
            "It is four.",
            "It is four.",
        ),
        (&["One. "], Some("One. "), "One. Two.", "Two."),
    ];
    for (streamed, complete, whole, unseen) in table {
        let mut talk = asked("hello");
        talk.hear(started(RUN));
        for piece in *streamed {
            talk.hear(delta(piece));
        }
        if let Some(text) = *complete {
            talk.hear(segment(text));
        }
        let (shows, _) = talk.hear(final_words(whole));
        assert_eq!(shows, [answer(whole, unseen)], "{streamed:?}");
    }
}

#[test]
fn tools_are_shown_and_questions_give_the_word_back() {
    let mut talk = asked("list");
    talk.hear(started(RUN));
    let call = RunEvent::ToolStarted {
        call: "1".to_owned(),
        tool: "terminal".to_owned(),
        arguments: json!({ "command": "ls" }),
    };
    let output = RunEvent::ToolCompleted {
        call: "1".to_owned(),
        output: "a\nb".to_owned(),
        result: ToolResult::Done,
    };
    let (shows, _) = play(&mut talk, vec![yielded(RUN, call), yielded(RUN, output)]);
    let expected = [
        Show::Tool {
            tool: "terminal".to_owned(),
            arguments: "{\"command\":\"ls\"}".to_owned(),
        },
        Show::ToolOutput {
            output: "a\nb".to_owned(),
            result: ToolResult::Done,
        },
    ];
    assert_eq!(shows, expected);
    let (shows, next) = talk.hear(said(OTHER, ReplyKind::Prompt, Some(RUN), "May I delete a?"));
    assert_eq!(shows, [Show::Question("May I delete a?".to_owned())]);
    assert_eq!(next, Next::Over, "the person has to be able to answer");
}

#[test]
fn a_run_that_is_tried_again_starts_afresh() {
    let mut talk = asked("hello");
    let happenings = vec![started(RUN), delta("Hel"), ended(RUN, failed())];
    let (_, nexts) = play(&mut talk, happenings);
    assert_eq!(nexts.last(), Some(&Next::Look));
    let (shows, next) = talk.learn(&trace("queued", Some("failed"), &[]));
    assert_eq!(
        (shows, next),
        (Vec::new(), Next::Listen),
        "it waits for its second attempt"
    );
    let again = vec![
        started(OTHER),
        said(REPLY, ReplyKind::Final, Some(OTHER), "Hello."),
        ended(OTHER, completed()),
    ];
    let (shows, nexts) = play(&mut talk, again);
    assert_eq!(shows, [Show::Again, answer("Hello.", "Hello.")]);
    assert_eq!(nexts.last(), Some(&Next::Over));
}

#[test]
fn silence_is_believed_after_some_looks() {
    let mut talk = asked("hello");
    play(&mut talk, vec![started(RUN), ended(RUN, completed())]);
    let dealt_with = trace("completed", Some("completed"), &[]);
    for _ in 1..QUIET_LOOKS {
        assert_eq!(talk.learn(&dealt_with), (Vec::new(), Next::Look));
    }
    assert_eq!(talk.learn(&dealt_with), (Vec::new(), Next::Over));
}

#[test]
fn what_was_missed_is_found_in_the_ledger_and_shown_once() {
    let mut talk = asked("hello");
    talk.hear(started(RUN));
    talk.hear(delta("Hel"));
    assert_eq!(talk.hear(Happening::Missed), (Vec::new(), Next::Look));
    let ledger = trace(
        "completed",
        Some("completed"),
        &[(REPLY, "final", "Hello.")],
    );
    assert_eq!(
        talk.learn(&ledger),
        (vec![answer("Hello.", "lo.")], Next::Over)
    );
    talk.leave();
    let late = vec![final_words("Hello."), ended(RUN, completed())];
    assert_eq!(play(&mut talk, late).0, [], "it was shown already");
}

#[test]
fn an_answer_that_came_while_nobody_was_connected_is_found() {
    let mut talk = asked("hello");
    let ledger = trace(
        "completed",
        Some("completed"),
        &[(REPLY, "final", "Hello.")],
    );
    assert_eq!(
        talk.learn(&ledger),
        (vec![answer("Hello.", "Hello.")], Next::Over)
    );
}

#[test]
fn an_open_reply_is_not_an_answer_yet() {
    let mut talk = asked("hello");
    let mut ledger = trace("claimed", Some("running"), &[(REPLY, "final", "Hel")]);
    ledger["replies"][0]["state"] = json!("open");
    assert_eq!(talk.learn(&ledger), (Vec::new(), Next::Listen));
}

#[test]
fn a_command_is_answered_by_a_notice() {
    let mut talk = asked("/help");
    let (shows, next) = talk.hear(notice(REPLY, "commands are ..."));
    assert_eq!(
        (shows, next),
        (vec![told("commands are ...", true)], Next::Look)
    );
    let ledger = trace("completed", None, &[(REPLY, "notice", "commands are ...")]);
    assert_eq!(talk.learn(&ledger), (Vec::new(), Next::Over));
}

#[test]
fn a_notice_about_something_else_does_not_end_a_command() {
    let mut talk = asked("/help");
    talk.hear(notice(OTHER, "a job has ended"));
    assert_eq!(talk.learn(&trace("completed", None, &[])).1, Next::Look);
    let ledger = trace("completed", None, &[(REPLY, "notice", "commands are ...")]);
    assert_eq!(
        talk.learn(&ledger),
        (vec![told("commands are ...", true)], Next::Over)
    );
}

#[test]
fn a_notice_does_not_end_a_message() {
    let mut talk = asked("hello");
    let (shows, next) = talk.hear(notice(OTHER, "it waits for its turn"));
    assert_eq!(
        (shows, next),
        (vec![told("it waits for its turn", false)], Next::Look)
    );
    assert_eq!(talk.learn(&trace("queued", None, &[])).1, Next::Listen);
}

#[test]
fn a_turn_that_was_stopped_needs_no_more_words() {
    let mut talk = asked("hello");
    play(
        &mut talk,
        vec![started(RUN), delta("Hel"), notice(OTHER, "Stopped.")],
    );
    let ledger = trace("discarded", Some("cancelled"), &[]);
    assert_eq!(talk.learn(&ledger), (Vec::new(), Next::Over));
}

#[test]
fn a_message_that_was_given_up_without_a_word_is_explained() {
    for state in ["dead", "discarded"] {
        let mut talk = asked("hello");
        let ledger = trace(state, Some("failed"), &[]);
        for _ in 1..QUIET_LOOKS {
            assert_eq!(talk.learn(&ledger).1, Next::Look);
        }
        let expected = told(&format!("the message is {state}: why"), true);
        assert_eq!(talk.learn(&ledger), (vec![expected], Next::Over));
    }
}

#[test]
fn a_merged_message_is_answered_with_the_other() {
    let mut talk = asked("and this");
    let mut ledger = trace("merged", Some("running"), &[]);
    ledger["event"]["merged_into"] = json!(id::<talaria_domain::ids::EventId>(OTHER));
    assert_eq!(talk.learn(&ledger).1, Next::Look);
    assert_eq!(talk.event(), Some(id(OTHER)));
    assert_eq!(
        talk.learn(&trace("claimed", Some("running"), &[])).1,
        Next::Listen
    );
    let (shows, nexts) = play(
        &mut talk,
        vec![final_words("Both."), ended(RUN, completed())],
    );
    assert_eq!(shows, [answer("Both.", "Both.")]);
    assert_eq!(nexts, [Next::Look, Next::Over]);
}

#[test]
fn a_run_that_waits_is_over_for_now_but_not_for_whoever_has_just_answered() {
    let waiting = trace("claimed", Some("waiting"), &[]);
    assert_eq!(asked("do it").learn(&waiting).1, Next::Over);
    let mut talk = asked("blue");
    let mut ledger = trace("merged", Some("waiting"), &[]);
    ledger["event"]["merged_into"] = json!(id::<talaria_domain::ids::EventId>(OTHER));
    assert_eq!(talk.learn(&ledger).1, Next::Look);
    assert_eq!(
        talk.learn(&waiting).1,
        Next::Listen,
        "it goes on in a moment"
    );
}

#[test]
fn a_run_that_waits_for_somebody_gives_the_word_back() {
    let mut talk = asked("hello");
    assert_eq!(
        talk.learn(&trace("claimed", Some("waiting"), &[])).1,
        Next::Over
    );
}

#[test]
fn a_message_that_the_ledger_does_not_know_ends_with_its_words() {
    let mut talk = asked("hello");
    assert_eq!(talk.learn_nothing(), Next::Listen);
    play(&mut talk, vec![started(RUN), ended(RUN, failed())]);
    assert_eq!(talk.learn_nothing(), Next::Over);
}

#[test]
fn what_others_said_is_shown_and_ends_nothing() {
    let mut talk = asked("hello");
    let elsewhere = said(OTHER, ReplyKind::Final, Some(OTHER), "for you");
    let progress = said(7, ReplyKind::Progress, Some(RUN), "working");
    talk.hear(started(RUN));
    let (shows, nexts) = play(
        &mut talk,
        vec![elsewhere, progress, ended(OTHER, completed())],
    );
    assert_eq!(shows, [answer("for you", "for you")]);
    assert!(!nexts.contains(&Next::Over));
}

#[test]
fn at_the_prompt_everything_that_is_said_is_shown() {
    let mut talk = Conversation::default();
    let (shows, nexts) = play(
        &mut talk,
        vec![
            started(RUN),
            delta("x"),
            final_words("Late."),
            notice(OTHER, "A job has ended."),
        ],
    );
    assert_eq!(
        shows,
        [answer("Late.", "Late."), told("A job has ended.", false)]
    );
    assert_eq!(nexts, [Next::Listen; 4]);
}
