//! Ways to a server: straight, through a proxy that asks for us, and through one that gives a tunnel. After
//! "absolute-form", RFC 9112, and "CONNECT", RFC 9110.

use std::error::Error;

use http_body_util::Full;
use hyper::{Request, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::bytes::Bytes;

use super::{Client, ClientError, tls};

/// `me:hush`.
const LOGIN: &str = "proxy-authorization: Basic bWU6aHVzaA==";

/// The first byte of what a client says in TLS: "Record Layer", RFC 8446.
const HANDSHAKE: u8 = 22;

async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// A client whose proxy for everything but `127.0.0.1` is there.
fn client(proxy: &str) -> Client {
    let proxies = Matcher::builder().all(format!("http://me:hush@{proxy}"));
    Client::through(proxies.no("127.0.0.1").build(), tls().unwrap())
}

async fn ask(client: &Client, address: &str) -> Result<u16, ClientError> {
    let mut request = Request::post(address);
    let headers = request.headers_mut().unwrap();
    let uri: Uri = address.parse().unwrap();
    let host = uri.authority().unwrap().as_str().parse().unwrap();
    headers.insert(hyper::header::HOST, host);
    headers.extend(
        client
            .proxy_key(&uri)
            .map(|key| (hyper::header::PROXY_AUTHORIZATION, key)),
    );
    let request = request.body(Full::new(Bytes::from_static(b"hi"))).unwrap();
    let response = client.send(request).await?;
    Ok(response.response.status().as_u16())
}

/// What came up to the end of the head.
async fn hear_head(stream: &mut TcpStream) -> String {
    let mut head = String::new();
    while !head.contains("\r\n\r\n") {
        let mut bytes = [0; 1024];
        let count = stream.read(&mut bytes).await.unwrap();
        assert_ne!(count, 0, "{head}");
        head.push_str(str::from_utf8(&bytes[..count]).unwrap());
    }
    head
}

async fn answer(listener: &TcpListener, status: &str) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let head = hear_head(&mut stream).await;
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
    stream.write_all(answer.as_bytes()).await.unwrap();
    head
}

#[tokio::test]
async fn a_server_that_needs_no_proxy_is_asked_by_its_path() {
    let (server, address) = listen().await;
    let client = client("127.0.0.1:1");
    let address = format!("http://{address}/v1");
    let (status, head) = tokio::join!(ask(&client, &address), answer(&server, "204 No"));
    assert_eq!(status.unwrap(), 204);
    assert!(head.starts_with("POST /v1 HTTP/1.1\r\n"), "{head}");
    assert!(!head.contains("proxy-authorization"), "{head}");
}

#[tokio::test]
async fn a_server_with_tls_is_shown_nothing_in_plain() {
    let (server, address) = listen().await;
    let client = client("127.0.0.1:1");
    let address = format!("https://{address}/v1");
    let first = async {
        let (mut stream, _) = server.accept().await.unwrap();
        stream.read_u8().await.unwrap()
    };
    let (asked, first) = tokio::join!(ask(&client, &address), first);
    assert_eq!(first, HANDSHAKE);
    assert!(matches!(asked.unwrap_err(), ClientError::NoConnection(_)));
}

#[tokio::test]
async fn a_proxy_asks_a_server_without_tls_for_us() {
    let (proxy, address) = listen().await;
    let client = client(&address);
    let asked = ask(&client, "http://models.example/v1");
    let (status, head) = tokio::join!(asked, answer(&proxy, "204 No"));
    assert_eq!(status.unwrap(), 204);
    let start = "POST http://models.example/v1 HTTP/1.1\r\n";
    assert!(head.starts_with(start), "{head}");
    assert!(head.contains("host: models.example\r\n"), "{head}");
    assert!(head.contains(LOGIN), "{head}");
}

#[tokio::test]
async fn a_proxy_gives_a_tunnel_to_a_server_with_tls() {
    let (proxy, address) = listen().await;
    let client = client(&address);
    let tunnel = async {
        let (mut stream, _) = proxy.accept().await.unwrap();
        let head = hear_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        (head, stream.read_u8().await.unwrap())
    };
    let (asked, (head, first)) = tokio::join!(ask(&client, "https://models.example/v1"), tunnel);
    let start = "CONNECT models.example:443 HTTP/1.1\r\n";
    assert!(head.starts_with(start), "{head}");
    assert!(
        head.to_lowercase().contains(&LOGIN.to_lowercase()),
        "{head}"
    );
    assert!(head.contains("talaria/"), "{head}");
    // What is asked is not shown to the proxy.
    assert_eq!(first, HANDSHAKE);
    assert!(matches!(asked.unwrap_err(), ClientError::NoConnection(_)));
}

