//! Insecure and legacy options, in one module, so that one search finds every use.

mod header_text;
mod issuer_wrapping_key;
pub mod paseto_v1;
pub mod paseto_v2;
mod password;
mod unprotected;
mod weak_keys;

pub use header_text::{HeaderText, encrypt_under};
pub use issuer_wrapping_key::IssuerWrappingKey;
pub use password::{Password, Pbes2Alg};
pub use unprotected::{allow_unprotected_alg, allow_unprotected_enc};

use crate::base64;
use crate::error::{Part, Rejection, Result};
use crate::jwe::{Decrypter, Encrypter};
use crate::jws::Compact;
use crate::key::KeyManagementAlg;
use crate::limits::Limits;

pub use weak_keys::{
    weak_key_set, weak_mac_key, weak_mac_key_from_jwk, weak_rsa_key_from_der,
    weak_rsa_key_from_jwk, weak_rsa_key_from_pem,
};

/// The parts of a compact JWS, without any verification.
///
/// Only for debugging. The sender may have written every byte, so no decision may depend on it.
#[derive(Debug)]
pub struct Unverified {
    /// The bytes of the protected header.
    pub header: Vec<u8>,
    /// The bytes of the payload.
    pub payload: Vec<u8>,
}

/// Splits a compact JWS without verifying it.
///
/// ```
/// let seen = jeton::danger::peek("eyJhbGciOiJub25lIn0.e30.")?;
/// assert_eq!(seen.payload, b"{}");
/// # Ok::<(), jeton::Error>(())
/// ```
pub fn peek(token: &str) -> Result<Unverified> {
    let compact = Compact::split(token, &Limits::default())?;
    let decode =
        |text: &str, part| base64::decode(text.as_bytes()).map_err(|_| Rejection::Malformed(part));
    Ok(Unverified {
        header: decode(compact.header(), Part::Header)?,
        payload: decode(compact.payload(), Part::Payload)?,
    })
}

/// RSAES-PKCS1-v1_5 as key management (RFC 7518, section 4.2). Only this constant enables it.
///
/// Insecure: Bleichenbacher's attack uses every observable difference between a valid and an invalid padding
/// as a decryption oracle. Here, an invalid padding or a content key of another length gives a random content
/// key, chosen without a branch. The token then fails as with any wrong key (RFC 7516, section 11.5).
///
/// AWS-LC itself branches on the padding and offers no alternative. So each decryption is followed by a
/// second one, of a number with an invalid padding if the first was valid, and the reverse. The total work is
/// the same. Two differences remain: the order of the two, and the number of bytes copied from a valid
/// padding. This doubles the time.
///
/// A key for this algorithm must have no other use. A [`Decrypter`] with the same RSA key for RSA-OAEP returns
/// [`Misuse::SharedRsaKey`](crate::error::Misuse::SharedRsaKey).
///
/// ```
/// use jeton::danger::RSA1_5;
/// use jeton::key::DecryptionKey;
/// let key = DecryptionKey::generate(RSA1_5)?;
/// assert_eq!(key.alg().name(), "RSA1_5");
/// # Ok::<(), jeton::Error>(())
/// ```
pub const RSA1_5: KeyManagementAlg = KeyManagementAlg::Rsa1_5(Opened(()));

/// Proves that the caller used this module: only this module can create it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Opened(());

/// Compresses the content before encryption (`zip: DEF`, RFC 7516, section 4.1.3).
///
/// Insecure: the length of the ciphertext then depends on the content. This reveals secrets that are
/// compressed together with data that an attacker chose (CRIME).
///
/// ```
/// use jeton::danger;
/// use jeton::jwe::{Decrypter, Encrypter};
/// use jeton::key::{ContentEnc, ContentKey};
///
/// let key = ContentKey::generate(ContentEnc::A256Gcm)?;
/// let encrypter = danger::compress(Encrypter::new(&key, ContentEnc::A256Gcm));
/// let token = encrypter.encrypt(&[b'a'; 1000])?;
/// assert!(Decrypter::new(&key).decrypt(&token).is_err());
/// assert!(danger::allow_zip(Decrypter::new(&key)).decrypt(&token).is_ok());
/// # Ok::<(), jeton::Error>(())
/// ```
pub fn compress(encrypter: Encrypter<'_>) -> Encrypter<'_> {
    encrypter.compressing()
}

/// Accepts compressed tokens (`zip: DEF`).
///
/// The limits for the inflated content are [`limits::INFLATED_BYTES`](crate::limits::INFLATED_BYTES), and
/// [`limits::INFLATED_RATIO`](crate::limits::INFLATED_RATIO) times the compressed size.
pub fn allow_zip(decrypter: Decrypter) -> Decrypter {
    decrypter.inflating()
}
