//! Properties of tokens that no run can measure: confidentiality, third-party verification, approval.
//!
//! Sources, with the tag in each line:
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

/// The properties of one kind of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Facts {
    /// True if the claims are unreadable without the key.
    pub(super) confidential: bool,
    /// True if verifiers cannot create tokens.
    pub(super) third_parties: bool,
    /// True if all algorithms are approved by FIPS.
    pub(super) fips: bool,
    /// True if no known quantum algorithm breaks it.
    pub(super) post_quantum: bool,
    /// The reason why it is unsuitable for new tokens.
    pub(super) questionable: Option<&'static str>,
}

/// Signed with a shared secret.
const MAC: Facts = Facts {
    confidential: false,
    third_parties: false,
    fips: true,
    post_quantum: true,
    questionable: None,
};

/// Signed with a private key, verified with a public key.
const SIGNATURE: Facts = Facts {
    third_parties: true,
    post_quantum: false,
    ..MAC
};

/// Encrypted with a shared secret.
const SHARED: Facts = Facts {
    confidential: true,
    ..MAC
};

/// Encrypted to a public key.
const TO_PUBLIC_KEY: Facts = Facts {
    post_quantum: false,
    ..SHARED
};

const OLD_PASETO: Option<&str> =
    Some("versions 1 and 2 of PASETO are superseded by versions 3 and 4");

/// Returns the properties of a format with its algorithms; `None` if unknown.
pub(super) fn facts(format: &str, alg: Option<&str>) -> Option<Facts> {
    Some(match (format, alg) {
        ("jwt", Some(alg)) => signed(alg)?,
        ("jwe", Some(alg)) => encrypted(alg)?,
        ("v1.local", _) => Facts {
            questionable: OLD_PASETO,
            ..SHARED
        },
        ("v1.public", _) => Facts {
            questionable: OLD_PASETO,
            ..SIGNATURE
        },
        ("v2.local", _) => Facts {
            fips: false,
            questionable: OLD_PASETO,
            ..SHARED
        },
        ("v2.public", _) => Facts {
            questionable: OLD_PASETO,
            ..SIGNATURE
        },
        ("v3.local", _) => SHARED,
        ("v4.local", _) => Facts {
            fips: false,
            ..SHARED
        },
        ("v3.public" | "v4.public", _) => SIGNATURE,
        _ => return None,
    })
}

fn signed(alg: &str) -> Option<Facts> {
    Some(match alg.parse().ok()? {
        Alg::Mac(_) => MAC,
        Alg::Sig(SigAlg::ES256K) => Facts {
            fips: false,
            ..SIGNATURE
        },
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
        "RSA1_5" => Facts {
            fips: false,
            questionable: Some("RSA1_5 is vulnerable to padding-oracle attacks on a server"),
            ..TO_PUBLIC_KEY
        },
        name if name.starts_with("PBES2-") => Facts {
            questionable: Some(
                "a password is weaker than a key, and the token determines the cost of checking it",
            ),
            ..SHARED
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_lab_model::Format;

    #[test]
    fn facts_symmetric_verifier_can_sign() {
        for alg in ["HS256", "HS512"] {
            assert!(facts("jwt", Some(alg)).is_some_and(|f| !f.third_parties && f.post_quantum));
        }
        assert!(facts("jwt", Some("ES256")).is_some_and(|f| f.third_parties && !f.post_quantum));
        assert!(facts("jwt", Some("ML-DSA-65")).is_some_and(|f| f.third_parties && f.post_quantum));
    }

    #[test]
    fn fips_approves_v3_and_v4_public() {
        let fips = |format| facts(format, None).map(|f| f.fips);
        assert_eq!(fips("v3.local"), Some(true));
        assert_eq!(fips("v3.public"), Some(true));
        assert_eq!(fips("v4.local"), Some(false));
        assert_eq!(fips("v4.public"), Some(true));
        assert!(facts("jwt", Some("ES256K")).is_some_and(|f| !f.fips));
    }

    #[test]
    fn facts_confidential_equals_encrypted_format() {
        for format in Format::ALL {
            if matches!(
                format,
                Format::Bare | Format::Unsecured | Format::Opaque | Format::Jwt | Format::Jwe
            ) {
                continue;
            }
            let known = facts(format.name(), None).map(|f| f.confidential);
            assert_eq!(known, Some(format.is_encrypted()), "{format}");
        }
        assert!(facts("jwe", Some("dir")).is_some_and(|f| f.confidential && !f.third_parties));
        assert!(facts("jwt", Some("ES256")).is_some_and(|f| !f.confidential));
    }

    #[test]
    fn facts_unknown_token_is_none() {
        for (format, alg) in [
            ("jwt", Some("none")),
            ("jwt", None),
            ("bare", Some("ES256")),
        ] {
            assert_eq!(facts(format, alg), None);
        }
    }
}
