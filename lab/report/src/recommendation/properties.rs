//! Properties that no run can measure: confidentiality, third-party verification and approval of tokens, and which
//! library caches.
//!
//! Sources:
//!
//! * FIPS 186-5: RSA (PKCS #1 v1.5 and PSS), ECDSA on the curves of SP 800-186, and EdDSA are approved
//!   signatures. SP 800-186 allows secp256k1 for blockchains only.
//! * FIPS 198-1: HMAC. FIPS 197 with SP 800-38A, -38D and -38F: AES in CTR and CBC, GCM, key wrap.
//! * SP 800-56A and -56B: key agreement on NIST's curves, RSA-OAEP. SP 800-131A: RSA encryption with
//!   PKCS #1 v1.5 padding is disallowed.
//! * FIPS 204: ML-DSA. NIST IR 8547: RSA and elliptic curves are vulnerable to quantum computers;
//!   symmetric keys of 128 bits or more are not.
//! * RFC 7518: the algorithms behind JOSE names. RFC 8725, section 3.2: avoid RSA1_5.
//! * paseto-standard/paseto-spec: versions 1 and 2 are superseded by 3 and 4; version 3 uses NIST's
//!   algorithms, version 4 XChaCha20, BLAKE2b and Ed25519.

use jeton::key::{Alg, SigAlg};
use jeton_lab_model::result::RUNTIME_MARK;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) confidential: bool,
    pub(super) third_parties: bool,
    pub(super) fips: bool,
    pub(super) post_quantum: bool,
    /// The reason why it is unsuitable for new tokens.
    pub(super) questionable: Option<&'static str>,
}

const MAC: Facts = Facts {
    confidential: false,
    third_parties: false,
    fips: true,
    post_quantum: true,
    questionable: None,
};
const SIGNATURE: Facts = Facts {
    third_parties: true,
    post_quantum: false,
    ..MAC
};
const SHARED: Facts = Facts {
    confidential: true,
    ..MAC
};
const TO_PUBLIC_KEY: Facts = Facts {
    post_quantum: false,
    ..SHARED
};
const OLD: &str = "versions 1 and 2 of PASETO are superseded by versions 3 and 4";
const ORACLE: &str = "RSA1_5 is vulnerable to padding-oracle attacks on a server";
const PASSWORD: &str =
    "a password is weaker than a key, and the token determines the cost of checking it";

impl Facts {
    const fn not_approved(self) -> Self {
        Self {
            fips: false,
            ..self
        }
    }

    const fn questionable(self, why: &'static str) -> Self {
        let questionable = Some(why);
        Self {
            questionable,
            ..self
        }
    }
}

pub(super) fn facts(format: &str, alg: Option<&str>) -> Option<Facts> {
    Some(match format {
        "jwt" => signed(alg?)?,
        "jwe" => encrypted(alg?)?,
        "v1.local" => SHARED.questionable(OLD),
        "v2.local" => SHARED.not_approved().questionable(OLD),
        "v1.public" | "v2.public" => SIGNATURE.questionable(OLD),
        "v3.local" => SHARED,
        "v4.local" => SHARED.not_approved(),
        "v3.public" | "v4.public" => SIGNATURE,
        _ => return None,
    })
}

fn signed(alg: &str) -> Option<Facts> {
    Some(match alg.parse().ok()? {
        Alg::Mac(_) => MAC,
        Alg::Sig(SigAlg::ES256K) => SIGNATURE.not_approved(),
        Alg::Sig(SigAlg::MlDsa44 | SigAlg::MlDsa65 | SigAlg::MlDsa87) => Facts {
            post_quantum: true,
            ..SIGNATURE
        },
        Alg::Sig(_) => SIGNATURE,
        _ => return None,
    })
}

fn encrypted(alg: &str) -> Option<Facts> {
    Some(match alg {
        "dir" | "A128KW" | "A192KW" | "A256KW" | "A128GCMKW" | "A192GCMKW" | "A256GCMKW" => SHARED,
        "RSA-OAEP" | "RSA-OAEP-256" | "RSA-OAEP-384" | "RSA-OAEP-512" => TO_PUBLIC_KEY,
        "ECDH-ES" | "ECDH-ES+A128KW" | "ECDH-ES+A192KW" | "ECDH-ES+A256KW" => TO_PUBLIC_KEY,
        "RSA1_5" => TO_PUBLIC_KEY.not_approved().questionable(ORACLE),
        name if name.starts_with("PBES2-") => SHARED.questionable(PASSWORD),
        _ => return None,
    })
}

/// Reports whether a driver, by id, caches verified tokens.
pub(crate) fn is_cache(driver: &str) -> bool {
    driver.split(RUNTIME_MARK).next() == Some("node/fast-jwt-cached")
}
