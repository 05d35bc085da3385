//! A private key where a verifier expects a public key.

use jeton::jws::JwsVerifier;
use jeton::key::{SigAlg, SigningKey};

fn main() {
    let key = SigningKey::generate(SigAlg::ES256).unwrap();
    let _ = JwsVerifier::new(key); //~ E0277
    //+ let _ = JwsVerifier::new(key.verifying_key());
}
