//! A key of one format where a key of another format is expected.

use jeton::key::{SigAlg, SigningKey};
use jeton::{Policy, jwt, paseto::v4};

fn main() {
    let (mine, theirs) = (
        SigningKey::generate(SigAlg::Ed25519).unwrap(),
        v4::SecretKey::generate().unwrap(),
    );
    let _ = jwt::Verifier::new(theirs.public_key(), Policy::new("i", "a")); //~ E0277
    let _ = v4::Verifier::new(mine.verifying_key(), Policy::new("i", "a")); //~ E0277
    //+ let _ = jwt::Verifier::new(mine.verifying_key(), Policy::new("i", "a"));
    //+ let _ = v4::Verifier::new(theirs.public_key(), Policy::new("i", "a"));
}
