//! What goes out: it is where it belongs, whole, within limits, and survives the process between two parts.

use futures::FutureExt as _;
use talaria_domain::adapter::TextForm;
use talaria_domain::delivery::ReplyKind;
use talaria_platforms::split::pieces;

use super::Check;
use super::abilities::{delivered, is_in, place, shown};
use super::trial::{Checked, Trial, connection, ensure, fails};

pub(super) const CHECKS: &[Check] = &[
    (
        "an answer, a notice and a late notice are in their thread",
        |trial| in_thread(trial).boxed(),
    ),
    (
        "a long answer is whole, in order and within limits",
        |trial| long(trial).boxed(),
    ),
    ("markup that looks broken is sent", |trial| {
        markup(trial).boxed()
    }),
];

async fn in_thread(trial: &Trial) -> Checked {
    let (to, _) = place(trial).await?;
    for (kind, text) in [
        (ReplyKind::Final, "the answer"),
        (ReplyKind::Notice, "an error"),
        (ReplyKind::Progress, "some progress"),
    ] {
        let mut part = trial.part(&to, text);
        part.kind = kind;
        delivered(trial.adapter.send(&part).await)?;
        is_in(shown(trial, text).as_ref(), &to)?;
    }
    // Later, after a restart: nothing is known but the address.
    let Ok(later) = connection(&trial.candidate, trial.port, true) else {
        return fails("it cannot be connected again");
    };
    let before = trial.desk.connections();
    tokio::select! {
        biased;
        ended = later.adapter.receive(&trial.desk) => return fails(format!("{ended:?}")),
        () = trial.desk.until(|desk| desk.connections() > before) => {}
    }
    delivered(
        later
            .adapter
            .send(&trial.part(&to, "half a minute later"))
            .await,
    )?;
    is_in(shown(trial, "half a minute later").as_ref(), &to)
}

async fn long(trial: &Trial) -> Checked {
    let (to, _) = place(trial).await?;
    let words: Vec<String> = (0..3_000).map(|number| format!("word{number}")).collect();
    let source = words.join(" ");
    let limit = trial.adapter.capabilities().text_limit;
    for piece in pieces(&source, limit) {
        let mut part = trial.part(&to, &piece);
        part.form = TextForm::Plain;
        delivered(trial.adapter.send(&part).await)?;
    }
    let sight = trial.scene.look();
    let ours: Vec<&str> = sight.ours().map(|(_, shown)| shown.text.as_str()).collect();
    let seen: Vec<&str> = ours
        .iter()
        .flat_map(|text| text.split_whitespace())
        .collect();
    ensure(seen == words, || {
        format!("{} words of {}", seen.len(), words.len())
    })?;
    let longest = ours.iter().map(|text| limit.unit.measure(text)).max();
    ensure(longest.unwrap_or(0) <= limit.max, || {
        format!("a message of {longest:?}")
    })
}

async fn markup(trial: &Trial) -> Checked {
    let (to, _) = place(trial).await?;
    for text in [
        "**bold _and",
        "<b>not html</i> & <@U1> @everyone",
        "```rust\nfn main() {}",
        "a_b_c *d* ~e~ [x](y",
        "| a | b |\n|---|---|\n| 1 | 2 |",
    ] {
        delivered(trial.adapter.send(&trial.part(&to, text)).await)?;
    }
    Ok(())
}
