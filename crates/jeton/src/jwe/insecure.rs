//! Insecure and legacy options of a JWE. [`danger`](crate::danger) re-exports them.

use super::{Decrypter, Encrypter};
use crate::error::Result;
use crate::jws;

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
#[cfg(feature = "legacy")]
pub fn compress(encrypter: Encrypter<'_>) -> Encrypter<'_> {
    encrypter.compressing()
}

/// Accepts compressed tokens (`zip: DEF`).
///
/// The limits for the inflated content are [`limits::INFLATED_BYTES`](crate::limits::INFLATED_BYTES), and
/// [`limits::INFLATED_RATIO`](crate::limits::INFLATED_RATIO) times the compressed size.
#[cfg(feature = "legacy")]
pub fn allow_zip(decrypter: Decrypter) -> Decrypter {
    decrypter.inflating()
}

/// Accepts a JWE in the JSON serialization whose `enc` is not in its protected header.
///
/// Insecure: nothing authenticates the name of the content encryption then. If AES-CBC and AES-GCM keys have
/// the same length, an attacker can replace the name, and the content key is used with the wrong cipher. Set
/// the expected one with [`allow_only`](Decrypter::allow_only). A member that is in two headers is still
/// rejected.
///
/// ```
/// use jeton::danger;
/// use jeton::jwe::Decrypter;
/// use jeton::key::{ContentEnc, ContentKey};
///
/// let key = ContentKey::generate(ContentEnc::A256Gcm)?;
/// let decrypter = Decrypter::new(&key).allow_only([ContentEnc::A256Gcm]);
/// let decrypter = danger::allow_unprotected_enc(decrypter);
/// # Ok::<(), jeton::Error>(())
/// ```
pub fn allow_unprotected_enc(decrypter: Decrypter) -> Decrypter {
    decrypter.with_unprotected_enc()
}

/// Encrypts with a protected header whose text the caller provides, like
/// [`RawHeaderSigner`](crate::danger::RawHeaderSigner). The text is an object with the `alg` and `enc` of the
/// encrypter, `typ`, `cty` and `kid`, and members that [`Encrypter::header`] adds. Only for the compact
/// serialization, and only for key management that adds no further header member.
///
/// # Errors
///
/// Those of [`RawHeaderSigner::new`](crate::danger::RawHeaderSigner::new) if the text is not such a header.
/// [`encrypt`](Encrypter::encrypt) returns
/// [`InvalidUse::HeaderMember`](crate::error::InvalidUse::HeaderMember) if the header would need further members.
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
    jws::check_header_text(text, &[("alg", alg), ("enc", enc)])?;
    Ok(encrypter.under(text))
}
