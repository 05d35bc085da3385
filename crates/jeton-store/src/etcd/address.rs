//! Address and credentials of an etcd.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv6Addr};

use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};
use zeroize::Zeroizing;

use super::members::User;
use super::{CONNECTING, KEEP_ALIVE};
use crate::error::{Error, Problem, Result};
use crate::limits;

/// Root if the address has none.
const ROOT: &str = "/jeton";

/// The address of an etcd: `etcd://HOST:PORT[,HOST:PORT…][/ROOT]`, or `etcds://` over TLS.
///
/// The root is the prefix of all keys, so that one etcd can serve other programs too. Without TLS only
/// loopback addresses are accepted: anyone who can change what a node reads could revoke tokens or undo
/// revocations.
///
/// ```
/// use jeton_store::EtcdAddress;
///
/// let address = EtcdAddress::parse("etcds://a.example:2379,b.example:2379/tokens")?;
/// assert_eq!(address.root(), "/tokens");
/// assert!(EtcdAddress::parse("etcd://a.example:2379").is_err());
/// assert!(EtcdAddress::parse("etcd://127.0.0.1:2379").is_ok());
/// # Ok::<(), jeton_store::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EtcdAddress {
    endpoints: Vec<String>,
    root: String,
    over_tls: bool,
}

/// Credentials for etcd, and the authorities that must have signed its certificate.
#[derive(Default)]
pub struct EtcdAccess {
    /// Certificate authorities of etcd, PEM. Required over TLS: they are seldom among those of the system.
    pub authorities: Option<Vec<u8>>,
    /// Certificate and private key of this node, PEM.
    pub identity: Option<(Vec<u8>, Zeroizing<Vec<u8>>)>,
    /// User name and password, if authentication is enabled in etcd.
    pub user: Option<(String, Zeroizing<String>)>,
}

impl fmt::Debug for EtcdAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdAccess")
            .field("has_authorities", &self.authorities.is_some())
            .field("has_identity", &self.identity.is_some())
            .field("user", &self.user.as_ref().map(|(name, _)| name))
            .finish()
    }
}

impl EtcdAddress {
    /// Parses an address.
    ///
    /// # Errors
    ///
    /// [`Problem::Address`] for another syntax, [`Problem::WithoutTls`] for `etcd://` with a non-loopback
    /// host.
    pub fn parse(text: &str) -> Result<EtcdAddress> {
        let (scheme, rest) = text.split_once("://").ok_or(Problem::Address)?;
        let over_tls = match scheme {
            "etcd" => false,
            "etcds" => true,
            _ => return Err(Problem::Address.into()),
        };
        let (hosts, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let path = path.trim_end_matches('/');
        let root = if path.is_empty() { ROOT } else { path };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-._".contains(c);
        if root.len() > limits::ETCD_ROOT_BYTES
            || root.contains("//")
            || !root.chars().all(is_plain)
        {
            return Err(Problem::Address.into());
        }
        let scheme = if over_tls { "https" } else { "http" };
        let mut endpoints = Vec::new();
        for host in hosts.split(',') {
            let name = host_of(host).ok_or(Problem::Address)?;
            if !over_tls && !is_loopback(name) {
                return Err(Problem::WithoutTls.into());
            }
            endpoints.push(format!("{scheme}://{host}"));
        }
        Ok(EtcdAddress {
            endpoints,
            root: root.to_owned(),
            over_tls,
        })
    }

    /// Returns the prefix of all keys.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Checks that these credentials fit the address, and that certificates and key are valid PEM. Connects to nothing.
    ///
    /// # Errors
    ///
    /// [`Problem::NoAuthority`] over TLS without an authority; [`Error::Io`] for a malformed certificate or key.
    pub fn check(&self, access: EtcdAccess) -> Result<()> {
        self.connection(access).map(drop)
    }

    /// Returns how each member is reached, and who asks.
    pub(super) fn connection(&self, access: EtcdAccess) -> Result<(Vec<Endpoint>, Option<User>)> {
        let tls = if !self.over_tls {
            None
        } else {
            let authorities = access.authorities.ok_or(Problem::NoAuthority)?;
            let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(authorities));
            Some(match access.identity {
                Some((certificate, key)) => tls.identity(Identity::from_pem(certificate, &*key)),
                None => tls,
            })
        };
        let mut endpoints = Vec::with_capacity(self.endpoints.len());
        for endpoint in &self.endpoints {
            let endpoint = Endpoint::from_shared(endpoint.clone()).map_err(|_| Problem::Address)?;
            let endpoint = endpoint
                .connect_timeout(CONNECTING)
                .http2_keep_alive_interval(KEEP_ALIVE)
                .keep_alive_timeout(CONNECTING)
                .keep_alive_while_idle(true);
            endpoints.push(match &tls {
                Some(tls) => endpoint.tls_config(tls.clone()).map_err(|error| {
                    Error::Io(
                        io::ErrorKind::InvalidInput,
                        format!("etcd: {}", root_of(&error)),
                    )
                })?,
                None => endpoint,
            });
        }
        Ok((endpoints, access.user))
    }
}

