//! Several `jeton serve` on one etcd, the real binary and the real server.
//!
//! `cargo xtask test --only etcd` builds etcd and runs these.
#![cfg(all(unix, feature = "etcd"))]
#![allow(clippy::unwrap_used, clippy::panic)]

mod binary;
mod serving;
mod unread;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use jeton_testkit::Etcd;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    SanType,
};
use serving::Serving;
use tempfile::TempDir;

/// How long something may take that is awaited, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

const ISSUER: &str = "https://id.example";

/// As the configuration says.
const FRESHNESS: Duration = Duration::from_secs(6);

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
        House::with(tempfile::tempdir().unwrap(), members, &[], CONFIG)
    }

    /// With arguments for every member of the etcd, and that configuration for the servers.
    fn with(folder: TempDir, members: usize, arguments: &[&str], config: &str) -> House {
        let data = folder.path().join("etcd");
        fs::create_dir(&data).unwrap();
        fs::write(folder.path().join("jeton.toml"), config).unwrap();
        write_key(&folder, "kek", '7');
        let etcd = Etcd::start_with(&data, members, arguments).unwrap();
        let house = House { etcd, folder };
        // A server whose etcd is not there yet ends with an error, and does not wait for it.
        drop(house.serve_at_last());
        house
    }

    fn serve(&self) -> Serving {
        self.serve_under("/tokens")
    }

    /// Tries until one starts: members may be gone, or about to elect a leader.
    fn serve_at_last(&self) -> Serving {
        until_some("a server starts", || {
            let server = self.serve();
            has_started(&server).then_some(server)
        })
    }

    fn serve_under(&self, root: &str) -> Serving {
        let store = self.etcd.url(root);
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

/// Waits until it has started or has said why it does not.
fn has_started(server: &Serving) -> bool {
    until_some("it starts or ends", || {
        let said = server.said();
        let has_started = said.contains("administration");
        (has_started || said.contains("error")).then_some(has_started)
    })
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

/// Writes beside what the servers write until there is no room.
fn fill(house: &House) {
    let body = format!(r#"{{"key":"ZmlsbA==","value":"{}"}}"#, "A".repeat(1 << 18));
    fs::write(house.folder.path().join("put.json"), body).unwrap();
    let url = format!("{}/v3/kv/put", house.etcd.member_url(0));
    until("etcd has no room", || {
        let output = Command::new("curl")
            .args(["-sS", "--data-binary", "@put.json", &url])
            .current_dir(house.folder.path())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).contains("database space exceeded")
    });
}

/// Makes room again, as an operator does: what fills it is deleted, its history forgotten, its file made
/// small, and the alarm disarmed.
fn disarm(house: &House) {
    let call = |path: &str, body: &str| {
        let url = format!("{}/v3/{path}", house.etcd.member_url(0));
        let output = Command::new("curl")
            .args(["-sS", "--data-binary", body, &url])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let deleted = call("kv/deleterange", r#"{"key":"ZmlsbA=="}"#);
    let said = |name: &str| {
        let (_, rest) = deleted.split_once(&format!(r#""{name}":""#)).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let (revision, member) = (said("revision"), said("member_id"));
    call(
        "kv/compaction",
        &format!(r#"{{"revision":"{revision}","physical":true}}"#),
    );
    call("maintenance/defragment", "{}");
    call(
        "maintenance/alarm",
        &format!(r#"{{"action":"DEACTIVATE","memberID":"{member}","alarm":"NOSPACE"}}"#),
    );
}

/// Who vouches for an etcd and for those who ask it.
struct Authority(Issuer<'static, KeyPair>);

impl Authority {
    fn new(folder: &Path, name: &str) -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Authorities of one name are one to whoever looks for the right one.
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.self_signed(&key).unwrap();
        fs::write(folder.join(format!("{name}.pem")), certificate.pem()).unwrap();
        Authority(Issuer::new(params, key))
    }

    fn certify_etcd(&self, folder: &Path, name: &str) {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.subject_alt_names = vec![SanType::IpAddress([127, 0, 0, 1].into())];
        self.certify(folder, name, params);
    }

    fn certify_client(&self, folder: &Path, name: &str) {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.certify(folder, name, params);
    }

    fn certify(&self, folder: &Path, name: &str, mut params: CertificateParams) {
        let key = KeyPair::generate().unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.signed_by(&key, &self.0).unwrap();
        fs::write(folder.join(format!("{name}.pem")), certificate.pem()).unwrap();
        fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).unwrap();
    }
}

fn key_set(server: &Serving) -> String {
    let url = format!("{}/.well-known/jwks.json?iss={ISSUER}", server.address());
    get(&url).1
}

fn is_ready(server: &Serving) -> bool {
    get(&format!("{}/readyz", server.address())).0 == "200"
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
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
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn servers_that_start_together_make_one_key_set() {
    let house = House::of(1);
    // Under another root nobody has been, so that these are the first.
    let servers: Vec<Serving> = (0..5).map(|_| house.serve_under("/fresh")).collect();
    let sets: Vec<String> = servers.iter().map(key_set).collect();
    assert!(sets[0].contains("\"kid\""), "{}", sets[0]);
    for (server, set) in servers.iter().zip(&sets) {
        assert_eq!(*set, sets[0], "{}", server.said());
    }
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
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
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn server_that_is_cut_off_stops_issuing_and_has_nobody_cache_its_keys() {
    let config = format!("issue_without_store_seconds = 8\n{CONFIG}");
    let mut house = House::with(tempfile::tempdir().unwrap(), 1, &[], &config);
    let server = house.serve();
    let cache_control = |server: &Serving, file: &str| {
        let url = format!("{}/.well-known/{file}?iss={ISSUER}", server.address());
        let output = Command::new("curl").args(["-sSi", &url]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let header = text
            .lines()
            .find_map(|line| line.strip_prefix("cache-control: "));
        header.unwrap_or_default().to_owned()
    };
    until("its keys may be cached", || {
        cache_control(&server, "jwks.json").starts_with("public, max-age=")
    });
    house.issue(&server);
    house.etcd.kill_member(0);
    for file in ["jwks.json", "paserks.json"] {
        until("its keys may not be cached", || {
            cache_control(&server, file) == "no-cache"
        });
    }
    let issue = ["issue", "--profile", "access"];
    until("it issues nothing", || {
        let (code, said) = house.token(&server, &issue);
        code == Some(2) && said.contains("nothing was heard from the store for")
    });
    house.etcd.start_member(0).unwrap();
    until("it issues again", || {
        house.token(&server, &issue).0 == Some(0)
    });
    assert!(cache_control(&server, "jwks.json").starts_with("public, max-age="));
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn server_on_a_shared_store_without_issuers_makes_none() {
    let house = House::of(1);
    let empty = "key_encryption_key_file = \"kek\"\n";
    fs::write(house.folder.path().join("empty.toml"), empty).unwrap();
    let store = house.etcd.url("/fresh");
    let args = ["--config", "empty.toml", "--store", &store];
    let server = Serving::any_port(house.folder.path(), &args);
    assert!(has_started(&server), "{}", server.said());
    assert!(
        server.said().contains("there is no issuer"),
        "{}",
        server.said()
    );
    assert!(!is_ready(&server));
    // The first that says what it wants makes it, and the other has it.
    let other = house.serve_under("/fresh");
    until("both are ready", || is_ready(&server) && is_ready(&other));
    assert_eq!(key_set(&server), key_set(&other));
    // Who names no issuer means the only one that there is.
    let to = [
        "token",
        "issue",
        "--server",
        &server.address(),
        "--profile",
        "access",
    ];
    let issued = binary::jeton(house.folder.path(), &to, b"");
    assert_eq!(issued.status.code(), Some(0), "{issued:?}");
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn of_three_members_one_may_be_killed() {
    let mut house = House::of(3);
    let server = house.serve_at_last();
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
            has_started(&other) && house.verify(&other, &token).0 == Some(1)
        });
    }
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn of_three_members_one_may_stop_answering() {
    let house = House::of(3);
    let server = house.serve_at_last();
    for member in 0..3 {
        house.etcd.pause_member(member).unwrap();
        let token = house.issue(&server);
        // A call that went to the paused one has no answer, and a leader may have to be elected.
        until("a revocation is acknowledged", || {
            house.revoke(&server, &token).0 == Some(0)
        });
        assert_eq!(house.verify(&server, &token).0, Some(1));
        let other = house.serve_at_last();
        assert_eq!(house.verify(&other, &token).0, Some(1));
        // What the new one revokes the old one hears: nobody follows the paused one for ever.
        let token = house.issue(&other);
        until("the new one's revocation is acknowledged", || {
            house.revoke(&other, &token).0 == Some(0)
        });
        until("the old one refuses it", || {
            house.verify(&server, &token).0 == Some(1)
        });
        // All that the old one knew from before the pause is too old after this.
        thread::sleep(FRESHNESS);
        until("both are ready", || is_ready(&server) && is_ready(&other));
        house.etcd.resume_member(member).unwrap();
    }
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn a_server_that_was_paused_never_accepts_what_was_revoked_in_the_meantime() {
    let house = House::of(1);
    let (paused, other) = (house.serve(), house.serve());
    let token = house.issue(&other);
    until("it accepts the token", || {
        house.verify(&paused, &token).0 == Some(0)
    });
    paused.signal("-STOP");
    let (code, said) = house.revoke(&other, &token);
    assert_eq!(code, Some(0), "{said}");
    // What it knows from before is too old by then, so that it has to say that or to know better.
    thread::sleep(FRESHNESS);
    paused.signal("-CONT");
    until("it refuses the token", || {
        let (code, said) = house.verify(&paused, &token);
        assert_ne!(code, Some(0), "{said}");
        code == Some(1) && said.contains("revoked")
    });
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn on_a_full_etcd_nothing_is_revoked_and_what_was_stays_refused() {
    let folder = tempfile::tempdir().unwrap();
    let quota = ["--quota-backend-bytes", "2097152"];
    let house = House::with(folder, 1, &quota, CONFIG);
    let server = house.serve();
    let (kept, revoked) = (house.issue(&server), house.issue(&server));
    assert_eq!(house.revoke(&server, &revoked).0, Some(0));
    fill(&house);
    let (code, said) = house.revoke(&server, &kept);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no space left"), "{said}");
    let restarted = house.serve();
    assert!(has_started(&restarted), "{}", restarted.said());
    for server in [&server, &restarted] {
        // Who is told that it was not revoked can rely on it.
        let (code, said) = house.verify(server, &kept);
        assert_eq!(code, Some(0), "{said}");
        let (code, said) = house.verify(server, &revoked);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("revoked"), "{said}");
        // Its view is fresh, but it can revoke nothing.
        until("it is not ready", || !is_ready(server));
        until("it is in the log", || {
            server.said().contains("no space left for the store")
        });
        // And that needs no room.
        house.issue(server);
    }
    disarm(&house);
    for server in [&server, &restarted] {
        until("it is ready again", || is_ready(server));
    }
    let (code, said) = house.revoke(&server, &kept);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn over_tls_an_etcd_and_its_servers_want_to_know_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let at = |file: &str| folder.path().join(file).display().to_string();
    let ours = Authority::new(folder.path(), "ours");
    ours.certify_etcd(folder.path(), "etcd-server");
    ours.certify_client(folder.path(), "client");
    let other = Authority::new(folder.path(), "other");
    other.certify_client(folder.path(), "stranger");
    let (certificate, key, ca) = (at("etcd-server.pem"), at("etcd-server.key"), at("ours.pem"));
    let arguments = ["--cert-file", &certificate, "--key-file", &key];
    let authentication = ["--client-cert-auth", "--trusted-ca-file", &ca];
    let arguments = [&arguments[..], &authentication].concat();
    let known = "ca = 'ours.pem'\ncertificate = 'client.pem'\nkey = 'client.key'";
    let config = format!("{CONFIG}\n[etcd]\n{known}\n");
    let house = House::with(folder, 1, &arguments, &config);

    let server = house.serve();
    let token = house.issue(&server);
    assert_eq!(house.revoke(&server, &token).0, Some(0));
    let second = house.serve();
    let (code, said) = house.verify(&second, &token);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("revoked"), "{said}");

    for (access, words) in [
        (
            "ca = 'other.pem'\ncertificate = 'client.pem'\nkey = 'client.key'",
            "etcd: invalid peer certificate: UnknownIssuer",
        ),
        (
            "ca = 'ours.pem'\ncertificate = 'stranger.pem'\nkey = 'stranger.key'",
            "the store could not be read or written: etcd: ",
        ),
        (
            "ca = 'ours.pem'",
            "the store could not be read or written: etcd: ",
        ),
    ] {
        let config = format!("{CONFIG}\n[etcd]\n{access}\n");
        fs::write(house.folder.path().join("jeton.toml"), config).unwrap();
        let (code, said) = house.serve().end();
        assert_eq!(code, Some(2), "{access}: {said}");
        assert!(said.contains(words), "{access}: {said}");
        assert_eq!(said.lines().count(), 1, "{access}: {said}");
    }
}

/// Three streams of a connection to an etcd have room for more than the connection has: if clients had
/// one each, and read nothing of it, nothing else would come through.
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn watchers_that_read_nothing_do_not_cut_the_server_off() {
    let house = House::of(1);
    let server = house.serve();
    let token = house.issue(&server);
    let watchers: Vec<_> = (0..3).map(|_| unread::watch(&server.address())).collect();
    let followed = "call=\"watch_revocations\",end=\"done\"";
    until("they are followed", || {
        let metrics = get(&format!("{}/metrics", server.admin_address())).1;
        (metrics.lines()).any(|line| line.contains(followed) && line.ends_with(" 3"))
    });
    // `/tokens/x`, which means nothing to a server, and is told to whoever watches.
    let body = format!(
        r#"{{"key":"L3Rva2Vucy94","value":"{}"}}"#,
        "A".repeat(1 << 18)
    );
    fs::write(house.folder.path().join("put.json"), body).unwrap();
    let url = format!("{}/v3/kv/put", house.etcd.member_url(0));
    for _ in 0..150 {
        let output = Command::new("curl")
            .args(["-sS", "--data-binary", "@put.json", &url])
            .current_dir(house.folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("revision"), "{said}");
    }
    let put = Instant::now();
    while put.elapsed() < 2 * FRESHNESS {
        // A server that hears nothing of its etcd says that it does not know.
        let (code, said) = house.verify(&server, &token);
        assert_eq!(code, Some(0), "{said}");
        thread::sleep(Duration::from_millis(200));
    }
    let (code, said) = house.revoke(&server, &token);
    assert_eq!(code, Some(0), "{said}");
    drop(watchers);
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
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
#[ignore = "needs etcd: cargo xtask test --only etcd"]
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
