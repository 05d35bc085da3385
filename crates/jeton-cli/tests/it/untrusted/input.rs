//! Runs every command that reads untrusted input with a memory limit. None crashes or hangs, and each ends with a
//! documented exit code.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use super::confined::{Ended, confined};
use super::hostile::{self, PAYLOAD_BYTES, TOKEN_BYTES, documents, holding, of_many_parts};
use crate::binary::{keys, line, succeeds};
use crate::data_folder::{ISS, SETTINGS};
use crate::encryption::compressed;
use jeton_testkit::is_sampled;

/// The documents for parts of a token for which not all documents are tested.
const SOME: [&str; 6] = [
    "arrays",
    "objects",
    "members",
    "elements at the limit",
    "escapes",
    "private members",
];

/// Calls that read a token without a key.
const LOOKS: [&[&str]; 3] = [
    &["inspect"],
    &["inspect", "--json"],
    &["inspect", "--web", "-o", "-"],
];

/// Creates a folder with the test keys.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for key in fs::read_dir(keys()).unwrap() {
        let key = key.unwrap();
        fs::copy(key.path(), folder.path().join(key.file_name())).unwrap();
    }
    folder
}

/// Every fifth case, or all.
fn sample<T>(cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let cases = cases.into_iter().enumerate();
    cases.filter_map(|(index, case)| is_sampled(index, 10).then_some(case))
}

#[track_caller]
fn reads(folder: &Path, call: &[&str], text: &str) -> Ended {
    fs::write(folder.join("hostile"), text).unwrap();
    confined(folder, &[call, &["@hostile"]].concat(), Stdio::null())
}

#[test]
fn inspect_nesting_is_shown_to_the_limit_with_a_note() {
    let folder = folder();
    let folder = folder.path();
    let deep = hostile::nested(24_000, "[", "", "]");
    for (place, token) in holding(&format!("{{\"a\":{deep}}}")) {
        if ["PASERK", "JWK", "key set", "itself"].contains(&place) {
            continue;
        }
        let [text, json, page] = LOOKS.map(|look| reads(folder, look, &token));
        if place == "PASETO footer" {
            // It has its own limit.
            assert_eq!([text.code, json.code, page.code], [1; 3], "{place}");
            continue;
        }
        for (ended, bytes_max) in [(&text, 4096), (&json, 4096), (&page, 128 * 1024)] {
            assert_eq!(ended.code, 0, "{place}: {}", ended.stderr);
            let said = "values nested deeper than 32 levels are not shown";
            assert!(ended.stderr.contains(said), "{place}: {}", ended.stderr);
            let shown = String::from_utf8_lossy(&ended.stdout);
            assert!(shown.contains("nested deeper than 32 levels"), "{place}");
            assert!(shown.len() < bytes_max, "{place}: {}", shown.len());
        }
        let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        assert!(json["notes"].is_array(), "{place}");
    }
}

#[test]
fn inspect_hostile_payload_stays_within_memory() {
    let folder = folder();
    for (_, document) in sample(documents(PAYLOAD_BYTES)) {
        let (_, token) = holding(&document).swap_remove(0);
        for look in LOOKS {
            assert_eq!(reads(folder.path(), look, &token).code, 0);
        }
    }
}

#[test]
fn inspect_hostile_parts_stay_within_memory() {
    let folder = folder();
    let some = documents(PAYLOAD_BYTES).into_iter();
    let some = some.filter(|(name, _)| SOME.contains(name));
    let tokens = some.flat_map(|(_, document)| holding(&document).into_iter().skip(1));
    for (_, token) in sample(tokens) {
        for look in LOOKS {
            reads(folder.path(), look, &token);
        }
    }
}

#[test]
fn many_parts_stay_within_memory() {
    let folder = folder();
    for (_, token) in of_many_parts(TOKEN_BYTES) {
        for look in LOOKS {
            reads(folder.path(), look, &token);
        }
        for call in [
            &["jwt", "verify", "--key", "es256.pub.jwk"][..],
            &["jws", "verify", "--key", "es256.pub.jwk", "--json"],
            &["jwe", "decrypt", "--key", "ecdh.jwk", "--json"],
            &["paseto", "verify", "--key", "k4.public"],
            &["paseto", "decrypt", "--key", "k4.local"],
            &["doctor", "--key", "es256.pub.jwk"],
            &["doctor", "--json"],
            &[
                "token",
                "verify",
                "--server",
                "http://127.0.0.1:1",
                "--audience",
                "a",
            ],
        ] {
            let ended = reads(folder.path(), call, &token);
            // Without a key, the doctor only names the format of a PASETO.
            assert!(ended.code > 0 || call[0] == "doctor", "{call:?}");
        }
    }
}

