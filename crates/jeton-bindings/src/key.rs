//! Keys.

use std::cell::Cell;
use std::process;
use std::sync::Arc;

use jeton::danger::Password;
use jeton::error::codes;
use jeton::jws::JwsSigner;
use jeton::key::{
    ContentKey, DecryptionKey, EncryptionKey, KeyManagementAlg, MacKey, RsaSize, SigAlg,
    SigningKey, VerifyingKey, WrappingKey,
};
use jeton::paseto::{TokenContext, v3, v4};

use crate::fault::Fault;
use crate::settings::{self, AnyAlg, GenerateOptions, content_enc};

thread_local! {
    /// The process in which this thread last signed. A child process inherits the value from its parent.
    static SIGNED_IN: Cell<u32> = const { Cell::new(0) };
}

/// A key of any kind. Clones share it.
#[derive(Clone)]
#[non_exhaustive]
pub enum Key {
    /// Makes and verifies a MAC.
    Mac(Arc<MacKey>),
    /// Signs.
    Signing(Arc<SigningKey>),
    /// Verifies signatures.
    Verifying(VerifyingKey),
    /// Wraps the content keys of JWEs.
    Wrapping(Arc<WrappingKey>),
    /// Encrypts the content of JWEs (`dir`).
    Content(Arc<ContentKey>),
    /// Decrypts JWEs.
    Decryption(Arc<DecryptionKey>),
    /// Encrypts JWEs.
    Encryption(EncryptionKey),
    /// Encrypts and decrypts JWEs with a password (PBES2). Insecure: the password can be guessed offline.
    Password(Arc<Password>),
    /// Encrypts and decrypts `v3.local`.
    V3Local(Arc<v3::LocalKey>),
    /// Signs `v3.public`.
    V3Secret(Arc<v3::SecretKey>),
    /// Verifies `v3.public`.
    V3Public(v3::PublicKey),
    /// Encrypts and decrypts `v4.local`.
    V4Local(Arc<v4::LocalKey>),
    /// Signs `v4.public`.
    V4Secret(Arc<v4::SecretKey>),
    /// Verifies `v4.public`.
    V4Public(v4::PublicKey),
}

impl Key {
    /// Generates a key for an algorithm: a JWA name, `dir` with the setting `enc`, or `v3.local`, `v3.public`,
    /// `v4.local`, `v4.public`. The settings are [`GENERATED_KEY`](crate::settings::GENERATED_KEY).
    ///
    /// # Errors
    ///
    /// The algorithm or a setting is unknown, or the setting does not apply to the algorithm.
    pub fn generate(alg: &str, settings: &str) -> Result<Key, Fault> {
        let options: GenerateOptions = settings::read(settings)?;
        let key = generate(AnyAlg::parse(alg)?, &options)?.with_id(options.kid.as_deref())?;
        key.sign_first()?;
        Ok(key)
    }

    /// Returns the public key.
    ///
    /// # Errors
    ///
    /// The key is symmetric.
    pub fn public(&self) -> Result<Key, Fault> {
        Ok(match self {
            Key::Signing(key) => Key::Verifying(key.verifying_key()),
            Key::Decryption(key) => Key::Encryption(key.encryption_key()),
            Key::V3Secret(key) => Key::V3Public(key.public_key()),
            Key::V4Secret(key) => Key::V4Public(key.public_key()),
            Key::Verifying(_) | Key::Encryption(_) | Key::V3Public(_) | Key::V4Public(_) => {
                self.clone()
            }
            Key::Mac(_)
            | Key::Wrapping(_)
            | Key::Content(_)
            | Key::Password(_)
            | Key::V3Local(_)
            | Key::V4Local(_) => {
                let why = format_args!(
                    "a key for {} is symmetric: it has no public key",
                    alg_name(self)
                );
                return Err(Fault::key(&codes::KEY_TYPE_MISMATCH, why));
            }
        })
    }

