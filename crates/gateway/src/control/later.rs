//! Commands about work that ends later: `/jobs`, `/background`.

use talaria_domain::ids::JobId;
use talaria_domain::job::Promise;
use talaria_domain::runner::Task;
use talaria_store::{Result, Tx};

use super::{Answer, Order};
use crate::jobs::delegation::{self, Commission};
use crate::jobs::words;

/// How many jobs are listed.
const LISTED: u32 = 10;

/// `/jobs`.
pub(super) fn jobs(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<Answer> {
    let listed = talaria_store::jobs::recent(tx, order.row.session, LISTED)?;
    if listed.is_empty() {
        return Ok(Answer::text("There are no jobs in this conversation."));
    }
    let now = order.shared.now();
    let lines: Vec<String> = listed.iter().map(|job| words::line(job, now)).collect();
    Ok(Answer::text(lines.join("\n")))
}

/// `/background TEXT`.
pub(super) fn background(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<Answer> {
    let shared = order.shared;
    if order.arguments.is_empty() {
        return Ok(Answer::text(
            "Say what to do: /background TEXT. The result is posted here.",
        ));
    }
    let place = &order.place.0;
    let Some(profile) = shared.settings.profiles.get(&place.profile) else {
        let profile = place.profile.as_str();
        return Ok(Answer::text(format!(
            "The profile {profile:?} is not configured any more."
        )));
    };
    let commission = Commission {
        id: JobId::next(&*shared.ids, shared.now()),
        run: None,
        return_to: (**place).clone(),
        authority: profile.authority.clone(),
        depth: 0,
        task: Task {
            goal: order.arguments.to_owned(),
            context: String::new(),
            tools: None,
            is_background: true,
        },
        promise: Promise::Notice,
    };
    Ok(Answer::text(
        match delegation::start(tx, shared, &commission)? {
            Ok(()) => format!(
                "I do this in the background, as job `{}`, and post the result here.",
                commission.id
            ),
            Err(words) => format!("I cannot do this in the background: {words}."),
        },
    ))
}
