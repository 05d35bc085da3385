//! An HMAC key where a signing key is expected.

use jeton::key::{MacAlg, SigAlg, MacKey};

fn main() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let _ = key.verifying_key(); //~ E0599
    //+ let key = jeton::key::SigningKey::generate(SigAlg::ES256).unwrap();
    //+ let _ = key.verifying_key();
}
