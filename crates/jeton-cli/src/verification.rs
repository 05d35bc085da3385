//! Verification as in `jwt verify` and `jwe decrypt`. `doctor` runs the same code, so that both always agree.

use jeton::jwe::{Decrypted, Decrypter};
use jeton::key::{ContentEnc, DecryptionKeys, Keys};
use jeton::{
    Limits, Policy, Verified, danger,
    jwt::{self, JwtVerifier},
};
use serde::de::IgnoredAny;

use crate::allow::{Allowed, InsecureOption};
use crate::jose;
use crate::policy_args::PolicyArgs;
use crate::rejection_hints::Command;

/// The required claims and type of a JWT.
#[derive(Clone, Copy)]
pub(crate) struct JwtPolicy<'a> {
    pub(crate) policy_args: &'a PolicyArgs,
    /// One of these types, or `JWT` or no type if there is none.
    pub(crate) typ: &'a [String],
}

impl JwtPolicy<'_> {
    pub(crate) fn policy(self) -> Policy {
        let policy = self.policy_args.policy();
        match self.typ {
            [] => policy,
            types => policy.types(types.iter().cloned()),
        }
    }

    /// Returns a verifier for signed tokens, or for nested tokens if there is a decrypter.
    pub(crate) fn verifier(
        self,
        keys: Keys,
        decrypter: Option<Decrypter>,
        limits: Limits,
    ) -> AnyJwtVerifier {
        let mut verifier = JwtVerifier::new(keys, self.policy()).limits(limits);
        if let Some(clock) = self.policy_args.clock() {
            verifier = verifier.clock(clock);
        }
        match decrypter {
            None => AnyJwtVerifier::Signed(verifier),
            Some(decrypter) => {
                AnyJwtVerifier::Nested(jwt::NestedVerifier::new(decrypter, verifier))
            }
        }
    }
}

/// A verifier for signed or for nested tokens.
pub(crate) enum AnyJwtVerifier {
    Signed(JwtVerifier),
    Nested(jwt::NestedVerifier),
}

impl AnyJwtVerifier {
    pub(crate) fn verify(&self, token: &str) -> jeton::Result<Verified<IgnoredAny>> {
        match self {
            AnyJwtVerifier::Signed(verifier) => verifier.verify(token),
            AnyJwtVerifier::Nested(verifier) => verifier.verify(token),
        }
    }

    pub(crate) fn command(&self) -> Command {
        match self {
            AnyJwtVerifier::Signed(_) => Command::JwtVerify,
            AnyJwtVerifier::Nested(_) => Command::JwtDecrypt,
        }
    }
}

/// Returns a decrypter with the features that the caller enabled.
pub(crate) fn decrypter(
    keys: DecryptionKeys,
    enc: Option<ContentEnc>,
    limits: Limits,
    allowed: &Allowed,
) -> Decrypter {
    let mut decrypter = Decrypter::new(keys).limits(limits);
    if let Some(enc) = enc {
        decrypter = decrypter.allow_only([enc]);
    }
    if allowed.has(InsecureOption::Zip) {
        decrypter = danger::allow_zip(decrypter);
    }
    decrypter
}

/// Decrypts a JWE in any serialization.
pub(crate) fn decrypt(decrypter: &Decrypter, token: &str) -> jeton::Result<Decrypted> {
    if !jose::is_json(token) {
        decrypter.decrypt(token)
    } else {
        decrypter.decrypt_json(token)
    }
}
