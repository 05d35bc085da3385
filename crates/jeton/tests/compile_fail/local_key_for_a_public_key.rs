//! A symmetric PASETO key where a public one is wanted.

use jeton::paseto::v4::{LocalKey, PublicKey};

fn publish(_: PublicKey) {}

fn main() {
    publish(LocalKey::generate().unwrap());
}
