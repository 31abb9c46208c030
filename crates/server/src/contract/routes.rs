//! The one table of routes: each line is a way in and its description, so that neither is there without the other.

use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::routing::{self, MethodRouter};

use super::Operation;
use crate::access::guard::Guarded;
use crate::access::keys::Scope;
use crate::shared::App;

/// Who gets through to a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// Everybody who gets to the listener.
    Open,
    /// Whoever has a key of this scope.
    Key(Scope),
}

/// A line of the table.
pub(crate) struct Line {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) door: Door,
    pub(super) describe: fn() -> Operation,
}

/// Makes the route of a line, once it is known who gets through.
type Make = Box<dyn FnOnce(Door) -> MethodRouter<Arc<App>>>;

/// Routes, and what they do.
#[derive(Default)]
pub(crate) struct Routes(Vec<(Line, Make)>);

macro_rules! methods {
    ($($name:ident)*) => {$(
        /// A route of this method. Its description is made only when somebody wants to read it.
        pub(crate) fn $name<H, T>(
            self,
            path: &'static str,
            handler: H,
            describe: fn() -> Operation,
        ) -> Self
        where
            H: Handler<T, Arc<App>>,
            T: 'static,
        {
            let make = |door| match door {
                Door::Open => routing::$name(handler),
                Door::Key(scope) => routing::$name(Guarded { scope, handler }),
            };
            self.line((stringify!($name), path), Box::new(make), describe)
        }
    )*};
}

impl Routes {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    methods! { get post patch delete }

    fn line(
        mut self,
        (method, path): (&'static str, &'static str),
        make: Make,
        describe: fn() -> Operation,
    ) -> Self {
        let line = Line {
            method,
            path,
            door: Door::Open,
            describe,
        };
        self.0.push((line, make));
        self
    }

    /// These and those.
    pub(crate) fn and(mut self, more: Self) -> Self {
        self.0.extend(more.0);
        self
    }

    /// The same behind a key of this scope.
    pub(crate) fn behind(mut self, scope: Scope) -> Self {
        for (line, _) in &mut self.0 {
            line.door = Door::Key(scope);
        }
        self
    }

    pub(super) fn into_parts(self) -> (Router<Arc<App>>, Vec<Line>) {
        let mut router = Router::new();
        let route = |(line, make): (Line, Make)| {
            router = std::mem::take(&mut router).route(line.path, make(line.door));
            line
        };
        let table = self.0.into_iter().map(route).collect();
        (router, table)
    }
}
