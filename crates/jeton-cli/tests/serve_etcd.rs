//! Several `jeton serve` on one etcd, the real binary and the real server.
//!
//! `cargo xtask test --only etcd` builds etcd and runs these.
#![cfg(all(unix, feature = "etcd"))]
#![allow(clippy::unwrap_used, clippy::panic)]

mod binary;
mod serving;

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use jeton_testkit::Etcd;
use serving::Serving;
use tempfile::TempDir;

/// How long something may take that is awaited, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

const ISSUER: &str = "https://id.example";

const CONFIG: &str = r#"
key_encryption_key_file = "kek"
freshness_seconds = 6

[[issuer]]
iss = "https://id.example"
profiles = [{ name = "access", alg = "ES256", lifetime_seconds = 900, audiences = ["api"] }]
"#;

/// An etcd, and a folder with what every server on it is told.
struct House {
    etcd: Etcd,
    folder: TempDir,
}

impl House {
    fn of(members: usize) -> House {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("etcd");
        fs::create_dir(&data).unwrap();
        fs::write(folder.path().join("jeton.toml"), CONFIG).unwrap();
        write_key(&folder, "kek", '7');
        let etcd = Etcd::start(&data, members).unwrap();
        let house = House { etcd, folder };
        house.wait_for_etcd();
        house
    }

    /// A server that is not there yet is an error at the start, and not a server that waits.
    fn wait_for_etcd(&self) {
        until("etcd answers", || {
            let server = self.serve();
            let said = until_some("it starts or ends", || {
                let said = server.said();
                (said.contains("administration") || said.contains("error")).then_some(said)
            });
            said.contains("administration")
        });
    }

    fn serve(&self) -> Serving {
        let store = self.etcd.url("/tokens");
        let args = ["--config", "jeton.toml", "--store", &store];
        Serving::any_port(self.folder.path(), &args)
    }

    fn token(&self, server: &Serving, args: &[&str]) -> (Option<i32>, String) {
        let address = server.address();
        let to = ["token", args[0], "--server", &address, "--issuer", ISSUER];
        let output = binary::jeton(self.folder.path(), &[&to, &args[1..]].concat(), b"");
        let both = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(both).unwrap())
    }

    fn issue(&self, server: &Serving) -> String {
        let (code, said) = self.token(server, &["issue", "--profile", "access"]);
        assert_eq!(code, Some(0), "{said}");
        said.trim().to_owned()
    }

    fn verify(&self, server: &Serving, token: &str) -> (Option<i32>, String) {
        self.token(server, &["verify", "--audience", "api", token])
    }

    fn revoke(&self, server: &Serving, token: &str) -> (Option<i32>, String) {
        self.token(server, &["revoke", token])
    }
}

fn write_key(folder: &TempDir, name: &str, digit: char) {
    use std::os::unix::fs::PermissionsExt as _;
    let file = folder.path().join(name);
    fs::write(&file, digit.to_string().repeat(64)).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    until_some(what, || holds().then_some(()));
}

fn until_some<T>(what: &str, mut seen: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = seen() {
            return seen;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// The status and the body.
fn get(url: &str) -> (String, String) {
    let output = Command::new("curl")
        .args(["-sS", "-w", "\n%{http_code}", url])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (body, status) = text.rsplit_once('\n').unwrap();
    (status.to_owned(), body.to_owned())
}

fn key_set(server: &Serving) -> String {
    let url = format!("{}/.well-known/jwks.json?iss={ISSUER}", server.address());
    get(&url).1
}

fn is_ready(server: &Serving) -> bool {
    get(&format!("{}/readyz", server.address())).0 == "200"
}

#[test]
#[ignore = "needs etcd"]
fn what_one_server_issues_and_revokes_the_other_verifies_and_refuses() {
    let house = House::of(1);
    let (one, other) = (house.serve(), house.serve());
    let token = house.issue(&one);
    let (code, said) = house.verify(&other, &token);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = house.revoke(&one, &token);
    assert_eq!(code, Some(0), "{said}");
    // Where it was revoked it is refused at once; elsewhere when the etcd has told it.
    assert_eq!(house.verify(&one, &token).0, Some(1));
    until("the other refuses it", || {
        house.verify(&other, &token).0 == Some(1)
    });
    // And who was not there reads it.
    let third = house.serve();
    let (code, said) = house.verify(&third, &token);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("revoked"), "{said}");
}

#[test]
#[ignore = "needs etcd"]
fn servers_that_start_together_make_one_key_set() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("etcd");
    fs::create_dir(&data).unwrap();
    fs::write(folder.path().join("jeton.toml"), CONFIG).unwrap();
    write_key(&folder, "kek", '7');
    let etcd = Etcd::start(&data, 1).unwrap();
    let house = House { etcd, folder };
    // Under another root nobody has been, so that these are the first.
    house.wait_for_etcd();
    let store = house.etcd.url("/fresh");
    let args = ["--config", "jeton.toml", "--store", &store];
    let servers: Vec<Serving> = (0..5)
        .map(|_| Serving::any_port(house.folder.path(), &args))
        .collect();
    let sets: Vec<String> = servers.iter().map(key_set).collect();
    assert!(sets[0].contains("\"kid\""), "{}", sets[0]);
    for (server, set) in servers.iter().zip(&sets) {
        assert_eq!(*set, sets[0], "{}", server.said());
    }
}

