//! What an attacker without a key can do with each attack. A library is judged by these attacks,
//! and not by what it accepts from a holder of the key.

use super::Attack;

/// What an attack is worth to an attacker without a key. The attacker has at most public keys, and
/// tokens that were issued to them or observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WithoutKey {
    /// They cannot make it: it is signed with the correct key, or needs a verifier with a wrong
    /// key.
    Cannot,
    /// They can send it, but gain nothing if it is accepted: it is another encoding of a token that
    /// they have. It must still not end the process.
    CanSend,
    /// They bypass the check: with claims that were never signed, with a valid token outside its
    /// time or audience, or by learning the key.
    GetsPast,
}

/// A library that accepts one of these lets an attacker without a key in.
const GETS_PAST: &[&str] = &[
    // A header that chooses the algorithm or key of its verification.
    "alg-none",
    "public-key-as-secret",
    "embedded-jwk",
    "embedded-x5c",
    "keys-by-address",
    "kid-injection",
    // A missing signature, or a signature of something else.
    "other-key",
    "issuers-unknown-key",
    "ml-dsa-other-set",
    "key-isolation",
    "signature-empty",
    "signature-gone",
    "signature-truncated",
    "paseto-signature-cut",
    "ecdsa-zero",
    "ecdsa-order",
    "rsa-degenerate",
    // A valid token that was changed.
    "payload-of-another",
    "header-of-another",
    "every-byte-changed",
    "every-length",
    "jwe-header-changed",
    "jwe-tag-truncated",
    "jwe-nonce-length",
    "jwe-ciphertext-changed",
    "jwe-encrypted-key-changed",
    "paseto-footer-changed",
    "paseto-footer-removed",
    "paseto-footer-added",
    "paseto-nonce-changed",
    "paseto-other-version",
    "paseto-other-purpose",
    // Another kind of token instead of the expected one.
    "jwe-unsigned",
    "jwe-for-jws",
    // A valid token outside its time or audience.
    "expired",
    "not-before-future",
    "issuer-other",
    "audience-other",
    "paseto-implicit-assertion",
    "expired-after-first-use",
    "remembered-after-new-key",
    "remembered-other-tail",
    "cache-other-audience",
    "cache-other-issuer",
    "cache-other-key",
    "cache-same-kid",
    "cache-lax-verifier",
    "cache-after-rejection",
    "cache-same-start",
    // Answers to points off the curve reveal the private key bit by bit.
    "ecdh-off-curve",
    // A token endpoint that gives more than the token allows, or to somebody else.
    "grant-scope-widened",
    "grant-audience-other",
    "grant-resource-other",
    "grant-client-unknown",
    "grant-client-assertion-unsigned",
    "grant-client-assertion-other",
    "grant-token-as-client-assertion",
    "grant-replay",
    "grant-issued-token",
    "exchange-actor-other-key",
    "exchange-actor-unsigned",
    "exchange-actor-expired",
    "exchange-actor-other-audience",
];

/// Anyone can send these.
const CAN_SEND: &[&str] = &[
    "signature-extended",
    "ecdsa-der",
    "ecdsa-padded",
    "eddsa-malleable",
    "rsa-length",
    "ml-dsa-hint-order",
    "ml-dsa-hint-repeated",
    "ml-dsa-hint-padding",
    "ml-dsa-hint-count",
    "ml-dsa-hint-none",
    "ml-dsa-z-border",
    "ml-dsa-challenge",
    "ml-dsa-length",
    "base64-padding",
    "base64-line-end",
    "base64-blank",
    "base64-alphabet",
    "base64-foreign",
    "base64-unused-bits",
    "base64-dangling",
    "parts-more",
    "outer-blank",
    "json-form",
    "json-several-signatures",
    "jwe-tag-extended",
    "jwe-encrypted-key-unused",
    "paseto-header-case",
    "dots",
    "long-header",
    "pbes2-rounds",
    "zip-bomb",
];

impl Attack {
    /// Returns what an attacker without a key can do with it.
    #[must_use]
    pub fn without_key(&self) -> WithoutKey {
        if GETS_PAST.contains(&self.id) {
            WithoutKey::GetsPast
        } else if CAN_SEND.contains(&self.id) {
            WithoutKey::CanSend
        } else {
            WithoutKey::Cannot
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::Family;

    #[test]
    fn without_key_lists_contain_each_attack_once() {
        let mut names: Vec<&str> = GETS_PAST.iter().chain(CAN_SEND).copied().collect();
        for name in &names {
            assert!(Attack::named(name).is_some(), "{name}");
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "duplicate name");
    }

    /// A new attack is in no list, and then counts as one that needs the key.
    #[test]
    fn attacks_of_new_families_without_the_key_are_listed() {
        let needs_key = |name: &str| Attack::named(name).map(|attack| attack.without_key());
        for name in ["ml-dsa-hint-count", "ml-dsa-length"] {
            assert_eq!(needs_key(name), Some(WithoutKey::CanSend), "{name}");
        }
        for name in [
            "ml-dsa-other-set",
            "issuers-unknown-key",
            "cache-same-start",
        ] {
            assert_eq!(needs_key(name), Some(WithoutKey::GetsPast), "{name}");
        }
        for name in ["ml-dsa-z-large", "issuers-other-key", "option-leeway"] {
            assert_eq!(needs_key(name), Some(WithoutKey::Cannot), "{name}");
        }
    }

    #[test]
    fn attack_that_needs_the_key_cannot_be_made_without_it() {
        let cannot = |a: &Attack| a.without_key() == WithoutKey::Cannot;
        let mut all = Attack::all().into_iter();
        assert!(all.all(|a| !matches!(a.family, Family::Key | Family::Json) || cannot(&a)));
        for name in ["alg-case", "crit-unknown", "exp-text", "deep-claims"] {
            assert!(Attack::named(name).is_some_and(|a| cannot(&a)), "{name}");
        }
    }
}
