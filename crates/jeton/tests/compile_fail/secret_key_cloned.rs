//! A secret has one owner.

use jeton::key::{MacKey, SigningKey};
use jeton::paseto::v4::{LocalKey, SecretKey};

fn is_clone<T: Clone>() {}

fn main() {
    is_clone::<MacKey>();
    is_clone::<SigningKey>();
    is_clone::<LocalKey>();
    is_clone::<SecretKey>();
}
