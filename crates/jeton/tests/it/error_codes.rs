//! The table of error codes. `docs/reference/error-codes.md` is written by the code: a test fails when it is not
//! what the table says. With `JETON_WRITE=1` it writes the file instead.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files"
)]

use std::collections::BTreeSet;
use std::error::Error as _;
use std::fmt::Write as _;
use std::path::PathBuf;

use jeton::Error;
use jeton::error::codes::{self, Cause, Code};
use jeton::error::{
    Claim, InvalidUse, KeyProblem, Rejection, RemoteError, ShapeMismatch, TokenKind,
};
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey, VerifyingKey};

#[test]
fn codes_page_matches_the_table() {
    let file =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/error-codes.md");
    let page = page();
    if std::env::var_os("JETON_WRITE").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        written, page,
        "docs/reference/error-codes.md is stale: JETON_WRITE=1 cargo test -p jeton --test it error_codes"
    );
}

fn page() -> String {
    let mut text = String::from(
        "# Error codes\n\n\
         Each error has a stable code. The library returns it from `code()`, and the token service sends it as \
         the `reason` of its `google.rpc.ErrorInfo`. A code keeps its meaning, and new causes get new codes. \
         Several errors of the library can have one code: its message then has the details.\n\n\
         A test, `crates/jeton/tests/it/error_codes.rs`, writes this page from the table in \
         `crates/jeton/src/error/codes.rs`.\n",
    );
    for (of_service, of_bindings) in [(false, false), (true, false), (false, true)] {
        text += match (of_service, of_bindings) {
            (true, _) => "\n## Only the service\n",
            (_, true) => "\n## Only the C interface and other languages\n",
            _ => "\n## Library and service\n",
        };
        let origin = |code: &Code| (code.is_of_service(), code.is_of_bindings());
        for cause in Cause::ALL {
            let of_cause =
                |code: &&Code| code.cause() == *cause && origin(code) == (of_service, of_bindings);
            let mut all = codes::ALL.iter().filter(of_cause).peekable();
            if all.peek().is_none() {
                continue;
            }
            writeln!(text, "\n### Cause: {cause}\n\n| code | meaning | what to do | specification |\n|---|---|---|---|").unwrap();
            for code in all {
                writeln!(
                    text,
                    "| `{code}` | {} | {} | {} |",
                    code.meaning(),
                    code.action(),
                    code.reference().unwrap_or_default()
                )
                .unwrap();
            }
        }
    }
    text
}

#[test]
fn codes_are_unique_and_described() {
    let mut names = BTreeSet::new();
    for code in codes::ALL {
        assert!(names.insert(code.name()), "{code}: twice");
        let is_plain =
            |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        assert!(code.name().bytes().all(is_plain), "{code}");
        for text in [code.meaning(), code.action()] {
            assert!(text.ends_with('.') && text.len() < 120, "{code}: {text}");
        }
        assert_eq!(codes::find(code.name()), Some(code));
    }
}

/// The service sends these as reasons, and clients compare them.
#[test]
fn rejection_codes_do_not_change() {
    for (rejection, code) in [
        (Rejection::Expired, "TOKEN_EXPIRED"),
        (Rejection::NotYetValid, "TOKEN_NOT_YET_VALID"),
        (Rejection::IssuedInTheFuture, "TOKEN_NOT_YET_VALID"),
        (Rejection::TooOld, "TOKEN_TOO_OLD"),
        (Rejection::Signature, "TOKEN_INVALID_SIGNATURE"),
        (Rejection::Decryption, "TOKEN_DECRYPTION_FAILED"),
        (Rejection::UnknownKey, "TOKEN_UNKNOWN_KEY"),
        (Rejection::AlgorithmMismatch, "TOKEN_ALGORITHM_MISMATCH"),
        (
            Rejection::WrongFormat {
                found: TokenKind::Jose,
                expected: TokenKind::V4Local,
            },
            "TOKEN_ALGORITHM_MISMATCH",
        ),
        (Rejection::IssuerMismatch, "TOKEN_ISSUER_MISMATCH"),
        (Rejection::AudienceMismatch, "TOKEN_AUDIENCE_MISMATCH"),
        (Rejection::Revoked, "TOKEN_REVOKED"),
        (
            Rejection::ClaimMissing(Claim::Subject),
            "TOKEN_INVALID_CLAIMS",
        ),
        (Rejection::CriticalExtension, "TOKEN_CRITICAL_EXTENSION"),
        (
            Rejection::ClaimsShape(ShapeMismatch::Unnamed),
            "TOKEN_CLAIMS_SHAPE",
        ),
    ] {
        let error = Error::from(rejection);
        assert_eq!(
            (error.code(), error.entry().cause()),
            (code, Cause::TokenSender)
        );
    }
}

#[test]
fn codes_of_the_library_name_their_cause() {
    let key = VerifyingKey::from_jwk("[]").unwrap_err();
    let signer = Error::from(RemoteError::not_signed("locked"));
    let invalid_use = Error::from(InvalidUse::ExpiryNotChosen);
    for (error, cause) in [
        (key, Cause::KeyLoader),
        (signer, Cause::Signer),
        (invalid_use, Cause::Caller),
        (Error::Primitive, Cause::System),
    ] {
        assert_eq!(error.entry().cause(), cause, "{error}");
        assert!(
            !error.entry().is_of_service() && !error.entry().is_of_bindings(),
            "{error}"
        );
    }
    assert_eq!(KeyProblem::TooWeak.code(), "KEY_TOO_WEAK");
}

#[test]
fn errors_are_small() {
    assert!(size_of::<Error>() <= 80, "{}", size_of::<Error>());
    assert!(size_of::<Rejection>() <= 32, "{}", size_of::<Rejection>());
}

/// `main() -> Result` prints the `Debug` form.
#[test]
fn debug_output_has_code_and_message() {
    let pem = SigningKey::generate(SigAlg::ES256)
        .unwrap()
        .to_pem()
        .unwrap();
    let found = |error: Error| format!("{error:?}");
    assert_eq!(
        found(
            SigningKey::from_pem_as(&pem, SigAlg::RS256)
                .map(drop)
                .unwrap_err()
        ),
        r#"Key(KEY_TYPE_MISMATCH: "wrong type of key: found EC P-256, expected RSA for RS256")"#
    );
    assert_eq!(
        found(VerifyingKey::from_pem(&pem).map(drop).unwrap_err()),
        r#"Key(KEY_IS_PRIVATE: "private key given, public key expected")"#
    );
    assert_eq!(
        found(MacKey::new(MacAlg::HS256, b"short").map(drop).unwrap_err()),
        r#"Key(KEY_TOO_WEAK: "HMAC key has 5 bytes, minimum 32")"#
    );
    assert_eq!(
        found(Rejection::Expired.into()),
        r#"Rejected(TOKEN_EXPIRED: "the token has expired")"#
    );
    assert_eq!(
        found(RemoteError::not_signed("locked").into()),
        r#"Remote(SIGNER_FAILED: "the signer returned no signature", cause: "locked")"#
    );
}

/// A message contains the message of its part, so the source is the next cause.
#[test]
fn source_is_the_cause_of_the_remote_signer() {
    assert!(Error::from(Rejection::Expired).source().is_none());
    let error = Error::from(RemoteError::not_signed("locked"));
    assert_eq!(error.source().unwrap().to_string(), "locked");
    assert!(!error.to_string().contains("locked"));
}
