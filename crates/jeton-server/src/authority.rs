//! The host name that a request uses for the server.
//!
//! It reveals DNS rebinding: a web page whose own name was changed to resolve to this server.

use std::net::{Ipv4Addr, Ipv6Addr};

use http::Request;
use http::header::HOST;

/// A host and a port, as in `Host` and `:authority` (RFC 9110, section 7.2).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Authority<'t> {
    /// Without a trailing dot. Compared without regard to case.
    host: &'t str,
    port: Option<u16>,
    is_address: bool,
}

/// The request has no authority, several, or contradictory ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InvalidAuthority;

impl<'t> Authority<'t> {
    /// Parses an authority. `None` if the text is not an authority or contains user information.
    pub(crate) fn parse(text: &'t str) -> Option<Authority<'t>> {
        let (host, port, is_address) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, rest) = rest.split_once(']')?;
                address.parse::<Ipv6Addr>().ok()?;
                let port = match rest.strip_prefix(':') {
                    None if rest.is_empty() => None,
                    port => Some(port?),
                };
                (address, port, true)
            }
            None => {
                let (host, port) = match text.split_once(':') {
                    Some((host, port)) => (host, Some(port)),
                    None => (text, None),
                };
                let host = host.strip_suffix('.').unwrap_or(host);
                (host, port, host.parse::<Ipv4Addr>().is_ok())
            }
        };
        let port = match port {
            None | Some("") => None,
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(port.parse().ok()?)
            }
            Some(_) => return None,
        };
        let authority = Authority {
            host,
            port,
            is_address,
        };
        (is_address || authority.is_name()).then_some(authority)
    }

    /// Whether the text is a host without a port.
    pub(crate) fn is_host(text: &str) -> bool {
        !text.contains(':') && Authority::parse(text).is_some()
    }

    /// The authority of a request, from its target and its `Host` header.
    pub(crate) fn of<B>(request: &'t Request<B>) -> Result<Authority<'t>, InvalidAuthority> {
        let mut headers = request.headers().get_all(HOST).iter();
        let header = match headers.next() {
            None => None,
            Some(host) => {
                let host = host.to_str().ok().and_then(Authority::parse);
                Some(host.ok_or(InvalidAuthority)?)
            }
        };
        if headers.next().is_some() {
            return Err(InvalidAuthority);
        }
        let Some(target) = request.uri().authority() else {
            return header.ok_or(InvalidAuthority);
        };
        let target = Authority::parse(target.as_str()).ok_or(InvalidAuthority)?;
        match header {
            Some(header) if !header.is_same(&target, request) => Err(InvalidAuthority),
            // HTTP/1 requires the header for every form of target (RFC 9112, section 3.2).
            None if request.version() < http::Version::HTTP_2 => Err(InvalidAuthority),
            _ => Ok(target),
        }
    }

    pub(crate) fn host(&self) -> &'t str {
        self.host
    }

    /// The port, or the default if none is given.
    pub(crate) fn port_or(&self, default: u16) -> u16 {
        self.port.unwrap_or(default)
    }

    /// Whether the host is an IP address. DNS rebinding needs a name, so an address is safe.
    pub(crate) fn is_address(&self) -> bool {
        self.is_address
    }

    pub(crate) fn has_host(&self, host: &str) -> bool {
        self.host.eq_ignore_ascii_case(host)
    }

    /// `localhost`, or a name below it (RFC 6761, section 6.3).
    pub(crate) fn is_localhost(&self) -> bool {
        const NAME: &str = "localhost";
        let end = self.host.len().checked_sub(NAME.len());
        let Some((before, end)) = end.and_then(|end| self.host.split_at_checked(end)) else {
            return false;
        };
        end.eq_ignore_ascii_case(NAME) && (before.is_empty() || before.ends_with('.'))
    }

    fn is_same<B>(&self, other: &Authority<'_>, request: &Request<B>) -> bool {
        let default = default_port(request.uri().scheme_str() == Some("https"));
        self.has_host(other.host) && self.port_or(default) == other.port_or(default)
    }

    fn is_name(&self) -> bool {
        let is_label = |label: &str| {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            !label.is_empty() && label.bytes().all(is_plain)
        };
        self.host.split('.').all(is_label)
    }
}

/// The port of a URL without an explicit port.
pub(crate) fn default_port(is_tls: bool) -> u16 {
    if is_tls { 443 } else { 80 }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn parse_accepts_each_form_of_an_authority() {
        let of = |text| Authority::parse(text).unwrap();
        assert_eq!(
            (of("a-b.example:80").host(), of("a:80").port_or(1)),
            ("a-b.example", 80)
        );
        assert_eq!((of("a.").host(), of("a:").port_or(1)), ("a", 1));
        assert!(of("[::1]:80").is_address() && of("10.0.0.1").is_address());
        assert!(!of("10.0.0.1.example").is_address() && !of("localhost").is_address());
        for wrong in [
            "", ".", "a..", "a..b", ":1", "a@b", "a:b", "a:1:2", "a:65536", "a:+1", "::1", "[::1",
            "[a]", "[::1]1", "a b", "a/b", "é",
        ] {
            assert!(Authority::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn is_localhost_compares_whole_labels() {
        let is_localhost = |text| Authority::parse(text).unwrap().is_localhost();
        for host in ["localhost", "LOCALHOST.", "a.localhost", "a.b.LocalHost:1"] {
            assert!(is_localhost(host), "{host}");
        }
        for host in ["alocalhost", "localhost.example", "local", "host"] {
            assert!(!is_localhost(host), "{host}");
        }
    }
}
