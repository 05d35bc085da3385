//! Tests that the issuers of the configuration are applied at the start and at SIGHUP.

use std::fs;
use std::path::Path;

use jeton_store::{Prefix, RedbStore, Store as _, block_on};
use serde_json::Value;

use crate::binary::{self, jeton, succeeds};
use crate::data_folder;
use crate::serving::Serving;

const READ_AGAIN: &str = "configuration reloaded";

/// A folder with a configuration and its server.
struct World {
    folder: tempfile::TempDir,
    server: Option<Serving>,
}

impl World {
    fn start(config: &str) -> World {
        let mut world = World {
            folder: tempfile::tempdir().unwrap(),
            server: None,
        };
        world.restart(config);
        world
    }

    fn at(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the log since the start.
    fn restart(&mut self, config: &str) -> String {
        self.stop();
        fs::write(self.at().join("jeton.toml"), config).unwrap();
        let server = Serving::any_port(self.at(), &["--config", "jeton.toml"]);
        let said = server.wait_for(" ready");
        self.server = Some(server);
        said
    }

    fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.signal("-TERM");
            let (code, said) = server.end();
            assert_eq!(code, Some(0), "{said}");
        }
    }

    /// Returns the log up to this text.
    fn reload_until(&self, config: &str, words: &str) -> String {
        fs::write(self.at().join("jeton.toml"), config).unwrap();
        let server = self.server.as_ref().unwrap();
        let before = server.said().len();
        server.signal("-HUP");
        server.wait_for_after(before, words)
    }

    fn reload(&self, config: &str) -> String {
        self.reload_until(config, READ_AGAIN)
    }

    fn address(&self) -> String {
        self.server.as_ref().unwrap().address()
    }

    fn issue(&self, iss: &str, profile: &str) -> Result<String, String> {
        let address = self.address();
        let call = [
            "token",
            "issue",
            "--server",
            &address,
            "--issuer",
            iss,
            "--profile",
            profile,
        ];
        let output = jeton(self.at(), &call, b"");
        if output.status.success() {
            Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned())
        } else {
            Err(String::from_utf8(output.stderr).unwrap())
        }
    }

    /// Returns the claims of a token, or the reason for its rejection.
    fn verify(&self, iss: &str, audience: &str, token: &str) -> Result<Value, String> {
        let address = self.address();
        let call = [
            "token",
            "verify",
            "--server",
            &address,
            "--issuer",
            iss,
            "--audience",
            audience,
            token,
        ];
        let output = jeton(self.at(), &call, b"");
        if output.status.success() {
            Ok(serde_json::from_slice(&output.stdout).unwrap())
        } else {
            Err(String::from_utf8(output.stderr).unwrap())
        }
    }

    /// Returns the lifetime of a new token, seconds.
    fn lifetime(&self, iss: &str, profile: &str, audience: &str) -> i64 {
        let token = self.issue(iss, profile).unwrap();
        let claims = self.verify(iss, audience, &token).unwrap();
        claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap()
    }

    /// Returns the entries of the audit log after the server has stopped.
    fn audit(&mut self) -> Vec<Value> {
        self.stop();
        let store = RedbStore::open(&self.at().join("jeton-data")).unwrap();
        let mut entries = Vec::new();
        let mut pages = block_on(store.scan(&Prefix::of(["a"]).unwrap())).unwrap();
        while let Some(page) = block_on(pages.next()).unwrap() {
            for entry in page {
                let record: Value = serde_json::from_slice(&entry.value).unwrap();
                entries.extend(
                    record["record"]["act"]
                        .is_string()
                        .then(|| record["record"].clone()),
                );
            }
        }
        entries
    }
}

fn issuer(iss: &str, profiles: &str) -> String {
    format!("[[issuer]]\niss = '{iss}'\nprofiles = [{profiles}]\n")
}

fn profile(name: &str, alg: &str, lifetime: i64) -> String {
    format!("{{name = '{name}', alg = '{alg}', lifetime_seconds = {lifetime}, audiences = ['a']}}")
}

/// Returns the warnings in a log.
fn warnings(said: &str) -> Vec<&str> {
    said.lines().filter(|line| line.contains("WARN")).collect()
}

