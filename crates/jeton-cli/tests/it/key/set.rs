//! `jeton key set`: new, add, remove, list.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::json;
use crate::binary::{ends, keys, line, said, succeeds};

/// Creates a folder with the test keys and the set `jwks` of one ES256 key.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for key in fs::read_dir(keys()).unwrap() {
        let key = key.unwrap();
        fs::copy(key.path(), folder.path().join(key.file_name())).unwrap();
    }
    let new = ["key", "set", "new", "jwks", "es256.jwk"];
    succeeds(folder.path(), &new, b"");
    folder
}

fn kids(folder: &Path) -> Vec<Value> {
    let set = json(folder, "jwks");
    let keys = set["keys"].as_array().unwrap().iter();
    keys.map(|key| key["kid"].clone()).collect()
}

#[test]
fn set_has_public_keys_with_use() {
    let folder = folder();
    let path = folder.path();
    for file in [
        "rs256.jwk",
        "es256-sec1.der",
        "ed25519.pub.pem",
        "jwks-enc.json",
    ] {
        // The PEM of the first key is the same key under another id.
        succeeds(path, &["key", "set", "add", "jwks", file], b"");
    }
    let set = json(path, "jwks");
    for key in set["keys"].as_array().unwrap() {
        let is_for_encryption = ["ECDH-ES", "RSA-OAEP"]
            .iter()
            .any(|alg| key["alg"].as_str().unwrap().starts_with(alg));
        let wanted = if is_for_encryption { "enc" } else { "sig" };
        assert_eq!(key["use"], wanted, "{key}");
        assert!(key["kid"].is_string(), "{key}");
        for private in ["d", "p", "q", "k", "priv"] {
            assert!(key.get(private).is_none(), "{key}");
        }
    }
    let token = line(path, &["jws", "sign", "--key", "es256.jwk", "text"]);
    succeeds(path, &["jws", "verify", "--key", "jwks", &token], b"");
}

#[test]
fn set_rotation_adds_and_removes_a_key() {
    let folder = folder();
    let path = folder.path();
    succeeds(path, &["key", "new", "--alg", "ES256", "-o", "next"], b"");
    succeeds(path, &["key", "set", "add", "jwks", "next"], b"");
    let next = line(path, &["key", "thumbprint", "next"]);
    assert_eq!(kids(path), ["test-es", &next]);
    let remove = ["key", "set", "remove", "jwks", "--kid", "test-es"];
    succeeds(path, &remove, b"");
    assert_eq!(kids(path), [&*next]);
    let list = "to list the key ids, run `jeton key set list jwks`";
    ends(path, &remove, b"", 2, list);
    succeeds(path, &["key", "set", "remove", "jwks", "--kid", &next], b"");
    assert_eq!(kids(path).len(), 0);
    // An empty set can be filled again.
    succeeds(path, &["key", "set", "list", "jwks"], b"");
    succeeds(path, &["key", "set", "add", "jwks", "next"], b"");
    assert_eq!(kids(path), [&*next]);
}

#[test]
fn set_symmetric_key_is_refused_unless_named() {
    let folder = folder();
    let path = folder.path();
    let add = ["key", "set", "add", "jwks", "hs256.jwk"];
    let before = fs::read(path.join("jwks")).unwrap();
    ends(path, &add, b"", 2, "add `--symmetric`");
    assert_eq!(fs::read(path.join("jwks")).unwrap(), before);
    let (text, code) = said(path, &[&add[..], &["--symmetric"]].concat());
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("do not publish it"), "{text}");
    // The next call must name it again.
    let add = ["key", "set", "add", "jwks", "rs256.jwk"];
    ends(path, &add, b"", 2, "add `--symmetric`");
    succeeds(path, &[&add[..], &["--symmetric"]].concat(), b"");
    let new = ["key", "set", "new", "secret", "hs256.jwk", "--symmetric"];
    succeeds(path, &new, b"");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(path.join("secret")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
}

#[test]
fn set_with_a_private_key_is_not_extended() {
    let folder = folder();
    let add = ["key", "set", "add", "jwks-private.json", "rs256.jwk"];
    let hint = "to get the public keys, run `jeton key public jwks-private.json`";
    ends(folder.path(), &add, b"", 2, hint);
}

#[test]
fn set_same_key_is_added_once() {
    let folder = folder();
    let path = folder.path();
    let before = fs::read(path.join("jwks")).unwrap();
    let add = ["key", "set", "add", "jwks", "es256.pub.jwk"];
    let (text, code) = said(path, &add);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("the set has one of the keys already"),
        "{text}"
    );
    assert_eq!(fs::read(path.join("jwks")).unwrap(), before);
}

#[test]
fn set_two_keys_of_one_id_are_an_error() {
    let folder = folder();
    let path = folder.path();
    let new = [
        "key", "new", "--alg", "ES256", "--kid", "test-es", "-o", "other",
    ];
    succeeds(path, &new, b"");
    let add = ["key", "set", "add", "jwks", "other"];
    let hint = "first run `jeton key set remove jwks --kid ID`";
    ends(path, &add, b"", 2, hint);
    let both = ["key", "set", "new", "two", "es256.jwk", "other"];
    ends(path, &both, b"", 2, "another key has the same key id");
    assert!(!path.join("two").exists());
    // A set that has them already.
    let es256 = line(path, &["key", "public", "es256.jwk"]);
    let other = line(path, &["key", "public", "other"]);
    fs::write(path.join("two"), format!("{{\"keys\":[{es256},{other}]}}")).unwrap();
    let (text, code) = said(path, &["key", "set", "list", "two"]);
    assert_eq!(code, 1, "{text}");
    let said = "found: two: the keys 1 and 2 have the same key id (kid)";
    assert!(text.contains(said), "{text}");
    let add = ["key", "set", "add", "two", "rs256.jwk"];
    ends(
        path,
        &add,
        b"",
        2,
        "run `jeton key set remove two --kid ID`",
    );
    let remove = ["key", "set", "remove", "two", "--kid", "test-es"];
    succeeds(path, &remove, b"");
    succeeds(path, &["key", "set", "add", "two", "other"], b"");
}

