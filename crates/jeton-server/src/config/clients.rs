//! Clients: their credentials and permissions.

use std::path::PathBuf;

use serde::Deserialize;

use super::problem::Problem;
use super::token_endpoint::{allowed_token_problem, rate_problem};
use super::{AllowedToken, Config, Grant, Permission};
use crate::client_secret::SecretHash;
use crate::limits;
use crate::slow_comparisons::SlowComparisons;

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
    /// The name in the audit log. For clients of the token endpoint, it is the `client_id`.
    pub name: String,
    /// The `sub` of its bearer tokens. With `secrets` or `keys_file`, it is the name of the client: the tokens that the
    /// token endpoint gives it are its credential, too.
    #[serde(default)]
    pub bearer_subject: Option<String>,
    /// A DNS name or URI in its certificate (subjectAltName).
    #[serde(default)]
    pub certificate_name: Option<String>,
    /// SHA-256 of its certificate, 64 hexadecimal digits.
    #[serde(default)]
    pub certificate_sha256: Option<String>,
    /// Hashes of its secrets (HTTP Basic, RFC 6749, section 2.3.1). Two of them allow to replace a secret.
    #[serde(default)]
    pub secrets: Vec<SecretHash>,
    /// A file with its public keys, a JWK Set. It authenticates with signed assertions (RFC 7523).
    #[serde(default)]
    pub keys_file: Option<PathBuf>,
    /// Its permissions.
    pub may: Vec<Permission>,
    /// The issuers that the permissions apply to. `*` means all issuers.
    pub issuers: Vec<String>,
    /// The kinds of tokens that it may get from the token endpoint.
    #[serde(default)]
    pub tokens: Vec<AllowedToken>,
    /// The grants that it may use. Default: client credentials.
    #[serde(default)]
    pub grants: Option<Vec<Grant>>,
    /// The audiences of tokens that it may exchange. Default: its name.
    #[serde(default)]
    pub exchange_audiences: Option<Vec<String>>,
    /// Its requests to the token endpoint per minute, for each server. Default: 600.
    #[serde(default)]
    pub requests_per_minute: Option<u32>,
    /// Its revocations per day, for each server. Default: 1,000,000.
    #[serde(default)]
    pub revocations_per_day: Option<u32>,
}

impl Client {
    /// Whether its credential is in forms: it needs neither certificates nor bearer tokens.
    pub(super) fn has_form_credential(&self) -> bool {
        !self.secrets.is_empty() || self.keys_file.is_some()
    }
}

pub(super) fn problem(config: &Config) -> Option<Problem> {
    if config.clients.len() > limits::CLIENTS {
        let (count, max) = (config.clients.len(), limits::CLIENTS);
        let what = format!("{count} clients, maximum {max}");
        return Some(Problem::new("client", what));
    }
    let secrets = config.clients.iter().map(|client| &*client.secrets);
    let (slow, max) = (
        SlowComparisons::for_clients(secrets).count(),
        limits::ARGON2_COMPARISONS,
    );
    if slow > max {
        let what = format!(
            "each attempt takes {slow} Argon2id comparisons, maximum {max}: use hashes of the same cost"
        );
        return Some(Problem::new("client", what));
    }
    config
        .clients
        .iter()
        .enumerate()
        .find_map(|(index, client)| {
            let found = client_problem(config, client)
                .map(|(member, what)| (member, what.to_owned()))
                .or_else(|| token_endpoint_problem(config, client))
                .or_else(|| revocations_problem(client));
            let (member, what) = found?;
            Some(Problem::new(format!("client[{index}].{member}"), what))
        })
}

