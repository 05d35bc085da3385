//! Secret keys cannot be cloned.

use jeton::danger::IssuerWrappingKey;
use jeton::key::{
    ContentKey, DecryptionKey, EncryptionKey, MacKey, SigningKey, VerifyingKey, WrappingKey,
};
use jeton::paseto::v4::{LocalKey, PublicKey, SecretKey};

fn is_clone<T: Clone>() {}

fn main() {
    is_clone::<MacKey>(); //~ E0277
    is_clone::<SigningKey>(); //~ E0277
    is_clone::<DecryptionKey>(); //~ E0277
    is_clone::<WrappingKey>(); //~ E0277
    is_clone::<ContentKey>(); //~ E0277
    is_clone::<IssuerWrappingKey>(); //~ E0277
    is_clone::<LocalKey>(); //~ E0277
    is_clone::<SecretKey>(); //~ E0277
    //+ is_clone::<VerifyingKey>();
    //+ is_clone::<EncryptionKey>();
    //+ is_clone::<PublicKey>();
}
