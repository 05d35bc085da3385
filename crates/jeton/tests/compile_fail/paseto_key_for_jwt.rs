//! A key of one format where another's is wanted.

use jeton::{Policy, jwt, paseto::v4};

fn main() {
    let key = v4::SecretKey::generate().unwrap();
    let _ = jwt::Verifier::new(key.public_key(), Policy::new("i", "a"));
}
