//! A public key where a private key is expected.

use jeton::jws::Signer;
use jeton::key::{SigAlg, SigningKey};

fn main() {
    let key = SigningKey::generate(SigAlg::ES256).unwrap();
    let _ = Signer::new(&key.verifying_key()); //~ E0277
    //+ let _ = Signer::new(&key);
}
