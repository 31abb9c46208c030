//! A program that calls the gateway that was last started here, and reads its streams.

use reqwest::header::HeaderMap;
use reqwest::{Method, Response};
use serde_json::Value;

use crate::program::{Home, PATIENCE};

pub(crate) struct Caller {
    client: reqwest::Client,
    root: String,
    key: String,
}

/// One event of a stream.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Told {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) body: Value,
}

impl Caller {
    pub(crate) fn of(home: &Home) -> Self {
        // Another test of this process may have been first.
        let provider = rustls::crypto::ring::default_provider();
        provider.install_default().unwrap_or_default();
        let read = |name: &str| std::fs::read_to_string(home.file(name)).unwrap();
        let running: Value = serde_json::from_str(&read("gateway.json")).unwrap();
        let client = reqwest::Client::builder().timeout(PATIENCE).build();
        Self {
            client: client.unwrap(),
            root: format!("http://{}", running["listen"].as_str().unwrap()),
            key: read("operator.key").trim().to_owned(),
        }
    }

    async fn asks(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Response {
        let mut request = self
            .client
            .request(method, format!("{}{path}", self.root))
            .bearer_auth(&self.key);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !body.is_null() {
            request = request.json(body);
        }
        request.send().await.unwrap()
    }

    pub(crate) async fn gets(&self, path: &str) -> Value {
        let answer = self.asks(Method::GET, path, &[], &Value::Null).await;
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    pub(crate) async fn posts(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> (u16, HeaderMap, Value) {
        let answer = self.asks(Method::POST, path, headers, body).await;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        (status, headers, answer.json().await.unwrap())
    }

    /// Begins to read the answer to a question.
    pub(crate) async fn opens(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Reader {
        Reader::of(self.asks(Method::POST, path, headers, body).await)
    }

    /// Begins to read a run's events, after the last one that was read.
    pub(crate) async fn follows(&self, run: &str, last: &str) -> Reader {
        let path = format!("/v1/runs/{run}/events");
        let headers = [("last-event-id", last)];
        Reader::of(self.asks(Method::GET, &path, &headers, &Value::Null).await)
    }
}

/// Somebody who reads a stream. Whoever drops it has hung up.
pub(crate) struct Reader {
    response: Response,
    read: String,
}

impl Reader {
    fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        Self {
            response,
            read: String::new(),
        }
    }

    /// The next event; none at the end. Comments are passed over.
    pub(crate) async fn next(&mut self) -> Option<Told> {
        loop {
            while let Some((block, rest)) = self.read.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.read = rest;
                if let Some(told) = parse(&block) {
                    return Some(told);
                }
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await;
            let chunk = chunk.unwrap().unwrap()?;
            self.read.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// Waits for the first event that is so.
    pub(crate) async fn until(&mut self, is_so: impl Fn(&Told) -> bool) -> Told {
        loop {
            let told = self.next().await.unwrap();
            if is_so(&told) {
                return told;
            }
        }
    }

    pub(crate) async fn all(mut self) -> Vec<Told> {
        let mut all = Vec::new();
        while let Some(told) = self.next().await {
            all.push(told);
        }
        all
    }
}

fn parse(block: &str) -> Option<Told> {
    let mut told = Told::default();
    for line in block.lines() {
        match line.split_once(": ") {
            Some(("id", id)) => id.clone_into(&mut told.id),
            Some(("event", name)) => name.clone_into(&mut told.name),
            Some(("data", text)) => told.body = serde_json::from_str(text).unwrap_or_default(),
            _ => {}
        }
    }
    (!told.body.is_null()).then_some(told)
}
