//! What a client may get from the token endpoint.

use crate::config::{AllowedToken, Client, Grant, is_scope};
use crate::limits::REQUESTS_PER_MINUTE;
use crate::rate_limit::RateLimit;

/// What a client may get from the token endpoint.
#[derive(Debug)]
pub(crate) struct TokenRights {
    tokens: Vec<AllowedToken>,
    grants: Vec<Grant>,
    exchange_audiences: Vec<String>,
    pub(crate) rate: RateLimit,
}

/// The kind of token that a request chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen<'t> {
    pub(crate) profile: String,
    pub(crate) scopes: Vec<&'t str>,
    /// `None`: the default of the profile.
    pub(crate) audience: Option<&'t str>,
}

/// Why a request chooses no kind of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAllowed {
    /// The scope is malformed.
    MalformedScope,
    /// No kind of token has these scopes.
    Scope,
    /// No kind of token has these scopes and the audience.
    Audience,
}

impl TokenRights {
    pub(crate) fn none() -> TokenRights {
        TokenRights {
            tokens: Vec::new(),
            grants: Vec::new(),
            exchange_audiences: Vec::new(),
            rate: RateLimit::new(REQUESTS_PER_MINUTE),
        }
    }

    pub(crate) fn of_client(client: &Client) -> TokenRights {
        let own_name = || vec![client.name.clone()];
        let grants = client.grants.clone();
        TokenRights {
            tokens: client.tokens.clone(),
            grants: grants.unwrap_or_else(|| vec![Grant::ClientCredentials]),
            exchange_audiences: client.exchange_audiences.clone().unwrap_or_else(own_name),
            rate: TokenRights::rate_of(client),
        }
    }

    /// The requests per minute of a client.
    pub(crate) fn rate_of(client: &Client) -> RateLimit {
        RateLimit::new(client.requests_per_minute.unwrap_or(REQUESTS_PER_MINUTE))
    }

    pub(crate) fn may_use(&self, grant: Grant) -> bool {
        self.grants.contains(&grant)
    }

    pub(crate) fn tokens(&self) -> &[AllowedToken] {
        &self.tokens
    }

    /// Whether it may exchange a token for these audiences.
    pub(crate) fn may_exchange<'a>(&self, mut audiences: impl Iterator<Item = &'a str>) -> bool {
        audiences.any(|audience| self.exchange_audiences.iter().any(|own| own == audience))
    }
}

/// Chooses the first kind of token that has the requested scopes and the audience.
///
/// Without a requested scope, the token has all scopes of its kind. `has_audience` says whether a profile has an
/// audience.
pub(crate) fn choose<'t>(
    tokens: &'t [AllowedToken],
    scope: Option<&'t str>,
    audience: Option<&'t str>,
    has_audience: impl Fn(&str, &str) -> bool,
) -> Result<Chosen<'t>, NotAllowed> {
    let requested = scope.map(parse_scope).transpose()?;
    let mut has_scope = false;
    for allowed in tokens {
        let is_allowed = |scope: &&str| allowed.scopes.iter().any(|known| known == scope);
        let scopes: Vec<&str> = match &requested {
            Some(requested) if requested.iter().all(is_allowed) => requested.clone(),
            Some(_) => continue,
            None => allowed.scopes.iter().map(String::as_str).collect(),
        };
        has_scope = true;
        let is_meant = |audience: &str| {
            if allowed.audiences.is_empty() {
                has_audience(&allowed.profile, audience)
            } else {
                allowed.audiences.iter().any(|known| known == audience)
            }
        };
        let audience = match audience {
            Some(audience) if is_meant(audience) => Some(audience),
            Some(_) => continue,
            None => allowed.audiences.first().map(String::as_str),
        };
        return Ok(Chosen {
            profile: allowed.profile.clone(),
            scopes,
            audience,
        });
    }
    Err(if has_scope {
        NotAllowed::Audience
    } else {
        NotAllowed::Scope
    })
}

/// Parses a scope (RFC 6749, section 3.3). Repeated scopes are left out.
pub(crate) fn parse_scope(text: &str) -> Result<Vec<&str>, NotAllowed> {
    let mut scopes = Vec::new();
    for scope in text.split(' ') {
        if !is_scope(scope) {
            return Err(NotAllowed::MalformedScope);
        }
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    Ok(scopes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn allowed(profile: &str, scopes: &[&str], audiences: &[&str]) -> AllowedToken {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        AllowedToken {
            profile: profile.to_owned(),
            scopes: owned(scopes),
            audiences: owned(audiences),
        }
    }

    #[test]
    fn scope_and_audience_choose_the_profile() {
        let tokens = [
            allowed("access", &["read", "list"], &[]),
            allowed("admin", &["write"], &["admin-api", "other"]),
        ];
        let has_audience = |profile: &str, audience: &str| (profile, audience) == ("access", "api");
        let choose = |scope, audience| choose(&tokens, scope, audience, has_audience);
        let first = choose(None, None).unwrap();
        assert_eq!((first.profile.as_str(), first.audience), ("access", None));
        assert_eq!(first.scopes, ["read", "list"]);
        assert_eq!(choose(Some("list list"), None).unwrap().scopes, ["list"]);
        let second = choose(Some("write"), None).unwrap();
        assert_eq!(
            (second.profile.as_str(), second.audience),
            ("admin", Some("admin-api"))
        );
        assert_eq!(choose(None, Some("other")).unwrap().profile, "admin");
        assert_eq!(
            choose(Some("read"), Some("api")).unwrap().audience,
            Some("api")
        );
        for (scope, audience, error) in [
            (Some("read write"), None, NotAllowed::Scope),
            (Some("delete"), None, NotAllowed::Scope),
            (Some("read"), Some("other"), NotAllowed::Audience),
            (None, Some("nobody"), NotAllowed::Audience),
            (Some(""), None, NotAllowed::MalformedScope),
            (Some("read  list"), None, NotAllowed::MalformedScope),
            (Some("read\tlist"), None, NotAllowed::MalformedScope),
        ] {
            assert_eq!(
                choose(scope, audience),
                Err(error),
                "{scope:?} {audience:?}"
            );
        }
    }
}
