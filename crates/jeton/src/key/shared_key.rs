//! Shared keys of JWE: keys that encrypt content, and keys that wrap the keys for content.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::jwk::{self, Members};
use super::shared_secret::{KeyOps, PermittedUse, SharedSecret, algorithm};
use super::{ContentEnc, KeyId, KeyWrapAlg};
use crate::crypto::random;
use crate::error::{KeyError, KeyProblem, Result};

/// Defines a type of key. `$determine` returns the algorithm of a JWK.
macro_rules! shared_key {
    (
        $(#[$doc:meta])* $key:ident { $field:ident: $alg:ty } $ops:ident $determine:ident
        $(#[$from_jwk:meta])* from_jwk
        $(#[$from_jwk_as:meta])* from_jwk_as
    ) => {
        $(#[$doc])*
        pub struct $key {
            $field: $alg,
            shared: Arc<SharedSecret>,
            key_id: Option<KeyId>,
        }

        impl $key {
            /// Generates a key.
            pub fn generate($field: $alg) -> Result<$key> {
                let mut secret = Zeroizing::new(vec![0; $field.key_bytes()]);
                random::fill(&mut secret)?;
                Self::new($field, &secret)
            }

            /// Creates a key from secret random bytes, exactly as many as the algorithm requires. The encoding of a
            /// key is rejected.
            pub fn new($field: $alg, secret: &[u8]) -> Result<$key> {
                let secret = Zeroizing::new(secret.to_vec());
                let shared = SharedSecret::new(secret, $field.key_bytes(), PermittedUse::Both)?;
                Ok(Self::from_parts($field, shared, None))
            }

            $(#[$from_jwk])*
            pub fn from_jwk(text: &str) -> Result<$key> {
                Ok(Self::from_members(&Members::parse(text)?, None)?)
            }

            $(#[$from_jwk_as])*
            pub fn from_jwk_as(text: &str, $field: $alg) -> Result<$key> {
                Ok(Self::from_members(&Members::parse(text)?, Some($field))?)
            }

            /// Returns the key as a JWK, which contains the secret.
            pub fn to_jwk(&self) -> Zeroizing<String> {
                let writer = jwk::Writer::new("oct")
                    .word("alg", self.$field.name())
                    .key_id(self.key_id());
                self.shared.write(writer, &KeyOps::$ops)
            }

            /// Returns the algorithm of the key.
            pub fn $field(&self) -> $alg {
                self.$field
            }

            /// Returns the key id (`kid`).
            pub fn key_id(&self) -> Option<&str> {
                self.key_id.as_ref().map(KeyId::as_str)
            }

            /// Returns the same key with a key id of 1 to 1,024 bytes.
            pub fn with_key_id(mut self, key_id: &str) -> Result<$key> {
                self.key_id = Some(KeyId::from_caller(key_id)?);
                Ok(self)
            }

            /// Returns the thumbprint (RFC 7638). It is a hash of the secret: it may identify the key among its
            /// owners, but must not be published.
            pub fn thumbprint(&self) -> String {
                self.shared.thumbprint()
            }

            /// Returns the thumbprint as a URI (RFC 9278).
            ///
            /// It is a hash of the secret: do not publish it.
            pub fn thumbprint_uri(&self) -> String {
                jwk::thumbprint_uri(&self.thumbprint())
            }

            pub(crate) fn from_members(
                members: &Members<'_>,
                wanted: Option<$alg>,
            ) -> Result<$key, KeyError> {
                let $field = $determine(members, wanted)?;
                let length = $field.key_bytes();
                let shared = SharedSecret::from_members(members, length, &KeyOps::$ops)?;
                Ok(Self::from_parts($field, shared, members.key_id()?))
            }

            fn from_parts($field: $alg, shared: SharedSecret, key_id: Option<KeyId>) -> $key {
                $key {
                    $field,
                    shared: Arc::new(shared),
                    key_id,
                }
            }

            /// Returns the same key for a decrypter. The secret is shared, not copied.
            pub(crate) fn share(&self) -> $key {
                $key {
                    $field: self.$field,
                    shared: Arc::clone(&self.shared),
                    key_id: self.key_id.clone(),
                }
            }

            pub(crate) fn shared(&self) -> &SharedSecret {
                &self.shared
            }

            pub(crate) fn id(&self) -> Option<&KeyId> {
                self.key_id.as_ref()
            }
        }

        impl fmt::Debug for $key {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($key))
                    .field(stringify!($field), &self.$field)
                    .field("key_id", &self.key_id())
                    .finish_non_exhaustive()
            }
        }
    };
}

shared_key! {
    /// A shared key that encrypts content directly (`alg: dir`, RFC 7518, section 4.5).
    ///
    /// With AES-GCM, at most 2³² tokens may be encrypted with one key (RFC 7518, section 8.4), because the nonces
    /// are random. A [`WrappingKey`] for AES Key Wrap gives each token a new content key and has no such limit. A
    /// wrapping key for AES-GCM key wrap has the same limit.
    ///
    /// ```
    /// use jeton::key::{ContentEnc, ContentKey};
    ///
    /// let key = ContentKey::generate(ContentEnc::A256Gcm)?;
    /// assert!(ContentKey::from_jwk(&key.to_jwk()).is_ok());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    ContentKey { enc: ContentEnc } CONTENT content_encryption

    /// Reads a JWK with `kty` `oct` whose `alg` is a content encryption, such as `A256GCM`. `use`, if present,
    /// must be `enc`. `key_ops`, if present, must contain `encrypt`, `decrypt` or both, and restricts the key to
    /// these.
    from_jwk

    /// Reads a JWK with `kty` `oct` for this content encryption. A different `alg` is rejected, except `dir`.
    from_jwk_as
}

shared_key! {
    /// A shared key that wraps content keys. Anyone who can decrypt with it can also encrypt, and so can every
    /// other recipient of a token that it decrypts ([`Encrypter::recipient`](crate::jwe::Encrypter::recipient)).
    ///
    /// With A128GCMKW, A192GCMKW and A256GCMKW, one key may wrap at most 2³² content keys (RFC 7518, section 8.4),
    /// because the nonces are random. A128KW, A192KW and A256KW have no nonce and no such limit.
    ///
    /// ```
    /// use jeton::key::{KeyWrapAlg, WrappingKey};
    ///
    /// let key = WrappingKey::generate(KeyWrapAlg::A256Kw)?.with_key_id("2026-11")?;
    /// let same = WrappingKey::from_jwk(&key.to_jwk())?;
    /// assert_eq!(same.key_id(), Some("2026-11"));
    /// # Ok::<(), jeton::Error>(())
    /// ```
    WrappingKey { alg: KeyWrapAlg } WRAPPING algorithm

    /// Reads a JWK with `kty` `oct` and `alg`. `use`, if present, must be `enc`. `key_ops`, if present, must
    /// contain `wrapKey`, `unwrapKey` or both, and restricts the key to these.
    from_jwk

    /// Reads a JWK with `kty` `oct` for this algorithm. A different `alg` is rejected.
    from_jwk_as
}

/// Returns the content encryption of a JWK. With `dir`, the caller names it.
fn content_encryption(
    members: &Members<'_>,
    wanted: Option<ContentEnc>,
) -> Result<ContentEnc, KeyError> {
    if members.optional("alg")?.as_deref() == Some("dir") {
        return wanted.ok_or(KeyError::at("alg", KeyProblem::AlgorithmNeeded));
    }
    algorithm(members, wanted)
}
