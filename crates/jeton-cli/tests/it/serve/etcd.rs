//! Tests of several `jeton serve` processes with one etcd.
//!
//! `cargo xtask test --only etcd` builds etcd and runs these.

mod admin;
#[cfg(target_os = "linux")]
mod alerts;
mod bad_input;
mod causes;
mod migrate;
mod went_back;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use jeton_testkit::{Etcd, until, until_some};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    SanType,
};
use tempfile::TempDir;

use self::causes::names_one_cause;
use super::unread;
use crate::admin::page::{keep, page};
use crate::binary;
use crate::serving::Serving;

pub(super) const ISSUER: &str = "https://id.example";

/// The value in the configuration.
const FRESHNESS: Duration = Duration::from_secs(6);

const CONFIG: &str = r#"
key_encryption_key_file = "kek"
freshness_seconds = 6

[[issuer]]
iss = "https://id.example"
profiles = [{ name = "access", alg = "ES256", lifetime_seconds = 900, audiences = ["api"] }]
"#;

/// An etcd and a folder with the configuration of its servers.
pub(super) struct Cluster {
    pub(super) etcd: Etcd,
    pub(super) folder: TempDir,
}

impl Cluster {
    pub(super) fn of(members: usize) -> Cluster {
        Cluster::with(tempfile::tempdir().unwrap(), members, &[], CONFIG)
    }

    /// Starts an etcd with these arguments for each member, and this configuration for the servers.
    fn with(folder: TempDir, members: usize, arguments: &[&str], config: &str) -> Cluster {
        let data = folder.path().join("etcd");
        fs::create_dir(&data).unwrap();
        fs::write(folder.path().join("jeton.toml"), config).unwrap();
        write_key(folder.path(), "kek", '7');
        let etcd = Etcd::start_with(&data, members, arguments).unwrap();
        let cluster = Cluster { etcd, folder };
        // A server fails at once if its etcd does not answer yet.
        drop(cluster.serve_at_last());
        cluster
    }

    fn serve(&self) -> Serving {
        self.serve_under("/tokens")
    }

    /// Retries until a server starts: members may be down or electing a leader.
    fn serve_at_last(&self) -> Serving {
        until_some("a server starts", || {
            let server = self.serve();
            has_started(&server).then_some(server)
        })
    }

    fn serve_under(&self, root: &str) -> Serving {
        self.serve_by(&[], &self.etcd.url(root))
    }

