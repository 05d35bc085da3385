//! Tests of `jeton serve` on a full disk, with a small file system.
//!
//! They mount a file system and require root. Otherwise they print a note and are skipped.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use jeton_testkit::{SmallDisk, until};

use crate::binary;
use crate::serving::Serving;

/// Returns the status and the body.
fn get(url: &str) -> (String, String) {
    let output = Command::new("curl")
        .args(["-sS", "-w", "\n%{http_code}", url])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (body, status) = text.rsplit_once('\n').unwrap();
    (status.to_owned(), body.to_owned())
}

/// A server on the disk, with its client.
struct World<'f> {
    folder: &'f Path,
    server: Serving,
}

impl World<'_> {
    fn token(&self, args: &[&str]) -> (Option<i32>, String) {
        let address = self.server.address();
        let args = [&["token"], args, &["--server", &address]].concat();
        let output = binary::jeton(self.folder, &args, b"");
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    }

    fn issue(&self) -> String {
        let (code, said) = self.token(&["issue", "--profile", "access", "--subject", "alice"]);
        assert_eq!(code, Some(0), "{said}");
        said.lines().next().unwrap().to_owned()
    }

    fn revoke(&self, token: &str) -> (Option<i32>, String) {
        self.token(&["revoke", token])
    }

    fn is_revoked(&self, token: &str) -> bool {
        let (code, said) = self.token(&["verify", "--audience", "api", token]);
        match code {
            Some(0) => false,
            Some(1) if said.contains("revoked") => true,
            _ => panic!("{said}"),
        }
    }

    /// Issues and verifies in any case. Returns whether it also revokes.
    fn can_revoke(&self) -> bool {
        let ready = |purpose: &str| get(&format!("{}/readyz{purpose}", self.server.address())).0;
        for purpose in ["", "/issue", "/verify"] {
            assert_eq!(ready(purpose), "200", "{purpose}");
        }
        ready("/revoke") == "200"
    }

    fn metric(&self, name: &str) -> u64 {
        let said = self.server.wait_for("administration");
        let line = said.lines().find(|line| line.starts_with("administration"));
        let address = line.unwrap().split_whitespace().last().unwrap();
        let (_, text) = get(&format!("{address}/metrics"));
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        let line = line.unwrap_or_else(|| panic!("no {name} in {text}"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }

    fn errors(&self) -> usize {
        let said = self.server.said();
        said.lines().filter(|line| line.contains(" ERROR ")).count()
    }
}

#[test]
fn full_disk_fails_revocations_is_logged_and_recovers() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(&folder.path().join("disk")).unwrap() else {
        return;
    };
    let data = disk.path().join("jeton-data");
    let data = data.to_str().unwrap();
    let world = World {
        folder: folder.path(),
        server: Serving::any_port(folder.path(), &["--data", data]),
    };
    let before = world.issue();
    assert_eq!(world.revoke(&before).0, Some(0));
    until("it has started", || {
        get(&format!("{}/readyz", world.server.address())).0 == "200"
    });
    assert_eq!(world.metric("jeton_store_writable"), 1);
    assert_eq!(world.metric("jeton_store_write_failures_total"), 0);

    for round in 1..=2 {
        disk.fill();
        let mut acknowledged = Vec::new();
        let refused = loop {
            let token = world.issue();
            match world.revoke(&token) {
                (Some(0), _) => acknowledged.push(token),
                (_, said) => break (token, said),
            }
            assert!(acknowledged.len() < 200, "the disk never got full");
        };
        let (refused, said) = refused;
        assert!(said.contains("no space left for the store"), "{said}");
        until("it cannot revoke", || !world.can_revoke());
        assert_eq!(world.metric("jeton_store_writable"), 0);
        let failures = world.metric("jeton_store_write_failures_total");
        assert!(failures >= round, "{failures}");
        until("it is in the log", || world.errors() == round as usize);
        assert!(world.server.said().contains("no space left for the store"));
        // It keeps failing revocations and verifying tokens, and does not flood the log.
        for _ in 0..5 {
            let (code, said) = world.revoke(&refused);
            assert_eq!(code, Some(2), "{said}");
            assert!(said.contains("no space left for the store"), "{said}");
        }
        assert!(!world.is_revoked(&refused), "it was said that it is not");
        assert!(world.is_revoked(&before));
        assert_eq!(world.errors(), round as usize, "{}", world.server.said());

        disk.free().unwrap();
        until("it can revoke again", || world.can_revoke());
        // The state is checked twice a second: a shorter recovery is not logged.
        until("the log says that it is over", || {
            let said = world.server.said();
            said.matches("problem resolved").count() == round as usize
        });
        assert_eq!(world.metric("jeton_store_writable"), 1);
        let (code, said) = world.revoke(&refused);
        assert_eq!(code, Some(0), "{said}");
        for token in acknowledged.iter().chain([&before, &refused]) {
            assert!(world.is_revoked(token));
        }
    }

    world.server.signal("-TERM");
    let (code, said) = world.server.end();
    assert_eq!(code, Some(0), "{said}");
    let verified = binary::jeton(folder.path(), &["admin", "verify", "--data", data], b"");
    let said = String::from_utf8([verified.stdout, verified.stderr].concat()).unwrap();
    assert!(said.starts_with("valid: "), "{said}");
}

