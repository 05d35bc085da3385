//! Explains why an exchange did not end in a verified token, where the reason is known.
//!
//! An entry applies to the tokens of one library in one version. With another version it must be
//! checked again; until then its outcomes are unexplained. No verifier has a limit that needs an
//! entry so far.

use jeton_lab_model::result::{Interop, InteropRow};
use jeton_lab_model::{Dialect, matches};

#[derive(Debug)]
struct Known {
    /// The issuer.
    issuer: &'static str,
    /// The beginning of its version.
    version: &'static str,
    /// The kinds of token; `*` matches anything: `jwe RSA-OAEP*`.
    kind: &'static str,
    /// Text that the reason contains; empty if every verifier reports it differently.
    said: &'static str,
    why: &'static str,
}

/// RFC 7518, section 3.5: the salt of a PS signature is as long as the hash.
const LONG_SALT: &str = "signs PS256, PS384 and PS512 with the longest salt that fits the key \
     (Go's PSSSaltLengthAuto), but RFC 7518 section 3.5 requires the length of the hash; verifiers that \
     enforce it reject the token";

/// The signature is written where the digest is, and zeros at its beginning are not.
const LEFT_OVER: &str = "makes a wrong ES512 signature about once in 512 times, whenever r has two bytes less than the curve: \
     its own check refuses the token, too";

const KNOWN: &[Known] = &[
    Known {
        issuer: "go/pascaldekloe",
        version: "1.9.",
        kind: "jwt ES512",
        said: "signature",
        why: LEFT_OVER,
    },
    Known {
        issuer: "go/pascaldekloe-v1.12",
        version: "1.12.",
        kind: "jwt ES512",
        said: "signature",
        why: LEFT_OVER,
    },
    Known {
        issuer: "go/cristalhq",
        version: "3.",
        kind: "jwt PS",
        said: "",
        why: LONG_SALT,
    },
    Known {
        issuer: "go/cristalhq-v5",
        version: "5.",
        kind: "jwt PS",
        said: "",
        why: LONG_SALT,
    },
];

/// Returns the explanation of a failed exchange; none for a successful one.
pub(super) fn explain(row: &InteropRow, dialect: &Dialect) -> Option<String> {
    if !row.outcome.is_some_and(Interop::needs_explaining) {
        return None;
    }
    let reason = row.reason.as_deref().unwrap_or("no reason was given");
    let issuer = &row.issuer;
    let known = KNOWN.iter().find(|known| {
        issuer.driver == known.issuer
            && issuer.version.starts_with(known.version)
            && matches(known.kind, &dialect.kind())
            && reason.contains(known.said)
    });
    Some(match known {
        Some(known) => format!("{} {}: {}", issuer.library, issuer.version, known.why),
        None => format!("unexplained: {reason}"),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use jeton_lab_model::Format;
    use jeton_lab_model::claims::STANDARD;
    use jeton_lab_model::result::{Party, Status};

    fn refused(issuer: &str, version: &str, alg: &str) -> Option<String> {
        let party = |driver: &str, version: &str| Party {
            driver: driver.into(),
            library: driver.split('/').next_back().unwrap().into(),
            version: version.into(),
            language: "go".into(),
        };
        let row = InteropRow {
            status: Status::Ok,
            issuer: party(issuer, version),
            verifier: party("rust/jeton", "0.1.0"),
            format: "jwt".into(),
            alg: Some(alg.into()),
            enc: None,
            outcome: Some(Interop::Refused),
            reason: Some("the signature is wrong".into()),
            explanation: None,
            keys: Vec::new(),
        };
        let dialect = Dialect {
            format: Format::Jwt,
            alg: Some(alg.into()),
            enc: None,
            key_bits: None,
            claims: STANDARD.into(),
        };
        explain(&row, &dialect)
    }

    #[test]
    fn explanation_applies_to_one_library_version_and_kind() {
        let known = refused("go/cristalhq", "3.0.14", "PS384").unwrap();
        assert!(
            known.starts_with("cristalhq 3.0.14: signs PS256"),
            "{known}"
        );
        let rare = refused("go/pascaldekloe", "1.9.0", "ES512").unwrap();
        assert!(
            rare.starts_with("pascaldekloe 1.9.0: makes a wrong"),
            "{rare}"
        );
        for (issuer, version, alg) in [
            ("go/pascaldekloe", "1.9.0", "ES384"),
            ("go/cristalhq", "4.0.0", "PS384"),
            ("go/cristalhq", "3.0.14", "RS384"),
            ("go/jwx", "3.0.14", "PS384"),
        ] {
            let unknown = refused(issuer, version, alg).unwrap();
            assert_eq!(unknown, "unexplained: the signature is wrong");
        }
    }
}
