//! Tests of `jeton admin` on data folders that are damaged, newer, full or without their key.

use std::fs;
use std::process::Command;

use jeton_store::{Store, Txn, block_on};
use jeton_testkit::SmallDisk;
use serde_json::Value;

use crate::binary::{ends, jeton, succeeds};
use crate::data_folder::{ISS, SETTINGS, issuer, json, keys, private, states, store};

#[test]
fn wrong_key_encryption_key_is_named_and_missing_not_replaced() {
    let folder = issuer();
    let folder = folder.path();
    let key = folder.join("jeton-data/key-encryption-key");
    let right = fs::read_to_string(&key).unwrap();
    let list = ["admin", "key", "list", ISS];
    let before = keys(folder);
    private(&folder.join("other.key"), &"28".repeat(32));
    let other = [&list[..], &["--key-encryption-key", "other.key"]].concat();
    ends(folder, &other, b"", 2, "wrong key-encryption key");

    fs::remove_file(&key).unwrap();
    ends(folder, &list, b"", 2, "restore the file");
    assert!(!key.exists(), "a new one would lock the old keys away");
    for text in ["", "28", &"zz".repeat(32), &"28".repeat(33)] {
        private(&key, text);
        ends(folder, &list, b"", 2, "must be 64 hexadecimal digits");
    }
    private(&key, &right);
    assert_eq!(keys(folder), before);

    // It is replaced explicitly, and the old key no longer works.
    private(&folder.join("old.key"), &right);
    let reencrypt = [
        "admin",
        "key",
        "reencrypt",
        "--old-key",
        "old.key",
        "--key-encryption-key",
        "other.key",
    ];
    succeeds(folder, &reencrypt, b"");
    succeeds(folder, &other, b"");
    ends(folder, &list, b"", 2, "wrong key-encryption key");

    let output = Command::new(env!("CARGO_BIN_EXE_jeton"))
        .args(["admin", "issuer", "list"])
        .env("JETON_KEY_ENCRYPTION_KEY", "28".repeat(32))
        .current_dir(folder)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn world_readable_key_encryption_key_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let folder = issuer();
    let folder = folder.path();
    let key = folder.join("jeton-data/key-encryption-key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let list = ["admin", "issuer", "list"];
    ends(folder, &list, b"", 2, "chmod 600");
}

/// A user who can write to the folder could replace the store or the key.
#[cfg(unix)]
#[test]
fn data_writable_by_others_is_an_error_with_working_hint() {
    use std::os::unix::fs::PermissionsExt;
    let folder = issuer();
    let folder = folder.path();
    let list = ["admin", "issuer", "list"];
    let serve = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
    ];
    for (name, mode, remedy) in [
        ("jeton-data", 0o770, "hint: chmod 700 jeton-data\n"),
        ("jeton-data", 0o707, "hint: chmod 700 jeton-data\n"),
        (
            "jeton-data/store.redb",
            0o660,
            "hint: chmod 600 jeton-data/store.redb\n",
        ),
        (
            "jeton-data/lock",
            0o606,
            "hint: chmod 600 jeton-data/lock\n",
        ),
        (
            "jeton-data/key-encryption-key",
            0o620,
            "hint: chmod 600 jeton-data/key-encryption-key\n",
        ),
    ] {
        let path = folder.join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        for call in [&list[..], &serve] {
            let said = format!("{name} has mode {mode:04o}: other users can write it");
            ends(folder, call, b"", 2, &said);
            ends(folder, call, b"", 2, remedy);
        }
        // The hint fixes it.
        let remedy = remedy.trim().trim_start_matches("hint: ");
        let done = Command::new("sh")
            .args(["-c", remedy])
            .current_dir(folder)
            .status();
        assert!(done.unwrap().success());
        succeeds(folder, &list, b"");
    }
}

