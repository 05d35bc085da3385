//! Runs every command that reads untrusted files with a memory limit: backups, settings and
//! configurations.

use std::fs;
use std::process::Stdio;

use super::confined::confined;
use super::hostile::{self, PAYLOAD_BYTES, documents};
use crate::binary::succeeds;
use crate::data_folder::{ISS, SETTINGS};

fn backups() -> Vec<hostile::Named> {
    let first = "{\"jeton_backup\":1,\"revision\":1,\"at\":1}\n";
    let line =
        |key: &str, value: &str| format!("{}\n", serde_json::json!({"key": key, "value": value}));
    let record = |inner: &str| format!("{{\"schema\":1,\"record\":{inner}}}");
    let many = (0..60_000).map(|number| line(&format!("/i/{number}"), &record("{}")));
    let large = "a".repeat(250_000);
    let wide =
        (0..200).map(|number| line(&format!("/i/{number}"), &record(&format!("\"{large}\""))));
    let deep = hostile::nested(250_000, "[", "", "]");
    vec![
        ("one line", format!("{first}{}", "a".repeat(4_000_000))),
        ("first line", hostile::nested(4_000_000, "[", "", "]")),
        (
            "arrays",
            format!("{first}{}\n", hostile::nested(1_000_000, "[", "", "]")),
        ),
        (
            "deep record",
            format!("{first}{}", line("/i/a", &record(&deep))),
        ),
        (
            "many records",
            format!("{first}{}", many.collect::<String>()),
        ),
        (
            "large records",
            format!("{first}{}", wide.collect::<String>()),
        ),
        ("blank lines", format!("{first}{}", "\n".repeat(1_000_000))),
        (
            "members",
            format!("{first}{{{}}}\n", hostile::members(1_000_000)),
        ),
    ]
}

#[test]
fn hostile_backups_and_settings_stay_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeeds(folder, &["admin", "issuer", "add", SETTINGS], b"");
    for (name, backup) in backups() {
        fs::write(folder.join("backup"), backup).unwrap();
        let restore = ["admin", "restore", "--data", "restored", "backup"];
        let ended = confined(folder, &restore, Stdio::null());
        assert_eq!(ended.code, 2, "{name}: {}", ended.stderr);
        assert!(!folder.join("restored").exists(), "{name}");
    }
    for (_, document) in documents(PAYLOAD_BYTES) {
        let settings = format!(r#"{{"iss":"https://id.example","profiles":[{document}]}}"#);
        for text in [&document, &settings] {
            fs::write(folder.join("hostile"), text).unwrap();
            for call in [
                &["admin", "issuer", "add", "@hostile"][..],
                &["admin", "issuer", "set", "@hostile"],
                &[
                    "admin",
                    "key",
                    "list",
                    ISS,
                    "--key-encryption-key",
                    "hostile",
                ],
            ] {
                assert_ne!(confined(folder, call, Stdio::null()).code, 0);
            }
        }
    }
}

#[test]
fn serve_hostile_configuration_is_an_error_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let bytes = 4_000_000;
    let client = "[[client]]\nname = 'a'\nmay = ['verify']\nissuers = ['*']\n";
    let mut all = vec![
        (
            "arrays",
            format!("a = {}", hostile::nested(bytes, "[", "", "]")),
        ),
        (
            "tables",
            format!("a = {}", hostile::nested(bytes, "{a=", "1", "}")),
        ),
        ("dotted", format!("a{} = 1", ".a".repeat(bytes / 2))),
        ("dotted table", format!("[a{}]", ".a".repeat(bytes / 2))),
        ("no end", format!("a = '{}", "a".repeat(bytes))),
        ("comments", format!("{}a = 1", "#\n".repeat(bytes / 2))),
        (
            "keys",
            hostile::members(bytes).replace(':', "=").replace(',', "\n"),
        ),
        (
            "issuers",
            "[[issuer]]\niss='https://a'\nprofiles=[]\n".repeat(bytes / 50),
        ),
        ("clients", client.repeat(bytes / client.len())),
        (
            "escapes",
            format!("a = \"{}\"", "\\u0000".repeat(bytes / 6)),
        ),
        ("longer", "\n".repeat(bytes + 1_000_000)),
    ];
    for (name, document) in documents(PAYLOAD_BYTES) {
        all.push((name, document));
    }
    for (name, text) in all {
        fs::write(folder.join("jeton.toml"), text).unwrap();
        let serve = ["serve", "--config", "jeton.toml", "--data", "data"];
        // Not an address of this machine, so that a valid configuration ends too.
        let nowhere = ["--listen", "192.0.2.1:1", "--admin-listen", "192.0.2.1:2"];
        let ended = confined(folder, &[&serve[..], &nowhere].concat(), Stdio::null());
        assert_eq!(ended.code, 2, "{name}: {}", ended.stderr);
    }
}
