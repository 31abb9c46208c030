//! Chat platforms: one folder each, the same files in every folder, and one line for each in this list. No
//! other source file names a platform. The list is empty; what they will share stands: [`split`].

pub mod split;
