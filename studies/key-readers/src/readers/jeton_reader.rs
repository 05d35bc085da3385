//! jeton: the reader of each format for one use after another, and `AnyKey`, which must agree.

use base64_simd::URL_SAFE_NO_PAD;
use jeton::Error;
use jeton::error::KeyProblem;
use jeton::key::{
    AnyKey, DecryptionKey, EncryptionKey, KeyHalf, KeyManagementAlg, MacAlg, MacKey, SigAlg,
    SigningKey, VerifyingKey,
};
use serde_json::Value;

use super::{Format, ec, hex, octets, rsa};

/// What jeton says.
#[derive(Debug)]
pub struct JetonAnswer {
    /// The key, or the code of the error, its member, and the message.
    pub read: Result<String, Rejected>,
    /// What two readers of jeton said of the same input, if they disagree.
    pub disagreement: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    pub code: &'static str,
    pub member: &'static str,
    pub message: String,
}

impl From<Error> for Rejected {
    fn from(error: Error) -> Rejected {
        let message = error.to_string();
        match error {
            Error::Key(error) => Rejected {
                code: error.code(),
                member: error.member().unwrap_or_default(),
                message,
            },
            _ => Rejected {
                code: "no key error",
                member: "",
                message,
            },
        }
    }
}

pub fn read(format: Format, input: &[u8]) -> JetonAnswer {
    let read = match format {
        Format::Der => of_der(input),
        _ => match std::str::from_utf8(input) {
            Ok(text) if format == Format::Pem => of_pem(text),
            Ok(text) => of_jwk(text),
            Err(_) => Err(Rejected {
                code: "not UTF-8",
                member: "",
                message: "not UTF-8".into(),
            }),
        },
    };
    // `AnyKey` takes a text that begins as JSON for JSON, although a PEM block may follow.
    let start = String::from_utf8_lossy(input);
    let start = start.trim_start_matches('\u{feff}').trim_start();
    let is_json = start.starts_with('{') && format == Format::Pem;
    let key = read.as_ref().ok().filter(|_| !is_json);
    let disagreement = key.and_then(|key| match of_any(input) {
        Ok(any) if any == *key => None,
        Ok(any) => Some(format!("AnyKey reads {any}")),
        Err(error) => Some(format!("AnyKey: {}", error.message)),
    });
    JetonAnswer { read, disagreement }
}

const RSA: SigAlg = SigAlg::RS256;

fn needs_alg(error: &Error) -> bool {
    matches!(error, Error::Key(error) if *error.problem() == KeyProblem::AlgorithmNeeded)
}

/// Reads without an algorithm, and with one if the key does not imply it.
fn with_alg<T>(
    alone: impl Fn() -> jeton::Result<T>,
    with: impl Fn() -> jeton::Result<T>,
) -> jeton::Result<T> {
    alone().or_else(|error| {
        if needs_alg(&error) {
            with()
        } else {
            Err(error)
        }
    })
}

/// The first use for which the key is read. The error is that of the signing key, unless the key is public.
fn first(uses: &[&dyn Fn() -> jeton::Result<String>]) -> Result<String, Rejected> {
    let mut errors = Vec::new();
    for of_use in uses {
        match of_use() {
            Ok(jwk) => return described(&jwk),
            Err(error) => errors.push(Rejected::from(error)),
        }
    }
    let is_half = |error: &&Rejected| matches!(error.code, "KEY_IS_PRIVATE" | "KEY_IS_PUBLIC");
    // A key that cannot sign is for encryption.
    let is_signing =
        |error: &Rejected| (error.code, error.member) != ("KEY_UNSUPPORTED", "algorithm");
    let mut others = errors.iter().filter(|error| !is_half(error));
    let other = others
        .clone()
        .find(|error| is_signing(error))
        .or(others.next());
    // A public key with one private member.
    let has_private = match errors.as_slice() {
        [verifying, signing, ..] => {
            verifying.code == "KEY_IS_PRIVATE"
                && (signing.code == "KEY_IS_PUBLIC" || (signing.code, signing.member) == MISSING)
        }
        _ => false,
    };
    Err(match other {
        Some(other) if !has_private => other.clone(),
        _ => errors[0].clone(),
    })
}

/// The error for a private JWK whose private key is missing.
const MISSING: (&str, &str) = ("KEY_MEMBER_MISSING", "d");

fn of_pem(text: &str) -> Result<String, Rejected> {
    let ecdh = KeyManagementAlg::EcdhEs;
    first(&[
        &|| {
            Ok(with_alg(
                || VerifyingKey::from_pem(text),
                || VerifyingKey::from_pem_as(text, RSA),
            )?
            .to_jwk())
        },
        &|| {
            let key = with_alg(
                || SigningKey::from_pem(text),
                || SigningKey::from_pem_as(text, RSA),
            )?;
            Ok(key.verifying_key().to_jwk())
        },
        &|| Ok(EncryptionKey::from_pem_as(text, ecdh)?.to_jwk()),
        &|| {
            Ok(DecryptionKey::from_pem_as(text, ecdh)?
                .encryption_key()
                .to_jwk())
        },
    ])
}

