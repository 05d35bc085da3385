//! The operation of one purpose with a key of the other purpose.

use jeton::paseto::v4::{LocalKey, SecretKey};

fn main() {
    let local = LocalKey::generate().unwrap();
    let public = SecretKey::generate().unwrap().public_key();
    let _ = local.verify("v4.public.AAAA", b""); //~ E0599
    let _ = public.decrypt("v4.local.AAAA", b""); //~ E0599
    //+ let _ = local.decrypt("v4.local.AAAA", b"");
    //+ let _ = public.verify("v4.public.AAAA", b"");
}
