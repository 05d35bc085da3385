//! Outside issuers whose tokens the token endpoint accepts.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use http::Uri;
use jeton::key::SigAlg;
use serde::{Deserialize, Deserializer};

use super::problem::Problem;
use super::token_endpoint::{allowed_token_problem, rate_problem};
use super::{AllowedToken, Config};
use crate::claim_pattern::{ClaimPattern, check_claim_name};
use crate::limits;
use crate::subject_template::SubjectTemplate;

/// A trust entry: which tokens of an outside issuer are exchanged for a token of an issuer of this server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trust {
    /// The name in the log, and the `client_id` of tokens that no client requested.
    pub name: String,
    /// `iss` of the issuer of this server.
    pub issuer: String,
    /// `iss` of the outside issuer, byte for byte.
    pub iss: String,
    /// The address of its key set. Without it and [`keys_file`](Trust::keys_file), the address is discovered.
    #[serde(default)]
    pub keys_url: Option<String>,
    /// A file with its key set.
    #[serde(default)]
    pub keys_file: Option<PathBuf>,
    /// A PEM file with further certificate authorities for fetching the keys.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// Whether the discovered address of the key set may be in a private network.
    #[serde(default)]
    pub allow_private_addresses: bool,
    /// Whether its keys are fetched with plain `http` from hosts other than loopback hosts.
    #[serde(default)]
    pub allow_plain_http: bool,
    /// The algorithm of its keys without `alg`.
    #[serde(default, deserialize_with = "algorithm")]
    pub default_alg: Option<SigAlg>,
    /// The `use` of its keys, if it is not `sig`: `jwt-svid` for a SPIFFE bundle.
    #[serde(default, rename = "use")]
    pub key_use: Option<String>,
    /// The `typ` that its tokens must have. Default: `JWT` or none; in an exchange of an access token, `at+jwt` too.
    #[serde(default)]
    pub types: Option<Vec<String>>,
    /// The audience (`aud`) that its tokens must have.
    pub audience: String,
    /// What claims must be: an exact value, or a pattern with `*` and `**`. All must match.
    pub claims: BTreeMap<String, ClaimPattern>,
    /// `sub` of the issued token. `{claim}` is replaced. Default: the name of the entry, `:` and `sub`.
    #[serde(default)]
    pub subject: Option<SubjectTemplate>,
    /// Claims of the issued token, and the claims of the outside token that they are copied from.
    #[serde(default)]
    pub copy_claims: BTreeMap<String, String>,
    /// The kinds of tokens that it gives.
    pub tokens: Vec<AllowedToken>,
    /// The maximum lifetime of an issued token, seconds.
    pub maximum_lifetime_seconds: i64,
    /// Whether a token is accepted once only, by its `jti`.
    #[serde(default)]
    pub single_use: bool,
    /// Requests per minute with its tokens, for each server.
    #[serde(default)]
    pub requests_per_minute: Option<u32>,
}

impl Trust {
    /// Where the keys are, to compare entries of the same outside issuer.
    fn key_source(&self) -> impl PartialEq + use<> {
        (
            self.keys_url.clone(),
            self.keys_file.clone(),
            self.ca_file.clone(),
            self.allow_private_addresses,
            self.allow_plain_http,
            self.default_alg.map(SigAlg::name),
            self.key_use.clone(),
        )
    }
}

fn algorithm<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SigAlg>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let alg = name.parse().map_err(|_| {
        serde::de::Error::custom("expected a signature algorithm, for example RS256 or ES256")
    })?;
    Ok(Some(alg))
}

pub(super) fn problem(config: &Config) -> Option<Problem> {
    if let Some(what) = proxy_problem(config) {
        return Some(what);
    }
    if config.trusts.len() > limits::TRUST_ENTRIES {
        let (count, max) = (config.trusts.len(), limits::TRUST_ENTRIES);
        return Some(Problem::new(
            "trust",
            format!("{count} entries, maximum {max}"),
        ));
    }
    let clients: HashSet<&str> = config.clients.iter().map(|c| c.name.as_str()).collect();
    let mut names = HashSet::new();
    let mut outside: HashMap<&str, &Trust> = HashMap::new();
    for (index, trust) in config.trusts.iter().enumerate() {
        let wrong = |member: &str, what: String| {
            Some(Problem::new(format!("trust[{index}].{member}"), what))
        };
        if !names.insert(trust.name.as_str()) {
            return wrong("name", "another trust entry has this name".to_owned());
        }
        if clients.contains(trust.name.as_str()) {
            return wrong("name", "a client has this name".to_owned());
        }
        if let Some((member, what)) = trust_problem(config, trust) {
            return wrong(member, what);
        }
        let first = outside.entry(&trust.iss).or_insert(trust);
        if first.key_source() != trust.key_source() {
            return wrong(
                "iss",
                "another trust entry gives other keys, another use or another algorithm for this issuer".to_owned(),
            );
        }
    }
    None
}