#[tokio::test]
async fn a_proxy_that_wants_another_login_is_told() {
    let (proxy, address) = listen().await;
    let client = client(&address);
    let asked = ask(&client, "https://models.example/v1");
    let (asked, _) = tokio::join!(asked, answer(&proxy, "407 Proxy Authentication Required"));
    let error = asked.unwrap_err();
    let why = error.source().unwrap().to_string();
    assert!(why.contains("proxy"), "{why}");
    assert!(!why.contains("hush"), "{why}");
}

/// Answers on one connection until it is closed; gives how many times.
async fn serve(mut stream: TcpStream, most: usize) -> usize {
    let mut answered = 0;
    while answered < most {
        let mut bytes = [0; 1024];
        match stream.read(&mut bytes).await {
            Ok(0) | Err(_) => return answered,
            Ok(count) if !bytes[..count].ends_with(b"hi") => continue,
            Ok(_) => answered += 1,
        }
        let pieces = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nyo\r\n0\r\n\r\n";
        stream.write_all(pieces.as_bytes()).await.unwrap();
    }
    answered
}

#[tokio::test]
async fn a_connection_whose_answer_was_heard_is_used_again() {
    let (server, address) = listen().await;
    let client = client("127.0.0.1:1");
    let address = format!("http://{address}/v1");
    let asking = async {
        for _ in 0..3 {
            assert_eq!(ask(&client, &address).await.unwrap(), 200);
        }
        drop(client);
    };
    let serving = async {
        let (stream, _) = server.accept().await.unwrap();
        serve(stream, usize::MAX).await
    };
    // The only connection is closed together with the client.
    let ((), answered) = tokio::join!(asking, serving);
    assert_eq!(answered, 3);
}

#[tokio::test]
async fn whoever_asks_at_the_same_time_has_a_connection_of_their_own() {
    let (server, address) = listen().await;
    let client = client("127.0.0.1:1");
    let address = format!("http://{address}/v1");
    let serving = async {
        // Nobody is answered before both are there.
        let (one, _) = server.accept().await.unwrap();
        let (other, _) = server.accept().await.unwrap();
        tokio::join!(serve(one, 1), serve(other, 1))
    };
    let (first, second, answered) =
        tokio::join!(ask(&client, &address), ask(&client, &address), serving);
    assert_eq!((first.unwrap(), second.unwrap()), (200, 200));
    assert_eq!(answered, (1, 1));
}

#[tokio::test]
async fn a_connection_that_the_server_has_closed_is_not_asked() {
    let (server, address) = listen().await;
    let client = client("127.0.0.1:1");
    let address = format!("http://{address}/v1");
    let (first, ()) = tokio::join!(ask(&client, &address), async {
        let (stream, _) = server.accept().await.unwrap();
        assert_eq!(serve(stream, 1).await, 1);
    });
    assert_eq!(first.unwrap(), 200);
    let (second, head) = tokio::join!(ask(&client, &address), answer(&server, "204 No"));
    assert_eq!(second.unwrap(), 204);
    assert!(head.starts_with("POST /v1 HTTP/1.1\r\n"), "{head}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_says_so_and_its_connection_is_gone() {
    let (server, address) = listen().await;
    let client = client("127.0.0.1:1");
    let address = format!("http://{address}/v1");
    let request = Request::post(&address).body(Full::new(Bytes::from_static(b"hi")));
    let breaking = async {
        let (mut stream, _) = server.accept().await.unwrap();
        hear_head(&mut stream).await;
        let start = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf";
        stream.write_all(start).await.unwrap();
    };
    let (received, ()) = tokio::join!(client.send(request.unwrap()), breaking);
    let mut received = received.unwrap();
    let half = received.next().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(half, "half");
    let broken = received.next().await.unwrap().unwrap_err();
    assert!(matches!(broken, ClientError::Broken(_)), "{broken}");
    assert!(received.next().await.is_none());
    drop(received);
    let (again, _) = tokio::join!(ask(&client, &address), answer(&server, "204 No"));
    assert_eq!(again.unwrap(), 204);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_nobody_uses_is_closed_after_a_while() {
    let (server, address) = listen().await;
    let client = client("127.0.0.1:1");
    let address = format!("http://{address}/v1");
    let (asked, mut stream) = tokio::join!(ask(&client, &address), async {
        let (mut stream, _) = server.accept().await.unwrap();
        hear_head(&mut stream).await;
        let answer = b"HTTP/1.1 204 No\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        stream
    });
    assert_eq!(asked.unwrap(), 204);
    let mut rest = Vec::new();
    let asked_at = tokio::time::Instant::now();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(asked_at.elapsed() >= super::pool::IDLE);
}
