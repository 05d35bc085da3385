//! Keys for the subjects, and tokens that none of them made: equal work for every verifier.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use base64_simd::URL_SAFE_NO_PAD;
use jeton::danger;
use jeton::jwe::{ContentEnc, Decrypter, Encrypter, KeyManagementAlg, KeyWrapAlg};
use jeton::key::{
    ContentKey, DecryptionKey, DecryptionKeys, EncryptionKeyRef, Keys as VerifyingKeys, MacAlg,
    MacKey, RsaSize, SigAlg, SigningKey, WrappingKey,
};
use jeton::{Error, jws};
use serde_json::{Value, json};

use super::mint_paseto::{self, PasetoKey};
use super::weak::{self, WeakKey};
use crate::result::RSA_BITS;
use crate::suite::{Contract, Dialect, Format, KeyForm};
use crate::wire::{KeyText, Keys};

/// Makes and opens the tokens of one format and algorithm under one fresh key.
#[derive(Debug)]
pub(crate) struct Mint {
    key: Key,
    /// The content encryption of a JWE.
    enc: Option<ContentEnc>,
    keys: Keys,
}

#[derive(Debug)]
enum Key {
    Mac(MacKey),
    Signing(SigningKey),
    Wrapping(WrappingKey),
    Content(ContentKey),
    /// A password, and its JWK: a key has no way to be written that a password could take.
    Password(danger::Password, Value),
    Decryption(DecryptionKey),
    Paseto(Box<dyn PasetoKey>),
    Weak(Box<WeakKey>),
    /// The format has none: it protects nothing.
    None,
    /// The format has none: the claims stay here, and a token is the name of them.
    Table(Mutex<HashMap<String, Value>>),
}

/// Whose key a mint has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    /// The key that the subjects are given.
    Lab,
    /// Another one, whose tokens must be refused.
    Stranger,
}

impl Mint {
    /// A mint with a fresh key; but an owner's RSA key is the same for all algorithms, because it
    /// takes so long to find one.
    ///
    /// # Errors
    /// A sentence, where the library has no such key.
    pub(crate) fn new(dialect: &Dialect, owner: Owner) -> Result<Self, String> {
        let enc = match &dialect.enc {
            Some(name) => Some(
                name.parse::<ContentEnc>()
                    .map_err(|_| format!("the lab knows no content encryption {name}"))?,
            ),
            None => None,
        };
        let key = Key::generate(dialect, enc, owner)?;
        let keys = key.for_drivers()?;
        Ok(Self { key, enc, keys })
    }

    /// The keys, as a driver is given them.
    pub(crate) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The keys under a contract: each gets the half that it needs.
    pub(crate) fn keys_for(&self, contract: Contract) -> Keys {
        let mut keys = self.keys.clone();
        let hide_private = matches!(
            contract,
            Contract::Verify
                | Contract::VerifySignature
                | Contract::VerifyParsed
                | Contract::Encrypt
        );
        if contract == Contract::GenerateKey {
            return Keys::default();
        }
        if hide_private && keys.public.is_some() {
            keys.private = None;
        }
        if contract == Contract::Decrypt && keys.private.is_some() {
            keys.public = None;
        }
        if let Some(paserk) = &mut keys.paserk
            && hide_private
        {
            paserk.secret = None;
        }
        keys
    }

    /// The half that a contract needs, as the text of one form; `None` if the keys cannot be written
    /// in it.
    pub(crate) fn key_text_for(&self, form: KeyForm, contract: Contract) -> Option<KeyText> {
        let mut text = self.key_text(form)?;
        match contract {
            Contract::Verify | Contract::VerifySignature | Contract::Encrypt
                if text.public.is_some() =>
            {
                text.private = None;
            }
            Contract::Decrypt => text.public = None,
            _ => {}
        }
        Some(text)
    }

