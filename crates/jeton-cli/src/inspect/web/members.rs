//! The meaning of registered members, with references.

use Family::{Claims, Jwk, PasetoClaims, PasetoFooter};

/// A registered member.
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    /// The document and its section.
    pub(super) source: &'static str,
}

/// The registry of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    JwsHeader,
    JweHeader,
    Claims,
    PasetoClaims,
    PasetoFooter,
    Jwk,
}

impl Family {
    /// Returns the family of a part of the report: `header`, `payload`, `footer`.
    pub(super) fn of(format: &str, part: &str) -> Option<Family> {
        match (format, part) {
            ("jws" | "signature", "header" | "unprotected") => Some(Family::JwsHeader),
            ("jwe" | "recipient", "header" | "unprotected" | "recipient") => {
                Some(Family::JweHeader)
            }
            ("jws", "payload") => Some(Claims),
            (_, "payload") => Some(PasetoClaims),
            (_, "footer") => Some(PasetoFooter),
            _ => None,
        }
    }

    /// Returns the meaning of a member in this family.
    pub(super) fn member(self, name: &str) -> Option<Member> {
        let (name, meaning, source) = match self {
            Family::JwsHeader | Family::JweHeader => {
                let rows = HEADERS.iter().filter(|row| row.0 == name);
                let mut rows = rows.map(|(name, meaning, jws, jwe)| match self {
                    Family::JwsHeader => (name, meaning, jws),
                    _ => (name, meaning, jwe),
                });
                rows.find(|(_, _, source)| !source.is_empty())?
            }
            _ => {
                let mut rows = NAMES.iter();
                let (_, name, meaning, source) = rows.find(|row| (row.0, row.1) == (self, name))?;
                (name, meaning, source)
            }
        };
        Some(Member {
            name,
            meaning,
            source,
        })
    }
}

const REPLICATED: &str = "RFC 7519, section 5.3";

/// Name, meaning, reference for JWS, reference for JWE; empty if the member has no meaning there.
#[rustfmt::skip]
const HEADERS: &[(&str, &str, &str, &str)] = &[
    ("alg", "Algorithm of the signature or MAC. The verifier must take it from its key, not from the token", "RFC 7515, section 4.1.1", ""),
    ("alg", "Key management algorithm. The recipient must take it from its key, not from the token", "", "RFC 7516, section 4.1.1"),
    ("enc", "Content encryption: the algorithm that encrypts the payload", "", "RFC 7516, section 4.1.2"),
    ("zip", "Compression before encryption: the length can reveal the content", "", "RFC 7516, section 4.1.3"),
    ("jku", "URL of a key set, chosen by the creator of the token", "RFC 7515, section 4.1.2", "RFC 7516, section 4.1.4"),
    ("jwk", "A public key, chosen by the creator of the token", "RFC 7515, section 4.1.3", "RFC 7516, section 4.1.5"),
    ("kid", "Key id: selects one of several keys", "RFC 7515, section 4.1.4", "RFC 7516, section 4.1.6"),
    ("x5u", "URL of a certificate, chosen by the creator of the token", "RFC 7515, section 4.1.5", "RFC 7516, section 4.1.7"),
    ("x5c", "Certificate chain, the certificate of the key first", "RFC 7515, section 4.1.6", "RFC 7516, section 4.1.8"),
    ("x5t", "SHA-1 thumbprint of the certificate", "RFC 7515, section 4.1.7", "RFC 7516, section 4.1.9"),
    ("x5t#S256", "SHA-256 thumbprint of the certificate", "RFC 7515, section 4.1.8", "RFC 7516, section 4.1.10"),
    ("typ", "Media type of the token, which separates kinds of tokens", "RFC 7515, section 4.1.9", "RFC 7516, section 4.1.11"),
    ("cty", "Media type of the payload: JWT for a nested token", "RFC 7515, section 4.1.10", "RFC 7516, section 4.1.12"),
    ("crit", "Critical members: a verifier must understand them or reject the token", "RFC 7515, section 4.1.11", "RFC 7516, section 4.1.13"),
    ("b64", "Whether the payload is base64url; if false, it is not encoded", "RFC 7797, section 3", ""),
    ("nonce", "Value of the ACME server against replay", "RFC 8555, section 6.5.2", ""),
    ("url", "URL of the ACME request", "RFC 8555, section 6.4.1", ""),
    ("epk", "Ephemeral public key of the sender, for key agreement", "", "RFC 7518, section 4.6.1.1"),
    ("apu", "Key agreement: information about the sender", "", "RFC 7518, section 4.6.1.2"),
    ("apv", "Key agreement: information about the recipient", "", "RFC 7518, section 4.6.1.3"),
    ("iv", "Nonce of the key wrapping", "", "RFC 7518, section 4.7.1.1"),
    ("tag", "Authentication tag of the wrapped content key", "", "RFC 7518, section 4.7.1.2"),
    ("p2s", "Salt of the password", "", "RFC 7518, section 4.8.1.1"),
    ("p2c", "PBKDF2 iterations, chosen by the sender: they set the cost of decryption", "", "RFC 7518, section 4.8.1.2"),
    ("iss", "Issuer, repeated from the encrypted claims", "", REPLICATED),
    ("sub", "Subject, repeated from the encrypted claims", "", REPLICATED),
    ("aud", "Audience, repeated from the encrypted claims", "", REPLICATED),
];

const PASETO: &str = "PASETO, Payload Claims";
const FOOTER: &str = "PASETO, Optional Footer Claims";
const ID_TOKEN: &str = "OpenID Connect Core 1.0, section 2";
const PROFILE: &str = "OpenID Connect Core 1.0, section 5.1";
const ACCESS_TOKEN: &str = "RFC 9068, section 2.2.3.1";

