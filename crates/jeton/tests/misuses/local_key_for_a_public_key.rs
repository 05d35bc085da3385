//! A symmetric PASETO key where a public key is expected.

use jeton::paseto::v4::{LocalKey, PublicKey, SecretKey};

fn publish(_: PublicKey) {}

fn main() {
    publish(LocalKey::generate().unwrap()); //~ E0308
    //+ publish(SecretKey::generate().unwrap().public_key());
}
