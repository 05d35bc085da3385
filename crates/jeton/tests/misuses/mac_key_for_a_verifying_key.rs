//! An HMAC key where a public key is expected.

use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey, VerifyingKey};

fn publish(_: VerifyingKey) {}

fn main() {
    publish(MacKey::generate(MacAlg::HS256).unwrap()); //~ E0308
    //+ publish(SigningKey::generate(SigAlg::ES256).unwrap().verifying_key());
}
