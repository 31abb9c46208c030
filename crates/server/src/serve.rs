//! The listener: every route, what stands before them, and how it stops.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::connection::CuttableListener;
use crate::error::ApiError;
use crate::shared::{App, Shared};
use crate::{layers, openai, operator, web};

/// How long answers that are under way may take once the listener stops.
const GRACE: Duration = Duration::from_secs(5);

/// How long a connection that was cut may take to notice.
const CUT: Duration = Duration::from_secs(1);

/// Serves until `stop` is cancelled: then nothing more is accepted, streams end, what was asked is answered, and this
/// returns. Connections that do not end by themselves are cut.
pub async fn serve(
    listener: TcpListener,
    shared: Shared,
    stop: CancellationToken,
) -> io::Result<()> {
    let app = Arc::new(App::of(shared, listener.local_addr()?, stop.clone()));
    let cut = CancellationToken::new();
    let listener = CuttableListener {
        listener,
        cut: cut.clone(),
    };
    let serving =
        axum::serve(listener, routes(&app)).with_graceful_shutdown(stop.clone().cancelled_owned());
    let patience = async {
        stop.cancelled().await;
        tokio::time::sleep(GRACE).await;
        cut.cancel();
        tokio::time::sleep(CUT).await;
    };
    let served = tokio::select! {
        biased;
        served = serving.into_future() => served,
        () = patience => Ok(()),
    };
    // Turns that nobody waits for any more are cancelled before the gateway goes.
    app.tasks.close();
    let _ = tokio::time::timeout(CUT, app.tasks.wait()).await;
    served
}

fn routes(app: &Arc<App>) -> Router {
    let state = Arc::clone(app);
    Router::new()
        .merge(operator::routes(app))
        .merge(openai::routes(app))
        .merge(web::routes())
        .method_not_allowed_fallback(|| async { ApiError::MethodNotAllowed })
        .fallback(|| async {
            let message = "there is nothing at this path".to_owned();
            ApiError::NotFound { message }
        })
        .layer(from_fn_with_state(Arc::clone(app), layers::stand_before))
        .with_state(state)
}
