//! An HMAC key where a public key is wanted.

use jeton::key::{MacAlg, MacKey, VerifyingKey};

fn publish(_: VerifyingKey) {}

fn main() {
    publish(MacKey::generate(MacAlg::HS256).unwrap());
}