#[test]
#[ignore = "needs etcd"]
fn without_its_store_a_server_acknowledges_nothing_and_in_the_end_verifies_nothing() {
    let mut house = House::of(1);
    let server = house.serve();
    let (kept, revoked, late) = (
        house.issue(&server),
        house.issue(&server),
        house.issue(&server),
    );
    assert_eq!(house.revoke(&server, &revoked).0, Some(0));
    until("it is ready", || is_ready(&server));
    house.etcd.kill_member(0);
    let (code, said) = house.revoke(&server, &late);
    assert_eq!(code, Some(2), "{said}");
    // What it knows is too old after the freshness bound.
    until("it is not ready", || !is_ready(&server));
    until("it refuses to verify", || {
        let (code, said) = house.verify(&server, &kept);
        code == Some(2) && said.contains("freshness")
    });
    // It issues all the same: that needs nobody.
    house.issue(&server);
    house.etcd.start_member(0).unwrap();
    until("it is ready again", || is_ready(&server));
    assert_eq!(house.verify(&server, &kept).0, Some(0));
    assert_eq!(house.verify(&server, &revoked).0, Some(1));
}

#[test]
#[ignore = "needs etcd"]
fn of_three_members_one_may_be_killed() {
    let mut house = House::of(3);
    let server = house.serve();
    for member in 0..3 {
        house.etcd.kill_member(member);
        let token = house.issue(&server);
        // One of two calls may have gone to the one that is gone, and a leader is to be elected.
        until("a revocation is acknowledged", || {
            house.revoke(&server, &token).0 == Some(0)
        });
        assert_eq!(house.verify(&server, &token).0, Some(1));
        house.etcd.start_member(member).unwrap();
        until("a server starts on it", || {
            let other = house.serve();
            let said = until_some("it starts or ends", || {
                let said = other.said();
                (said.contains("administration") || said.contains("error")).then_some(said)
            });
            said.contains("administration") && house.verify(&other, &token).0 == Some(1)
        });
    }
}

#[test]
#[ignore = "needs etcd"]
fn a_server_that_is_killed_has_lost_nothing_that_it_acknowledged() {
    let house = House::of(1);
    for _ in 0..5 {
        let server = house.serve();
        let token = house.issue(&server);
        assert_eq!(house.revoke(&server, &token).0, Some(0));
        drop(server);
        let next = house.serve();
        assert_eq!(house.verify(&next, &token).0, Some(1));
    }
}

#[test]
#[ignore = "needs etcd"]
fn another_key_encryption_key_opens_nothing() {
    let house = House::of(1);
    house.issue(&house.serve());
    write_key(&house.folder, "kek", '8');
    let (code, said) = house.serve().end();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("not the key-encryption key"), "{said}");
}

#[test]
fn a_call_that_is_wrong_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    write_key(&folder, "kek", '7');
    fs::write(folder.path().join("jeton.toml"), CONFIG).unwrap();
    let configured = ["--config", "jeton.toml", "--store"];
    for (args, words) in [
        (
            ["--store", "etcd://127.0.0.1:1"].as_slice(),
            "`key_encryption_key_file`: is missing",
        ),
        (
            &[&configured[..], &["etcd://10.0.0.1:2379"]].concat(),
            "wants TLS: write etcds://",
        ),
        (
            &[&configured[..], &["etcds://10.0.0.1:2379"]].concat(),
            "wants the authority",
        ),
        (
            &[&configured[..], &["127.0.0.1:2379"]].concat(),
            "etcd://HOST:PORT",
        ),
        (
            &[&configured[..], &["etcd://127.0.0.1:1"]].concat(),
            "the store could not be read or written: etcd",
        ),
        (
            &["--data", "d", "--store", "etcd://127.0.0.1:1"],
            "cannot be used with",
        ),
    ] {
        let (code, said) = Serving::any_port(folder.path(), args).end();
        assert_eq!(code, Some(2), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?}: {said}");
    }
}