#[rustfmt::skip]
const NAMES: &[(Family, &str, &str, &str)] = &[
    (Claims, "iss", "Issuer of the token", "RFC 7519, section 4.1.1"),
    (Claims, "sub", "Subject of the token", "RFC 7519, section 4.1.2"),
    (Claims, "aud", "Audience: the recipients of the token. Others must reject it", "RFC 7519, section 4.1.3"),
    (Claims, "exp", "Expiration time, in seconds since 1970: the token must be rejected from then on", "RFC 7519, section 4.1.4"),
    (Claims, "nbf", "Not before, in seconds since 1970: the token must be rejected until then", "RFC 7519, section 4.1.5"),
    (Claims, "iat", "Issued at, in seconds since 1970", "RFC 7519, section 4.1.6"),
    (Claims, "jti", "JWT id, unique for the issuer", "RFC 7519, section 4.1.7"),
    (Claims, "cnf", "Confirmation: the key whose possession the presenter must prove", "RFC 7800, section 3.1"),
    (Claims, "act", "Actor: the party that acts for the subject", "RFC 8693, section 4.1"),
    (Claims, "scope", "Scopes of the token, separated by spaces", "RFC 8693, section 4.2"),
    (Claims, "client_id", "OAuth client that requested the token", "RFC 8693, section 4.3"),
    (Claims, "may_act", "Party that may act for the subject", "RFC 8693, section 4.4"),
    (Claims, "authorization_details", "Detailed permissions of the token", "RFC 9396, section 9.1"),
    (Claims, "roles", "Roles of the subject", ACCESS_TOKEN),
    (Claims, "groups", "Groups of the subject", ACCESS_TOKEN),
    (Claims, "entitlements", "Entitlements of the subject", ACCESS_TOKEN),
    (Claims, "events", "Security events", "RFC 8417, section 2.2"),
    (Claims, "txn", "Transaction id that groups events", "RFC 8417, section 2.2"),
    (Claims, "auth_time", "Login time of the subject, in seconds since 1970", ID_TOKEN),
    (Claims, "nonce", "Value of the client that binds the token to its request", ID_TOKEN),
    (Claims, "acr", "Authentication class: the strength of the login", ID_TOKEN),
    (Claims, "amr", "Authentication methods of the login", ID_TOKEN),
    (Claims, "azp", "Authorized party: the client that the token was issued to", ID_TOKEN),
    (Claims, "at_hash", "Hash of the access token issued with this token", ID_TOKEN),
    (Claims, "name", "Full name", PROFILE),
    (Claims, "given_name", "Given names", PROFILE),
    (Claims, "family_name", "Surnames", PROFILE),
    (Claims, "preferred_username", "Preferred user name, not unique", PROFILE),
    (Claims, "email", "Email address", PROFILE),
    (Claims, "email_verified", "Whether the issuer has verified the email address", PROFILE),
    (PasetoClaims, "iss", "Issuer of the token", PASETO),
    (PasetoClaims, "sub", "Subject of the token", PASETO),
    (PasetoClaims, "aud", "Audience: the recipients of the token", PASETO),
    (PasetoClaims, "exp", "Expiration: the token is rejected from then on", PASETO),
    (PasetoClaims, "nbf", "Not before: the token is rejected until then", PASETO),
    (PasetoClaims, "iat", "Issued at", PASETO),
    (PasetoClaims, "jti", "Token identifier", PASETO),
    (PasetoFooter, "kid", "Key id: selects one of several keys", FOOTER),
    (PasetoFooter, "wpk", "Wrapped PASERK: the key of the token, encrypted with another key", FOOTER),
    (Jwk, "kty", "Key type", "RFC 7517, section 4.1"),
    (Jwk, "use", "Use: signatures (sig) or encryption (enc)", "RFC 7517, section 4.2"),
    (Jwk, "alg", "Algorithm of the key", "RFC 7517, section 4.4"),
    (Jwk, "kid", "Key id; it proves nothing", "RFC 7517, section 4.5"),
    (Jwk, "crv", "Curve or parameter set", "RFC 7518, section 6.2.1.1"),
    (Jwk, "thumbprint", "Hash of the public key", "RFC 7638, section 3"),
];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn member_source_depends_on_its_family() {
        let source = |family: Family, name| family.member(name).map(|member| member.source);
        assert_eq!(
            source(Family::JwsHeader, "kid"),
            Some("RFC 7515, section 4.1.4")
        );
        assert_eq!(
            source(Family::JweHeader, "kid"),
            Some("RFC 7516, section 4.1.6")
        );
        assert_eq!(source(Jwk, "kid"), Some("RFC 7517, section 4.5"));
        assert_eq!(source(PasetoFooter, "kid"), Some(FOOTER));
        assert_eq!(source(Claims, "kid"), None);
        assert_eq!(source(Family::JwsHeader, "enc"), None);
        assert_eq!(source(Family::JweHeader, "b64"), None);
        assert_eq!(source(Claims, "role"), None);
    }

    #[test]
    fn member_names_are_unique_in_their_family() {
        for (index, (family, name, ..)) in NAMES.iter().enumerate() {
            let is_duplicate = NAMES[..index]
                .iter()
                .any(|(other, known, ..)| other == family && known == name);
            assert!(!is_duplicate, "{name}");
        }
        for (index, (name, _, jws, jwe)) in HEADERS.iter().enumerate() {
            let is_duplicate = HEADERS[..index]
                .iter()
                .any(|(known, _, other_jws, other_jwe)| {
                    let both = |one: &str, other: &str| !one.is_empty() && !other.is_empty();
                    known == name && (both(jws, other_jws) || both(jwe, other_jwe))
                });
            assert!(!is_duplicate, "{name}");
        }
    }
}