#[test]
fn verified_hostile_payload_stays_within_memory() {
    let folder = folder();
    let folder = folder.path();
    for (name, document) in sample(documents(PAYLOAD_BYTES)) {
        fs::write(folder.join("payload"), &document).unwrap();
        let signed = line(folder, &["jws", "sign", "--key", "hs256.jwk", "@payload"]);
        let key = ["--key", "hs256.jwk"];
        let jws = reads(folder, &[&["jws", "verify"], &key[..]].concat(), &signed);
        assert!(jws.stdout == document.as_bytes(), "{name}");
        reads(
            folder,
            &[&["jws", "verify", "--json"], &key[..]].concat(),
            &signed,
        );
        for allow in [
            &[][..],
            &["--allow", "no-expiry"],
            &["--allow", "no-expiry", "--json"],
        ] {
            reads(
                folder,
                &[&["jwt", "verify"], &key[..], allow].concat(),
                &signed,
            );
        }
        reads(folder, &["doctor", "--key", "hs256.jwk"], &signed);
        reads(folder, &["doctor", "--json"], &signed);

        let call = ["paseto", "sign", "--key", "k4.secret", "@payload"];
        let signed = line(folder, &call);
        let verify = ["paseto", "verify", "--key", "k4.public"];
        for more in [&["--raw"][..], &["--allow", "no-expiry"], &["--json"]] {
            reads(folder, &[&verify[..], more].concat(), &signed);
        }
    }
}

#[test]
fn decrypted_hostile_plaintext_stays_within_memory() {
    let folder = folder();
    let folder = folder.path();
    for (_, document) in sample(documents(PAYLOAD_BYTES)) {
        fs::write(folder.join("payload"), &document).unwrap();
        let seal = ["jwe", "encrypt", "--key", "ecdh.pub.jwk", "@payload"];
        let sealed = line(folder, &seal);
        let open = ["--key", "ecdh.jwk"];
        reads(folder, &[&["jwe", "decrypt"], &open[..]].concat(), &sealed);
        reads(
            folder,
            &[&["jwe", "decrypt", "--json"], &open[..]].concat(),
            &sealed,
        );
        let nested = [
            "jwt",
            "verify",
            "--key",
            "hs256.jwk",
            "--decrypt-key",
            "ecdh.jwk",
        ];
        reads(folder, &nested, &sealed);

        let seal = ["paseto", "encrypt", "--key", "k4.local", "@payload"];
        let sealed = line(folder, &seal);
        reads(folder, &["paseto", "decrypt", "--key", "k4.local"], &sealed);
        reads(
            folder,
            &["paseto", "decrypt", "--key", "k4.local", "--raw"],
            &sealed,
        );
    }
}

#[test]
fn decrypt_compressed_zeros_stay_within_memory() {
    let folder = folder();
    let folder = folder.path();
    for megabytes in [1, 5, 60] {
        let key = fs::read_to_string(folder.join("a128kw.jwk")).unwrap();
        let sealed = compressed(&key, &vec![0_u8; megabytes << 20]);
        let zip = ["--allow", "zip"];
        let open = [&["jwe", "decrypt", "--key", "a128kw.jwk"][..], &zip].concat();
        let ended = reads(folder, &open, &sealed);
        // A thousand times its compressed size, which is above the limit.
        assert_eq!(ended.code, 1, "{}", ended.stderr);
        let open = [
            "jwt",
            "verify",
            "--key",
            "hs256.jwk",
            "--decrypt-key",
            "a128kw.jwk",
        ];
        reads(folder, &[&open[..], &zip].concat(), &sealed);
    }
}

#[test]
fn hostile_keys_stay_within_memory() {
    let folder = folder();
    let folder = folder.path();
    let token = line(folder, &["jws", "sign", "--key", "es256.jwk", "text"]);
    for (_, text) in sample(hostile::keys(1_000_000)) {
        fs::write(folder.join("key"), text).unwrap();
        for call in [
            &["inspect", "@key"][..],
            &["inspect", "--json", "@key"],
            &["inspect", "--web", "-o", "-", "@key"],
            &["key", "public", "key"],
            &["key", "thumbprint", "key"],
            &["key", "convert", "--to", "pem", "key"],
            &["jws", "verify", "--key", "key", &token],
            &["jws", "sign", "--key", "key", "text"],
            &["jwe", "encrypt", "--key", "key", "text"],
            &["jwe", "decrypt", "--key", "key", "a.b.c.d.e"],
            &["paseto", "verify", "--key", "key", "v4.public.AAAA"],
            &["doctor", "--key", "key", &token],
        ] {
            confined(folder, call, Stdio::null());
        }
    }
}

