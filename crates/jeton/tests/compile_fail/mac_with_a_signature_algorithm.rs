//! An HMAC key for an elliptic curve's algorithm.

use jeton::key::{MacKey, SigAlg};

fn main() {
    let _ = MacKey::generate(SigAlg::ES256);
}
