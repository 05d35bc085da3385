//! Only a verifier creates a `Verified`.

use jeton::Verified;

fn forged() -> Verified<u8> {
    Verified { claims: 1 } //~ private fields
    //+ unimplemented!()
}

fn defaulted() -> Verified<u8> {
    Default::default() //~ E0277
    //+ unimplemented!()
}

fn converted() -> Verified<u8> {
    1.into() //~ E0277
    //+ unimplemented!()
}

fn main() {}
