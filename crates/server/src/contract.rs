//! What programs can rely on, for programs to read: the `OpenAPI` document. It is made from the same table that the router
//! is made from, and the shapes in it from the types that are read and written, so that it cannot promise another API.
//!
//! **Invariant:** a route that is answered is described, and one that is described is answered.

mod document;
mod operation;
mod routes;
pub(crate) mod words;

pub(crate) use document::publish;
pub(crate) use operation::{Operation, Shape};
pub(crate) use routes::Routes;

#[cfg(test)]
mod tests;
