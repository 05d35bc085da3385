//! Tests of completions and manual pages: they contain every command.

use std::collections::BTreeSet;
use std::fs;

use crate::binary::{jeton, keys, succeeds};

#[test]
fn completions_contain_commands_and_algorithms() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = succeeds(&keys(), &["completions", shell], b"");
        let script = String::from_utf8(script).unwrap();
        for word in [
            "jws",
            "jwe",
            "inspect",
            "serialization",
            "decrypt-key",
            "restore",
        ] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    let bash = String::from_utf8(succeeds(&keys(), &["completions", "bash"], b"")).unwrap();
    assert!(bash.contains("RSA-OAEP-256") && bash.contains("ML-DSA-65"));
}

#[test]
fn man_writes_a_page_for_every_command() {
    let page = String::from_utf8(succeeds(&keys(), &["man"], b"")).unwrap();
    assert!(page.contains(".TH jeton 1"), "{page}");

    let folder = tempfile::tempdir().unwrap();
    let man = folder.path().join("man1");
    let call = ["man", "--out", man.to_str().unwrap()];
    assert!(succeeds(folder.path(), &call, b"").is_empty());
    let pages: BTreeSet<String> = fs::read_dir(&man)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in [
        "jeton.1",
        "jeton-key-new.1",
        "jeton-jws-sign.1",
        "jeton-jws-verify.1",
        "jeton-jwe-encrypt.1",
        "jeton-jwe-decrypt.1",
        "jeton-jwt-verify.1",
        "jeton-paseto-decrypt.1",
        "jeton-inspect.1",
        "jeton-verify.1",
        "jeton-serve.1",
        "jeton-token-revoke.1",
        "jeton-admin-issuer-add.1",
        "jeton-admin-key-rotate.1",
        "jeton-admin-revoke-token.1",
        "jeton-admin-restore.1",
    ] {
        assert!(pages.contains(name), "{name} is missing: {pages:?}");
    }
    assert!(!pages.iter().any(|name| name.contains("help")));
    let page = fs::read_to_string(man.join("jeton-jwe-encrypt.1")).unwrap();
    assert!(
        page.contains("Examples") && page.contains("\\-\\-aad"),
        "{page}"
    );
    assert!(page.contains("jeton jwe encrypt"), "{page}");

    let taken = folder.path().join("file");
    fs::write(&taken, "").unwrap();
    let output = jeton(
        folder.path(),
        &["man", "--out", taken.to_str().unwrap()],
        b"",
    );
    assert_eq!(output.status.code(), Some(2));
}