#[test]
fn changed_issuer_is_applied_at_reload_and_at_restart() {
    let with = |seconds| issuer("i", &profile("p", "ES256", seconds));
    let mut world = World::start(&with(900));
    assert_eq!(world.lifetime("i", "p", "a"), 900);
    let said = world.reload(&with(60));
    assert_eq!(world.lifetime("i", "p", "a"), 60, "{said}");
    assert!(
        said.contains("profiles[p].lifetime_seconds: 900 -> 60"),
        "{said}"
    );
    let said = world.restart(&with(86_400));
    assert_eq!(world.lifetime("i", "p", "a"), 86_400, "{said}");
    assert!(
        said.contains("profiles[p].lifetime_seconds: 60 -> 86400"),
        "{said}"
    );
    assert!(warnings(&said).is_empty(), "{said}");

    let audit = world.audit();
    let set: Vec<_> = audit
        .iter()
        .filter(|entry| entry["act"] == "issuer.set")
        .collect();
    let about: Vec<_> = set
        .iter()
        .map(|entry| entry["about"][0].as_str().unwrap())
        .collect();
    assert_eq!(
        about,
        [
            "profiles[p].lifetime_seconds: 900 -> 60",
            "profiles[p].lifetime_seconds: 60 -> 86400"
        ]
    );
    assert!(
        set.iter().all(|entry| entry["actor"] == "configuration"),
        "{audit:?}"
    );
}

#[test]
fn unchanged_issuer_is_not_written_again() {
    let config = issuer("i", &profile("p", "ES256", 900));
    let mut world = World::start(&config);
    world.reload(&config);
    world.restart(&config);
    let audit = world.audit();
    assert_eq!(audit.len(), 1, "{audit:?}");
}

#[test]
fn new_issuer_is_created_at_reload() {
    let one = issuer("one", &profile("p", "ES256", 900));
    let mut world = World::start(&one);
    assert!(world.issue("two", "p").is_err());
    let said = world.reload(&format!(
        "{one}{}",
        issuer("two", &profile("p", "EdDSA", 60))
    ));
    assert_eq!(world.lifetime("two", "p", "a"), 60, "{said}");
    let audit = world.audit();
    let made = audit.iter().find(|entry| entry["iss"] == "two").unwrap();
    assert_eq!(made["act"], "issuer.create");
    assert_eq!(made["actor"], "configuration");
}

#[test]
fn configuration_with_one_invalid_issuer_changes_nothing() {
    let one = |seconds| issuer("one", &profile("p", "ES256", seconds));
    let world = World::start(&one(900));
    let stays = "the previous configuration stays in force";
    for (wrong, said) in [
        (issuer("two", &profile("p", "ES257", 60)), "jeton.toml:6: "),
        (
            issuer("two", &profile("p", "ES256", 0)),
            "lifetime_seconds`: must be between 1 and",
        ),
        (
            one(61),
            "jeton.toml:5: `issuer[1].iss`: another issuer has this name",
        ),
        ("[[client]]\nname = 'c'\n".to_owned(), "jeton.toml:4: "),
        (
            "[tls]\ncertificate = 'none'\nkey = 'none'\n".to_owned(),
            "none: cannot read the file",
        ),
    ] {
        let found = world.reload_until(&format!("{}{wrong}", one(60)), stays);
        assert!(found.contains(said), "{found}");
        assert_eq!(world.lifetime("one", "p", "a"), 900, "{found}");
    }
    // A start fails too.
    let twice = tempfile::tempdir().unwrap();
    fs::write(
        twice.path().join("jeton.toml"),
        format!("{}{}", one(1), one(2)),
    )
    .unwrap();
    let (code, said) = Serving::any_port(twice.path(), &["--config", "jeton.toml"]).end();
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("`issuer[1].iss`: another issuer has this name"),
        "{said}"
    );
}

#[test]
fn issuer_removed_from_the_file_stays_with_a_warning() {
    let [one, two] = ["one", "two"].map(|iss| issuer(iss, &profile("p", "ES256", 900)));
    let both = format!("{one}{two}");
    let mut world = World::start(&both);
    let token = world.issue("two", "p").unwrap();
    let warned = |said: &str| {
        let found = warnings(said);
        found.len() == 1
            && found[0].contains("the configuration no longer names this issuer")
            && found[0].contains("issuer=\"two\"")
    };
    for said in [world.reload(&one), world.restart(&one), world.reload(&one)] {
        assert!(warned(&said), "{said}");
        assert!(world.verify("two", "a", &token).is_ok(), "{said}");
        assert!(world.issue("two", "p").is_ok());
    }
    // Added to the file again, the issuer is unchanged.
    let said = world.reload(&both);
    assert!(warnings(&said).is_empty(), "{said}");
    let said = world.restart(&one);
    assert!(warned(&said), "{said}");
    // After a change by an administrator, the warning stops.
    world.stop();
    let shown = ["admin", "issuer", "show", "two", "--json"];
    let shown: Value = serde_json::from_slice(&succeeds(world.at(), &shown, b"")).unwrap();
    let settings = shown["settings"].to_string();
    succeeds(world.at(), &["admin", "issuer", "set", &settings], b"");
    let said = world.restart(&one);
    assert!(warnings(&said).is_empty(), "{said}");
    assert!(world.verify("two", "a", &token).is_ok());
}

