//! A public key where a private key is expected.

use jeton::jws::JwsSigner;
use jeton::key::{SigAlg, SigningKey};

fn main() {
    let key = SigningKey::generate(SigAlg::ES256).unwrap();
    let _ = JwsSigner::new(&key.verifying_key()); //~ E0277
    //+ let _ = JwsSigner::new(&key);
}
