//! Servers that cannot be reached because of TLS: the error says why, and the option that it names corrects it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, ServerConnection, Stream, SupportedProtocolVersion};

use super::{CREDENTIALS, ISSUE, Servers, jeton, name};
use crate::serve::tls::Authority;
use crate::serving::Serving;

/// One call of each client: gRPC to the admin listener, gRPC to the data listener, and HTTP.
fn calls<'u>(admin: &'u str, data: &'u str) -> [Vec<&'u str>; 3] {
    [
        vec!["admin", "status", "--server", admin],
        [&ISSUE[..], &["--server", data]].concat(),
        vec!["token", "get", "--server", data],
    ]
}

/// The option in backticks of the hint.
fn option(said: &str) -> Vec<String> {
    let hint = said.lines().find_map(|line| line.strip_prefix("hint: "));
    let hint = hint.unwrap_or_else(|| panic!("{said}"));
    let option = hint.split('`').nth(1).unwrap();
    option.split(' ').map(str::to_owned).collect()
}

fn replaced<'a>(call: &[&'a str], url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let at = call.iter().position(|word| *word == "--server").unwrap();
    let mut call = call.to_vec();
    call[at + 1] = url;
    call.extend_from_slice(more);
    call
}

#[test]
fn server_without_or_with_tls_is_named_with_the_option() {
    let servers = Servers::start();
    let with = (servers.one.admin_address(), servers.one.address());
    let without = (servers.two.admin_address(), servers.two.address());
    let http = |url: &str| url.replace("https://", "http://");
    let https = |url: &str| url.replace("http://", "https://");

    let (admin, data) = (https(&without.0), https(&without.1));
    for call in calls(&admin, &data) {
        let said = servers.jeton(&[], &call);
        let said = said.fails(&["the server has no TLS, and the URL begins with https"]);
        let option = option(&said);
        assert_eq!(option[0], "--server");
        let more: &[&str] = if call[0] == "admin" {
            &["--data", "two"]
        } else {
            &[]
        };
        servers
            .jeton(&[], &replaced(&call, &option[1], more))
            .succeeds();
    }
    let (admin, data) = (http(&with.0), http(&with.1));
    for call in calls(&admin, &data) {
        let said = servers.jeton(&[], &call);
        let said = said.fails(&[
            "the server has TLS, and the URL begins with http",
            "`--ca FILE`",
        ]);
        let option = option(&said);
        let call = replaced(&call, &option[1], &CREDENTIALS);
        let said = servers.jeton(&[], &call);
        // The client may not get tokens from the token endpoint. It is identified.
        if call[1] == "get" {
            said.fails(&["unauthorized_client"]);
        } else {
            said.succeeds();
        }
    }
}

#[test]
fn unknown_authority_is_named_and_the_option_corrects_it() {
    let servers = Servers::start();
    Authority::new(&servers.path().join("other.pem"));
    let (admin, data) = (servers.one.admin_address(), servers.one.address());
    let identity = &CREDENTIALS[2..];
    for call in calls(&admin, &data) {
        for (ca, what) in [
            (&[][..], "from another authority: none of this system"),
            (
                &["--ca", "other.pem"],
                "from another authority: none in other.pem",
            ),
        ] {
            let said = servers.jeton(&[], &[&call[..], ca, identity].concat());
            let said = said.fails(&["the certificate of the server is", what]);
            assert_eq!(option(&said), ["--ca", "FILE"]);
        }
        // Without the option, the authorities of the system count.
        let system = [("SSL_CERT_FILE", "ca.pem")];
        let said = servers.jeton(&system, &[&call[..], identity].concat());
        if call[1] == "get" {
            said.fails(&["unauthorized_client"]);
        } else {
            said.succeeds();
        }
    }
}

#[test]
fn other_host_name_is_named_and_the_option_corrects_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let authority = Authority::new(&at.join("ca.pem"));
    authority.issue(at, "server", name("localhost"), 4096);
    let config = "[tls]\ncertificate = 'server.pem'\nkey = 'server.key'\n";
    fs::write(at.join("jeton.toml"), config).unwrap();
    let server = Serving::any_port(at, &["--config", "jeton.toml"]);
    server.wait_for(" INFO ready");
    for call in calls(&server.admin_address(), &server.address()) {
        let call = [&call[..], &["--ca", "ca.pem"]].concat();
        let said = jeton(at, &[], &call);
        let said = said.fails(&["the certificate of the server is for another name: localhost"]);
        jeton(at, &[], &replaced(&call, &option(&said)[1], &[])).succeeds();
    }
}

