//! A private key where a verifier expects a public key.

use jeton::jws::Verifier;
use jeton::key::{SigAlg, SigningKey};

fn main() {
    let key = SigningKey::generate(SigAlg::ES256).unwrap();
    let _ = Verifier::new(key); //~ E0277
    //+ let _ = Verifier::new(key.verifying_key());
}
