//! Recipients of encrypted tokens.

use jeton::jwe::Encrypter;
use jeton::jwt::NestedIssuer;
use jeton::key::{ContentEnc, EncryptionKey};
use jeton::{Claims, Clock, CustomClaims};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::plain_value::plain;
use crate::secret_key::SecretKey;

/// The recipient of a profile's tokens: they are signed, then encrypted for this key (RFC 7519, section
/// 11.2). The service cannot decrypt them, so it issues such tokens and does not verify them.
///
/// ```
/// # use jeton_issuer::IssuerSettings;
/// # let settings = IssuerSettings::from_json(
/// r#"{"iss": "https://id.example", "profiles": [{
///     "name": "sealed", "alg": "ES256", "lifetime_seconds": 900, "audiences": ["api"],
///     "encrypt_to": {"enc": "A256GCM", "jwk": {
///         "kty": "OKP", "crv": "X25519", "alg": "ECDH-ES",
///         "x": "3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08"
///     }}
/// }]}"#
/// # )?;
/// # assert!(settings.profiles()[0].encrypt_to.is_some());
/// # Ok::<(), jeton_issuer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncryptTo {
    /// Public key of the recipient: a JWK with its `alg`.
    #[serde(deserialize_with = "plain")]
    pub jwk: Value,
    /// Content encryption: `A256GCM`, `A128CBC-HS256`, …
    pub enc: String,
}

/// A parsed recipient.
pub(crate) struct Recipient {
    key: EncryptionKey,
    enc: ContentEnc,
}

impl EncryptTo {
    /// Parses the recipient. `field` is the name of the member, for errors.
    pub(crate) fn recipient(&self, field: &str, kind: KeyKind) -> Result<Recipient> {
        let refused = |member: &str, why: String| Err(Error::rule(format!("{field}{member}"), why));
        if !matches!(kind, KeyKind::Jws(_) | KeyKind::Mac(_)) {
            return refused(
                "",
                format!("{kind} is not a JWT format: only JWTs can be encrypted"),
            );
        }
        if self.jwk.get("d").is_some() || self.jwk.get("k").is_some() {
            return refused(
                ".jwk",
                "is a private key: use the public key of the recipient".to_owned(),
            );
        }
        let Ok(enc) = self.enc.parse() else {
            return refused(
                ".enc",
                "must be a content encryption, for example A128GCM, A256GCM or A128CBC-HS256"
                    .to_owned(),
            );
        };
        match EncryptionKey::from_jwk(&self.jwk.to_string()) {
            Ok(key) => Ok(Recipient { key, enc }),
            Err(error) => refused(".jwk", error.to_string()),
        }
    }
}

impl Recipient {
    /// Issues an encrypted token.
    pub(crate) fn issue(
        &self,
        key: &SecretKey,
        claims: &Claims<'_, impl CustomClaims>,
        clock: &dyn Clock,
    ) -> Result<String> {
        let encrypter = Encrypter::new(&self.key, self.enc);
        let issuer = match key {
            SecretKey::Jws(key) => NestedIssuer::new(&**key, encrypter),
            SecretKey::Mac(key) => NestedIssuer::new(&**key, encrypter),
            SecretKey::Remote(signer, _) => NestedIssuer::new(&**signer, encrypter),
            SecretKey::V3Local(_)
            | SecretKey::V3Public(_)
            | SecretKey::V4Local(_)
            | SecretKey::V4Public(_) => return Err(Error::NotReady),
        };
        Ok(issuer.issue_with_clock(claims, clock)?)
    }
}
