//! An HMAC key for an elliptic curve's algorithm, and a pair for an HMAC's.

use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};

fn main() {
    let _ = MacKey::generate(SigAlg::ES256); //~ E0308
    let _ = SigningKey::generate(MacAlg::HS256); //~ E0308
    //+ let _ = MacKey::generate(MacAlg::HS256);
    //+ let _ = SigningKey::generate(SigAlg::ES256);
}