/// A link in the folder would make the command open, lock or read a file outside of it.
#[cfg(unix)]
#[test]
fn key_encryption_key_link_is_followed_only_if_named() {
    let folder = issuer();
    let folder = folder.path();
    let key = folder.join("jeton-data/key-encryption-key");
    fs::rename(&key, folder.join("real.key")).unwrap();
    std::os::unix::fs::symlink(folder.join("real.key"), &key).unwrap();
    let list = ["admin", "issuer", "list"];
    ends(
        folder,
        &list,
        b"",
        2,
        "is a symbolic link: links are not followed",
    );
    // Kubernetes mounts secrets as links, and the operator named this one.
    let link = "jeton-data/key-encryption-key";
    let named = [&list[..], &["--key-encryption-key", link]].concat();
    succeeds(folder, &named, b"");
    fs::remove_file(folder.join("real.key")).unwrap();
    ends(
        folder,
        &list,
        b"",
        2,
        "is a symbolic link: links are not followed",
    );
}

#[test]
fn damaged_store_is_reported_and_not_changed() {
    let folder = issuer();
    let folder = folder.path();
    let whole = fs::read(store(folder)).unwrap();
    let mut found = 0;
    for part in [0, 100, 4096, whole.len() / 2] {
        fs::write(store(folder), &whole[..part]).unwrap();
        let output = jeton(folder, &["admin", "issuer", "list"], b"");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{part}: {said}");
        let verified = jeton(folder, &["admin", "verify"], b"");
        assert_ne!(verified.status.code(), Some(0), "{part}");
        found += usize::from(verified.status.code() == Some(1));
    }
    assert!(found >= 2, "verify calls {found} of 4 damages damage");
    fs::write(store(folder), &whole).unwrap();
    succeeds(folder, &["admin", "verify"], b"");
}

#[test]
fn newer_store_is_an_error_and_not_changed() {
    let folder = issuer();
    let folder = folder.path();
    let set = |format: u64| {
        let database = redb::Database::open(store(folder)).unwrap();
        let write = database.begin_write().unwrap();
        let meta = redb::TableDefinition::<&str, u64>::new("meta");
        let mut table = write.open_table(meta).unwrap();
        table.insert("format", format).unwrap();
        drop(table);
        write.commit().unwrap();
    };
    set(2);
    for command in [&["issuer", "list"][..], &["verify"], &["migrate"]] {
        let args = [&["admin"], command].concat();
        ends(folder, &args, b"", 2, "use the version that wrote it");
    }
    set(1);
    succeeds(folder, &["admin", "migrate"], b"");
}

/// A truncated record, a record of a newer version, and a forged audit entry.
#[test]
fn damaged_newer_or_forged_record_is_named() {
    let folder = issuer();
    let folder = folder.path();
    succeeds(folder, &["admin", "revoke", "subject", ISS, "user-7"], b"");
    let with = |parts: &[&str], change: &dyn Fn(String) -> String| {
        let store = jeton_store::RedbStore::open(&folder.join("jeton-data")).unwrap();
        let key = jeton_store::Key::of(parts).unwrap();
        let read = block_on(store.read(std::slice::from_ref(&key))).unwrap();
        let before = read.entries[0].as_ref().unwrap().value.clone();
        let after = change(String::from_utf8(before.clone()).unwrap());
        block_on(store.commit(Txn::new().put(key, after))).unwrap();
        before
    };
    let half = |text: String| text[..text.len() / 2].to_owned();
    let newer = |text: String| text.replace("\"schema\":1", "\"schema\":4");
    let forged = |text: String| text.replace("\"act\":\"revoke\"", "\"act\":\"nothing\"");
    let list = ["admin", "issuer", "list"];
    let verify = ["admin", "verify"];
    for (parts, change, listed, verified) in [
        (
            &["i", ISS][..],
            &half as &dyn Fn(String) -> String,
            Some("is damaged or forged"),
            1,
        ),
        (
            &["i", ISS],
            &newer,
            Some("which a newer version of jeton wrote"),
            2,
        ),
        (
            &["rule", ISS, "subject", "user-7"],
            &half,
            Some("is damaged or forged"),
            1,
        ),
        (&["a", "00000000000000000002"], &forged, None, 1),
        (&["a", "00000000000000000001"], &half, None, 1),
    ] {
        let before = with(parts, change);
        match listed {
            Some(said) => ends(folder, &list, b"", 2, said),
            None => drop(succeeds(folder, &list, b"")),
        }
        let output = jeton(folder, &verify, b"");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(verified), "{parts:?}: {said}");
        with(parts, &|_| String::from_utf8(before.clone()).unwrap());
        succeeds(folder, &verify, b"");
    }
}

