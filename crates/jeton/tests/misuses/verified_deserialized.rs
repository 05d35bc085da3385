//! A `Verified` cannot be deserialized from text or from the claims of another token.

use jeton::{Result, Verified, jwt};

fn read(verifier: &jwt::Verifier) {
    let _: Result<Verified<Verified<u8>>> = verifier.verify("a.b.c"); //~ E0277
    //+ let _: Result<Verified<u8>> = verifier.verify("a.b.c");
}

fn main() {}
