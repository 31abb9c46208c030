//! The listener: every route, what stands before them, and how it stops.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::access::keys;
use crate::error::ApiError;
use crate::layers::Front;
use crate::listening::Listening;
use crate::shared::{App, Shared};
use crate::terms::Terms;
use crate::{contract, hooks, openai, operator, web};

/// How long answers that are under way may take once the listener stops.
const GRACE: Duration = Duration::from_secs(5);

/// How long a connection that was cut may take to notice.
const CUT: Duration = Duration::from_secs(1);

/// Serves on the usual terms; see [`serve_on`].
pub async fn serve(
    listener: TcpListener,
    shared: Shared,
    stop: CancellationToken,
) -> io::Result<()> {
    serve_on(listener, shared, Terms::default(), stop).await
}

/// Serves until `stop` is cancelled: then nothing more is accepted, streams end, what was asked is answered, and this
/// returns. Connections that do not end by themselves are cut.
pub async fn serve_on(
    listener: TcpListener,
    shared: Shared,
    terms: Terms,
    stop: CancellationToken,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    let app = Arc::new(App::of(shared, terms.clone(), address, stop.clone()));
    let cut = CancellationToken::new();
    let listening = Listening {
        listener,
        front: Front::of(Arc::clone(&app), routes(&app)),
        terms,
        stop: stop.clone(),
        cut: cut.clone(),
    };
    app.tasks.spawn(note_uses(Arc::clone(&app)));
    let patience = async {
        stop.cancelled().await;
        tokio::time::sleep(GRACE).await;
        cut.cancel();
        tokio::time::sleep(CUT).await;
    };
    tokio::select! {
        biased;
        () = listening.run() => {}
        () = patience => {}
    }
    record_uses(&app).await;
    // Turns that nobody waits for any more are cancelled before the gateway goes.
    app.tasks.close();
    let _ = tokio::time::timeout(CUT, app.tasks.wait()).await;
    Ok(())
}

/// Writes down when keys were used, many uses at a time.
async fn note_uses(app: Arc<App>) {
    let app = &*app;
    app.ring.gather(&app.stop, || record_uses(app)).await;
}

async fn record_uses(app: &App) {
    if let Err(error) = keys::record_uses(&app.shared.ledger, &app.ring).await {
        tracing::warn!(%error, "when keys were used could not be written down");
    }
}

fn routes(app: &Arc<App>) -> Router {
    let state = Arc::clone(app);
    let described = operator::routes()
        .and(openai::routes())
        .and(hooks::routes());
    contract::publish(described, &app.shared.about.version)
        .merge(web::routes())
        .method_not_allowed_fallback(|| async { ApiError::MethodNotAllowed })
        .fallback(|| async {
            let message = "there is nothing at this path".to_owned();
            ApiError::NotFound { message }
        })
        .with_state(state)
}