/// Whether it can revoke must not depend on calls.
#[test]
fn full_disk_without_calls_recovers_alone() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(&folder.path().join("disk")).unwrap() else {
        return;
    };
    let data = disk.path().join("jeton-data");
    let world = World {
        folder: folder.path(),
        server: Serving::any_port(folder.path(), &["--data", data.to_str().unwrap()]),
    };
    until("it has started", || {
        get(&format!("{}/readyz", world.server.address())).0 == "200"
    });
    disk.fill();
    until("a revocation is refused", || {
        let token = world.issue();
        world.revoke(&token).0 == Some(2)
    });
    until("it cannot revoke", || !world.can_revoke());
    thread::sleep(Duration::from_secs(3));
    assert!(!world.can_revoke());
    assert_eq!(world.errors(), 1, "{}", world.server.said());
    disk.free().unwrap();
    until("it can revoke again", || world.can_revoke());
}

/// Restart and SIGHUP succeed: the change is a warning and is applied later.
#[test]
fn full_disk_changed_issuer_is_a_warning_until_space_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(&folder.path().join("disk")).unwrap() else {
        return;
    };
    let data = disk.path().join("jeton-data");
    let config = |seconds: u32| {
        let profile = format!(
            "{{name = 'access', alg = 'ES256', lifetime_seconds = {seconds}, audiences = ['api']}}"
        );
        let text = format!("[[issuer]]\niss = 'i'\nprofiles = [{profile}]\n");
        fs::write(folder.path().join("jeton.toml"), text).unwrap();
    };
    let start = || World {
        folder: folder.path(),
        server: Serving::any_port(
            folder.path(),
            &["--config", "jeton.toml", "--data", data.to_str().unwrap()],
        ),
    };
    config(900);
    let world = start();
    until("it has started", || {
        get(&format!("{}/readyz", world.server.address())).0 == "200"
    });
    disk.fill();
    until("a revocation is refused", || {
        let token = world.issue();
        world.revoke(&token).0 == Some(2)
    });
    let warned = |said: &str| {
        let told = [
            "field=\"profiles[access].lifetime_seconds\" old=\"900\" new=\"60\"",
            "no space left",
        ];
        let is_it =
            |line: &str| line.contains("WARN") && told.iter().all(|part| line.contains(part));
        said.lines().any(is_it)
    };
    config(60);
    let before = world.server.said().len();
    world.server.signal("-HUP");
    let again = "configuration reloaded";
    let said = world.server.wait_for_after(before, again);
    assert!(warned(&said), "{said}");
    let token = world.issue();
    assert!(!world.is_revoked(&token), "it serves as before");

    disk.free().unwrap();
    until("it can revoke again", || world.can_revoke());
    let before = world.server.said().len();
    world.server.signal("-HUP");
    let said = world.server.wait_for_after(before, again);
    assert!(!warned(&said), "{said}");
    assert!(
        said.contains("profiles[access].lifetime_seconds: 900 -> 60"),
        "{said}"
    );
}
