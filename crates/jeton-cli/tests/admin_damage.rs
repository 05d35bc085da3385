//! `jeton admin` on data folders that are damaged, newer, full or without their key.
#![allow(clippy::unwrap_used, clippy::panic)]

mod binary;
mod data_folder;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use binary::{ends, jeton, succeeds};
use data_folder::{ISS, SETTINGS, issuer, json, keys, private, states, store};
use jeton_store::{Store, Txn, block_on};
use serde_json::Value;

#[test]
fn the_wrong_key_encryption_key_is_named_and_a_missing_one_is_not_replaced() {
    let folder = issuer();
    let folder = folder.path();
    let key = folder.join("jeton-data/key-encryption-key");
    let right = fs::read_to_string(&key).unwrap();
    let list = ["admin", "key", "list", ISS];
    let before = keys(folder);
    private(&folder.join("other.key"), &"28".repeat(32));
    let other = [&list[..], &["--key-encryption-key", "other.key"]].concat();
    ends(folder, &other, b"", 2, "this is not the key-encryption key");

    fs::remove_file(&key).unwrap();
    ends(folder, &list, b"", 2, "put the key");
    assert!(!key.exists(), "a new one would lock the old keys away");
    for text in ["", "28", &"zz".repeat(32), &"28".repeat(33)] {
        private(&key, text);
        ends(folder, &list, b"", 2, "must be 64 hexadecimal digits");
    }
    private(&key, &right);
    assert_eq!(keys(folder), before);

    // It is replaced by name, and the old one is of no use after that.
    private(&folder.join("old.key"), &right);
    let reseal = [
        "admin",
        "key",
        "reseal",
        "--older",
        "old.key",
        "--key-encryption-key",
        "other.key",
    ];
    succeeds(folder, &reseal, b"");
    succeeds(folder, &other, b"");
    ends(folder, &list, b"", 2, "this is not the key-encryption key");

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
fn a_key_encryption_key_that_everybody_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = issuer();
    let folder = folder.path();
    let key = folder.join("jeton-data/key-encryption-key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let list = ["admin", "issuer", "list"];
    ends(folder, &list, b"", 2, "chmod 600 makes it yours alone");
}

/// Whoever can write the folder can put another store or key there.
#[cfg(unix)]
#[test]
fn data_that_others_can_write_is_refused_with_a_remedy_that_helps() {
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
        // The hint is what helps.
        let remedy = remedy.trim().trim_start_matches("hint: ");
        let done = Command::new("sh")
            .args(["-c", remedy])
            .current_dir(folder)
            .status();
        assert!(done.unwrap().success());
        succeeds(folder, &list, b"");
    }
}

/// A link in the folder would have something outside opened, locked or read in its place.
#[cfg(unix)]
#[test]
fn key_encryption_key_that_is_a_link_is_followed_only_where_it_is_named() {
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
        "is a symbolic link, which is not followed",
    );
    // As Kubernetes mounts it: the operator has named it.
    let link = "jeton-data/key-encryption-key";
    let named = [&list[..], &["--key-encryption-key", link]].concat();
    succeeds(folder, &named, b"");
    fs::remove_file(folder.join("real.key")).unwrap();
    ends(
        folder,
        &list,
        b"",
        2,
        "is a symbolic link, which is not followed",
    );
}

#[test]
fn a_damaged_store_is_said_and_left_as_it_is() {
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
fn a_newer_store_is_refused_and_left_as_it_is() {
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
    for verb in [&["issuer", "list"][..], &["verify"], &["migrate"]] {
        let args = [&["admin"], verb].concat();
        ends(folder, &args, b"", 2, "use the version that wrote it");
    }
    set(1);
    succeeds(folder, &["admin", "migrate"], b"");
}

/// Half of a record, one of a newer jeton, and an audit entry that somebody has mended.
#[test]
fn a_record_that_is_damaged_newer_or_forged_is_named() {
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
    let newer = |text: String| text.replace("\"schema\":1", "\"schema\":2");
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
        (&["i", ISS], &newer, Some("which a newer jeton wrote"), 2),
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

/// A process that is killed while it makes a folder, restores one, or writes a key leaves its
/// unfinished files.
#[test]
fn what_was_half_made_is_made_anew() {
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

/// Root only, as it mounts a small disk: what cannot be written is said, and what was there is there.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=8m", "jeton-test"])
        .arg(&disk)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("not checked: a disk cannot be mounted here");
        return;
    }
    let filled = std::panic::catch_unwind(|| fill(&disk));
    let unmounted = Command::new("umount").arg(&disk).status().unwrap();
    assert!(unmounted.success());
    if let Err(panic) = filled {
        std::panic::resume_unwind(panic);
    }
}

#[cfg(target_os = "linux")]
fn fill(disk: &Path) {
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
            // The rest of the disk is somebody else's.
            let room = vec![0; 64 * 1024];
            let mut at = 0;
            while fs::write(disk.join(format!("other-{at}")), &room).is_ok() {
                at += 1;
            }
        }
    };
    assert!(refused.contains("no space left for the store"), "{refused}");
    let output = jeton(disk, &["admin", "backup", "--output", "a.backup"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(!disk.join("a.backup").exists());
    for entry in fs::read_dir(disk).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::remove_file(path).unwrap();
        }
    }
    let rules = json(disk, &["admin", "revoke", "rules", ISS, "--json"]);
    assert!(rules.as_array().unwrap().len() >= acknowledged * 50);
    succeeds(disk, &["admin", "verify"], b"");
}

#[test]
fn no_secret_is_printed_or_kept_in_the_clear() {
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
    // The same again, and one that is none: refused, without repeating them.
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