    /// Starts a server with a wrapper program on the store at this address.
    fn serve_by(&self, program: &[&str], store: &str) -> Serving {
        let ports = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
        let args = [&ports[..], &["--config", "jeton.toml", "--store", store]].concat();
        Serving::start_by(program, self.folder.path(), &args)
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

pub(super) fn write_key(folder: &Path, name: &str, digit: char) {
    use std::os::unix::fs::PermissionsExt as _;
    let file = folder.join(name);
    fs::write(&file, digit.to_string().repeat(64)).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Waits until the server has started or has failed.
pub(super) fn has_started(server: &Serving) -> bool {
    until_some("it starts or ends", || {
        let said = server.said();
        let has_started = said.contains("administration");
        (has_started || said.contains("error")).then_some(has_started)
    })
}

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

/// Writes until the quota of the etcd is used up.
fn fill(cluster: &Cluster) {
    let body = format!(r#"{{"key":"ZmlsbA==","value":"{}"}}"#, "A".repeat(1 << 18));
    fs::write(cluster.folder.path().join("put.json"), body).unwrap();
    let url = format!("{}/v3/kv/put", cluster.etcd.member_url(0));
    until("etcd has no room", || {
        let output = Command::new("curl")
            .args(["-sS", "--data-binary", "@put.json", &url])
            .current_dir(cluster.folder.path())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).contains("database space exceeded")
    });
}

/// Frees space as an operator does: delete, compact, defragment, and disarm the alarm.
fn disarm(cluster: &Cluster) {
    let call = |path: &str, body: &str| {
        let url = format!("{}/v3/{path}", cluster.etcd.member_url(0));
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

/// The certificate authority for an etcd and its clients.
pub(super) struct Authority(Issuer<'static, KeyPair>);

impl Authority {
    pub(super) fn new(folder: &Path, name: &str) -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // A unique name: a verifier selects the authority by its name.
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.self_signed(&key).unwrap();
        fs::write(folder.join(format!("{name}.pem")), certificate.pem()).unwrap();
        Authority(Issuer::new(params, key))
    }

    pub(super) fn certify_etcd(&self, folder: &Path, name: &str, addresses: &[[u8; 4]]) {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        let names = addresses.iter().map(|&one| SanType::IpAddress(one.into()));
        params.subject_alt_names = names.collect();
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
fn etcd_two_servers_share_tokens_and_revocations() {
    let cluster = Cluster::of(1);
    let (one, other) = (cluster.serve(), cluster.serve());
    let token = cluster.issue(&one);
    let (code, said) = cluster.verify(&other, &token);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = cluster.revoke(&one, &token);
    assert_eq!(code, Some(0), "{said}");
    // The server that revoked the token rejects it at once, the others after the watch event.
    assert_eq!(cluster.verify(&one, &token).0, Some(1));
    until("the other refuses it", || {
        cluster.verify(&other, &token).0 == Some(1)
    });
    // A new server reads the revocation.
    let third = cluster.serve();
    let (code, said) = cluster.verify(&third, &token);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("revoked"), "{said}");
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_servers_started_together_create_one_key_set() {
    let cluster = Cluster::of(1);
    // A new root, so that these servers are the first.
    let servers: Vec<Serving> = (0..5).map(|_| cluster.serve_under("/fresh")).collect();
    let sets: Vec<String> = servers.iter().map(key_set).collect();
    assert!(sets[0].contains("\"kid\""), "{}", sets[0]);
    for (server, set) in servers.iter().zip(&sets) {
        assert_eq!(*set, sets[0], "{}", server.said());
    }
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_down_fails_revocations_then_verification() {
    let mut cluster = Cluster::of(1);
    let server = cluster.serve();
    let (kept, revoked, late) = (
        cluster.issue(&server),
        cluster.issue(&server),
        cluster.issue(&server),
    );
    assert_eq!(cluster.revoke(&server, &revoked).0, Some(0));
    until("it is ready", || is_ready(&server));
    cluster.etcd.kill_member(0);
    let (code, said) = cluster.revoke(&server, &late);
    assert_eq!(code, Some(2), "{said}");
    // After the freshness bound, its view is too old.
    until("it is not ready", || !is_ready(&server));
    until("it refuses to verify", || {
        let (code, said) = cluster.verify(&server, &kept);
        code == Some(2) && said.contains("freshness")
    });
    // Issuing needs no etcd and still works. Status and health say so, and name one cause.
    cluster.issue(&server);
    let silent = ("store_silent", "the store does not answer");
    let said = names_one_cause(&cluster, &server, silent.0, silent.1);
    let can = causes::abilities(&said);
    assert_eq!(
        can,
        [Some(true), Some(false), Some(false), Some(false)],
        "{said}"
    );
    let admin = server.admin_address();
    keep(
        "serve-store-gone.html",
        &page(cluster.folder.path(), &admin),
    );
    // One line, however long it lasts.
    assert_eq!(server.said().matches("cause=\"store_silent\"").count(), 1);
    cluster.etcd.start_member(0).unwrap();
    until("it is ready again", || is_ready(&server));
    assert_eq!(cluster.verify(&server, &kept).0, Some(0));
    assert_eq!(cluster.verify(&server, &revoked).0, Some(1));
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_cut_off_server_stops_issuing_and_key_caching() {
    let config = format!("store_outage_issuing_seconds = 8\n{CONFIG}");
    let mut cluster = Cluster::with(tempfile::tempdir().unwrap(), 1, &[], &config);
    let server = cluster.serve();
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
    cluster.issue(&server);
    cluster.etcd.kill_member(0);
    for file in ["jwks.json", "paserks.json"] {
        until("its keys may not be cached", || {
            cache_control(&server, file) == "no-cache"
        });
    }
    let issue = ["issue", "--profile", "access"];
    until("it issues nothing", || {
        let (code, said) = cluster.token(&server, &issue);
        code == Some(2) && said.contains("no contact to the store for")
    });
    cluster.etcd.start_member(0).unwrap();
    until("it issues again", || {
        cluster.token(&server, &issue).0 == Some(0)
    });
    assert!(cache_control(&server, "jwks.json").starts_with("public, max-age="));
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_server_without_issuers_creates_none() {
    let cluster = Cluster::of(1);
    let empty = "key_encryption_key_file = \"kek\"\n";
    fs::write(cluster.folder.path().join("empty.toml"), empty).unwrap();
    let store = cluster.etcd.url("/fresh");
    let args = ["--config", "empty.toml", "--store", &store];
    let server = Serving::any_port(cluster.folder.path(), &args);
    assert!(has_started(&server), "{}", server.said());
    assert!(server.said().contains("no issuer"), "{}", server.said());
    assert!(!is_ready(&server));
    // The first server creates the issuer, and the other one uses it.
    let other = cluster.serve_under("/fresh");
    until("both are ready", || is_ready(&server) && is_ready(&other));
    assert_eq!(key_set(&server), key_set(&other));
    // Without a name, the only issuer is used.
    let to = [
        "token",
        "issue",
        "--server",
        &server.address(),
        "--profile",
        "access",
    ];
    let issued = binary::jeton(cluster.folder.path(), &to, b"");
    assert_eq!(issued.status.code(), Some(0), "{issued:?}");
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_one_of_three_members_killed_is_tolerated() {
    let mut cluster = Cluster::of(3);
    let server = cluster.serve_at_last();
    for member in 0..3 {
        cluster.etcd.kill_member(member);
        let token = cluster.issue(&server);
        // A call may have gone to the stopped member, and a leader must be elected.
        until("a revocation is acknowledged", || {
            cluster.revoke(&server, &token).0 == Some(0)
        });
        assert_eq!(cluster.verify(&server, &token).0, Some(1));
        cluster.etcd.start_member(member).unwrap();
        until("a server starts on it", || {
            let other = cluster.serve();
            has_started(&other) && cluster.verify(&other, &token).0 == Some(1)
        });
    }
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_one_of_three_members_paused_is_tolerated() {
    let cluster = Cluster::of(3);
    let server = cluster.serve_at_last();
    for member in 0..3 {
        cluster.etcd.pause_member(member).unwrap();
        let token = cluster.issue(&server);
        // A call to the paused member has no response, and a leader may have to be elected.
        until("a revocation is acknowledged", || {
            cluster.revoke(&server, &token).0 == Some(0)
        });
        assert_eq!(cluster.verify(&server, &token).0, Some(1));
        let other = cluster.serve_at_last();
        assert_eq!(cluster.verify(&other, &token).0, Some(1));
        // The old server receives revocations of the new one: no watch stays with the paused member.
        let token = cluster.issue(&other);
        until("the new one's revocation is acknowledged", || {
            cluster.revoke(&other, &token).0 == Some(0)
        });
        until("the old one refuses it", || {
            cluster.verify(&server, &token).0 == Some(1)
        });
        // After this, the view of the old server from before the pause is too old.
        thread::sleep(FRESHNESS);
        until("both are ready", || is_ready(&server) && is_ready(&other));
        cluster.etcd.resume_member(member).unwrap();
    }
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_paused_server_rejects_tokens_revoked_meanwhile() {
    let cluster = Cluster::of(1);
    let (paused, other) = (cluster.serve(), cluster.serve());
    let token = cluster.issue(&other);
    until("it accepts the token", || {
        cluster.verify(&paused, &token).0 == Some(0)
    });
    paused.signal("-STOP");
    let (code, said) = cluster.revoke(&other, &token);
    assert_eq!(code, Some(0), "{said}");
    // Its old view is too old by then: it must report that or have a new one.
    thread::sleep(FRESHNESS);
    paused.signal("-CONT");
    until("it refuses the token", || {
        let (code, said) = cluster.verify(&paused, &token);
        assert_ne!(code, Some(0), "{said}");
        code == Some(1) && said.contains("revoked")
    });
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_full_fails_revocations_and_keeps_old_ones() {
    let folder = tempfile::tempdir().unwrap();
    let quota = ["--quota-backend-bytes", "2097152"];
    let cluster = Cluster::with(folder, 1, &quota, CONFIG);
    let server = cluster.serve();
    let (kept, revoked) = (cluster.issue(&server), cluster.issue(&server));
    assert_eq!(cluster.revoke(&server, &revoked).0, Some(0));
    fill(&cluster);
    let (code, said) = cluster.revoke(&server, &kept);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no space left"), "{said}");
    let full = ("store_full", "no space left for the store");
    let said = names_one_cause(&cluster, &server, full.0, full.1);
    assert_eq!(said["is_ready"], true, "{said}");
    let restarted = cluster.serve();
    assert!(has_started(&restarted), "{}", restarted.said());
    for server in [&server, &restarted] {
        // A reported failure means that the token is not revoked.
        let (code, said) = cluster.verify(server, &kept);
        assert_eq!(code, Some(0), "{said}");
        let (code, said) = cluster.verify(server, &revoked);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("revoked"), "{said}");
        until("it says so", || {
            get(&format!("{}/readyz/revoke", server.address())).0 == "503"
        });
        assert!(is_ready(server), "it issues and verifies");
        until("it is in the log", || {
            server.said().contains("no space left for the store")
        });
        // Reading needs no space.
        cluster.issue(server);
    }
    disarm(&cluster);
    for server in [&server, &restarted] {
        until("it is ready again", || is_ready(server));
    }
    let (code, said) = cluster.revoke(&server, &kept);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_over_tls_requires_mutual_authentication() {
    let folder = tempfile::tempdir().unwrap();
    let at = |file: &str| folder.path().join(file).display().to_string();
    let ours = Authority::new(folder.path(), "ours");
    ours.certify_etcd(folder.path(), "etcd-server", &[[127, 0, 0, 1]]);
    ours.certify_client(folder.path(), "client");
    let other = Authority::new(folder.path(), "other");
    other.certify_client(folder.path(), "stranger");
    let (certificate, key, ca) = (at("etcd-server.pem"), at("etcd-server.key"), at("ours.pem"));
    let arguments = ["--cert-file", &certificate, "--key-file", &key];
    let authentication = ["--client-cert-auth", "--trusted-ca-file", &ca];
    let arguments = [&arguments[..], &authentication].concat();
    let known = "ca = 'ours.pem'\ncertificate = 'client.pem'\nkey = 'client.key'";
    let config = format!("{CONFIG}\n[etcd]\n{known}\n");
    let cluster = Cluster::with(folder, 1, &arguments, &config);

    let server = cluster.serve();
    let token = cluster.issue(&server);
    assert_eq!(cluster.revoke(&server, &token).0, Some(0));
    let second = cluster.serve();
    let (code, said) = cluster.verify(&second, &token);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("revoked"), "{said}");

    for (access, words) in [
        (
            "ca = 'other.pem'\ncertificate = 'client.pem'\nkey = 'client.key'",
            "etcd: invalid peer certificate: UnknownIssuer",
        ),
        (
            "ca = 'ours.pem'\ncertificate = 'stranger.pem'\nkey = 'stranger.key'",
            "reading or writing the store failed: etcd: ",
        ),
        (
            "ca = 'ours.pem'",
            "reading or writing the store failed: etcd: ",
        ),
    ] {
        let config = format!("{CONFIG}\n[etcd]\n{access}\n");
        fs::write(cluster.folder.path().join("jeton.toml"), config).unwrap();
        let (code, said) = cluster.serve().end();
        assert_eq!(code, Some(2), "{access}: {said}");
        assert!(said.contains(words), "{access}: {said}");
        assert_eq!(said.lines().count(), 1, "{access}: {said}");
    }
}

/// The etcd and its servers change to another authority. The servers are neither restarted nor signalled.
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_renewed_certificates_need_no_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let at = |file: &str| path.join(file).display().to_string();
    let certify = |name: &str| {
        let authority = Authority::new(&path, name);
        authority.certify_etcd(&path, "etcd-server", &[[127, 0, 0, 1]]);
        authority.certify_client(&path, "client");
        fs::copy(at(&format!("{name}.pem")), at("authority.pem")).unwrap();
    };
    certify("first");
    let (certificate, key, ca) = (
        at("etcd-server.pem"),
        at("etcd-server.key"),
        at("authority.pem"),
    );
    let arguments = [
        "--cert-file",
        &certificate,
        "--key-file",
        &key,
        "--client-cert-auth",
        "--trusted-ca-file",
        &ca,
    ];
    let known = "ca = 'authority.pem'\ncertificate = 'client.pem'\nkey = 'client.key'";
    let config = format!("{CONFIG}\n[etcd]\n{known}\n");
    let mut cluster = Cluster::with(folder, 1, &arguments, &config);
    let server = cluster.serve();
    let token = cluster.issue(&server);
    certify("second");
    cluster.etcd.kill_member(0);
    cluster.etcd.start_member(0).unwrap();
    server.wait_for("certificates were renewed");
    until("it revokes", || {
        cluster.revoke(&server, &token).0 == Some(0)
    });
    until("it is ready", || is_ready(&server));
}

/// The flow control windows of three streams exceed the window of their connection. If each client had its own stream
/// and did not read, it would block the connection.
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_stalled_watchers_do_not_block_the_server() {
    // They stay until the test ends.
    let config = format!("limits = {{ client_stall_timeout_seconds = 3600 }}\n{CONFIG}");
    let cluster = Cluster::with(tempfile::tempdir().unwrap(), 1, &[], &config);
    let server = cluster.serve();
    let token = cluster.issue(&server);
    let watchers: Vec<_> = (0..3).map(|_| unread::watch(&server.address())).collect();
    let followed = "call=\"watch_revocations\",outcome=\"ok\"";
    until("they are followed", || {
        let metrics = get(&format!("{}/metrics", server.admin_address())).1;
        (metrics.lines()).any(|line| line.contains(followed) && line.ends_with(" 3"))
    });
    // `/tokens/x` has no meaning to a server, and every watcher receives it.
    let body = format!(
        r#"{{"key":"L3Rva2Vucy94","value":"{}"}}"#,
        "A".repeat(1 << 18)
    );
    fs::write(cluster.folder.path().join("put.json"), body).unwrap();
    let url = format!("{}/v3/kv/put", cluster.etcd.member_url(0));
    for _ in 0..150 {
        let output = Command::new("curl")
            .args(["-sS", "--data-binary", "@put.json", &url])
            .current_dir(cluster.folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("revision"), "{said}");
    }
    // A server without news from its etcd reports that its view is too old. A busy etcd can be late; a blocked
    // server gets no more news.
    for _ in 0..3 {
        thread::sleep(FRESHNESS);
        until("it has a new view", || {
            cluster.verify(&server, &token).0 == Some(0)
        });
    }
    let (code, said) = cluster.revoke(&server, &token);
    assert_eq!(code, Some(0), "{said}");
    drop(watchers);
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_killed_server_loses_no_acknowledged_write() {
    let cluster = Cluster::of(1);
    for _ in 0..5 {
        let server = cluster.serve();
        let token = cluster.issue(&server);
        assert_eq!(cluster.revoke(&server, &token).0, Some(0));
        drop(server);
        let next = cluster.serve();
        assert_eq!(cluster.verify(&next, &token).0, Some(1));
    }
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_other_key_encryption_key_is_an_error() {
    let cluster = Cluster::of(1);
    cluster.issue(&cluster.serve());
    write_key(cluster.folder.path(), "kek", '8');
    let (code, said) = cluster.serve().end();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("wrong key-encryption key"), "{said}");
}

#[test]
fn serve_etcd_invalid_calls_have_hints() {
    let folder = tempfile::tempdir().unwrap();
    write_key(folder.path(), "kek", '7');
    fs::write(folder.path().join("jeton.toml"), CONFIG).unwrap();
    let configured = ["--config", "jeton.toml", "--store"];
    for (args, words) in [
        (
            ["--store", "etcd://127.0.0.1:1"].as_slice(),
            "`key_encryption_key_file`: required with `store`",
        ),
        (
            &[&configured[..], &["etcd://10.0.0.1:2379"]].concat(),
            "requires TLS: use etcds://",
        ),
        (
            &[&configured[..], &["etcds://10.0.0.1:2379"]].concat(),
            "requires a certificate authority",
        ),
        (
            &[&configured[..], &["127.0.0.1:2379"]].concat(),
            "etcd://HOST:PORT",
        ),
        (
            &[&configured[..], &["etcd://127.0.0.1:1"]].concat(),
            "reading or writing the store failed: etcd",
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
