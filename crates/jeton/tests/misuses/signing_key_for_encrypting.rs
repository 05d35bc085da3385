//! A signing key where an encryption key is expected, and the reverse.

use jeton::jwe::{Decrypter, Encrypter};
use jeton::jws::JwsSigner;
use jeton::key::{ContentEnc, DecryptionKey, KeyManagementAlg, SigAlg, SigningKey};

fn main() {
    let signing = SigningKey::generate(SigAlg::ES256).unwrap();
    let opening = DecryptionKey::generate(KeyManagementAlg::EcdhEs).unwrap();
    let (verifying, encrypting) = (signing.verifying_key(), opening.encryption_key());
    let _ = Encrypter::new(&verifying, ContentEnc::A256Gcm); //~ E0277
    let _ = Decrypter::new(&signing); //~ E0277
    let _ = JwsSigner::new(&opening); //~ E0277
    //+ let _ = Encrypter::new(&encrypting, ContentEnc::A256Gcm);
    //+ let _ = Decrypter::new(&opening);
    //+ let _ = JwsSigner::new(&signing);
}