    /// The keys as the text of one form; `None` if they cannot be written in it.
    pub(crate) fn key_text(&self, form: KeyForm) -> Option<KeyText> {
        let jwk = |key: &Option<Value>| key.as_ref().map(Value::to_string);
        let (private, public) = match form {
            KeyForm::Jwk => (jwk(&self.keys.private), jwk(&self.keys.public)),
            KeyForm::Pem => match &self.key {
                Key::Signing(key) => (
                    Some(key.to_pem().ok()?.to_string()),
                    Some(key.verifying_key().to_pem().ok()?),
                ),
                Key::Decryption(key) => (
                    Some(key.to_pem().ok()?.to_string()),
                    Some(key.encryption_key().to_pem().ok()?),
                ),
                _ => return None,
            },
            KeyForm::Paserk | KeyForm::Hex => {
                let keys = self.keys.paserk.clone()?;
                let (private, public) = (keys.local.or(keys.secret), keys.public);
                match form {
                    KeyForm::Hex => (hex_of(private), hex_of(public)),
                    _ => (private, public),
                }
            }
        };
        private.as_ref()?;
        Some(KeyText {
            form: form.name().into(),
            private,
            public,
        })
    }

    /// A token of exactly these claims, whatever a careful issuer would say of them.
    ///
    /// # Errors
    /// A sentence: the library made no such token.
    pub(crate) fn token(&self, claims: &Value) -> Result<String, String> {
        let payload = claims.to_string();
        let payload = payload.as_bytes();
        let encrypt = |key: EncryptionKeyRef<'_>| {
            let enc = self.enc.unwrap_or(ContentEnc::A256Gcm);
            Encrypter::new(key, enc).typ("JWT").encrypt(payload)
        };
        let token = match &self.key {
            Key::Mac(key) => jws::Signer::new(key).typ("JWT").sign(payload),
            Key::Signing(key) => jws::Signer::new(key).typ("JWT").sign(payload),
            Key::Wrapping(key) => encrypt(key.into()),
            Key::Content(key) => encrypt(key.into()),
            Key::Password(password, _) => encrypt(password.into()),
            Key::Decryption(key) => encrypt((&key.encryption_key()).into()),
            Key::Paseto(key) => key.make(payload),
            Key::Weak(key) => return key.token(claims),
            Key::None => Ok(unsecured(claims)),
            Key::Table(table) => entered(table, claims),
        };
        token.map_err(|e| format!("no token could be made: {e}"))
    }

    /// The claims of a token that somebody else made under this key, or why there are none.
    ///
    /// # Errors
    /// A sentence: the library refuses the token.
    pub(crate) fn open(&self, token: &str) -> Result<Value, String> {
        let decrypter = |keys: DecryptionKeys| {
            Decrypter::new(keys)
                .decrypt(token)
                .map(|d| d.plaintext().to_vec())
        };
        let verifier = |keys: VerifyingKeys| {
            jws::Verifier::new(keys)
                .verify(token)
                .map(jws::VerifiedPayload::into_payload)
        };
        let payload = match &self.key {
            Key::Mac(key) => verifier(key.into()),
            Key::Signing(key) => verifier(key.verifying_key().into()),
            Key::Wrapping(key) => decrypter(key.into()),
            Key::Content(key) => decrypter(key.into()),
            Key::Password(password, _) => decrypter(password.into()),
            Key::Decryption(key) => decrypter(key.into()),
            Key::Paseto(key) => key.open(token),
            Key::Weak(key) => return key.open(token),
            Key::Table(table) => {
                let table = table.lock().unwrap_or_else(PoisonError::into_inner);
                let found = table.get(token).cloned();
                return found.ok_or_else(|| "nobody issued it".into());
            }
            Key::None => return payload_of(token).ok_or_else(|| "it is no token".into()),
        };
        let payload = payload.map_err(|e| e.to_string())?;
        serde_json::from_slice(&payload).map_err(|e| format!("its claims are no JSON: {e}"))
    }
}

