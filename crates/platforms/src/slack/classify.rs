//! What an answer means, or the lack of one. A no is a success for HTTP and has its reason in the body; the whole table
//! of reasons is here and nowhere else. A reason that is not in it is not guessed: it may have been done.
//!
//! Pure: a reply in, an outcome out.

#[cfg(test)]
mod tests;

use std::time::Duration;

use serde_json::Value;
use talaria_domain::adapter::Disconnected;
use talaria_domain::delivery::{Outcome, Rejection};

/// No chat is closed for longer because Slack says so.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    /// Yes, and what it says.
    Done(Value),
    /// No.
    Refused {
        /// The status.
        status: u16,
        /// The header of that name.
        retry_after: Option<String>,
        /// The reason, as Slack calls it.
        error: String,
        /// What is wrong, for people.
        words: String,
    },
    /// The request certainly did not leave.
    NotSent(String),
    /// The request may have arrived; no whole answer came.
    Silent(String),
}

/// What a reason means for what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// It would be refused again.
    No(Rejection),
    /// It was not done, and may be later.
    Later,
    /// It may have been done.
    Open,
}

/// The answer's body, or what became of it instead.
pub(super) fn done(reply: Reply) -> Result<Value, Outcome> {
    match reply {
        Reply::Done(body) => Ok(body),
        Reply::NotSent(detail) => Err(Outcome::NotSent {
            retry_after: None,
            detail,
        }),
        Reply::Silent(detail) => Err(Outcome::Unknown { detail }),
        Reply::Refused {
            status,
            retry_after,
            error,
            words: detail,
        } => Err(match meaning(status, &error) {
            Meaning::No(class) => Outcome::Rejected { class, detail },
            Meaning::Later => Outcome::NotSent {
                retry_after: retry_after.as_deref().and_then(seconds),
                detail,
            },
            Meaning::Open => Outcome::Unknown { detail },
        }),
    }
}

fn meaning(status: u16, error: &str) -> Meaning {
    match status {
        200..=299 => reason(error),
        401 => Meaning::No(Rejection::Unauthorized),
        403 => Meaning::No(Rejection::Forbidden),
        413 => Meaning::No(Rejection::TooLong),
        429 => Meaning::Later,
        // Redirects are not followed: they would carry the token to wherever they point.
        300..=399 | 400 | 404 | 405 => Meaning::No(Rejection::Invalid),
        _ => Meaning::Open,
    }
}

/// The errors of `chat.postMessage`, `chat.update`, `reactions.*`, `conversations.open`, `files.*` and
/// `assistant.threads.setStatus`, as their pages list them.
fn reason(error: &str) -> Meaning {
    use Rejection::{Forbidden, Gone, Invalid, Markup, TooLong, Unauthorized};
    let class = match error {
        "not_authed"
        | "invalid_auth"
        | "account_inactive"
        | "token_revoked"
        | "token_expired"
        | "not_allowed_token_type"
        | "two_factor_setup_required"
        | "user_removed_from_team" => Unauthorized,
        "channel_not_found"
        | "is_archived"
        | "message_not_found"
        | "thread_not_found"
        | "user_not_found"
        | "users_not_found"
        | "user_not_visible"
        | "invalid_channel"
        | "invalid_thread_ts"
        | "bad_timestamp"
        | "file_not_found"
        | "file_deleted"
        | "posting_to_deleted_channel"
        | "user_disabled" => Gone,
        "not_in_channel"
        | "missing_scope"
        | "no_permission"
        | "access_denied"
        | "accesslimited"
        | "ekm_access_denied"
        | "team_access_not_granted"
        | "enterprise_is_restricted"
        | "restricted_action"
        | "restricted_action_read_only_channel"
        | "restricted_action_thread_only_channel"
        | "restricted_action_non_threadable_channel"
        | "restricted_action_thread_locked"
        | "posting_to_general_channel_denied"
        | "cannot_reply_to_message"
        | "cant_update_message"
        | "edit_window_closed"
        | "cannot_dm_bot"
        | "cannot_post_to_bot"
        | "messages_tab_disabled"
        | "slack_connect_file_upload_sharing_blocked"
        | "slack_connect_canvas_sharing_blocked"
        | "team_not_found"
        | "posting_to_channel_denied"
        | "as_user_not_supported"
        | "file_upload_disabled"
        | "file_uploads_disabled"
        | "file_uploads_except_images_disabled"
        | "thread_locked" => Forbidden,
        "msg_too_long" | "msg_blocks_too_long" | "file_too_large" | "storage_limit_reached" => {
            TooLong
        }
        "invalid_blocks" | "invalid_blocks_format" | "markdown_text_conflict" => Markup,
        "no_text"
        | "invalid_arguments"
        | "invalid_arg_name"
        | "invalid_array_arg"
        | "invalid_charset"
        | "invalid_form_data"
        | "invalid_json"
        | "json_not_object"
        | "invalid_post_type"
        | "missing_post_type"
        | "missing_argument"
        | "missing_channel"
        | "invalid_metadata_format"
        | "invalid_metadata_schema"
        | "metadata_too_large"
        | "too_many_attachments"
        | "too_many_contact_cards"
        | "invalid_name"
        | "no_item_specified"
        | "too_many_emoji"
        | "too_many_reactions"
        | "already_reacted"
        | "no_reaction"
        | "not_reactable"
        | "unknown_method"
        | "method_deprecated"
        | "deprecated_endpoint"
        | "method_not_supported_for_channel_type"
        | "unknown_snippet_type"
        | "malware_detected"
        | "blocked_file_type"
        | "file_update_failed"
        | "not_enough_users"
        | "too_many_users" => Invalid,
        "ratelimited"
        | "rate_limited"
        | "message_limit_exceeded"
        | "team_added_to_org"
        | "org_login_required" => return Meaning::Later,
        // `fatal_error`, `internal_error`, `service_unavailable`, `request_timeout`, and what nobody has heard of.
        _ => return Meaning::Open,
    };
    Meaning::No(class)
}

