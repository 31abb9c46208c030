//! What `doctor` looks at, one function each. None of them writes, locks or leaves anything behind.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::{StatusCode, Url};
use rustix::fs::Access;
use rustix::process::{Pid, test_kill_process};
use serde_json::Value;
use talaria_domain::secret::ExposeSecret as _;
use tokio::net::{TcpListener, TcpStream};

use super::Finding;
use crate::config::{Effective, Model, Provider, key, running};

const PATIENCE: Duration = Duration::from_secs(3);
const POSTGRES_PORT: u16 = 5432;

pub(super) fn configuration(effective: &Effective) -> Finding {
    let detail = match &effective.file {
        Some(file) => file.display().to_string(),
        None => "no file, the defaults hold".to_owned(),
    };
    Finding::good("configuration", detail)
}

/// The data directory can be written, or can be made.
pub(super) fn home(home: &Path) -> Finding {
    let shown = home.display();
    let Some(nearest) = home.ancestors().find(|path| path.exists()) else {
        return Finding::bad("data directory", format!("{shown}: nothing of it exists"));
    };
    let may_write = rustix::fs::access(nearest, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    match (may_write, nearest == home) {
        _ if !nearest.is_dir() => {
            let detail = format!("{} is not a directory", nearest.display());
            Finding::bad("data directory", detail)
        }
        (false, _) => {
            let detail = format!("{} cannot be written by this user", nearest.display());
            Finding::bad("data directory", detail)
        }
        (true, true) => Finding::good("data directory", shown.to_string()),
        (true, false) => Finding::good(
            "data directory",
            format!("{shown}, made at the first start"),
        ),
    }
}

pub(super) fn operator_key(home: &Path) -> Finding {
    match key::read(home) {
        Ok(Some(_)) => Finding::good("operator key", key::path(home).display().to_string()),
        Ok(None) => Finding::good("operator key", "made at the first start"),
        Err(error) => Finding::bad("operator key", error.to_string()),
    }
}

/// The listen address is ours, or free.
pub(super) async fn listen(effective: &Effective) -> Finding {
    let started = running::read(&effective.home);
    if let Some(started) = &started
        && answers(started.listen).await
    {
        let detail = format!(
            "{}: a gateway runs here (process {})",
            started.listen, started.pid
        );
        return Finding::good("listen address", detail);
    }
    let listen = effective.server.listen;
    match TcpListener::bind(listen).await {
        Ok(_) => Finding::good("listen address", format!("{listen} is free")),
        Err(_) if answers(listen).await => {
            let detail = format!("{listen}: a gateway of another data directory runs there");
            Finding::bad("listen address", detail)
        }
        Err(error) => Finding::bad("listen address", format!("{listen}: {error}")),
    }
}

/// Whether a gateway answers there.
async fn answers(listen: SocketAddr) -> bool {
    let address = running::reached_at(listen);
    let Ok(url) = Url::parse(&format!("http://{address}/healthz")) else {
        return false;
    };
    let Ok(http) = reqwest::Client::builder()
        .no_proxy()
        .timeout(PATIENCE)
        .build()
    else {
        return false;
    };
    let Ok(response) = http.get(url).send().await else {
        return false;
    };
    let body: Option<Value> = response.json().await.ok();
    body.is_some_and(|body| body["status"] == "ok")
}

/// Whether somebody has the store. Opening it would be more than looking.
pub(super) async fn store(effective: &Effective) -> Finding {
    let url = &effective.store.url;
    match url.expose().strip_prefix("sqlite:") {
        Some(path) => sqlite(Path::new(path)),
        None => postgres(url.expose(), &url.shown).await,
    }
}

fn sqlite(path: &Path) -> Finding {
    let shown = path.display();
    let mut lock = path.as_os_str().to_owned();
    lock.push(".lock");
    let owner = std::fs::read_to_string(PathBuf::from(lock)).ok();
    let owner = owner.and_then(|text| text.trim().parse().ok());
    let owner = owner.and_then(Pid::from_raw);
    let is_alive = owner.is_some_and(|pid| {
        // A process of somebody else is alive, too: it only may not be asked.
        !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH))
    });
    match owner {
        Some(pid) if is_alive => {
            let detail = format!("{shown}: process {} has it", pid.as_raw_nonzero());
            Finding::good("store", detail)
        }
        _ if path.exists() => Finding::good("store", format!("{shown}: nobody has it")),
        _ => Finding::good("store", format!("{shown}, made at the first start")),
    }
}

async fn postgres(url: &str, shown: &str) -> Finding {
    let parsed = Url::parse(url).ok();
    let server = parsed.and_then(|url| {
        let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
        Some((host, url.port().unwrap_or(POSTGRES_PORT)))
    });
    let Some((host, port)) = server else {
        return Finding::doubtful("store", format!("{shown}: no host to try"));
    };
    let connect = TcpStream::connect((host.as_str(), port));
    match tokio::time::timeout(PATIENCE, connect).await {
        Ok(Ok(_)) => Finding::good("store", format!("{shown}: the server answers")),
        Ok(Err(error)) => Finding::bad("store", format!("{shown}: {error}")),
        Err(_) => Finding::bad("store", format!("{shown}: no answer within 3 s")),
    }
}

/// The model's server answers, and takes the key.
pub(super) async fn model(model: &Model) -> Finding {
    let name = format!("model {}", model.name);
    let Some(url) = &model.base_url else {
        return Finding::good(&name, "built in, needs nothing");
    };
    let Ok(http) = reqwest::Client::builder().timeout(PATIENCE).build() else {
        return Finding::doubtful(&name, "no http client on this system");
    };
    let list = format!("{}/models", url.as_str().trim_end_matches('/'));
    let mut request = http.get(&list);
    if let Some(key) = &model.api_key {
        let key = key.value.expose_secret();
        request = match model.provider {
            Provider::Anthropic => request
                .header("x-api-key", key)
                .header("anthropic-version", "2023-06-01"),
            Provider::OpenAi | Provider::Demo => request.bearer_auth(key),
        };
    }
    match request.send().await.map(|response| response.status()) {
        Ok(status) if status.is_success() => Finding::good(&name, format!("{list} answers")),
        Ok(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
            Finding::bad(&name, format!("{list} does not accept the key"))
        }
        Ok(status) => Finding::doubtful(&name, format!("{list} answers {status}")),
        Err(error) if error.is_timeout() => {
            Finding::bad(&name, format!("{list} does not answer within 3 s"))
        }
        Err(_) => Finding::bad(&name, format!("{list} cannot be reached")),
    }
}
