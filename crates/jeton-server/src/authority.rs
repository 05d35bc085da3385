//! What name a request calls the server by: a web page whose name has been made to lead here (DNS
//! rebinding) is known by it.

use std::net::{Ipv4Addr, Ipv6Addr};

use http::Request;
use http::header::HOST;

/// A host and a port, as `Host` and `:authority` have them (RFC 9110, section 7.2).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Authority<'t> {
    /// Without the dot that may end a name. Compared without regard to case.
    host: &'t str,
    port: Option<u16>,
    is_address: bool,
}

/// Why a request has no authority: nobody can say whom it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InvalidAuthority;

impl<'t> Authority<'t> {
    /// None: it is none, or has a user's name in front.
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

    /// Whether it is a host alone.
    pub(crate) fn is_host(text: &str) -> bool {
        !text.contains(':') && Authority::parse(text).is_some()
    }

    /// The one that a request has, in whichever places.
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
            // HTTP/1 has the header beside every target (RFC 9112, section 3.2).
            None if request.version() < http::Version::HTTP_2 => Err(InvalidAuthority),
            _ => Ok(target),
        }
    }

    pub(crate) fn host(&self) -> &'t str {
        self.host
    }

    /// Its port, said or not.
    pub(crate) fn port_or(&self, default: u16) -> u16 {
        self.port.unwrap_or(default)
    }

    /// An IP address. No page can have its name lead elsewhere.
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

/// The port of a URL that says none.
pub(crate) fn default_port(is_tls: bool) -> u16 {
    match is_tls {
        true => 443,
        false => 80,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn authority_is_read_in_each_of_its_forms() {
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
    fn localhost_ends_with_a_whole_label() {
        let is_localhost = |text| Authority::parse(text).unwrap().is_localhost();
        for host in ["localhost", "LOCALHOST.", "a.localhost", "a.b.LocalHost:1"] {
            assert!(is_localhost(host), "{host}");
        }
        for host in ["alocalhost", "localhost.example", "local", "host"] {
            assert!(!is_localhost(host), "{host}");
        }
    }
}
