//! The address of a target, and whether it may be attacked.

use std::net::{SocketAddr, ToSocketAddrs};

use ureq::http::Uri;

/// The maximum length of an address, in bytes.
const ADDRESS_BYTES_MAX: usize = 2048;

/// Which targets may be attacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Targets on this machine.
    Loopback,
    /// Any target: the caller has confirmed ownership.
    Owned,
}

/// The protocol of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Token introspection over HTTP (RFC 7662).
    Introspection,
    /// A unary gRPC method that takes the token in a field of its message.
    Grpc,
}

/// The address of an endpoint. It is resolved once, so that the checked address is the attacked
/// one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The address as given.
    pub(super) name: String,
    /// The protocol.
    pub protocol: Protocol,
    /// Host and port as given.
    pub(super) authority: String,
    pub(super) socket: SocketAddr,
    pub(super) path: String,
}

impl Target {
    /// Parses the address of a target: `http://HOST[:PORT]/PATH` for token introspection,
    /// `grpc://HOST[:PORT]/PACKAGE.SERVICE/METHOD` for a unary gRPC method.
    ///
    /// # Errors
    ///
    /// A sentence that says what to do, if the address is invalid, cannot be resolved, or is not
    /// allowed.
    ///
    /// ```
    /// use jeton_lab_conformance::attack::{Reach, Target};
    /// assert!(Target::new("http://127.0.0.1:8080/introspect", Reach::Loopback).is_ok());
    /// let refused = Target::new("http://192.0.2.1/introspect", Reach::Loopback).unwrap_err();
    /// assert!(refused.contains("--i-own-this-target"));
    /// let verify = "grpc://127.0.0.1:8420/jeton.v1.TokenService/Verify";
    /// assert!(Target::new(verify, Reach::Loopback).is_ok());
    /// ```
    pub fn new(address: &str, reach: Reach) -> Result<Self, String> {
        let wanted = "a target must be http://HOST:PORT/PATH for token introspection (RFC \
                      7662), or grpc://HOST:PORT/PACKAGE.SERVICE/METHOD";
        if address.len() > ADDRESS_BYTES_MAX {
            return Err(format!(
                "the target is longer than {ADDRESS_BYTES_MAX} bytes"
            ));
        }
        let uri: Uri = address.parse().map_err(|_| wanted.to_owned())?;
        let protocol = match uri.scheme_str() {
            Some("http") => Protocol::Introspection,
            Some("grpc") => Protocol::Grpc,
            Some("https" | "grpcs") => {
                return Err("TLS is not supported: pass the address behind the TLS proxy".into());
            }
            _ => return Err(wanted.to_owned()),
        };
        let (Some(authority), Some(host)) = (uri.authority(), uri.host()) else {
            return Err(wanted.to_owned());
        };
        if authority.as_str().contains('@') {
            return Err(
                "the target must not contain a user name: pass --target-authorization FILE".into(),
            );
        }
        let port = match authority.as_str().strip_prefix(host) {
            Some("") => 80,
            rest => rest
                .and_then(|rest| rest.strip_prefix(':')?.parse::<u16>().ok())
                .ok_or_else(|| wanted.to_owned())?,
        };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let sockets: Vec<SocketAddr> = (bare, port)
            .to_socket_addrs()
            .map_err(|e| format!("cannot resolve {host}: {e}"))?
            .collect();
        let near = sockets.iter().all(|s| s.ip().is_loopback());
        if reach == Reach::Loopback && !near {
            return Err(format!(
                "{host} is not on this machine; if it is your own, pass --i-own-this-target"
            ));
        }
        let socket = *sockets
            .first()
            .ok_or_else(|| format!("cannot resolve {host}"))?;
        let path = uri.path_and_query().map_or("/", |p| p.as_str());
        if protocol == Protocol::Grpc && !is_method(path) {
            return Err(wanted.to_owned());
        }
        Ok(Self {
            name: address.to_owned(),
            protocol,
            authority: authority.as_str().to_owned(),
            socket,
            path: path.to_owned(),
        })
    }
}

/// Returns whether a path is that of a gRPC method: `/package.Service/Method`.
fn is_method(path: &str) -> bool {
    let named = |name: &str| {
        let mut bytes = name.bytes();
        !name.is_empty() && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.')
    };
    let parts = path.strip_prefix('/').and_then(|p| p.split_once('/'));
    parts.is_some_and(|(service, method)| named(service) && named(method))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn target_on_this_machine_is_allowed() {
        for (address, socket) in [
            ("http://127.0.0.1:8080/introspect", "127.0.0.1:8080"),
            ("http://127.8.8.8/x?y=1", "127.8.8.8:80"),
            ("http://[::1]:9/", "[::1]:9"),
            ("grpc://127.0.0.1:8420/a.B/C", "127.0.0.1:8420"),
        ] {
            let target = Target::new(address, Reach::Loopback).unwrap();
            assert_eq!(target.socket, socket.parse().unwrap());
        }
        let target = Target::new("http://localhost:7/", Reach::Loopback).unwrap();
        assert!(target.socket.ip().is_loopback());
    }

    #[test]
    fn target_elsewhere_requires_ownership() {
        for address in [
            "http://192.0.2.7:8080/introspect",
            "http://0.0.0.0:8080/",
            "http://[2001:db8::1]/",
            "http://[::ffff:192.0.2.7]/",
            "grpc://192.0.2.7:8420/jeton.v1.TokenService/Verify",
        ] {
            let why = Target::new(address, Reach::Loopback).unwrap_err();
            assert!(why.contains("--i-own-this-target"), "{why}");
            assert!(Target::new(address, Reach::Owned).is_ok(), "{address}");
        }
    }

    #[test]
    fn target_with_invalid_address_is_rejected() {
        for address in [
            "",
            "127.0.0.1:8080",
            "https://127.0.0.1/introspect",
            "grpc://127.0.0.1:50051",
            "grpc://127.0.0.1:50051/Method",
            "grpc://127.0.0.1:50051/a.Service/Method/more",
            "grpc://127.0.0.1:50051/a.Service/Method?x=1",
            "grpcs://127.0.0.1:50051/a.Service/Method",
            "file:///etc/passwd",
            "http://user:secret@127.0.0.1/",
            "http://127.0.0.1:99999/",
            "http:///introspect",
        ] {
            let why = Target::new(address, Reach::Owned).unwrap_err();
            assert!(!why.contains("secret"), "{why}");
        }
        let long = format!("http://127.0.0.1/{}", "x".repeat(3000));
        assert!(Target::new(&long, Reach::Owned).is_err());
    }
}
