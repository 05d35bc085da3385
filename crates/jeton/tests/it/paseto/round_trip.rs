//! Any bytes round-trip with any context, and only with the same context.

use std::sync::LazyLock;

use jeton::paseto::TokenContext;
use jeton::paseto::v4::{LocalKey, SecretKey};
use proptest::collection::vec;
use proptest::prelude::*;

static LOCAL: LazyLock<LocalKey> = LazyLock::new(|| LocalKey::generate().unwrap());
static SECRET: LazyLock<SecretKey> = LazyLock::new(|| SecretKey::generate().unwrap());

proptest! {
    #[test]
    fn local_round_trip_property(
        message in vec(any::<u8>(), 0..2000),
        footer in vec(any::<u8>(), 0..300),
        assertion in vec(any::<u8>(), 0..300),
    ) {
        let context = TokenContext::new().footer(&footer).implicit_assertion(&assertion);
        let token = LOCAL.encrypt(&message, context).unwrap();
        let opened = LOCAL.decrypt(&token, &assertion).unwrap();
        prop_assert_eq!(opened.message(), &message);
        prop_assert_eq!(opened.footer(), &footer);
        prop_assert!(LOCAL.decrypt(&token, &[&assertion[..], b"x"].concat()).is_err());
    }

    #[test]
    fn public_round_trip_property(
        message in vec(any::<u8>(), 0..2000),
        footer in vec(any::<u8>(), 0..300),
        assertion in vec(any::<u8>(), 0..300),
    ) {
        let context = TokenContext::new().footer(&footer).implicit_assertion(&assertion);
        let token = SECRET.sign(&message, context).unwrap();
        let opened = SECRET.public_key().verify(&token, &assertion).unwrap();
        prop_assert_eq!(opened.message(), &message);
        prop_assert_eq!(opened.footer(), &footer);
        prop_assert!(SECRET.public_key().verify(&token, &[&assertion[..], b"x"].concat()).is_err());
    }

    /// No text makes a verifier panic, and all are rejected.
    #[test]
    fn arbitrary_text_is_rejected_without_panic(text in "(v4\\.(local|public)\\.)?[A-Za-z0-9_=.\\-\\n]{0,300}", any in ".{0,100}") {
        for text in [text, any] {
            prop_assert!(LOCAL.decrypt(&text, b"").is_err_and(|e| e.is_rejection()));
            prop_assert!(SECRET.public_key().verify(&text, b"").is_err_and(|e| e.is_rejection()));
        }
    }
}
