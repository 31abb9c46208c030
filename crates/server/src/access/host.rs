//! Pure: from where a browser speaks. A page of somebody else can make a browser call us; `Host` and `Origin` are what
//! the browser itself says about that, and a page cannot forge them. On loopback only loopback names are answered, so
//! that a name that was pointed at us (DNS rebinding) is not.

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Who gets to a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// This machine.
    Loopback,
    /// Others as well.
    Network,
}

/// Which names this listener answers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hosts {
    reach: Reach,
    public: Option<Site>,
    /// Pages of others that the operator lets in.
    invited: Vec<Site>,
}

/// From where a request comes that is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    /// From a program, or from our own page.
    Own,
    /// From somebody else's page that the operator lets in. It may use a key, and nothing that a browser keeps for us.
    Invited,
}

/// Scheme and authority of a place in the web.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Site {
    scheme: String,
    authority: String,
}

impl Site {
    fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        let scheme = scheme.to_ascii_lowercase();
        let usual = match scheme.as_str() {
            "http" => ":80",
            "https" => ":443",
            _ => return None,
        };
        let authority = authority.to_ascii_lowercase();
        let authority = authority.strip_suffix(usual).unwrap_or(&authority);
        (!authority.is_empty()).then(|| Self {
            scheme: scheme.clone(),
            authority: authority.to_owned(),
        })
    }

    /// Whether a `Host` of this text means this place.
    fn is_named(&self, host: &str) -> bool {
        Self::parse(&format!("{}://{host}", self.scheme)).as_ref() == Some(self)
    }
}

impl Hosts {
    /// The names of a listener that a proxy may show elsewhere.
    pub(crate) fn of(reach: Reach, public_url: Option<&str>) -> Self {
        Self {
            reach,
            public: public_url.and_then(Site::parse),
            invited: Vec::new(),
        }
    }

    /// The same, letting in pages of these origins.
    pub(crate) fn inviting(self, origins: &[String]) -> Self {
        let invited = origins.iter().filter_map(|origin| Site::parse(origin));
        Self {
            invited: invited.collect(),
            ..self
        }
    }

    /// Whether nobody but this machine gets here.
    pub(crate) fn is_loopback(&self) -> bool {
        self.reach == Reach::Loopback
    }

    /// Whether browsers reach us through TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.public
            .as_ref()
            .is_some_and(|site| site.scheme == "https")
    }

    /// Decides about a request with these headers; refuses with what is wrong.
    pub(crate) fn decide(
        &self,
        host: Option<&str>,
        origin: Option<&str>,
    ) -> Result<Visit, &'static str> {
        let host = host.ok_or("the request names no host")?;
        let is_public = self.public.as_ref().is_some_and(|site| site.is_named(host));
        if self.is_loopback() && !is_public && !is_loopback_name(host) {
            return Err("this listener answers to localhost only");
        }
        let Some(origin) = origin else {
            return Ok(Visit::Own);
        };
        let site = Site::parse(origin).ok_or("requests of other pages are refused")?;
        if site.is_named(host) || self.public.as_ref() == Some(&site) {
            return Ok(Visit::Own);
        }
        if self.invited.contains(&site) {
            return Ok(Visit::Invited);
        }
        Err("requests of other pages are refused")
    }
}

fn is_loopback_name(host: &str) -> bool {
    let is_port = |rest: &str| {
        let port = rest.strip_prefix(':');
        rest.is_empty() || port.is_some_and(|port| port.parse::<u16>().is_ok())
    };
    let host = host.to_ascii_lowercase();
    LOOPBACK
        .iter()
        .any(|name| host.strip_prefix(name).is_some_and(is_port))
}

#[cfg(test)]
mod tests;
