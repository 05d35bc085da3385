//! Everything questionable, behind one name, so that one search finds it.

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

/// A compact JWS as it stands, with nothing verified.
///
/// To look at a token while debugging. Whoever sent it may have written every byte: no decision may
/// rest on it.
#[derive(Debug)]
pub struct Unverified {
    /// The protected header's bytes.
    pub header: Vec<u8>,
    /// The payload's bytes.
    pub payload: Vec<u8>,
}

/// Takes a compact JWS apart without verifying it.
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

/// RSAES-PKCS1-v1_5 as key management (RFC 7518, section 4.2): the only way to it.
///
/// Questionable: Bleichenbacher's attack turns every visible difference between a right and a wrong
/// padding into a decryption oracle. A wrong padding, or a content key of another length, here yields a
/// random content key, chosen without a branch, so that the token fails as it would for any wrong key (RFC
/// 7516, section 11.5).
///
/// AWS-LC itself branches on the padding, and offers no way around it. So each decryption is followed by
/// another, of a number whose padding is wrong where the first was right, and right where it was wrong: both
/// together are the same work. What remains is the order of the two, and how many bytes are copied out of a
/// right padding. It costs twice the time.
///
/// A key for this has no other use: a [`Decrypter`] that is given the same RSA key for RSA-OAEP answers
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

/// That a door of this module was opened. It cannot be made outside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Opened(());

/// Compresses before encrypting (`zip: DEF`, RFC 7516, section 4.1.3).
///
/// Questionable: the length of what is encrypted then depends on its content, which gives away
/// secrets that stand beside something an attacker chose (CRIME).
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

/// Takes compressed tokens too (`zip: DEF`).
///
/// What comes out has at most [`limits::INFLATED_BYTES`](crate::limits::INFLATED_BYTES), and
/// [`limits::INFLATED_RATIO`](crate::limits::INFLATED_RATIO) times the size of what went in.
pub fn allow_zip(decrypter: Decrypter) -> Decrypter {
    decrypter.inflating()
}
