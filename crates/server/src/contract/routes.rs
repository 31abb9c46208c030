//! The one table of routes: each line is a way in and its description, so that neither is there without the other.

use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::middleware::from_fn_with_state;
use axum::routing::{self, MethodRouter};

use super::Operation;
use crate::access::guard::guard;
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

/// Routes, and what they do.
#[derive(Default)]
pub(crate) struct Routes {
    router: Router<Arc<App>>,
    table: Vec<Line>,
}

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
            self.line((stringify!($name), path), routing::$name(handler), describe)
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
        route: MethodRouter<Arc<App>>,
        describe: fn() -> Operation,
    ) -> Self {
        self.router = self.router.route(path, route);
        self.table.push(Line {
            method,
            path,
            door: Door::Open,
            describe,
        });
        self
    }

    /// These and those.
    pub(crate) fn and(mut self, more: Self) -> Self {
        self.router = self.router.merge(more.router);
        self.table.extend(more.table);
        self
    }

    /// The same behind a key of this scope.
    pub(crate) fn behind(mut self, app: &Arc<App>, scope: Scope) -> Self {
        let state = (Arc::clone(app), scope);
        self.router = self.router.route_layer(from_fn_with_state(state, guard));
        for line in &mut self.table {
            line.door = Door::Key(scope);
        }
        self
    }

    pub(super) fn into_parts(self) -> (Router<Arc<App>>, Vec<Line>) {
        (self.router, self.table)
    }
}
