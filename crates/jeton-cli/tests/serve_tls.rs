//! Certificates that are replaced under a server that runs.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod serving;

use std::fs;
use std::path::Path;
use std::process::Command;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType};
use serving::Serving;

/// Who vouches for the server.
struct Authority(Issuer<'static, KeyPair>);

impl Authority {
    fn new(file: &Path) -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // rcgen's default is one name for all, and OpenSSL takes a server of its authority's name
        // for its own authority.
        let name = &mut params.distinguished_name;
        name.push(DnType::CommonName, file.display().to_string());
        let certificate = params.self_signed(&key).unwrap();
        fs::write(file, certificate.pem()).unwrap();
        Authority(Issuer::new(params, key))
    }

    /// A certificate and its key for the server, valid until the first day of that year.
    fn certify(&self, folder: &Path, until: i32) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.subject_alt_names = vec![SanType::IpAddress([127, 0, 0, 1].into())];
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        let certificate = params.signed_by(&key, &self.0).unwrap();
        fs::write(folder.join("server.pem"), certificate.pem()).unwrap();
        fs::write(folder.join("server.key"), key.serialize_pem()).unwrap();
    }
}

/// Whether a new client that trusts that authority is answered.
fn is_trusted(folder: &Path, authority: &str, address: &str) -> bool {
    let url = format!("{address}/livez");
    let curl = Command::new("curl")
        .args(["-sS", "--max-time", "10", "--cacert", authority, &url])
        .current_dir(folder)
        .output()
        .unwrap();
    curl.status.success() && curl.stdout == b"live\n"
}

#[test]
fn an_expired_certificate_is_not_taken_and_the_old_one_serves_on() {
    let folder = tempfile::tempdir().unwrap();
    let first = Authority::new(&folder.path().join("first.pem"));
    let second = Authority::new(&folder.path().join("second.pem"));
    first.certify(folder.path(), 4096);
    let config = "[tls]\ncertificate = 'server.pem'\nkey = 'server.key'\n";
    fs::write(folder.path().join("jeton.toml"), config).unwrap();
    let server = Serving::any_port(folder.path(), &["--config", "jeton.toml"]);
    let address = server.address();
    assert!(address.starts_with("https://"), "{address}");
    assert!(is_trusted(folder.path(), "first.pem", &address));

    second.certify(folder.path(), 2020);
    server.signal("-HUP");
    let said = server.wait_for("the previous configuration stays in force");
    let line = said.lines().last().unwrap();
    assert!(line.contains("ERROR"), "{line}");
    assert!(line.contains("server.pem: certificate expired"), "{line}");
    assert!(is_trusted(folder.path(), "first.pem", &address));
    assert!(!is_trusted(folder.path(), "second.pem", &address));

    // One that is valid is: the refusal was of the certificate, and left nothing behind.
    second.certify(folder.path(), 4096);
    server.signal("-HUP");
    server.wait_for("configuration reloaded");
    assert!(is_trusted(folder.path(), "second.pem", &address));
    assert!(!is_trusted(folder.path(), "first.pem", &address));
}

/// A listener stays where it is at SIGHUP. So what the new configuration permits is for that one, and not
/// for the one that the configuration now names.
#[test]
fn reload_opens_no_listener_beyond_loopback_to_everybody() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    Authority::new(&at.join("first.pem")).certify(at, 4096);
    fs::write(at.join("kek"), "7".repeat(64)).unwrap();
    fs::set_permissions(at.join("kek"), fs::Permissions::from_mode(0o600)).unwrap();
    let tls = "[tls]\ncertificate = 'server.pem'\nkey = 'server.key'\n";
    let listens = |address: &str| {
        format!(
            "listen = '{address}:0'\nadmin_listen = '127.0.0.1:0'\nkey_encryption_key_file = 'kek'\n{tls}"
        )
    };
    let clients = "[bearer]\nissuer = 'i'\naudience = 'jeton'\n\
        [[client]]\nname = 'c'\nsubject = 's'\nmay = ['verify']\nissuers = ['*']\n";
    let write = |text: &str| fs::write(at.join("jeton.toml"), text).unwrap();
    write(&format!("{}{clients}", listens("0.0.0.0")));
    let server = Serving::start(at, &["--config", "jeton.toml"]);
    server.wait_for("ready");
    write(&listens("127.0.0.1"));
    server.signal("-HUP");
    let said = server.wait_for("ERROR");
    assert!(said.contains("no `client` is configured"), "{said}");
    assert!(!at.join("jeton-data/admin-token").exists());
    write(&format!("{}{clients}", listens("127.0.0.1")));
    server.signal("-HUP");
    server.wait_for("configuration reloaded");
}

#[test]
fn the_doctor_asks_whom_the_given_authorities_vouch_for() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(&folder.path().join("first.pem"));
    Authority::new(&folder.path().join("second.pem"));
    authority.certify(folder.path(), 4096);
    let config = "[tls]\ncertificate = 'server.pem'\nkey = 'server.key'\n";
    fs::write(folder.path().join("jeton.toml"), config).unwrap();
    let server = Serving::any_port(folder.path(), &["--config", "jeton.toml"]);
    let keys = format!("{}/.well-known/jwks.json", server.address());
    let asked = |authority: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_jeton"))
            .args(["doctor", "--keys", &keys])
            .env("SSL_CERT_FILE", folder.path().join(authority))
            .env_remove("SSL_CERT_DIR")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), said)
    };
    let (code, said) = asked("first.pem");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("answered in"), "{said}");
    let (code, said) = asked("second.pem");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("! it cannot be asked"), "{said}");
}
