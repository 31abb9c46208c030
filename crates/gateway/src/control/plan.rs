//! `/schedule`: what happens at a time, in this chat and for whoever asks.

use talaria_domain::ids::ScheduleId;
use talaria_domain::schedule::{ScheduleOrder, ScheduleRequest, words as times};
use talaria_store::{Result, Tx};

use super::{Answer, Order};
use crate::schedule::keep::{self, Commission};
use crate::schedule::words;

const HOW: &str = "Write `/schedule add WHEN say TEXT` (I post the text), `/schedule add WHEN ask TEXT` (you get my \
    answer to it), `/schedule list`, or `/schedule pause|resume|remove NAME`. WHEN is `30m`, `every 2h`, \
    `0 9 * * 1-5` or `2027-01-31T18:00`, and may end with a time zone such as `Europe/Berlin`.";

/// `/schedule …`.
pub(super) fn schedule(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<Answer> {
    let request = match understood(order.arguments) {
        Ok(request) => request,
        Err(words) => return Ok(Answer::text(words)),
    };
    let (shared, place) = (order.shared, &order.place.0);
    let commission = |wanted| {
        let id = ScheduleId::next(&*shared.ids, shared.now());
        Commission {
            id,
            order: wanted,
            return_to: keep::way_back_of(place, None, id),
            window: shared.settings.window(&place.address),
        }
    };
    let done = keep::obey(tx, shared, commission, (place, &request))?;
    Ok(Answer::text(match done {
        Ok(schedules) if schedules.is_empty() => {
            format!("You have no schedules in this chat. {HOW}")
        }
        Ok(schedules) => {
            let lines: Vec<String> = schedules.iter().map(words::line).collect();
            format!("{}{}", heading(&request), lines.join("\n"))
        }
        Err(words) => format!("I cannot do that: {words}."),
    }))
}

const fn heading(request: &ScheduleRequest) -> &'static str {
    match request {
        ScheduleRequest::Create(_) => "Planned:\n",
        ScheduleRequest::List => "",
        ScheduleRequest::Pause(_) => "Paused:\n",
        ScheduleRequest::Resume(_) => "In force again:\n",
        ScheduleRequest::Remove(_) => "Removed:\n",
    }
}

/// What is wanted, or how it is written.
fn understood(arguments: &str) -> std::result::Result<ScheduleRequest, String> {
    let (verb, rest) = arguments
        .split_once(char::is_whitespace)
        .unwrap_or((arguments, ""));
    match verb.to_lowercase().as_str() {
        "" | "list" => Ok(ScheduleRequest::List),
        "add" => {
            let (when, what) = times::split(rest).map_err(|words| format!("{words}. {HOW}"))?;
            Ok(ScheduleRequest::Create(ScheduleOrder {
                name: None,
                when: when.to_owned(),
                zone: None,
                what,
            }))
        }
        "pause" => Ok(ScheduleRequest::Pause(rest.to_owned())),
        "resume" => Ok(ScheduleRequest::Resume(rest.to_owned())),
        "remove" => Ok(ScheduleRequest::Remove(rest.to_owned())),
        _ => Err(HOW.to_owned()),
    }
}
