//! A key of one format where a key of another format is expected.

use jeton::key::{SigAlg, SigningKey};
use jeton::paseto::PasetoVerifier;
use jeton::{Policy, jwt::JwtVerifier, paseto::v4};

fn main() {
    let (mine, theirs) = (
        SigningKey::generate(SigAlg::Ed25519).unwrap(),
        v4::SecretKey::generate().unwrap(),
    );
    let _ = JwtVerifier::new(theirs.public_key(), Policy::new("i", "a")); //~ E0277
    let _ = PasetoVerifier::new(mine.verifying_key(), Policy::new("i", "a")); //~ E0277
    //+ let _ = jeton::jwt::JwtVerifier::new(mine.verifying_key(), Policy::new("i", "a"));
    //+ let _ = jeton::paseto::PasetoVerifier::new(theirs.public_key(), Policy::new("i", "a"));
}
