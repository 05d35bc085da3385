//! A key that is wrapped with a key of another version, or sealed to one.

use jeton::paserk::PaserkWrappingKey;
use jeton::paseto::v3::V3;
use jeton::paseto::v4::V4;
use jeton::paseto::{v3, v4};

fn main() {
    let key = v4::LocalKey::generate().unwrap();
    let _ = key.to_wrapped_paserk(&PaserkWrappingKey::<V3>::generate().unwrap()); //~ E0308
    let _ = key.to_sealed_paserk(&v3::SecretKey::generate().unwrap().public_key()); //~ E0308
    //+ let _ = key.to_wrapped_paserk(&PaserkWrappingKey::<V4>::generate().unwrap());
    //+ let _ = key.to_sealed_paserk(&v4::SecretKey::generate().unwrap().public_key());
}
