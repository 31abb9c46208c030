//! The program as people and scripts meet it: the real binary in a data directory of its own, against a gateway that
//! answers as the operator API says.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets the unexpected should stop there"
)]

mod fake;
mod program;

mod asking_back;
mod asking_for_help;
mod calling_back;
mod chatting_at_a_terminal;
mod chatting_over_a_pipe;
mod configuring;
mod ending_later;
mod killing_a_run;
mod letting_in;
mod on_platforms;
mod operating;
mod planning;
mod starting;
mod thinking_outside;
mod without_a_gateway;