impl Key {
    fn generate(dialect: &Dialect, enc: Option<ContentEnc>, owner: Owner) -> Result<Self, String> {
        let failed = |e: Error| format!("no key could be made: {e}");
        let alg = dialect.alg.as_deref();
        if let Some(key) = mint_paseto::generate(dialect.format) {
            return key.map(Self::Paseto).map_err(failed);
        }
        let bits = dialect.key_bits.unwrap_or(RSA_BITS);
        match (dialect.format, alg, enc) {
            (Format::Unsecured, ..) => Ok(Self::None),
            (Format::Opaque, ..) => Ok(Self::Table(Mutex::default())),
            (Format::Jwt, Some(alg), _) if bits == weak::BITS => {
                WeakKey::new(alg, owner).map(|key| Self::Weak(Box::new(key)))
            }
            (Format::Jwt | Format::Bare, Some(alg), _) => {
                if let Ok(mac) = alg.parse::<MacAlg>() {
                    MacKey::generate(mac).map(Self::Mac).map_err(failed)
                } else if let Ok(signature) = alg.parse::<SigAlg>() {
                    let key = match alg {
                        rsa if is_rsa(rsa) => {
                            SigningKey::from_der_as(&rsa_key(owner, bits)?, signature)
                        }
                        _ => SigningKey::generate(signature),
                    };
                    key.map(Self::Signing).map_err(failed)
                } else {
                    Err(no_keys(alg))
                }
            }
            (Format::Jwe, Some("dir"), Some(enc)) => {
                ContentKey::generate(enc).map(Self::Content).map_err(failed)
            }
            (Format::Jwe, Some(alg), Some(_)) => {
                if let Ok(pbes2) = alg.parse::<danger::Pbes2Alg>() {
                    return password(pbes2).map_err(failed);
                }
                let management = match alg {
                    // Report 2 measured it, so it is measured; who uses it has been told.
                    "RSA1_5" => Ok(danger::RSA1_5),
                    name => name.parse::<KeyManagementAlg>(),
                };
                if let Ok(wrap) = alg.parse::<KeyWrapAlg>() {
                    WrappingKey::generate(wrap)
                        .map(Self::Wrapping)
                        .map_err(failed)
                } else if let Ok(management) = management {
                    let key = match alg {
                        rsa if is_rsa(rsa) => {
                            DecryptionKey::from_der_as(&rsa_key(owner, bits)?, management)
                        }
                        _ => DecryptionKey::generate(management),
                    };
                    key.map(Self::Decryption).map_err(failed)
                } else {
                    Err(no_keys(alg))
                }
            }
            (Format::Jwt | Format::Bare, None, _) => Err("a JWT needs an algorithm".into()),
            (Format::Jwe, ..) => Err("a JWE needs an algorithm and a content encryption".into()),
            (other, ..) => Err(format!("the lab cannot make {other} keys")),
        }
    }

    fn for_drivers(&self) -> Result<Keys, String> {
        let failed = |e: Error| format!("a key could not be written: {e}");
        let jwk = |text: &str| serde_json::from_str::<Value>(text).map_err(|e| e.to_string());
        let mut keys = Keys::default();
        match self {
            Self::Mac(key) => keys.private = Some(jwk(&key.to_jwk())?),
            Self::Wrapping(key) => keys.private = Some(jwk(&key.to_jwk())?),
            Self::Content(key) => keys.private = Some(jwk(&key.to_jwk())?),
            Self::Password(_, jwk) => keys.private = Some(jwk.clone()),
            Self::Signing(key) => {
                keys.private = Some(jwk(&key.to_jwk().map_err(failed)?)?);
                keys.public = Some(jwk(&key.verifying_key().to_jwk())?);
            }
            Self::Decryption(key) => {
                keys.private = Some(jwk(&key.to_jwk().map_err(failed)?)?);
                keys.public = Some(jwk(&key.encryption_key().to_jwk())?);
            }
            Self::Paseto(key) => keys.paserk = Some(key.paserk().map_err(failed)?),
            Self::Weak(key) => {
                let (private, public) = key.jwks();
                (keys.private, keys.public) = (Some(private), Some(public));
            }
            Self::None | Self::Table(_) => {}
        }
        Ok(keys)
    }
}

/// A password that nobody can guess, so that only the library is tried. Its rounds are few: they say
/// what a guess costs, and every verifier of the lab would pay them.
fn password(alg: danger::Pbes2Alg) -> Result<Key, Error> {
    const ROUNDS: u32 = 4_096;
    let random = MacKey::generate(MacAlg::HS256)?.to_jwk();
    let random: Value = serde_json::from_str(&random).unwrap_or_default();
    let text = random["k"].as_str().unwrap_or_default();
    let password = danger::Password::new(alg, text.as_bytes())?.rounds(ROUNDS)?;
    let k = URL_SAFE_NO_PAD.encode_to_string(text);
    let jwk = json!({"kty": "oct", "alg": alg.name(), "k": k});
    Ok(Key::Password(password, jwk))
}

