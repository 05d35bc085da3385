//! An HMAC key where a signing key is wanted.

use jeton::jwt;
use jeton::key::MacAlg;

fn main() {
    let key = jwt::MacKey::generate(MacAlg::HS256).unwrap();
    let _ = key.verifying_key();
}
