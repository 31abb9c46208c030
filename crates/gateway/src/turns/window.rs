//! When history outgrows what the model can be shown. Pure: lengths in, the stretch that has to be summed up out. The
//! last turns stay word for word; a cut never separates a tool call from its result.

use talaria_domain::runner::{Said, Speaker};

/// A rough count of tokens: four bytes each, and a few for the envelope.
pub fn tokens(said: &Said) -> usize {
    let calls: usize = said
        .calls
        .iter()
        .map(|call| call.tool.len() + call.arguments.to_string().len())
        .sum();
    (said.text.len() + calls) / 4 + 4
}

/// How many entries from the beginning have to be summed up so that the rest fits; none if all of it does.
///
/// A history may fill three quarters of the window; what is kept is cut down to half, so that it is a while until the
/// next time.
pub fn outgrown(history: &[Said], window: usize) -> Option<usize> {
    let total: usize = history.iter().map(tokens).sum();
    if total <= window / 4 * 3 {
        return None;
    }
    let mut kept = 0;
    let mut cut = history.len();
    while cut > 0 && kept + tokens(&history[cut - 1]) <= window / 2 {
        cut -= 1;
        kept += tokens(&history[cut]);
    }
    // Turns begin with a person: everything before the next one goes.
    while cut < history.len() && history[cut].speaker != Speaker::User {
        cut += 1;
    }
    (cut > 0).then_some(cut)
}

#[cfg(test)]
mod tests {
    //! Cuts.

    use super::*;

    fn talk(turns: usize, length: usize) -> Vec<Said> {
        let text = "x".repeat(length);
        (0..turns)
            .flat_map(|_| {
                [
                    Said::plain(Speaker::User, &text),
                    Said::plain(Speaker::Assistant, ""),
                    Said::plain(Speaker::Tool, ""),
                    Said::plain(Speaker::Assistant, &text),
                ]
            })
            .collect()
    }

    #[test]
    fn a_history_that_fits_is_left_alone() {
        assert_eq!(outgrown(&talk(2, 100), 1_000), None);
        assert_eq!(outgrown(&[], 0), None);
    }

    #[test]
    fn the_rest_begins_with_a_person_and_fits() {
        let history = talk(20, 200);
        let cut = outgrown(&history, 1_000).unwrap();
        assert_eq!(history[cut].speaker, Speaker::User);
        let kept: usize = history[cut..].iter().map(tokens).sum();
        assert!(kept <= 500 && kept > 250, "{kept}");
    }

    #[test]
    fn one_giant_turn_goes_altogether() {
        let history = talk(1, 100_000);
        assert_eq!(outgrown(&history, 1_000), Some(history.len()));
    }
}
