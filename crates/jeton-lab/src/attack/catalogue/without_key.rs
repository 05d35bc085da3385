//! What somebody without a key can do with each attack: a library is judged by that, and not by what
//! it takes from who holds the key anyway.

use super::Attack;

/// What an attack is worth to somebody who holds no key: who has public keys at most, and tokens that
/// were given to them or seen by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WithoutKey {
    /// They cannot make it: it is signed with the right key, or takes a verifier who was given a
    /// wrong one.
    Cannot,
    /// They can send it, and gain nothing when it is accepted: it is another spelling of a token that
    /// they have. What it must not do is end the process.
    CanSend,
    /// They get past: with claims that nobody signed, with a genuine token where or when it does not
    /// count, or by what it tells them of the key.
    GetsPast,
}

/// Who accepts one of these lets somebody without a key in.
const GETS_PAST: &[&str] = &[
    // A header that chooses how it is checked, or by what.
    "alg-none",
    "public-key-as-secret",
    "embedded-jwk",
    "embedded-x5c",
    "keys-by-address",
    "kid-injection",
    // A signature that is none, or of something else.
    "other-key",
    "key-isolation",
    "signature-empty",
    "signature-gone",
    "signature-truncated",
    "paseto-signature-cut",
    "ecdsa-zero",
    "ecdsa-order",
    "rsa-degenerate",
    // A genuine token that was changed.
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
    // Another kind of token in the place of the one that was asked for.
    "jwe-unsigned",
    "jwe-for-jws",
    // A genuine token that does not count, there or any more.
    "expired",
    "not-before-future",
    "issuer-other",
    "audience-other",
    "paseto-implicit-assertion",
    "expired-after-first-use",
    "remembered-after-new-key",
    "remembered-other-tail",
    // Answers to points off the curve give the private key away, bit by bit.
    "ecdh-off-curve",
];

/// Anybody can send these.
const CAN_SEND: &[&str] = &[
    "signature-extended",
    "ecdsa-der",
    "ecdsa-padded",
    "eddsa-malleable",
    "rsa-length",
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
    /// What somebody without a key can do with it.
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
    fn each_name_is_that_of_an_attack_and_stands_once() {
        let mut names: Vec<&str> = GETS_PAST.iter().chain(CAN_SEND).copied().collect();
        for name in &names {
            assert!(Attack::named(name).is_some(), "{name}");
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "a name stands twice");
    }

    #[test]
    fn a_wrong_key_in_the_verifier_and_what_the_key_signed_are_nobodys_way_in() {
        let cannot = |a: &Attack| a.without_key() == WithoutKey::Cannot;
        let mut all = Attack::all().into_iter();
        assert!(all.all(|a| !matches!(a.family, Family::Key | Family::Json) || cannot(&a)));
        for name in ["alg-case", "crit-unknown", "exp-text", "deep-claims"] {
            assert!(Attack::named(name).is_some_and(|a| cannot(&a)), "{name}");
        }
    }
}
