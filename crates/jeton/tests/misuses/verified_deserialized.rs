//! A `Verified` cannot be deserialized from text or from the claims of another token.

use jeton::{Result, Verified, jwt::JwtVerifier};

fn read(verifier: &JwtVerifier) {
    let _: Result<Verified<Verified<u8>>> = verifier.verify("a.b.c"); //~ E0277
    //+ let _: Result<Verified<u8>> = verifier.verify("a.b.c");
}

fn main() {}
