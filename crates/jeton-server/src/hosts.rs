//! The names that a server may be called by.
//!
//! A page of another site can have its own name lead to this machine once its browser has loaded it (DNS
//! rebinding): the browser then takes page and server for one site, and lets the page read what the
//! server answers. It still says the page's name in `Host`, and by that it is refused. An IP address is no
//! name, so it is never refused.

use std::collections::HashSet;

use jeton_issuer::Node;

use crate::authority::Authority;
use crate::config::Config;
use crate::http::issuer_url;

/// The configured ones. Replaced when the configuration is read again.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// In lower case. None: the configuration does not say.
    configured: Option<HashSet<String>>,
}

impl Hosts {
    pub(crate) fn of(config: &Config) -> Hosts {
        let names = config.hosts.as_ref();
        let lower = |name: &String| {
            let name = name.strip_suffix('.').unwrap_or(name);
            name.to_ascii_lowercase()
        };
        Hosts {
            configured: names.map(|names| names.iter().map(lower).collect()),
        }
    }

    /// Whether a listener answers to that name. Beyond loopback it does to any, unless the configuration
    /// names some: who calls from there must say who it is, and under what name it knows the server
    /// (a cluster's, a load balancer's) is not for the server to guess.
    pub(crate) fn accept(&self, called: &Authority<'_>, is_loopback: bool, node: &Node) -> bool {
        if called.is_address() || called.is_localhost() {
            return true;
        }
        match &self.configured {
            None if !is_loopback => return true,
            Some(names) if names.contains(&*called.host().to_ascii_lowercase()) => return true,
            _ => {}
        }
        let is_issuers = |iss: &str| {
            let host = issuer_url(iss).and_then(|(host, _)| Authority::parse(host));
            host.is_some_and(|host| called.has_host(host.host()))
        };
        node.find_issuer(is_issuers).is_some()
    }
}