/// A process that is killed while it creates or restores a folder, or writes a key, leaves partial files.
#[test]
fn partial_folder_is_created_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let data = folder.join("jeton-data");
    fs::create_dir_all(data.join("restoring")).unwrap();
    fs::write(data.join("store.redb.new"), [0; 4096]).unwrap();
    fs::write(data.join("restoring/store.redb.new"), [0; 4096]).unwrap();
    fs::write(data.join("key-encryption-key.new"), "28").unwrap();
    let other = issuer();
    let backup = other.path().join("a.backup");
    let backup = backup.to_str().unwrap();
    succeeds(other.path(), &["admin", "backup", "--output", backup], b"");
    succeeds(folder, &["admin", "restore", backup], b"");
    assert!(!data.join("restoring").exists());
    fs::remove_file(data.join("store.redb")).unwrap();
    succeeds(folder, &["admin", "issuer", "add", SETTINGS], b"");
    assert_eq!(states(folder), ["signing"]);
}

/// Requires root, to mount a small disk: a failed write is reported, and existing data is kept.
#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_reported_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    if let Some(disk) = SmallDisk::mount(&disk).unwrap() {
        fill(&disk);
    }
}

#[cfg(target_os = "linux")]
fn fill(small: &SmallDisk) {
    let disk = small.path();
    succeeds(disk, &["admin", "issuer", "add", SETTINGS], b"");
    let mut acknowledged = 0;
    let names: Vec<String> = (0..2000).map(|i| format!("{i:0>400}")).collect();
    let refused = loop {
        let batch = names.iter().skip(acknowledged * 50).take(50);
        let args: Vec<&str> = ["admin", "revoke", "subject", ISS]
            .into_iter()
            .chain(batch.map(String::as_str))
            .collect();
        assert!(args.len() > 4, "the disk never got full");
        let output = jeton(disk, &args, b"");
        if output.status.code() != Some(0) {
            break String::from_utf8(output.stderr).unwrap();
        }
        acknowledged += 1;
        if acknowledged == 1 {
            small.fill();
        }
    };
    assert!(refused.contains("no space left for the store"), "{refused}");
    let output = jeton(disk, &["admin", "backup", "--output", "a.backup"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(!disk.join("a.backup").exists());
    small.free().unwrap();
    let rules = json(disk, &["admin", "revoke", "list", ISS, "--json"]);
    assert!(rules.as_array().unwrap().len() >= acknowledged * 50);
    succeeds(disk, &["admin", "verify"], b"");
}

#[test]
fn secrets_are_never_printed_or_stored_in_plaintext() {
    let folder = issuer();
    let folder = folder.path();
    let jwk = succeeds(
        folder,
        &["key", "new", "--alg", "ES256", "--kid", "mine"],
        b"",
    );
    let secret: Value = serde_json::from_slice(&jwk).unwrap();
    let secret = secret["d"].as_str().unwrap().to_owned();
    let key = fs::read_to_string(folder.join("jeton-data/key-encryption-key")).unwrap();
    let mut said = Vec::new();
    let mut call = |args: &[&str], stdin: &[u8]| {
        let output = jeton(folder, args, stdin);
        said.extend(output.stdout);
        said.extend(output.stderr);
    };
    call(&["admin", "key", "import", ISS, "-"], &jwk);
    // An existing key and an invalid one fail, and neither is printed.
    call(&["admin", "key", "import", ISS, "-"], &jwk);
    call(
        &["admin", "key", "import", ISS, "-"],
        &[&jwk[..20], b"x", &jwk[20..]].concat(),
    );
    for args in [
        &["key", "list", ISS, "--json"][..],
        &["key", "list", ISS],
        &["issuer", "show", ISS, "--json"],
        &["status", "--json"],
        &["backup", "--output", "-"],
        &["verify", "--json"],
    ] {
        call(&[&["admin"], args].concat(), b"");
    }
    let stored = fs::read(store(folder)).unwrap();
    for (place, bytes) in [("printed", &said), ("stored", &stored)] {
        let text = String::from_utf8_lossy(bytes);
        assert!(text.contains("mine"), "{place}");
        assert!(!text.contains(&secret), "{place}");
        assert!(!text.contains(key.trim()), "{place}");
    }
}