/// Whether a no is about the credential, and nothing that waiting would change.
fn is_about_us(status: u16, error: &str) -> bool {
    let is_scope = error == "missing_scope" || error == "no_permission";
    let is_closed = matches!(error, "access_denied" | "team_access_not_granted");
    let no = meaning(status, error);
    is_scope || is_closed || no == Meaning::No(Rejection::Unauthorized)
}

/// The answer's body, or why the connection ends.
pub(super) fn received(reply: Reply) -> Result<Value, Disconnected> {
    match reply {
        Reply::Done(body) => Ok(body),
        Reply::Refused {
            status,
            error,
            words,
            ..
        } if is_about_us(status, &error) => Err(Disconnected::Unauthorized {
            detail: format!("{words}; {}", advice(&error)),
        }),
        Reply::Refused { words: detail, .. } | Reply::NotSent(detail) | Reply::Silent(detail) => {
            Err(Disconnected::Lost { detail })
        }
    }
}

/// What there is to be done.
fn advice(error: &str) -> &'static str {
    match error {
        "missing_scope" | "no_permission" => {
            "add the scope to the app and install it again (docs/platforms/slack.md)"
        }
        "not_allowed_token_type" => {
            "token begins with xoxb-, app_token with xapp-: they may be swapped"
        }
        "account_inactive" | "token_revoked" | "user_removed_from_team" => {
            "install the app in the workspace again and take the new token"
        }
        "access_denied" | "team_access_not_granted" => "an admin of the workspace has to allow it",
        _ => "check the tokens of the app",
    }
}

/// Why the connection ends that Slack says goodbye on; none if the next one can be opened at once.
pub(super) fn goodbye(reason: &str) -> Option<Disconnected> {
    match reason {
        "link_disabled" => Some(Disconnected::Unauthorized {
            detail: "Slack says link_disabled: switch Socket Mode on in the app's settings"
                .to_owned(),
        }),
        "too_many_websockets" => Some(Disconnected::Conflict {
            detail: "Slack says too_many_websockets: the app is connected too often already; \
                     stop the others, or give this gateway an app of its own"
                .to_owned(),
        }),
        _ => None,
    }
}

/// How long a header asks us to wait, if it does so in seconds.
fn seconds(header: &str) -> Option<Duration> {
    let wait: f64 = header.trim().parse().ok()?;
    let is_wait = wait.is_finite() && wait >= 0.0;
    is_wait.then(|| Duration::from_secs_f64(wait.min(LONGEST_WAIT.as_secs_f64())))
}
