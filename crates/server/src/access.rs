//! Who asks: a key in the header, or the page's cookie; and from where, as browsers tell it.

pub(crate) mod cookie;
pub(crate) mod entropy;
pub(crate) mod guard;
pub(crate) mod host;
pub(crate) mod keys;
pub(crate) mod login;
pub(crate) mod ring;
