//! Upgrades as in docs/operating.md: a store of the first format opens, and one of a newer format is refused.

use std::fs;
use std::path::Path;

use crate::binary::{ends, succeeds};
use crate::data_folder::{json, private};
use crate::serving::Serving;

/// The issuer in the store of the first format.
pub(crate) const ISS: &str = "https://id.example/tenant";

/// Copies the data folder that the first version wrote.
pub(crate) fn first_format(to: &Path) {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jeton-server");
    let from = server.join("tests/fixtures/first_format/data");
    fs::create_dir(to).unwrap();
    let key = fs::read_to_string(from.join("key-encryption-key")).unwrap();
    private(&to.join("key-encryption-key"), &key);
    fs::copy(from.join("store.redb"), to.join("store.redb")).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(to, fs::Permissions::from_mode(0o700)).unwrap();
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(to.join("store.redb"), private).unwrap();
    }
}

fn set_format(data: &Path, format: u64) {
    let database = redb::Database::open(data.join("store.redb")).unwrap();
    let write = database.begin_write().unwrap();
    let meta = redb::TableDefinition::<&str, u64>::new("meta");
    let mut table = write.open_table(meta).unwrap();
    table.insert("format", format).unwrap();
    drop(table);
    write.commit().unwrap();
}

#[test]
fn store_of_the_first_format_is_upgraded_and_backed_up() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    first_format(&folder.join("jeton-data"));
    let keys = |data: &str| {
        let list = ["admin", "key", "list", ISS, "--json", "--data", data];
        let key = "jeton-data/key-encryption-key";
        json(
            folder,
            &[&list[..], &["--key-encryption-key", key]].concat(),
        )
    };
    let kid = keys("jeton-data")[0]["kid"].as_str().unwrap().to_owned();
    assert_eq!(kid, "VbEu8QVIovSFAbHnJGldXH_fkIYIhrYOyqFgGBG2-Vc");
    succeeds(folder, &["admin", "backup", "-o", "first.backup"], b"");
    succeeds(folder, &["admin", "migrate"], b"");
    succeeds(folder, &["admin", "verify"], b"");
    // The way back: the backup from before the upgrade.
    let restore = ["admin", "restore", "first.backup", "--data", "back"];
    succeeds(folder, &restore, b"");
    assert_eq!(keys("back"), keys("jeton-data"));
    let running = Serving::any_port(folder, &["--data", "jeton-data"]);
    assert!(running.address().starts_with("http://127.0.0.1:"));
}

#[test]
fn server_refuses_a_newer_store_and_does_not_change_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let data = folder.join("jeton-data");
    first_format(&data);
    let audit = ["admin", "audit", "--json"];
    let before = succeeds(folder, &audit, b"");
    set_format(&data, 2);
    let (code, said) = Serving::any_port(folder, &["--data", "jeton-data"]).end();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("use the version that wrote it"), "{said}");
    for verb in [&["backup", "-o", "none"][..], &["migrate"], &["status"]] {
        let args = [&["admin"], verb].concat();
        ends(folder, &args, b"", 2, "use the version that wrote it");
    }
    assert!(!folder.join("none").exists());
    set_format(&data, 1);
    succeeds(folder, &["admin", "verify"], b"");
    assert_eq!(succeeds(folder, &audit, b""), before);
}
