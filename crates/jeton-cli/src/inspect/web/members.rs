//! What registered members mean, and where that is written.

use Family::{Claims, Jwk, PasetoClaims, PasetoFooter};

/// A member whose name has one meaning for everybody.
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    /// The document and its section.
    pub(super) source: &'static str,
}

/// Where a name has its meaning from.
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
    /// The family of a part of a token: `header`, `payload`, `footer`, as the report calls them.
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

    /// What a member of that name means here.
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

/// Name, meaning, where a JWS has it from, where a JWE does; empty where it has no meaning.
#[rustfmt::skip]
const HEADERS: &[(&str, &str, &str, &str)] = &[
    ("alg", "Algorithm of the signature or MAC. A verifier knows it from its key, and never lets the token choose", "RFC 7515, section 4.1.1", ""),
    ("alg", "Algorithm by which the content key reaches the recipient, who knows it from its key", "", "RFC 7516, section 4.1.1"),
    ("enc", "Content encryption: the algorithm that encrypts the payload", "", "RFC 7516, section 4.1.2"),
    ("zip", "Compression of the payload before it was encrypted: its length can tell of its content", "", "RFC 7516, section 4.1.3"),
    ("jku", "Address of a key set. Whoever wrote the token chose it", "RFC 7515, section 4.1.2", "RFC 7516, section 4.1.4"),
    ("jwk", "A public key. Whoever wrote the token chose it", "RFC 7515, section 4.1.3", "RFC 7516, section 4.1.5"),
    ("kid", "Key ID: says which of several keys it is", "RFC 7515, section 4.1.4", "RFC 7516, section 4.1.6"),
    ("x5u", "Address of a certificate. Whoever wrote the token chose it", "RFC 7515, section 4.1.5", "RFC 7516, section 4.1.7"),
    ("x5c", "Certificate chain, the key's own first", "RFC 7515, section 4.1.6", "RFC 7516, section 4.1.8"),
    ("x5t", "SHA-1 thumbprint of the certificate", "RFC 7515, section 4.1.7", "RFC 7516, section 4.1.9"),
    ("x5t#S256", "SHA-256 thumbprint of the certificate", "RFC 7515, section 4.1.8", "RFC 7516, section 4.1.10"),
    ("typ", "Type of the whole token, so that one kind is not taken for another", "RFC 7515, section 4.1.9", "RFC 7516, section 4.1.11"),
    ("cty", "Content type of the payload: JWT if there is a token in it", "RFC 7515, section 4.1.10", "RFC 7516, section 4.1.12"),
    ("crit", "Critical: members that a reader must understand, or refuse the token", "RFC 7515, section 4.1.11", "RFC 7516, section 4.1.13"),
    ("b64", "Whether the payload is in base64url: if false, it stands as it is", "RFC 7797, section 3", ""),
    ("nonce", "A value of the ACME server's, against replay", "RFC 8555, section 6.5.2", ""),
    ("url", "The address that an ACME request is for", "RFC 8555, section 6.4.1", ""),
    ("epk", "Ephemeral public key of the sender, for key agreement", "", "RFC 7518, section 4.6.1.1"),
    ("apu", "Agreement: information about who sends", "", "RFC 7518, section 4.6.1.2"),
    ("apv", "Agreement: information about who receives", "", "RFC 7518, section 4.6.1.3"),
    ("iv", "Nonce with which the content key is wrapped", "", "RFC 7518, section 4.7.1.1"),
    ("tag", "Authentication tag of the wrapped content key", "", "RFC 7518, section 4.7.1.2"),
    ("p2s", "Salt of the password", "", "RFC 7518, section 4.8.1.1"),
    ("p2c", "Count of iterations over the password: the sender chooses what it costs to open the token", "", "RFC 7518, section 4.8.1.2"),
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
    (Claims, "iss", "Issuer: who made the token", "RFC 7519, section 4.1.1"),
    (Claims, "sub", "Subject: whom or what the token is about", "RFC 7519, section 4.1.2"),
    (Claims, "aud", "Audience: whom the token is for. Anybody else must refuse it", "RFC 7519, section 4.1.3"),
    (Claims, "exp", "Expiration time, in seconds since 1970: from then on it must be refused", "RFC 7519, section 4.1.4"),
    (Claims, "nbf", "Not before, in seconds since 1970: until then it must be refused", "RFC 7519, section 4.1.5"),
    (Claims, "iat", "Issued at, in seconds since 1970", "RFC 7519, section 4.1.6"),
    (Claims, "jti", "JWT ID: a name that no other token of the issuer has", "RFC 7519, section 4.1.7"),
    (Claims, "cnf", "Confirmation: the key that the presenter must prove to have", "RFC 7800, section 3.1"),
    (Claims, "act", "Actor: who acts for the subject", "RFC 8693, section 4.1"),
    (Claims, "scope", "Scopes, with a space between: what the token allows", "RFC 8693, section 4.2"),
    (Claims, "client_id", "The OAuth client that asked for the token", "RFC 8693, section 4.3"),
    (Claims, "may_act", "Who may act for the subject", "RFC 8693, section 4.4"),
    (Claims, "authorization_details", "What the token allows, in detail", "RFC 9396, section 9.1"),
    (Claims, "roles", "Roles of the subject", ACCESS_TOKEN),
    (Claims, "groups", "Groups of the subject", ACCESS_TOKEN),
    (Claims, "entitlements", "Entitlements of the subject", ACCESS_TOKEN),
    (Claims, "events", "Security events: what happened", "RFC 8417, section 2.2"),
    (Claims, "txn", "Transaction: what several events belong to", "RFC 8417, section 2.2"),
    (Claims, "auth_time", "When the subject logged in, in seconds since 1970", ID_TOKEN),
    (Claims, "nonce", "A value of the client's that ties the token to its request", ID_TOKEN),
    (Claims, "acr", "How strong the log-in was: its class", ID_TOKEN),
    (Claims, "amr", "How the subject logged in: its methods", ID_TOKEN),
    (Claims, "azp", "Authorized party: the client that the token was issued to", ID_TOKEN),
    (Claims, "at_hash", "Hash of the access token that belongs to it", ID_TOKEN),
    (Claims, "name", "Full name", PROFILE),
    (Claims, "given_name", "Given names", PROFILE),
    (Claims, "family_name", "Surnames", PROFILE),
    (Claims, "preferred_username", "What the subject wants to be called; not unique", PROFILE),
    (Claims, "email", "Address for mail", PROFILE),
    (Claims, "email_verified", "Whether the issuer has seen that the address for mail is the subject's", PROFILE),
    (PasetoClaims, "iss", "Issuer: who made the token", PASETO),
    (PasetoClaims, "sub", "Subject: whom or what the token is about", PASETO),
    (PasetoClaims, "aud", "Audience: whom the token is for", PASETO),
    (PasetoClaims, "exp", "Expiration: from then on it is refused", PASETO),
    (PasetoClaims, "nbf", "Not before: until then it is refused", PASETO),
    (PasetoClaims, "iat", "Issued at", PASETO),
    (PasetoClaims, "jti", "Token identifier", PASETO),
    (PasetoFooter, "kid", "Key ID: says which of several keys it is", FOOTER),
    (PasetoFooter, "wpk", "Wrapped PASERK: the token's key, encrypted with another", FOOTER),
    (Jwk, "kty", "Key type", "RFC 7517, section 4.1"),
    (Jwk, "use", "Whether it is for signatures (sig) or encryption (enc)", "RFC 7517, section 4.2"),
    (Jwk, "alg", "The one algorithm that it is for", "RFC 7517, section 4.4"),
    (Jwk, "kid", "Key ID: a name to tell it from others; it proves nothing", "RFC 7517, section 4.5"),
    (Jwk, "crv", "Curve, or parameters", "RFC 7518, section 6.2.1.1"),
    (Jwk, "thumbprint", "A hash of the public key: the same for the same key, wherever it is", "RFC 7638, section 3"),
];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_name_means_what_its_place_says() {
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
    fn a_name_stands_once_in_its_family() {
        for (index, (family, name, ..)) in NAMES.iter().enumerate() {
            let twice = NAMES[..index]
                .iter()
                .any(|(other, known, ..)| other == family && known == name);
            assert!(!twice, "{name}");
        }
        for (index, (name, _, jws, jwe)) in HEADERS.iter().enumerate() {
            let twice = HEADERS[..index]
                .iter()
                .any(|(known, _, other_jws, other_jwe)| {
                    let both = |one: &str, other: &str| !one.is_empty() && !other.is_empty();
                    known == name && (both(jws, other_jws) || both(jwe, other_jwe))
                });
            assert!(!twice, "{name}");
        }
    }
}