#[test]
fn client_certificate_that_is_missing_or_unknown_is_named() {
    let servers = Servers::start();
    let other = Authority::new(&servers.path().join("other.pem"));
    other.issue(servers.path(), "outsider", name("operator.example"), 4096);
    let (admin, data) = (servers.one.admin_address(), servers.one.address());
    let as_client = |client: &str| [format!("{client}.pem"), format!("{client}.key")];
    let ca = &CREDENTIALS[..2];
    for call in &calls(&admin, &data)[..2] {
        let call = [&call[..], ca].concat();
        let said = servers
            .jeton(&[], &call)
            .fails(&["--client-certificate FILE --client-key FILE"]);
        assert!(!said.contains("cannot reach"), "{said}");
        for (client, what) in [
            (
                "outsider",
                "the server refuses the client certificate: it is from an unknown authority",
            ),
            ("stranger", "no client of the server has these credentials"),
        ] {
            let [certificate, key] = as_client(client);
            let files = ["--client-certificate", &certificate, "--client-key", &key];
            servers
                .jeton(&[], &[&call[..], &files].concat())
                .fails(&[what]);
        }
        servers
            .jeton(&[], &[&call[..], &CREDENTIALS[2..]].concat())
            .succeeds();
    }
}

/// A server that requires client certificates, as a proxy may. It answers nothing.
fn strict(folder: &Path, version: &'static SupportedProtocolVersion) -> u16 {
    let read = |file: &str| fs::read(folder.join(file)).unwrap();
    let certificates = |file: &str| {
        let pem = read(file);
        let read = CertificateDer::pem_slice_iter(&pem).map(Result::unwrap);
        read.collect::<Vec<_>>()
    };
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates("ca.pem"));
    let provider = Arc::new(default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let key = PrivateKeyDer::from_pem_slice(&read("server.key")).unwrap();
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(certificates("server.pem"), key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let config = config.clone();
            thread::spawn(move || {
                let mut socket = socket.unwrap();
                let mut connection = ServerConnection::new(config).unwrap();
                let mut stream = Stream::new(&mut connection, &mut socket);
                let mut received = [0; 1024];
                let _ = stream.read(&mut received);
                let _ = stream.flush();
            });
        }
    });
    port
}

#[test]
fn proxy_that_requires_a_client_certificate_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    Authority::new(&at.join("ca.pem")).certify(at, 4096);
    Authority::new(&at.join("other.pem")).issue(at, "outsider", name("a.example"), 4096);
    for version in [&TLS12, &TLS13] {
        let url = format!("https://127.0.0.1:{}", strict(at, version));
        for call in calls(&url, &url) {
            let call = [&call[..], &["--ca", "ca.pem"]].concat();
            let said = jeton(at, &[], &call);
            let said =
                said.fails(&["cannot reach the server: the server requires a client certificate"]);
            assert_eq!(
                option(&said),
                ["--client-certificate", "FILE", "--client-key", "FILE"]
            );
            let files = [
                "--client-certificate",
                "outsider.pem",
                "--client-key",
                "outsider.key",
            ];
            let said = jeton(at, &[], &[&call[..], &files].concat());
            said.fails(&["refuses the client certificate: it is from an unknown authority"]);
        }
    }
}

#[test]
fn expired_certificate_and_a_server_that_is_not_there_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    Authority::new(&at.join("ca.pem")).certify(at, 2020);
    let url = format!("https://127.0.0.1:{}", strict(at, &TLS13));
    for call in calls(&url, &url) {
        let said = jeton(at, &[], &[&call[..], &["--ca", "ca.pem"]].concat());
        said.fails(&["the certificate of the server has expired", "must renew it"]);
    }
    // The source of the URL is named.
    let nobody = format!("http://127.0.0.1:{}", jeton_testkit::free_port());
    let said = jeton(at, &[("JETON_SERVER", &nobody)], &ISSUE);
    said.fails(&["JETON_SERVER names the server", "--server URL"]);
    let said = jeton(at, &[], &[&ISSUE[..], &["--server", &nobody]].concat());
    said.fails(&["to start a service, run `jeton serve`"]);
}

/// Each command calls a listener of its own.
#[test]
fn call_to_the_other_listener_is_an_error_that_says_so() {
    let servers = Servers::start();
    let (admin, data) = (servers.two.admin_address(), servers.two.address());
    let on_data = ["admin", "status", "--server", &data, "--data", "two"];
    servers
        .jeton(&[], &on_data)
        .fails(&["this listener does not serve", "calls the admin listener"]);
    let on_admin = [&ISSUE[..], &["--server", &admin]].concat();
    servers
        .jeton(&[], &on_admin)
        .fails(&["this listener does not serve", "calls the data listener"]);
}
