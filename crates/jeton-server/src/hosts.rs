//! The host names that a server accepts in requests.
//!
//! DNS rebinding: a web page changes the address of its own name to that of this server after the browser
//! has loaded the page. The browser then treats page and server as one site and lets the page read
//! responses. The request still carries the page's name in `Host`, so the server rejects it. An IP address
//! is always accepted, because rebinding needs a name.

use std::collections::HashSet;

use jeton_issuer::Node;

use crate::authority::Authority;
use crate::config::Config;
use crate::issuer_url;

/// The configured host names. A configuration reload replaces them.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// In lower case. `None` if the configuration has no `hosts`.
    configured: Option<HashSet<String>>,
}

impl Hosts {
    pub(crate) fn from_config(config: &Config) -> Hosts {
        let names = config.hosts.as_ref();
        let lower = |name: &String| {
            let name = name.strip_suffix('.').unwrap_or(name);
            name.to_ascii_lowercase()
        };
        Hosts {
            configured: names.map(|names| names.iter().map(lower).collect()),
        }
    }

    /// Whether a listener accepts this name.
    ///
    /// A non-loopback listener accepts every name unless `hosts` is configured. Its callers must
    /// authenticate, and the server cannot know the names that clusters and load balancers use.
    pub(crate) fn accept(&self, requested: &Authority<'_>, is_loopback: bool, node: &Node) -> bool {
        if requested.is_address() || requested.is_localhost() {
            return true;
        }
        match &self.configured {
            None if !is_loopback => return true,
            Some(names) if names.contains(&*requested.host().to_ascii_lowercase()) => return true,
            _ => {}
        }
        let is_issuer_host = |iss: &str| {
            let host = issuer_url::split(iss).and_then(|(host, _)| Authority::parse(host));
            host.is_some_and(|host| requested.has_host(host.host()))
        };
        node.find_issuer(is_issuer_host).is_some()
    }
}
