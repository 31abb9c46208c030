//! The gateway through its front door: a simulated platform on one side, a scripted runner on the other, time that
//! stands still until everybody waits. Modules are named by what happens in them.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by stopping"
)]

mod world;

mod answering;
mod asking;
mod asking_at_random;
mod calling_back;
mod crowding;
mod delegating;
mod files_in;
mod files_out;
mod giving_up;
mod holding;
mod hosting;
mod idling;
mod letting_in;
mod looping;
mod on_the_line;
mod on_the_line_at_random;
mod pairing;
mod planning;
mod presence;
mod remembering;
mod revoking;
mod routing;
mod scheduling;
mod speaking;
mod stopping;
mod taking_away;
mod thinking_ahead;
mod working_later;
mod writing_elsewhere;