/// The innermost cause: what is wrong with a certificate or a key.
fn root_of(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

impl fmt::Display for EtcdAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.over_tls { "etcds" } else { "etcd" };
        let hosts: Vec<&str> = (self.endpoints.iter())
            .filter_map(|endpoint| endpoint.split_once("://").map(|(_, host)| host))
            .collect();
        write!(f, "{scheme}://{}{}", hosts.join(","), self.root)
    }
}

/// Returns the host name. The port is required: etcd has no universal default.
fn host_of(host: &str) -> Option<&str> {
    let (name, port) = host.rsplit_once(':')?;
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    port.parse::<u16>()
        .ok()
        .filter(|port| is_number && *port > 0)?;
    if let Some(bracketed) = name.strip_prefix('[') {
        let address = bracketed.strip_suffix(']')?;
        return address.parse::<Ipv6Addr>().is_ok().then_some(address);
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

fn is_loopback(name: &str) -> bool {
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn address_round_trips() {
        for (text, written) in [
            ("etcd://127.0.0.1:2379", "etcd://127.0.0.1:2379/jeton"),
            ("etcd://[::1]:2379/", "etcd://[::1]:2379/jeton"),
            ("etcds://a.b:1,c:65535/x/y/", "etcds://a.b:1,c:65535/x/y"),
        ] {
            assert_eq!(EtcdAddress::parse(text).unwrap().to_string(), written);
        }
    }

    #[test]
    fn invalid_address_is_rejected() {
        for text in [
            "",
            "127.0.0.1:2379",
            "http://127.0.0.1:2379",
            "etcd://",
            "etcd://localhost",
            "etcd://localhost:0",
            "etcd://localhost:65536",
            "etcd://localhost:+2379",
            "etcd://[localhost]:2379",
            "etcd://localhost:2379,",
            "etcd://user:secret@localhost:2379",
            "etcd://[::1:2379",
            "etcd://localhost:2379/a//b",
            "etcd://localhost:2379/a?b",
        ] {
            let refused = EtcdAddress::parse(text).err();
            assert_eq!(refused, Some(Error::Invalid(Problem::Address)), "{text}");
        }
    }

    #[test]
    fn remote_address_requires_tls_and_authority() {
        let refused = EtcdAddress::parse("etcd://127.0.0.1:2379,10.0.0.1:2379").err();
        assert_eq!(refused, Some(Error::Invalid(Problem::WithoutTls)));
        let address = EtcdAddress::parse("etcds://10.0.0.1:2379").unwrap();
        let refused = address.connection(EtcdAccess::default()).err();
        assert_eq!(refused, Some(Error::Invalid(Problem::NoAuthority)));
    }
}
