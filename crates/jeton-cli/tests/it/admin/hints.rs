//! Runs the hints of `jeton admin`, each in a data folder.

use std::fs;
use std::path::Path;

use crate::binary::{self, jeton, succeeds};
use crate::data_folder::{ISS, SETTINGS, TWO_ALGORITHMS, issuer, keys, private};

/// Runs a call that fails with a hint; returns the first line of the error and the texts in backticks of the hint.
#[track_caller]
fn fails(folder: &Path, args: &[&str]) -> (String, Vec<String>) {
    let output = jeton(folder, args, b"");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
    let hint = stderr.lines().find_map(|line| line.strip_prefix("hint: "));
    let hint = hint.unwrap_or_else(|| panic!("no hint: {args:?}: {stderr}"));
    let commands = hint.split('`').skip(1).step_by(2).map(str::to_owned);
    (
        stderr.lines().next().unwrap().to_owned(),
        commands.collect(),
    )
}

/// Runs a command of a hint: a whole call, or options for the call that failed.
#[track_caller]
fn works(folder: &Path, args: &[&str], command: &str, fill: &[(&str, &str)]) {
    let words = command.split_whitespace().map(|word| {
        let filled = fill.iter().find(|(name, _)| *name == word);
        filled.map_or(word, |(_, value)| *value)
    });
    let words: Vec<&str> = words.collect();
    let call = match words[0] {
        "jeton" => words[1..].to_vec(),
        _ => [args, &words].concat(),
    };
    succeeds(folder, &call, b"");
}

#[test]
fn hint_of_admin_works() {
    let folder = issuer();
    let folder = folder.path();
    fs::write(folder.join("issuer.json"), SETTINGS).unwrap();
    succeeds(folder, &["admin", "backup", "-o", "saved"], b"");
    let kid = keys(folder)[0].0.clone();
    let import = ["admin", "key", "import", ISS, "key.der"];
    fs::copy(binary::keys().join("es256.der"), folder.join("key.der")).unwrap();
    let two = TWO_ALGORITHMS.replace("https://id.example", "https://two.example");
    succeeds(folder, &["admin", "issuer", "add", &two], b"");
    for (args, fill) in [
        (&["admin", "issuer", "add", "@issuer.json"][..], &[][..]),
        (&["admin", "key", "list", "https://nobody.example"], &[]),
        (&["admin", "key", "rotate", "https://two.example"], &[]),
        (&["admin", "restore", "saved"], &[("DIR", "restored")]),
        (&import, &[("FILE", "key.der")]),
        (
            &["admin", "revoke", "end", "subject", ISS, "nobody"],
            &[("ISSUER", ISS)],
        ),
    ] {
        let (_, commands) = fails(folder, args);
        assert!(!commands.is_empty(), "{args:?}");
        for command in commands {
            works(folder, args, &command, fill);
        }
    }
    // A key id of the list is the one to pass. One of 64 begins with a hyphen.
    let (_, commands) = fails(folder, &["admin", "revoke", "signed-by", ISS, "nobody"]);
    assert!(commands.is_empty());
    succeeds(
        folder,
        &["admin", "revoke", "signed-by", ISS, "--", &kid],
        b"",
    );
    // A whole token would be stored as an id, and revoke nothing.
    for token in ["eyJhbGciOiJFUzI1NiJ9.e30.c2ln", "v4.public.c2ln", "@token"] {
        let (error, commands) = fails(folder, &["admin", "revoke", "token", ISS, "id-1", token]);
        assert!(!error.contains(token), "{error}");
        assert_eq!(commands, ["jti", "jeton inspect"]);
    }
    // The option is removed.
    let revoke = ["admin", "revoke", "token", ISS, "id-1"];
    let expired = [&revoke[..], &["--expires-at", "2020-01-01T00:00:00Z"]].concat();
    let (_, commands) = fails(folder, &expired);
    assert_eq!(commands, ["--expires-at"]);
    succeeds(folder, &revoke, b"");
    // Another key-encryption key.
    let key = fs::read_to_string(folder.join("jeton-data/key-encryption-key")).unwrap();
    private(&folder.join("right"), &key);
    let other = tempfile::tempdir().unwrap();
    succeeds(other.path(), &["admin", "issuer", "add", SETTINGS], b"");
    let other = fs::read_to_string(other.path().join("jeton-data/key-encryption-key")).unwrap();
    private(&folder.join("jeton-data/key-encryption-key"), &other);
    let list = ["admin", "key", "rotate", ISS];
    let (_, commands) = fails(folder, &list);
    works(folder, &list, &commands[0], &[("FILE", "right")]);
}

/// Before the copy, which may take long.
#[cfg(unix)]
#[test]
fn migrate_to_an_unsafe_folder_fails_before_it_copies() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = issuer();
    let to = folder.path().join("shared");
    fs::create_dir(&to).unwrap();
    fs::set_permissions(&to, fs::Permissions::from_mode(0o770)).unwrap();
    let migrate = ["admin", "migrate", "--from", "jeton-data", "--to", "shared"];
    for args in [&[&migrate[..], &["--dry-run"]].concat(), &migrate[..]] {
        let stderr = String::from_utf8(jeton(folder.path(), args, b"").stderr).unwrap();
        assert!(stderr.contains("hint: chmod 700 shared\n"), "{stderr}");
        assert!(!stderr.contains("copied"), "{stderr}");
        assert_eq!(fs::read_dir(&to).unwrap().count(), 0);
    }
    fs::set_permissions(&to, fs::Permissions::from_mode(0o700)).unwrap();
    succeeds(folder.path(), &migrate, b"");
}
