//! PASETO v4 under fixed keys: nothing that is not the key's own is opened.
#![no_main]

use std::sync::LazyLock;

use jeton::paseto::v4::{LocalKey, PublicKey};
use libfuzzer_sys::fuzz_target;

static LOCAL: LazyLock<LocalKey> = LazyLock::new(|| {
    LocalKey::from_paserk("k4.local.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8").expect("a key")
});
static PUBLIC: LazyLock<PublicKey> = LazyLock::new(|| {
    // RFC 8037's key, whose private half is not used here.
    PublicKey::from_paserk("k4.public.11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").expect("a key")
});

fuzz_target!(|text: &str| {
    let (token, implicit) = text.split_once('\0').unwrap_or((text, ""));
    // Nobody has made a token with these keys.
    assert!(LOCAL.decrypt(token, implicit.as_bytes()).is_err());
    assert!(PUBLIC.verify(token, implicit.as_bytes()).is_err());
});
