//! Protected headers with text from the caller.

use crate::base64;
use crate::clock::Clock;
use crate::error::{Misuse, Result};
use crate::issue::{AnyClaims, Issue};
use crate::json::{self, ScanError};
use crate::jwe::Encrypter;
use crate::jws::assemble;
use crate::jwt;
use crate::key::SigningKeyRef;
use crate::limits::Limits;

/// Signs with a protected header whose text the caller provides, byte for byte. Use it to reproduce the
/// spaces and the member order of another implementation.
///
/// Insecure: two spellings of one header are two different tokens, and jeton does not add its own members.
/// So the text may only contain what jeton would write: an object with the `alg` of the key, and `typ`,
/// `cty` and `kid`.
///
/// ```
/// use jeton::danger::HeaderText;
/// use jeton::jws::Verifier;
/// use jeton::key::{MacAlg, MacKey};
///
/// let key = MacKey::generate(MacAlg::HS256)?;
/// let token = HeaderText::new(&key, r#"{ "typ": "JWT", "alg": "HS256" }"#)?.sign(b"{}")?;
/// assert!(token.starts_with("eyAidHlwIjogIkpXVCI"));
/// assert!(Verifier::new(&key).verify(&token).is_ok());
/// // Only the algorithm of the key is accepted.
/// assert!(HeaderText::new(&key, r#"{ "alg": "HS512" }"#).is_err());
/// assert!(HeaderText::new(&key, r#"{ "alg": "HS256", "crit": [] }"#).is_err());
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug)]
pub struct HeaderText<'k> {
    key: SigningKeyRef<'k>,
    /// base64url.
    encoded: String,
}

impl<'k> HeaderText<'k> {
    /// Creates a signer with this key (a `&MacKey`, a `&SigningKey` or a `&RemoteSigner`) and this header.
    ///
    /// # Errors
    ///
    /// [`Misuse::HeaderMember`] if the text is not such a header for this key.
    pub fn new(key: impl Into<SigningKeyRef<'k>>, text: &str) -> Result<Self> {
        let key = key.into();
        require(text, &[("alg", key.alg_name())])?;
        Ok(Self {
            key,
            encoded: base64::encode(text.as_bytes()),
        })
    }

    /// Signs the payload as a compact JWS.
    ///
    /// # Errors
    ///
    /// Those of [`Signer::sign`](crate::jws::Signer::sign).
    pub fn sign(&self, payload: &[u8]) -> Result<String> {
        assemble(self.key, &self.encoded, payload)
    }
}

impl Issue for HeaderText<'_> {
    fn issue_with_clock(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        jwt::issue_under(&self.encoded, self.key, claims, clock)
    }

    fn issue_onto_with_clock(
        &self,
        claims: &dyn AnyClaims,
        clock: &dyn Clock,
        token: &mut String,
    ) -> Result<()> {
        jwt::issue_under_onto(&self.encoded, self.key, claims, clock, token)
    }
}

/// Encrypts with a protected header whose text the caller provides, like [`HeaderText`]. The text is an
/// object with the `alg` and `enc` of the encrypter, and `typ`, `cty` and `kid`. Only for the compact
/// serialization, and only for key management that adds no further header member.
///
/// # Errors
///
/// [`Misuse::HeaderMember`] if the text is not such a header. [`encrypt`](Encrypter::encrypt) returns it if
/// the header would need further members.
///
/// ```
/// use jeton::danger;
/// use jeton::jwe::{Decrypter, Encrypter};
/// use jeton::key::{ContentEnc, ContentKey};
///
/// let key = ContentKey::generate(ContentEnc::A128Gcm)?;
/// let encrypter = Encrypter::new(&key, ContentEnc::A128Gcm);
/// let header = r#"{ "typ": "JWT", "enc": "A128GCM", "alg": "dir" }"#;
/// let token = danger::encrypt_under(encrypter, header)?.encrypt(b"{}")?;
/// assert_eq!(Decrypter::new(&key).decrypt(&token)?.plaintext(), b"{}");
/// # Ok::<(), jeton::Error>(())
/// ```
pub fn encrypt_under<'k>(encrypter: Encrypter<'k>, text: &str) -> Result<Encrypter<'k>> {
    let (alg, enc) = encrypter.names()?;
    require(text, &[("alg", alg), ("enc", enc)])?;
    Ok(encrypter.under(text))
}

/// Checks that a text is an object with exactly these members, plus optional `typ`, `cty` and `kid`.
fn require(text: &str, required: &[(&str, &str)]) -> Result<(), Misuse> {
    struct Rejected;
    impl From<ScanError> for Rejected {
        fn from(_: ScanError) -> Self {
            Rejected
        }
    }
    let limits = Limits::default();
    if text.len() > limits.header_bytes {
        return Err(Misuse::HeaderMember);
    }
    let mut found = 0;
    json::read_object(text, limits.depth(), |name, value| {
        let (name, value) = (name.to_cow(), value.string().ok_or(Rejected)?.to_cow());
        match required.iter().find(|(must, _)| *must == name) {
            Some((_, must)) if *must == value => found += 1,
            None if ["typ", "cty", "kid"].contains(&&*name) => {}
            _ => return Err(Rejected),
        }
        Ok(())
    })
    .map_err(|Rejected| Misuse::HeaderMember)?;
    match found == required.len() {
        true => Ok(()),
        false => Err(Misuse::HeaderMember),
    }
}
