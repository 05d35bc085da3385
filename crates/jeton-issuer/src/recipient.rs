//! For whom a profile's tokens are encrypted.

use jeton::jwe::{ContentEnc, Encrypter};
use jeton::jwt::NestedIssuer;
use jeton::key::EncryptionKey;
use jeton::{Claims, Clock};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::plain_value::plain;
use crate::secret_key::SecretKey;

/// Whoever is to read a profile's tokens: they are signed, then encrypted for this key (RFC 7519,
/// section 11.2). The service cannot read them again, so it issues such tokens and verifies none.
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
    /// The recipient's public key: a JWK with its `alg`.
    #[serde(deserialize_with = "plain")]
    pub jwk: Value,
    /// The content's encryption: `A256GCM`, `A128CBC-HS256`, …
    pub enc: String,
}

/// The same, ready to be used.
pub(crate) struct Recipient {
    key: EncryptionKey,
    enc: ContentEnc,
}

impl EncryptTo {
    /// Checks it as the member of that name of a profile for that kind of key.
    pub(crate) fn recipient(&self, field: &str, kind: KeyKind) -> Result<Recipient> {
        let refused = |member: &str, why: String| Err(Error::rule(format!("{field}{member}"), why));
        if !matches!(kind, KeyKind::Jws(_) | KeyKind::Mac(_)) {
            return refused(
                "",
                format!("a {kind} is no JWT: only those are encrypted again"),
            );
        }
        if self.jwk.get("d").is_some() || self.jwk.get("k").is_some() {
            return refused(
                ".jwk",
                "this is the private half: wants the recipient's public key".to_owned(),
            );
        }
        let Ok(enc) = self.enc.parse() else {
            return refused(
                ".enc",
                "wants A128GCM, A256GCM, A128CBC-HS256, …".to_owned(),
            );
        };
        match EncryptionKey::from_jwk(&self.jwk.to_string()) {
            Ok(key) => Ok(Recipient { key, enc }),
            Err(error) => refused(".jwk", error.to_string()),
        }
    }
}

impl Recipient {
    /// A token for the recipient alone.
    pub(crate) fn issue(
        &self,
        key: &SecretKey,
        claims: &Claims<'_, impl Serialize>,
        clock: &dyn Clock,
    ) -> Result<String> {
        let encrypter = Encrypter::new(&self.key, self.enc);
        let issuer = match key {
            SecretKey::Jws(key) => NestedIssuer::new(key, encrypter),
            SecretKey::Mac(key) => NestedIssuer::new(key, encrypter),
            SecretKey::V3Local(_)
            | SecretKey::V3Public(_)
            | SecretKey::V4Local(_)
            | SecretKey::V4Public(_) => return Err(Error::NotReady),
        };
        Ok(issuer.issue_by(claims, clock)?)
    }
}