    /// Signs once with a private key and discards the signature. Other keys do nothing.
    ///
    /// The first signature of a process seeds the random generator, which takes tens of milliseconds. The first private
    /// key that a thread generates or imports does this. Call it again after `fork`.
    ///
    /// # Errors
    ///
    /// The signature fails.
    pub fn warm_up(&self) -> Result<(), Fault> {
        const MESSAGE: &[u8] = b"no token";
        match self {
            // EdDSA has no random nonce.
            Key::Signing(key) if !matches!(key.alg(), SigAlg::EdDSA | SigAlg::Ed25519) => {
                JwsSigner::new(&**key).sign(MESSAGE)?;
            }
            Key::V3Secret(key) => {
                key.sign(MESSAGE, TokenContext::new())?;
            }
            _ => return Ok(()),
        }
        SIGNED_IN.set(process::id());
        Ok(())
    }

    /// Warms up, unless this thread already did in this process. AWS-LC has a random generator per thread.
    pub(crate) fn sign_first(&self) -> Result<(), Fault> {
        let is_private = matches!(self, Key::Signing(_) | Key::V3Secret(_));
        if is_private && SIGNED_IN.get() != process::id() {
            self.warm_up()?;
        }
        Ok(())
    }

    /// Returns whether this is a PASETO key.
    pub fn is_paseto(&self) -> bool {
        matches!(
            self,
            Key::V3Local(_)
                | Key::V3Secret(_)
                | Key::V3Public(_)
                | Key::V4Local(_)
                | Key::V4Secret(_)
                | Key::V4Public(_)
        )
    }

    pub(crate) fn with_id(self, kid: Option<&str>) -> Result<Key, Fault> {
        let Some(kid) = kid else {
            return Ok(self);
        };
        Ok(match self {
            Key::Mac(key) => Key::Mac(Arc::new(only(key)?.with_key_id(kid)?)),
            Key::Signing(key) => Key::Signing(Arc::new(only(key)?.with_key_id(kid)?)),
            Key::Verifying(key) => Key::Verifying(key.with_key_id(kid)?),
            Key::Wrapping(key) => Key::Wrapping(Arc::new(only(key)?.with_key_id(kid)?)),
            Key::Content(key) => Key::Content(Arc::new(only(key)?.with_key_id(kid)?)),
            Key::Decryption(key) => Key::Decryption(Arc::new(only(key)?.with_key_id(kid)?)),
            Key::Encryption(key) => Key::Encryption(key.with_key_id(kid)?),
            Key::Password(key) => Key::Password(Arc::new(only(key)?.with_key_id(kid)?)),
            _ => {
                return Err(Fault::option(
                    "kid",
                    "the id of a PASETO key is computed from the key",
                ));
            }
        })
    }
}

/// Returns the value of a new key, which has one owner.
fn only<T>(key: Arc<T>) -> Result<T, Fault> {
    Arc::into_inner(key).ok_or(Fault::Internal)
}

