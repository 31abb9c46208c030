//! How it stops: politely, and in any case.

use std::time::Duration;

use talaria_domain::ids::{RunId, SessionId};
use talaria_domain::live::Happening;
use talaria_domain::run::RunEvent;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::world::{OPERATOR, PATIENCE, World};

#[tokio::test]
async fn after_stopping_nobody_gets_in() {
    let world = World::start().await;
    let address = world.address;
    world.end().await;
    assert!(TcpStream::connect(address).await.is_err());
}

/// Tells a watcher that does not read more and more, until the stream stands still.
async fn fill(world: &World, session: SessionId) {
    let run = world.gateway.id(RunId::from_bytes);
    let text = "x".repeat(1024 * 1024);
    let much = Happening::Yielded {
        run,
        seq: 1,
        what: RunEvent::MessageDelta { text },
    };
    for _ in 0..64 {
        let told = world.gateway.tell(session, much.clone());
        if tokio::time::timeout(Duration::from_secs(1), told)
            .await
            .is_err()
        {
            return;
        }
    }
    panic!("a reader that does not read must hold the stream back");
}

#[tokio::test]
async fn whoever_neither_reads_nor_leaves_is_cut() {
    let world = World::start().await;
    let session = world.operator().begins().await;
    let mut half = TcpStream::connect(world.address).await.unwrap();
    half.write_all(b"GET /healthz HTTP/1.1\r\nHost: local")
        .await
        .unwrap();
    let mut deaf = TcpStream::connect(world.address).await.unwrap();
    let key = format!("Host: localhost\r\nAuthorization: Bearer {OPERATOR}");
    let request = format!("GET /api/sessions/{session}/events HTTP/1.1\r\n{key}\r\n\r\n");
    deaf.write_all(request.as_bytes()).await.unwrap();
    fill(&world, session).await;
    world.end().await;
    let mut rest = Vec::new();
    let end = tokio::time::timeout(PATIENCE, half.read_to_end(&mut rest)).await;
    assert!(
        end.is_ok(),
        "the connection is closed, one way or the other"
    );
}