fn client_problem(config: &Config, client: &Client) -> Option<(&'static str, &'static str)> {
    let certificates = config
        .tls
        .as_ref()
        .is_some_and(|tls| tls.client_ca.is_some());
    let credentials = [
        client.bearer_subject.is_some(),
        client.certificate_name.is_some(),
        client.certificate_sha256.is_some(),
        !client.secrets.is_empty(),
        client.keys_file.is_some(),
    ];
    let needs_certificate =
        client.certificate_name.is_some() || client.certificate_sha256.is_some();
    if client.name.is_empty() {
        return Some(("name", "must not be empty: the audit log uses it"));
    }
    let has_own_tokens = client.has_form_credential() && client.bearer_subject.is_some();
    let count = credentials.iter().filter(|is_set| **is_set).count();
    if count != 1 + usize::from(has_own_tokens) {
        return Some((
            "name",
            "requires exactly one of bearer_subject, certificate_name, certificate_sha256, secrets and keys_file; \
             secrets and keys_file may come with bearer_subject",
        ));
    }
    if has_own_tokens && client.bearer_subject.as_ref() != Some(&client.name) {
        return Some((
            "bearer_subject",
            "must be the name of a client with secrets or keys_file: it is the subject of the tokens that the client \
             gets",
        ));
    }
    if client.bearer_subject.is_some() && config.bearer.is_none() {
        return Some(("bearer_subject", "requires `bearer`"));
    }
    if needs_certificate && !certificates {
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
            "requires at least one of issue, token, verify, revoke, admin, metrics",
        ));
    }
    let is_for_all = client.issuers.iter().any(|iss| iss == "*");
    if client.may.contains(&Permission::Metrics) && !is_for_all {
        return Some((
            "issuers",
            "the permission `metrics` requires \"*\": the metrics are of all issuers",
        ));
    }
    if client.issuers.is_empty() {
        return Some(("issuers", "requires at least one issuer, or \"*\" for all"));
    }
    None
}

fn revocations_problem(client: &Client) -> Option<(&'static str, String)> {
    let (value, max) = (client.revocations_per_day?, limits::REVOCATIONS_PER_DAY_MAX);
    let what = format!("must be between 1 and {max}, got {value}");
    (!(1..=max).contains(&value)).then_some(("revocations_per_day", what))
}

/// Checks what concerns clients with a `client_id`: those with secrets, with keys, or with `tokens`.
fn token_endpoint_problem(config: &Config, client: &Client) -> Option<(&'static str, String)> {
    /// Maximum length of a `client_id`, bytes.
    const CLIENT_ID_BYTES: usize = 256;
    let wrong = |member, what: &str| Some((member, what.to_owned()));
    let may_get_tokens = client.may.contains(&Permission::Token);
    if may_get_tokens == client.tokens.is_empty() {
        return wrong(
            "tokens",
            "the permission `token` requires `tokens`, and the other way round",
        );
    }
    if !client.has_form_credential() && !may_get_tokens {
        return None;
    }
    let is_visible = client.name.bytes().all(|b| (b'!'..=b'~').contains(&b));
    if !is_visible || client.name.len() > CLIENT_ID_BYTES {
        let what = format!(
            "is a `client_id`: must have 1 to {CLIENT_ID_BYTES} visible ASCII characters, has {} bytes",
            client.name.len()
        );
        return Some(("name", what));
    }
    let of_name = |other: &&Client| other.name == client.name;
    if config.clients.iter().filter(of_name).count() > 1 {
        return wrong("name", "is a `client_id`, and another client has this name");
    }
    let has_same_certificate = |other: &&Client| {
        let is_same = |a: &Option<String>, b: &Option<String>| a.is_some() && a == b;
        is_same(&other.certificate_name, &client.certificate_name)
            || is_same(&other.certificate_sha256, &client.certificate_sha256)
            || is_same(&other.bearer_subject, &client.bearer_subject)
    };
    if config.clients.iter().filter(has_same_certificate).count() > 1 {
        return wrong("name", "another client has the same credential");
    }
    let (count, max) = (client.secrets.len(), limits::CLIENT_SECRETS);
    if count > max {
        return Some(("secrets", format!("{count} secrets, maximum {max}")));
    }
    if may_get_tokens && client.bearer_subject.is_some() && !client.has_form_credential() {
        return wrong(
            "bearer_subject",
            "the token endpoint does not accept bearer tokens as credentials: use another credential",
        );
    }
    let (count, max) = (client.tokens.len(), limits::ALLOWED_TOKENS);
    if count > max {
        return Some(("tokens", format!("{count} kinds of tokens, maximum {max}")));
    }
    let is_for = |iss: &str| client.issuers.iter().any(|of| of == "*" || of == iss);
    let issuers = || {
        config
            .issuers
            .iter()
            .filter(|settings| is_for(settings.iss()))
    };
    for allowed in &client.tokens {
        if let Some(what) = allowed_token_problem(allowed, issuers()) {
            return Some(("tokens", what));
        }
    }
    if client.grants.as_ref().is_some_and(Vec::is_empty) {
        return wrong("grants", "requires at least one grant");
    }
    rate_problem(client.requests_per_minute).map(|what| ("requests_per_minute", what))
}
