//! Why an exchange did not come to a verified token, where the lab knows.
//!
//! An entry is about the tokens of one library in one version: with another version it has to be
//! looked at again, and until then its cells are unexplained. No verifier has a limit of its own that
//! would need an entry; the first that has brings the word for it.

use crate::result::{Interop, InteropRow};
use crate::suite::{Dialect, matches};

#[derive(Debug)]
struct Known {
    /// Whose tokens they are.
    issuer: &'static str,
    /// What the version begins with.
    version: &'static str,
    /// The kinds of token, with `*` for anything: `jwe RSA-OAEP*`.
    kind: &'static str,
    /// What the reason holds; empty where every verifier says it in its own words.
    said: &'static str,
    why: &'static str,
}

/// RFC 7518, section 3.5: the salt of a PS signature is as long as the hash.
const LONG_SALT: &str = "signs PS256, PS384 and PS512 with the longest salt that fits the key \
     (Go's PSSSaltLengthAuto), where RFC 7518 section 3.5 demands one of the hash's length; who holds \
     to that refuses it";

const KNOWN: &[Known] = &[
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

/// A sentence for what did not go well; none for what did.
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
    use crate::result::{Party, Status};
    use crate::suite::{Format, STANDARD};

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
    fn an_explanation_is_of_one_library_version_and_kind() {
        let known = refused("go/cristalhq", "3.0.14", "PS384").unwrap();
        assert!(
            known.starts_with("cristalhq 3.0.14: signs PS256"),
            "{known}"
        );
        for (issuer, version, alg) in [
            ("go/cristalhq", "4.0.0", "PS384"),
            ("go/cristalhq", "3.0.14", "RS384"),
            ("go/jwx", "3.0.14", "PS384"),
        ] {
            let unknown = refused(issuer, version, alg).unwrap();
            assert_eq!(unknown, "unexplained: the signature is wrong");
        }
    }
}
