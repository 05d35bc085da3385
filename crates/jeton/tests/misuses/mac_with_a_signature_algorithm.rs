//! An HMAC key with a signature algorithm, and a key pair with a MAC algorithm.

use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};

fn main() {
    let _ = MacKey::generate(SigAlg::ES256); //~ E0308
    let _ = SigningKey::generate(MacAlg::HS256); //~ E0308
    //+ let _ = MacKey::generate(MacAlg::HS256);
    //+ let _ = SigningKey::generate(SigAlg::ES256);
}