fn is_rsa(alg: &str) -> bool {
    ["RS", "PS"].iter().any(|family| alg.starts_with(family))
}

/// The owner's RSA key of so many bits in PKCS#8, made when it is asked for first: finding one takes
/// long.
fn rsa_key(owner: Owner, bits: u32) -> Result<Vec<u8>, String> {
    type Made = HashMap<(Owner, u32), Vec<u8>>;
    static KEYS: OnceLock<Mutex<Made>> = OnceLock::new();
    let keys = KEYS.get_or_init(Mutex::default);
    let mut keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(der) = keys.get(&(owner, bits)) {
        return Ok(der.clone());
    }
    let size = usize::try_from(bits).ok().and_then(RsaSize::of_bits);
    let size = size.ok_or_else(|| format!("the lab makes no RSA keys of {bits} bits"))?;
    let made = SigningKey::generate_rsa(SigAlg::RS256, size).and_then(|key| key.to_der());
    let made = made.map_err(|e| format!("no RSA key could be made: {e}"))?;
    keys.insert((owner, bits), made.to_vec());
    Ok(made.to_vec())
}

fn no_keys(alg: &str) -> String {
    format!("the lab has no keys for {alg}")
}

/// The bytes of a PASERK key in hexadecimal.
fn hex_of(paserk: Option<String>) -> Option<String> {
    let text = paserk?;
    let (_, key) = text.rsplit_once('.')?;
    let bytes = URL_SAFE_NO_PAD.decode_to_vec(key.as_bytes()).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A fresh name of these claims, entered into the table.
fn entered(table: &Mutex<HashMap<String, Value>>, claims: &Value) -> Result<String, Error> {
    // A secret of 32 bytes, from the library's own source of them.
    let secret = MacKey::generate(MacAlg::HS256)?.to_jwk();
    let secret: Value = serde_json::from_str(&secret).unwrap_or_default();
    let token = secret["k"].as_str().unwrap_or_default().to_owned();
    let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
    table.insert(token.clone(), claims.clone());
    Ok(token)
}

/// JSON and base64 alone.
fn unsecured(claims: &Value) -> String {
    let header = json!({"alg": "none", "typ": "JWT"}).to_string();
    format!(
        "{}.{}.",
        URL_SAFE_NO_PAD.encode_to_string(header),
        URL_SAFE_NO_PAD.encode_to_string(claims.to_string())
    )
}

fn payload_of(token: &str) -> Option<Value> {
    let payload = token.split('.').nth(1)?;
    let payload = URL_SAFE_NO_PAD.decode_to_vec(payload.as_bytes()).ok()?;
    serde_json::from_slice(&payload).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn dialect(format: Format, alg: Option<&str>, enc: Option<&str>) -> Dialect {
        Dialect {
            format,
            alg: alg.map(str::to_owned),
            enc: enc.map(str::to_owned),
            key_bits: None,
            claims: "standard".into(),
        }
    }

    #[test]
    fn an_rsa_key_has_the_size_that_is_asked_for() {
        let claims = json!({"iss": "benchmark", "iat": 1_600_000_003});
        for (format, alg, enc, bits) in [
            (Format::Jwt, "RS384", None, 1024),
            (Format::Jwt, "RS384", None, 4096),
            (Format::Jwe, "RSA1_5", Some("A128GCM"), 3072),
        ] {
            let dialect = Dialect {
                key_bits: Some(bits),
                ..dialect(format, Some(alg), enc)
            };
            let mint = Mint::new(&dialect, Owner::Lab).unwrap();
            let n = mint.keys.public.as_ref().unwrap()["n"].as_str().unwrap();
            assert_eq!(n.len() as u32, (bits / 8 * 4).div_ceil(3));
            let token = mint.token(&claims).unwrap();
            assert_eq!(mint.open(&token).as_ref(), Ok(&claims));
            let other = Mint::new(&dialect, Owner::Stranger).unwrap();
            assert!(other.open(&token).is_err());
        }
        let unusual = Dialect {
            key_bits: Some(1500),
            ..dialect(Format::Jwt, Some("RS256"), None)
        };
        let why = Mint::new(&unusual, Owner::Lab).unwrap_err();
        assert_eq!(why, "the lab makes no RSA keys of 1500 bits");
    }

    #[test]
    fn a_weak_key_signs_nothing_but_what_was_signed() {
        let dialect = Dialect {
            key_bits: Some(1024),
            ..dialect(Format::Jwt, Some("RS384"), None)
        };
        let mint = Mint::new(&dialect, Owner::Lab).unwrap();
        let why = mint.token(&json!({"sub": "x"})).unwrap_err();
        assert!(why.contains("only the claims report4"), "{why}");
    }

    #[test]
    fn what_an_opaque_token_stands_for_is_known_to_its_issuer_only() {
        let dialect = dialect(Format::Opaque, None, None);
        let mint = Mint::new(&dialect, Owner::Lab).unwrap();
        let token = mint.token(&json!({"sub": "x"})).unwrap();
        assert_eq!(token.len(), 43);
        assert_eq!(mint.open(&token), Ok(json!({"sub": "x"})));
        let other = Mint::new(&dialect, Owner::Stranger).unwrap();
        assert!(other.open(&token).is_err());
    }

    #[test]
    fn what_a_mint_makes_it_opens_and_another_does_not() {
        let claims = json!({"sub": "x"});
        for (format, alg, enc) in [
            (Format::Jwt, Some("HS384"), None),
            (Format::Jwt, Some("ML-DSA-44"), None),
            (Format::Jwe, Some("dir"), Some("A256GCM")),
            (Format::Jwe, Some("A128KW"), Some("A128CBC-HS256")),
            (Format::Jwe, Some("A256GCMKW"), Some("A192GCM")),
            (Format::Jwe, Some("RSA1_5"), Some("A128GCM")),
            (Format::Jwe, Some("RSA-OAEP-256"), Some("A256CBC-HS512")),
            (
                Format::Jwe,
                Some("PBES2-HS256+A128KW"),
                Some("A128CBC-HS256"),
            ),
            (Format::Jwe, Some("ECDH-ES"), Some("A256GCM")),
            (Format::Jwe, Some("ECDH-ES+A256KW"), Some("A256GCM")),
            (Format::V1Local, None, None),
            (Format::V1Public, None, None),
            (Format::V2Local, None, None),
            (Format::V2Public, None, None),
            (Format::V3Local, None, None),
            (Format::V3Public, None, None),
            (Format::V4Local, None, None),
            (Format::V4Public, None, None),
        ] {
            let dialect = dialect(format, alg, enc);
            let mint = Mint::new(&dialect, Owner::Lab).unwrap();
            let token = mint.token(&claims).unwrap();
            assert_eq!(mint.open(&token).as_ref(), Ok(&claims), "{dialect:?}");
            let other = Mint::new(&dialect, Owner::Stranger).unwrap();
            assert!(other.open(&token).is_err(), "{dialect:?}");
            let keys = &mint.keys;
            let symmetric = keys.public.is_none() && !format.name().ends_with(".public");
            let pem = mint.key_text(KeyForm::Pem);
            assert_eq!(
                pem.is_some(),
                !symmetric && !format.is_paseto(),
                "{dialect:?}"
            );
            let own = if format.is_paseto() {
                KeyForm::Paserk
            } else {
                KeyForm::Jwk
            };
            let text = mint.key_text(own).unwrap();
            assert!(text.private.is_some() && text.public.is_some() != symmetric);
        }
    }

    #[test]
    fn what_the_lab_has_no_keys_for_is_said_in_a_sentence() {
        let why = |format, alg, enc| {
            let made = Mint::new(&dialect(format, alg, enc), Owner::Lab);
            made.err().unwrap()
        };
        assert_eq!(
            why(Format::Jwt, Some("XS1"), None),
            "the lab has no keys for XS1"
        );
        let unknown = why(Format::Jwe, Some("dir"), Some("A1GCM"));
        assert_eq!(unknown, "the lab knows no content encryption A1GCM");
    }
}