fn proxy_problem(config: &Config) -> Option<Problem> {
    let Some(proxy) = &config.proxy else {
        let is_unused = !config.no_proxy.is_empty();
        return is_unused.then(|| Problem::new("no_proxy", "requires `proxy`".to_owned()));
    };
    let address = proxy.parse::<Uri>().ok();
    let is_http = address.is_some_and(|address| {
        address.scheme_str() == Some("http") && address.host().is_some_and(|host| !host.is_empty())
    });
    if !is_http {
        let what = "expected a URL with http, for example http://proxy.example:3128";
        return Some(Problem::new("proxy", what.to_owned()));
    }
    let is_list = config.no_proxy.iter().any(|name| name.contains(','));
    let what = "a name contains a comma: write `[\"a.example\", \"b.example\"]`";
    is_list.then(|| Problem::new("no_proxy", what.to_owned()))
}

fn trust_problem(config: &Config, trust: &Trust) -> Option<(&'static str, String)> {
    let empty = |what: &str| format!("must not be empty: {what}");
    if trust.name.is_empty() {
        return Some(("name", empty("the log uses it")));
    }
    if trust.name.contains(':') {
        // `a:b` with the subject `c` would be the entry `a` with the subject `b:c`.
        let what = "must not contain `:`, which separates it from `sub` in the subject of a token";
        return Some(("name", what.to_owned()));
    }
    if trust.iss.is_empty() {
        return Some(("iss", empty("tokens without `iss` are rejected")));
    }
    if trust.iss == trust.issuer || config.issuers.iter().any(|own| own.iss() == trust.iss) {
        let what = "is an issuer of this server, and not an outside issuer";
        return Some(("iss", what.to_owned()));
    }
    if trust.audience.is_empty() {
        return Some(("audience", empty("name this service")));
    }
    if trust.keys_url.is_some() && trust.keys_file.is_some() {
        return Some(("keys_url", "set together with `keys_file`".to_owned()));
    }
    let is_for_fetching =
        trust.ca_file.is_some() || trust.allow_private_addresses || trust.allow_plain_http;
    if trust.keys_file.is_some() && is_for_fetching {
        let what =
            "fetches nothing: remove `ca_file`, `allow_private_addresses` and `allow_plain_http`";
        return Some(("keys_file", what.to_owned()));
    }
    match trust.key_use.as_deref() {
        Some("") => return Some(("use", empty("name the `use` of its keys"))),
        Some("enc") => {
            let what = "keys for encryption verify no signature";
            return Some(("use", what.to_owned()));
        }
        _ => {}
    }
    if let Some(what) = trust.types.as_deref().and_then(types_problem) {
        return Some(("types", what));
    }
    if trust.claims.is_empty() {
        let what = "requires at least one claim: otherwise every token of the issuer is accepted";
        return Some(("claims", what.to_owned()));
    }
    let max = limits::TRUST_CLAIMS;
    for (member, count) in [
        ("claims", trust.claims.len()),
        ("copy_claims", trust.copy_claims.len()),
    ] {
        if count > max {
            return Some((member, format!("{count} claims, maximum {max}")));
        }
    }
    for name in trust.copy_claims.keys() {
        if let Some(what) = check_claim_name(name) {
            return Some(("copy_claims", what.to_owned()));
        }
    }
    if trust.tokens.is_empty() {
        return Some(("tokens", "requires at least one kind of token".to_owned()));
    }
    let issuers = || {
        config
            .issuers
            .iter()
            .filter(|own| own.iss() == trust.issuer)
    };
    for allowed in &trust.tokens {
        if let Some(what) = allowed_token_problem(allowed, issuers()) {
            return Some(("tokens", what));
        }
    }
    let (seconds, max) = (
        trust.maximum_lifetime_seconds,
        jeton_issuer::limits::LIFETIME_SECONDS,
    );
    if !(1..=max).contains(&seconds) {
        let what = format!("must be between 1 and {max}, got {seconds}");
        return Some(("maximum_lifetime_seconds", what));
    }
    rate_problem(trust.requests_per_minute).map(|what| ("requests_per_minute", what))
}

fn types_problem(types: &[String]) -> Option<String> {
    let (count, max) = (types.len(), limits::TRUST_TYPES);
    if count == 0 {
        return Some("requires at least one type: otherwise no token is accepted".to_owned());
    }
    if count > max {
        return Some(format!("{count} types, maximum {max}"));
    }
    let is_type = |typ: &String| {
        (1..=128).contains(&typ.len()) && typ.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let index = types.iter().position(|typ| !is_type(typ))?;
    let what = "must have 1 to 128 visible ASCII characters, for example at+jwt";
    Some(format!("types[{index}]: {what}"))
}
