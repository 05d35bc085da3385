//! A PASETO key of one version where a key of another version is expected.

use jeton::paseto::{v3, v4};

fn decrypt(_: &v4::LocalKey) {}
fn verify(_: &v4::PublicKey) {}

fn main() {
    decrypt(&v3::LocalKey::generate().unwrap()); //~ E0308
    verify(&v3::SecretKey::generate().unwrap().public_key()); //~ E0308
    //+ decrypt(&v4::LocalKey::generate().unwrap());
    //+ verify(&v4::SecretKey::generate().unwrap().public_key());
}
