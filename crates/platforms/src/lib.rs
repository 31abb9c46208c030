//! Chat platforms: one folder each, the same files in every folder, and one line for each in this list. No
//! other source file names a platform. What they share is beside them: [`split`]. Our own surfaces, the
//! terminal, the page and the API, are [`local`].

pub mod relay;

pub mod local;
pub mod split;