#[test]
fn issuer_added_by_admin_stays_without_a_warning() {
    let one = issuer("one", &profile("p", "ES256", 900));
    let mut world = World::start(&one);
    world.stop();
    succeeds(
        world.at(),
        &["admin", "issuer", "add", data_folder::SETTINGS],
        b"",
    );
    for said in [world.restart(&one), world.reload(&one)] {
        assert!(warnings(&said).is_empty(), "{said}");
        assert!(world.issue(data_folder::ISS, "access").is_ok());
    }
    // Added to the file, the issuer gets the settings of the file.
    let both = format!(
        "{one}{}",
        issuer(data_folder::ISS, &profile("access", "ES256", 60))
    );
    let said = world.reload(&both);
    assert_eq!(
        world.lifetime(data_folder::ISS, "access", "a"),
        60,
        "{said}"
    );
}

#[test]
fn inapplicable_change_is_a_warning_at_each_reload_and_start() {
    let with = |alg, seconds| issuer("i", &profile("p", alg, seconds));
    let mut world = World::start(&with("ES256", 900));
    for (index, alg) in ["EdDSA", "v4.public", "HS256"].into_iter().enumerate() {
        let seconds = 60 + i64::try_from(index).unwrap();
        for said in [
            world.reload(&with(alg, seconds)),
            world.reload(&with(alg, seconds)),
            world.restart(&with(alg, seconds)),
        ] {
            let found = warnings(&said);
            assert_eq!(found.len(), 1, "{said}");
            for part in ["issuer=\"i\"", "field=\"profiles[p].alg\"", "old=\"ES256\""] {
                assert!(found[0].contains(part), "{part}: {said}");
            }
            assert!(found[0].contains(&format!("new=\"{alg}\"")), "{said}");
            // The other settings of the file are applied.
            assert_eq!(world.lifetime("i", "p", "a"), seconds, "{said}");
        }
    }
    let said = world.reload(&with("ES256", 60));
    assert!(warnings(&said).is_empty(), "{said}");
}

#[test]
fn setting_that_needs_a_restart_is_a_warning_with_both_values() {
    let config = |more: &str| {
        format!(
            "workers = 1\n{more}{}",
            issuer("i", &profile("p", "ES256", 60))
        )
    };
    let world = World::start(&config(""));
    let more = "freshness_seconds = 7\ndrain_seconds = 3\n[limits]\nbatch_items = 9\n";
    let said = world.reload(&config(more).replace("workers = 1", "workers = 2"));
    for (field, old, new) in [
        ("workers", "1", "2"),
        ("freshness_seconds", "15", "7"),
        ("drain_seconds", "20", "3"),
        ("limits.batch_items", "4096", "9"),
    ] {
        let is_it = |line: &&str| {
            [("field", field), ("old", old), ("new", new)]
                .iter()
                .all(|(name, value)| line.contains(&format!("{name}=\"{value}\"")))
        };
        assert!(warnings(&said).iter().any(is_it), "{field}: {said}");
    }
    assert_eq!(warnings(&said).len(), 4, "{said}");
}

#[test]
fn token_call_failing_on_the_server_has_no_hint_to_start_one() {
    let one = issuer("i", &profile("p", "ES256", 900));
    let mut world = World::start(&one);
    let two = profile("p", "ES256", 900) + "," + &profile("new", "EdDSA", 900);
    world.reload(&issuer("i", &two));
    let said = world.issue("i", "new").unwrap_err();
    assert!(said.starts_with("error: no active signing key\n"), "{said}");
    assert!(!said.contains("run `jeton serve`"), "{said}");
    let address = world.address();
    world.stop();
    let call = ["token", "issue", "--server", &address, "--profile", "p"];
    binary::ends(world.at(), &call, b"", 2, "run `jeton serve`");
}