fn of_der(der: &[u8]) -> Result<String, Rejected> {
    let ecdh = KeyManagementAlg::EcdhEs;
    first(&[
        &|| {
            Ok(with_alg(
                || VerifyingKey::from_der(der),
                || VerifyingKey::from_der_as(der, RSA),
            )?
            .to_jwk())
        },
        &|| {
            let key = with_alg(
                || SigningKey::from_der(der),
                || SigningKey::from_der_as(der, RSA),
            )?;
            Ok(key.verifying_key().to_jwk())
        },
        &|| Ok(EncryptionKey::from_der_as(der, ecdh)?.to_jwk()),
        &|| {
            Ok(DecryptionKey::from_der_as(der, ecdh)?
                .encryption_key()
                .to_jwk())
        },
    ])
}

fn of_jwk(text: &str) -> Result<String, Rejected> {
    let oaep = KeyManagementAlg::RsaOaep256;
    let ecdh = KeyManagementAlg::EcdhEs;
    if AnyKey::from_bytes(text.as_bytes()).is_ok_and(|key| key.half() == KeyHalf::Symmetric) {
        return first(&[&|| {
            let key = with_alg(
                || MacKey::from_jwk(text),
                || MacKey::from_jwk_as(text, MacAlg::HS256),
            )?;
            Ok(key.to_jwk().to_string())
        }]);
    }
    first(&[
        &|| {
            Ok(with_alg(
                || VerifyingKey::from_jwk(text),
                || VerifyingKey::from_jwk_as(text, RSA),
            )?
            .to_jwk())
        },
        &|| {
            let key = with_alg(
                || SigningKey::from_jwk(text),
                || SigningKey::from_jwk_as(text, RSA),
            )?;
            Ok(key.verifying_key().to_jwk())
        },
        &|| {
            let key = EncryptionKey::from_jwk(text)
                .or_else(|_| EncryptionKey::from_jwk_as(text, oaep))
                .or_else(|_| EncryptionKey::from_jwk_as(text, ecdh))?;
            Ok(key.to_jwk())
        },
        &|| {
            let key = DecryptionKey::from_jwk(text)
                .or_else(|_| DecryptionKey::from_jwk_as(text, oaep))
                .or_else(|_| DecryptionKey::from_jwk_as(text, ecdh))?;
            Ok(key.encryption_key().to_jwk())
        },
    ])
}

fn of_any(input: &[u8]) -> Result<String, Rejected> {
    let any = AnyKey::from_bytes(input)?;
    let oaep = KeyManagementAlg::RsaOaep256;
    let ecdh = KeyManagementAlg::EcdhEs;
    first(&[
        &|| Ok(with_alg(|| any.verifying(None), || any.verifying(RSA))?.to_jwk()),
        &|| {
            Ok(with_alg(|| any.signing(None), || any.signing(RSA))?
                .verifying_key()
                .to_jwk())
        },
        &|| {
            Ok(with_alg(|| any.mac(None), || any.mac(MacAlg::HS256))?
                .to_jwk()
                .to_string())
        },
        &|| {
            let key = any
                .encryption(None)
                .or_else(|_| any.encryption(oaep))
                .or_else(|_| any.encryption(ecdh))?;
            Ok(key.to_jwk())
        },
        &|| {
            let key = any
                .decryption(None)
                .or_else(|_| any.decryption(oaep))
                .or_else(|_| any.decryption(ecdh))?;
            Ok(key.encryption_key().to_jwk())
        },
    ])
}

fn described(jwk: &str) -> Result<String, Rejected> {
    let broken = |message: String| Rejected {
        code: "no JWK written",
        member: "",
        message,
    };
    let jwk: Value = serde_json::from_str(jwk).map_err(|error| broken(error.to_string()))?;
    let bytes = |name: &str| {
        let text = jwk[name].as_str().unwrap_or_default();
        URL_SAFE_NO_PAD.decode_to_vec(text).unwrap_or_default()
    };
    let word = |name: &str| jwk[name].as_str().unwrap_or_default();
    Ok(match word("kty") {
        "RSA" => rsa(&hex(&bytes("n")), &hex(&bytes("e"))),
        "EC" => ec(word("crv"), &[bytes("x"), bytes("y")].concat()),
        "OKP" => octets(word("crv"), &bytes("x")),
        "oct" => octets("oct", &bytes("k")),
        _ => octets(word("alg"), &bytes("pub")),
    })
}