fn generate(alg: AnyAlg, options: &GenerateOptions) -> Result<Key, Fault> {
    let unused = |name: &'static str, is_set: bool| {
        if is_set {
            Err(Fault::option(name, "not used with this algorithm"))
        } else {
            Ok(())
        }
    };
    if !matches!(alg, AnyAlg::Management(_)) {
        unused("crv", options.crv.is_some())?;
    }
    if alg != AnyAlg::Direct {
        unused("enc", options.enc.is_some())?;
    }
    if !matches!(alg, AnyAlg::Sig(_) | AnyAlg::Management(_)) {
        unused("rsa_bits", options.rsa_bits.is_some())?;
    }
    let size = options.rsa_bits.map(|bits| {
        RsaSize::from_bits(bits)
            .ok_or_else(|| Fault::option("rsa_bits", "must be 2048, 3072, 4096 or 8192"))
    });
    let size = size.transpose()?;
    Ok(match alg {
        AnyAlg::Mac(alg) => Key::Mac(Arc::new(MacKey::generate(alg)?)),
        AnyAlg::Sig(alg) => Key::Signing(Arc::new(match size {
            Some(size) => SigningKey::generate_rsa(alg, size)?,
            None => SigningKey::generate(alg)?,
        })),
        AnyAlg::Wrap(alg) => Key::Wrapping(Arc::new(WrappingKey::generate(alg)?)),
        AnyAlg::Management(alg) => {
            Key::Decryption(Arc::new(generate_decryption(alg, size, options)?))
        }
        AnyAlg::Direct => {
            let enc = options.enc.as_deref();
            let enc = enc.ok_or_else(|| Fault::option("enc", "required with `dir`"))?;
            Key::Content(Arc::new(ContentKey::generate(content_enc(enc)?)?))
        }
        AnyAlg::Paseto("v3.local") => Key::V3Local(Arc::new(v3::LocalKey::generate()?)),
        AnyAlg::Paseto("v3.public") => Key::V3Secret(Arc::new(v3::SecretKey::generate()?)),
        AnyAlg::Paseto("v4.local") => Key::V4Local(Arc::new(v4::LocalKey::generate()?)),
        AnyAlg::Paseto(_) => Key::V4Secret(Arc::new(v4::SecretKey::generate()?)),
    })
}

fn generate_decryption(
    alg: KeyManagementAlg,
    size: Option<RsaSize>,
    options: &GenerateOptions,
) -> Result<DecryptionKey, Fault> {
    Ok(match (size, options.crv.as_deref()) {
        (Some(_), Some(_)) => return Err(Fault::option("crv", "not used with `rsa_bits`")),
        (Some(size), None) => DecryptionKey::generate_rsa(alg, size)?,
        (None, None | Some("P-256")) => DecryptionKey::generate(alg)?,
        (None, Some("P-384")) => DecryptionKey::generate_p384(alg)?,
        (None, Some("P-521")) => DecryptionKey::generate_p521(alg)?,
        (None, Some("X25519")) => DecryptionKey::generate_x25519(alg)?,
        (None, Some(_)) => {
            return Err(Fault::option(
                "crv",
                "must be P-256, P-384, P-521 or X25519",
            ));
        }
    })
}

/// Describes a key in an error: which half it is, and its algorithm.
pub(crate) fn described(key: &Key) -> String {
    format!("a {} key for {}", kind(key), alg_name(key))
}

/// Returns the algorithm of a key, or the version and purpose of a PASETO key.
pub(crate) fn alg_name(key: &Key) -> &'static str {
    match key {
        Key::Mac(key) => key.alg().name(),
        Key::Signing(key) => key.alg().name(),
        Key::Verifying(key) => key.alg().name(),
        Key::Wrapping(key) => key.alg().name(),
        Key::Content(_) => "dir",
        Key::Decryption(key) => key.alg().name(),
        Key::Encryption(key) => key.alg().name(),
        Key::Password(key) => key.alg().name(),
        Key::V3Local(_) => "v3.local",
        Key::V3Secret(_) | Key::V3Public(_) => "v3.public",
        Key::V4Local(_) => "v4.local",
        Key::V4Secret(_) | Key::V4Public(_) => "v4.public",
    }
}

/// Returns which half of a key this is.
pub(crate) fn kind(key: &Key) -> &'static str {
    match key {
        Key::Mac(_)
        | Key::Wrapping(_)
        | Key::Content(_)
        | Key::Password(_)
        | Key::V3Local(_)
        | Key::V4Local(_) => "symmetric",
        Key::Signing(_) | Key::Decryption(_) | Key::V3Secret(_) | Key::V4Secret(_) => "private",
        Key::Verifying(_) | Key::Encryption(_) | Key::V3Public(_) | Key::V4Public(_) => "public",
    }
}