#[test]
fn set_keeps_unknown_keys_and_members() {
    let folder = folder();
    let path = folder.path();
    let unknown = r#"{"kty":"new","kid":"x","n":18446744073709551617}"#;
    let text = format!("{{\"issuer\":1.50,\"keys\":[{unknown}],\"more\":[]}}");
    fs::write(path.join("jwks"), text).unwrap();
    succeeds(path, &["key", "set", "add", "jwks", "es256.jwk"], b"");
    let text = fs::read_to_string(path.join("jwks")).unwrap();
    for part in [unknown, "\"issuer\":1.50", "\"more\":[]", "test-es"] {
        assert!(text.contains(part), "{text}");
    }
    let remove = ["key", "set", "remove", "jwks", "--kid", "x"];
    succeeds(path, &remove, b"");
    let text = fs::read_to_string(path.join("jwks")).unwrap();
    assert!(!text.contains(unknown) && text.contains("1.50"), "{text}");
}

#[cfg(unix)]
#[test]
fn set_file_keeps_its_permissions_and_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = folder();
    let path = folder.path();
    let mode = |mode| fs::set_permissions(path.join("jwks"), fs::Permissions::from_mode(mode));
    symlink("jwks", path.join("link")).unwrap();
    for (wanted, file) in [(0o640, "rs256.jwk"), (0o604, "eddsa.jwk")] {
        mode(wanted).unwrap();
        succeeds(path, &["key", "set", "add", "link", file], b"");
        let metadata = fs::metadata(path.join("jwks")).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, wanted);
    }
    assert_eq!(kids(path).len(), 3);
    assert!(
        fs::symlink_metadata(path.join("link"))
            .unwrap()
            .is_symlink()
    );
    let left = fs::read_dir(path).unwrap();
    let left = left.filter(|file| {
        let name = file.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with(".jeton")
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn set_new_does_not_replace_a_file() {
    let folder = folder();
    let new = ["key", "set", "new", "jwks", "rs256.jwk"];
    let hint = "hint: to add keys to it, run `jeton key set add jwks FILE`";
    ends(folder.path(), &new, b"", 2, hint);
    let printed = line(folder.path(), &["key", "set", "new", "-", "rs256.jwk"]);
    let set: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(set["keys"].as_array().unwrap().len(), 1);
}

#[test]
fn set_full_is_an_error_with_the_limit() {
    let folder = folder();
    let path = folder.path();
    let es256 = line(path, &["key", "public", "es256.jwk"]);
    let keys: Vec<String> = (0..256)
        .map(|number| es256.replace("test-es", &format!("k{number}")))
        .collect();
    let text = format!("{{\"keys\":[{}]}}", keys.join(","));
    fs::write(path.join("jwks"), &text).unwrap();
    let add = ["key", "set", "add", "jwks", "rs256.jwk"];
    let (said, code) = said(path, &add);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("257") && said.contains("256"), "{said}");
    assert_eq!(fs::read_to_string(path.join("jwks")).unwrap(), text);
}

#[test]
fn set_list_is_a_table_or_json() {
    let folder = folder();
    let path = folder.path();
    succeeds(path, &["key", "set", "add", "jwks", "rs256.jwk"], b"");
    let table = succeeds(path, &["key", "set", "list", "jwks"], b"");
    let table = String::from_utf8(table).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines[0].starts_with("KID"), "{table}");
    assert!(
        lines[1].contains("test-es") && lines[1].contains("EC P-256"),
        "{table}"
    );
    assert!(lines.iter().all(|line| line.len() <= 80), "{table}");
    let list = line(path, &["key", "set", "list", "jwks", "--json"]);
    let list: Value = serde_json::from_str(&list).unwrap();
    let thumbprint = line(path, &["key", "thumbprint", "es256.jwk"]);
    assert_eq!(list[0]["thumbprint"], *thumbprint);
    assert_eq!(list[0]["secret"], false);
    // The thumbprint of a secret is not shown.
    let list = line(
        path,
        &["key", "set", "list", "jwks-symmetric.json", "--json"],
    );
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list[0].get("thumbprint"), None);
}

#[test]
fn set_list_escapes_and_shortens_a_kid() {
    let folder = folder();
    let path = folder.path();
    let es256 = line(path, &["key", "public", "es256.jwk"]);
    let kid = format!("\\u001b[2J{}", "x".repeat(200));
    let key = es256.replace("test-es", &kid);
    fs::write(path.join("jwks"), format!("{{\"keys\":[{key}]}}")).unwrap();
    let (text, code) = said(path, &["key", "set", "list", "jwks"]);
    assert_eq!(code, 0, "{text}");
    assert!(
        !text.contains('\u{1b}') && !text.contains(&"x".repeat(60)),
        "{text}"
    );
}

#[test]
fn set_command_on_a_single_key_is_an_error() {
    let folder = folder();
    for call in [
        &["list", "es256.pub.jwk"][..],
        &["add", "es256.pub.jwk", "rs256.jwk"],
        &["remove", "es256.pub.jwk", "--kid", "a"],
    ] {
        let call = [&["key", "set"], call].concat();
        ends(folder.path(), &call, b"", 2, "run `jeton key set new");
    }
}