#[test]
fn hostile_sign_and_encrypt_arguments_stay_within_memory() {
    let folder = folder();
    let folder = folder.path();
    for (_, document) in documents(PAYLOAD_BYTES) {
        fs::write(folder.join("hostile"), document).unwrap();
        let at = "@hostile";
        for call in [
            &[
                "jwt",
                "sign",
                "--key",
                "hs256.jwk",
                "--no-expiry",
                "--claims",
                at,
            ][..],
            &[
                "jws",
                "sign",
                "--key",
                "hs256.jwk",
                "--serialization",
                "general",
                at,
            ],
            &[
                "jwe",
                "encrypt",
                "--key",
                "ecdh.pub.jwk",
                "--zip",
                "--allow",
                "zip",
                at,
            ],
            &[
                "jwe",
                "encrypt",
                "--key",
                "ecdh.pub.jwk",
                "--serialization",
                "general",
                "--aad",
                at,
                "text",
            ],
            &[
                "jwe",
                "encrypt",
                "--key",
                "ecdh.pub.jwk",
                "--apu",
                at,
                "text",
            ],
            &[
                "paseto",
                "sign",
                "--key",
                "k4.secret",
                "--no-expiry",
                "--claims",
                at,
            ],
            &[
                "paseto", "encrypt", "--key", "k4.local", "--footer", at, "text",
            ],
            &[
                "token",
                "issue",
                "--server",
                "http://127.0.0.1:1",
                "--profile",
                "a",
                "--claims",
                at,
            ],
        ] {
            confined(folder, call, Stdio::null());
        }
    }
}

/// Endless files and endless standard input are read up to a limit.
#[test]
fn endless_input_is_an_error_within_memory() {
    let folder = folder();
    let folder = folder.path();
    succeeds(folder, &["admin", "issuer", "add", SETTINGS], b"");
    for zeros in ["/dev/zero", "-"] {
        let at = if zeros == "-" { "-" } else { "@/dev/zero" };
        for call in [
            &["inspect", at][..],
            &["inspect", "--json", at],
            &["doctor", at],
            &["doctor", "--key", zeros],
            &["jwt", "verify", "--key", "es256.pub.jwk", at],
            &["jwt", "verify", "--key", zeros, "a.b.c"],
            &["jws", "verify", "--key", "es256.pub.jwk", at],
            &[
                "jws",
                "verify",
                "--key",
                "es256.pub.jwk",
                "--detached",
                at,
                "a..c",
            ],
            &["jwe", "decrypt", "--key", "ecdh.jwk", at],
            &[
                "jwe",
                "decrypt",
                "--password-file",
                zeros,
                "--allow",
                "pbes2",
                "a.b.c.d.e",
            ],
            &["paseto", "verify", "--key", "k4.public", at],
            &[
                "paseto",
                "verify",
                "--key",
                "k4.public",
                "--footer",
                at,
                "v4.public.AAAA",
            ],
            &["paseto", "decrypt", "--key", zeros, "v4.local.AAAA"],
            &["key", "public", zeros],
            &["key", "thumbprint", zeros],
            &["key", "convert", "--to", "jwk", zeros],
            &[
                "jwt",
                "sign",
                "--key",
                "hs256.jwk",
                "--no-expiry",
                "--claims",
                at,
            ],
            &["jws", "sign", "--key", "hs256.jwk", at],
            &["jwe", "encrypt", "--key", "ecdh.pub.jwk", at],
            &[
                "token",
                "verify",
                "--server",
                "http://127.0.0.1:1",
                "--audience",
                "a",
                at,
            ],
            &[
                "token",
                "issue",
                "--server",
                "http://127.0.0.1:1",
                "--profile",
                "a",
                "--claims",
                at,
            ],
            &["admin", "restore", "--data", "restored", zeros],
            &["admin", "issuer", "set", at],
            &["serve", "--config", "/dev/zero"],
            &[
                "admin",
                "key",
                "list",
                ISS,
                "--key-encryption-key",
                "/dev/zero",
            ],
            &[
                "token",
                "verify",
                "--bearer",
                "/dev/zero",
                "--audience",
                "a",
                "a.b.c",
            ],
            &[
                "token",
                "verify",
                "--ca",
                "/dev/zero",
                "--audience",
                "a",
                "a.b.c",
            ],
        ] {
            let endless = File::open("/dev/zero").unwrap();
            let ended = confined(folder, call, Stdio::from(endless));
            assert_ne!(ended.code, 0, "{call:?}");
        }
    }
}
