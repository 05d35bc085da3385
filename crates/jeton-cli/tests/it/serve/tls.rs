//! Tests of certificates that are replaced while a server runs, and of clients that check them.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::{fs, io, thread};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType};

use crate::serving::Serving;

/// A name that only the proxy of these tests resolves, to this host. A loopback host is never fetched through a proxy.
const BEHIND_PROXY: &str = "keys.example";

/// The certificate authority of the server.
pub(crate) struct Authority(Issuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new(file: &Path) -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // A unique name: with the default of rcgen, server and authority have the same name, and OpenSSL treats the
        // server as its own authority.
        let name = &mut params.distinguished_name;
        name.push(DnType::CommonName, file.display().to_string());
        let certificate = params.self_signed(&key).unwrap();
        fs::write(file, certificate.pem()).unwrap();
        Authority(Issuer::new(params, key))
    }

    /// Issues a server certificate and its key, valid until the first day of this year.
    pub(crate) fn certify(&self, folder: &Path, until: i32) {
        let names = vec![
            SanType::IpAddress([127, 0, 0, 1].into()),
            SanType::DnsName(BEHIND_PROXY.try_into().unwrap()),
        ];
        self.issue(folder, "server", names, until);
    }

    /// Issues a certificate for these names and its key, `FILE.pem` and `FILE.key`.
    pub(crate) fn issue(&self, folder: &Path, file: &str, names: Vec<SanType>, until: i32) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.subject_alt_names = names;
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        let certificate = params.signed_by(&key, &self.0).unwrap();
        fs::write(folder.join(format!("{file}.pem")), certificate.pem()).unwrap();
        fs::write(folder.join(format!("{file}.key")), key.serialize_pem()).unwrap();
    }
}

/// Returns whether a new client that trusts this authority can connect.
fn is_trusted(folder: &Path, authority: &str, address: &str) -> bool {
    let url = format!("{address}/livez");
    let curl = Command::new("curl")
        .args(["-sS", "--max-time", "60", "--cacert", authority, &url])
        .current_dir(folder)
        .output()
        .unwrap();
    curl.status.success() && curl.stdout == b"live\n"
}

#[test]
fn reload_expired_certificate_keeps_the_old_one() {
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
    let mut lines = said.lines();
    let line = lines.find(|line| line.contains("the previous configuration stays in force"));
    let line = line.unwrap();
    assert!(line.contains("ERROR"), "{line}");
    assert!(line.contains("server.pem: certificate expired"), "{line}");
    assert!(is_trusted(folder.path(), "first.pem", &address));
    assert!(!is_trusted(folder.path(), "second.pem", &address));

    // A valid certificate is applied: the failed reload has no after-effect.
    second.certify(folder.path(), 4096);
    server.signal("-HUP");
    server.wait_for("configuration reloaded");
    assert!(is_trusted(folder.path(), "second.pem", &address));
    assert!(!is_trusted(folder.path(), "first.pem", &address));
}

/// Without a signal.
#[test]
fn renewed_certificate_is_used_and_a_bad_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let first = Authority::new(&folder.path().join("first.pem"));
    let second = Authority::new(&folder.path().join("second.pem"));
    first.certify(folder.path(), 4096);
    let config = "[tls]\ncertificate = 'server.pem'\nkey = 'server.key'\n";
    fs::write(folder.path().join("jeton.toml"), config).unwrap();
    let server = Serving::any_port(folder.path(), &["--config", "jeton.toml"]);
    let address = server.address();
    server.wait_for(" INFO ready");
    second.certify(folder.path(), 4096);
    server.wait_for("certificates were renewed");
    assert!(is_trusted(folder.path(), "second.pem", &address));
    // The key of another certificate.
    let key = KeyPair::generate().unwrap();
    fs::write(folder.path().join("server.key"), key.serialize_pem()).unwrap();
    let said = server.wait_for("new certificates cannot be used");
    assert!(said.contains("does not match the private key"), "{said}");
    assert!(is_trusted(folder.path(), "second.pem", &address));
}

/// SIGHUP does not move a listener. So the new configuration is checked for the current address, not for the new one.
#[test]
fn reload_without_clients_is_refused_beyond_loopback() {
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
        [[client]]\nname = 'c'\nbearer_subject = 's'\nmay = ['verify']\nissuers = ['*']\n";
    let write = |text: &str| fs::write(at.join("jeton.toml"), text).unwrap();
    write(&format!("{}{clients}", listens("0.0.0.0")));
    let server = Serving::start(at, &["--config", "jeton.toml"]);
    server.wait_for(" INFO ready");
    write(&listens("127.0.0.1"));
    server.signal("-HUP");
    let said = server.wait_for("ERROR");
    assert!(said.contains("no `client` is configured"), "{said}");
    assert!(!at.join("jeton-data/admin-token").exists());
    write(&format!("{}{clients}", listens("127.0.0.1")));
    server.signal("-HUP");
    server.wait_for("configuration reloaded");
}

/// Starts a proxy that connects every client to the port of this host that it asks for. Returns its URL and what was asked.
fn proxy() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (asked, requests) = channel();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut request = [0; 4096];
            let length = client.read(&mut request).unwrap();
            let request = String::from_utf8_lossy(&request[..length]);
            let request = request.lines().next().unwrap().to_owned();
            let (_, port) = request.split(' ').nth(1).unwrap().split_once(':').unwrap();
            let server = ("127.0.0.1", port.parse().unwrap());
            let mut server = TcpStream::connect(server).unwrap();
            asked.send(request).unwrap();
            client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            let mut back = (server.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || io::copy(&mut back.0, &mut back.1));
            thread::spawn(move || io::copy(&mut client, &mut server));
        }
    });
    (url, requests)
}

#[test]
fn doctor_url_is_fetched_through_the_proxy() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(&folder.path().join("authority.pem"));
    authority.certify(folder.path(), 4096);
    let tls = "[tls]\ncertificate = 'server.pem'\nkey = 'server.key'\n";
    let config = format!("hosts = ['{BEHIND_PROXY}']\n{tls}");
    fs::write(folder.path().join("jeton.toml"), config).unwrap();
    let server = Serving::any_port(folder.path(), &["--config", "jeton.toml"]);
    let (proxy, requests) = proxy();
    let address = server.address().replace("127.0.0.1", BEHIND_PROXY);
    let output = Command::new(env!("CARGO_BIN_EXE_jeton"))
        .args(["doctor", "--key"])
        .arg(format!("{address}/.well-known/jwks.json"))
        .env("SSL_CERT_FILE", folder.path().join("authority.pem"))
        .env_remove("SSL_CERT_DIR")
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .env("HTTPS_PROXY", proxy)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let server = address.replace("https://", "");
    let request = requests.try_recv().unwrap();
    assert_eq!(request, format!("CONNECT {server} HTTP/1.1"));
}

#[test]
fn doctor_url_is_verified_with_ssl_cert_file() {
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
            .args(["doctor", "--key", &keys])
            .env("SSL_CERT_FILE", folder.path().join(authority))
            .env_remove("SSL_CERT_DIR")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), said)
    };
    let (code, said) = asked("first.pem");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("response after"), "{said}");
    let (code, said) = asked("second.pem");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("! the request failed"), "{said}");
}
