//! Clients: their credentials and permissions.

use serde::Deserialize;

use super::Config;
use super::problem::Problem;
use crate::limits;
use crate::permissions::Permission;

/// Bearer tokens (RFC 6750) of an issuer of this server, as credentials of clients.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bearer {
    /// The issuer's `iss`.
    pub issuer: String,
    /// The audience (`aud`) that the tokens must have. It names this server.
    pub audience: String,
}

/// A client: its credentials and permissions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// The name in the audit log.
    pub name: String,
    /// The `sub` of its bearer tokens.
    #[serde(default, alias = "subject")]
    pub bearer_subject: Option<String>,
    /// A DNS name or URI in its certificate (subjectAltName).
    #[serde(default)]
    pub certificate_name: Option<String>,
    /// SHA-256 of its certificate, 64 hexadecimal digits.
    #[serde(default)]
    pub certificate_sha256: Option<String>,
    /// Its permissions.
    pub may: Vec<Permission>,
    /// The issuers that the permissions apply to. `*` means all issuers.
    pub issuers: Vec<String>,
}

pub(super) fn problem(config: &Config) -> Option<Problem> {
    if config.clients.len() > limits::CLIENTS {
        let (count, max) = (config.clients.len(), limits::CLIENTS);
        let what = format!("{count} clients, maximum {max}");
        return Some(Problem::new("client", what));
    }
    config
        .clients
        .iter()
        .enumerate()
        .find_map(|(index, client)| {
            let (member, what) = client_problem(config, client)?;
            Some(Problem::new(format!("client[{index}].{member}"), what))
        })
}

fn client_problem(config: &Config, client: &Client) -> Option<(&'static str, &'static str)> {
    let certificates = config
        .tls
        .as_ref()
        .is_some_and(|tls| tls.client_ca.is_some());
    let credentials = [
        &client.bearer_subject,
        &client.certificate_name,
        &client.certificate_sha256,
    ];
    if client.name.is_empty() {
        return Some(("name", "must not be empty: the audit log uses it"));
    }
    if credentials.iter().filter(|value| value.is_some()).count() != 1 {
        return Some((
            "name",
            "requires exactly one of bearer_subject, certificate_name and certificate_sha256",
        ));
    }
    if client.bearer_subject.is_some() && config.bearer.is_none() {
        return Some(("bearer_subject", "requires `bearer`"));
    }
    if client.bearer_subject.is_none() && !certificates {
        return Some((
            "name",
            "requires `tls.client_ca` to verify the certificate of the client",
        ));
    }
    if let Some(digest) = &client.certificate_sha256
        && (digest.len() != 64 || !digest.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        return Some(("certificate_sha256", "expected 64 hexadecimal digits"));
    }
    if client.may.is_empty() {
        return Some((
            "may",
            "requires at least one of issue, verify, revoke, admin",
        ));
    }
    if client.issuers.is_empty() {
        return Some(("issuers", "requires at least one issuer, or \"*\" for all"));
    }
    None
}
