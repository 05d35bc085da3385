//! A key that wraps content keys where a key for an issuer is expected: another recipient of a token could
//! encrypt claims of its own with the content key.

use jeton::danger::IssuerWrappingKey;
use jeton::key::{ContentEnc, KeyWrapAlg, WrappingKey};
use jeton::{Policy, jwe, jwt};

fn main() {
    let wrapping = WrappingKey::generate(KeyWrapAlg::A256Kw).unwrap();
    let own = IssuerWrappingKey::new(WrappingKey::generate(KeyWrapAlg::A256Kw).unwrap());
    let _ = jwt::EncryptedIssuer::new(&wrapping, ContentEnc::A256Gcm); //~ E0277
    let _ = jwt::EncryptedVerifier::new(&wrapping, Policy::new("i", "a")); //~ E0277
    let _ = jwe::Encrypter::new(&own, ContentEnc::A256Gcm); //~ E0277
    let _ = jwe::Encrypter::new(&wrapping, ContentEnc::A256Gcm).recipient(&own); //~ E0277
    //+ let _ = jwt::EncryptedIssuer::new(&own, ContentEnc::A256Gcm);
    //+ let _ = jwt::EncryptedVerifier::new(&own, Policy::new("i", "a"));
    //+ let _ = jwe::Encrypter::new(&wrapping, ContentEnc::A256Gcm);
    //+ let _ = jwe::Encrypter::new(&wrapping, ContentEnc::A256Gcm).recipient(&wrapping);
}
