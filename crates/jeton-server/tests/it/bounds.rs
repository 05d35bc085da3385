//! What one address or client may make the server hold, while others are served.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use jeton_proto::v1::admin_service_client::AdminServiceClient;
use jeton_proto::v1::revocation_rule::Kind;
use jeton_proto::v1::{
    BackupRequest, CreateRevocationsRequest, ListAuditRequest, ListRevocationsRequest,
    StatusRequest,
};
use jeton_proto::v1::{IssueRequest, WatchRevocationsRequest};
use tokio::net::TcpSocket;
use tonic::transport::Endpoint;
use tonic::{Code, Status};

use crate::access::TestCertificates;
use crate::harness::{ISS, ISSUER, TestServer, is_soon};
use crate::oauth::{OAuth, access_token, basic};
use crate::raw_http::get;

/// Longer than a response takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Connects from an address of this machine.
fn connect_from(last: u8, server: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket
            .bind(SocketAddr::from(([127, 0, 8, last], 0)))
            .unwrap();
        socket.connect(server).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.set_write_timeout(Some(TIMEOUT)).unwrap();
    stream
}

/// Reads until there is a response, and returns it. Empty if the server closed the connection.
fn response(stream: &mut TcpStream) -> String {
    let mut response = vec![0; 4096];
    let read = stream.read(&mut response).unwrap_or_default();
    String::from_utf8_lossy(&response[..read]).into_owned()
}

const SHARES: &str =
    "[limits]\nmessage_bytes = 65536\nmemory_share_bytes = 640000\nmemory_bytes = 4000000\n";

#[test]
fn unfinished_forms_are_charged_to_their_address() {
    let fixture = TestServer::with(&format!("{SHARES}{ISSUER}"));
    let address = fixture.address();
    let head = "POST /tenant/introspect HTTP/1.1\r\nhost: localhost\r\ncontent-length: 70000\r\n\
                content-type: application/x-www-form-urlencoded\r\n\r\n";
    let begun = [head.as_bytes(), b"token=", &vec![b'a'; 60_000]].concat();
    let mut held: Vec<TcpStream> = (0..6).map(|_| connect_from(2, address)).collect();
    for stream in &mut held {
        stream.write_all(&begun).unwrap();
    }
    // Each form takes twice its length: those beyond the share are refused, with both numbers.
    let metrics = || get(fixture.server().admin_address(), "/metrics", &[]).body;
    assert!(is_soon(
        || !metrics().contains("jeton_client_memory_refused_total 0\n")
    ));
    let mut answer = String::new();
    let is_refused = is_soon(|| {
        held.iter_mut().any(|stream| {
            let wait = Duration::from_millis(100);
            stream.set_read_timeout(Some(wait)).unwrap();
            answer = response(stream);
            answer.starts_with("HTTP/1.1 429 ")
        })
    });
    assert!(is_refused, "{answer}");
    assert!(
        answer
            .contains("bytes of memory, maximum 640000 (`limits.memory_share_bytes`), retry later"),
        "{answer}"
    );
    let mut other = connect_from(3, address);
    other
        .write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .unwrap();
    assert!(response(&mut other).starts_with("HTTP/1.1 200 "));
    drop(held);
    assert!(is_soon(|| {
        let page = metrics();
        let held = page
            .lines()
            .find_map(|line| line.strip_prefix("jeton_client_memory_bytes "));
        held.unwrap().parse::<u64>().unwrap() < 200_000
    }));
}

/// A form takes memory once the credentials in the headers are accepted.
#[test]
fn form_of_a_client_with_a_wrong_secret_is_not_read() {
    let oauth = OAuth::with("");
    let mut stream = connect_from(10, oauth.fixture.address());
    let head = format!(
        "POST /tenant/token HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: 70000\r\n\r\n",
        basic("ci", "wrong")
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The form never arrives.
    let answer = response(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[test]
fn connections_are_charged_to_their_address() {
    let fixture = TestServer::with(&format!("{SHARES}{ISSUER}"));
    // 48 KiB each.
    let mut open: Vec<_> = (0..15)
        .map(|_| connect_from(4, fixture.address()))
        .collect();
    let closed = open.iter_mut().filter_map(|stream| {
        stream
            .set_read_timeout(Some(Duration::from_millis(500)))
            .unwrap();
        stream
            .read(&mut [0])
            .is_ok_and(|read| read == 0)
            .then_some(())
    });
    assert!((1..=4).contains(&closed.count()));
    let mut other = connect_from(5, fixture.address());
    other
        .write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .unwrap();
    assert!(response(&mut other).starts_with("HTTP/1.1 200 "));
}

/// Many clients have the address of a proxy.
#[test]
fn proxy_has_no_share_of_its_own() {
    let proxies = format!("{SHARES}proxies = ['127.0.8.6']\n");
    let fixture = TestServer::with(&format!("{proxies}{ISSUER}"));
    let mut open: Vec<_> = (0..40)
        .map(|_| connect_from(6, fixture.address()))
        .collect();
    for stream in &mut open {
        stream
            .write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .unwrap();
        assert!(response(stream).starts_with("HTTP/1.1 200 "));
    }
}

/// Headers are memory too: as many small ones as the limit allows take more than they have bytes.
#[test]
fn headers_of_open_requests_are_charged() {
    let refused_of = |fields: usize| {
        let fixture = TestServer::with(&format!("{SHARES}{ISSUER}"));
        let fields: String = (0..fields)
            .map(|number| format!("x{number}: y\r\n"))
            .collect();
        let head = format!(
            "POST /tenant/introspect HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\
             content-type: application/x-www-form-urlencoded\r\n{fields}\r\n"
        );
        let mut open: Vec<_> = (0..10)
            .map(|_| connect_from(7, fixture.address()))
            .collect();
        let refused = open.iter_mut().filter_map(|stream| {
            let _ = stream.write_all(head.as_bytes());
            let wait = Duration::from_millis(200);
            stream.set_read_timeout(Some(wait)).unwrap();
            let mut answer = [0; 12];
            let read = stream.read(&mut answer);
            let is_refused = read.is_ok_and(|read| read == 0 || answer == *b"HTTP/1.1 503");
            is_refused.then_some(())
        });
        refused.count()
    };
    assert_eq!(refused_of(0), 0);
    assert!((1..=3).contains(&refused_of(60)));
}

#[test]
fn one_client_does_not_take_all_streams_of_revocations() {
    let certificates = TestCertificates::new();
    let fixture = TestServer::with(&format!(
        "[limits]\nrevocation_watchers = 4\nrevocation_watchers_per_client = 2\n{}",
        certificates
            .config()
            .replace("may = ['issue', 'admin']", "may = ['verify']")
    ));
    let watch = || WatchRevocationsRequest {
        issuer: ISS.to_owned(),
        ..WatchRevocationsRequest::default()
    };
    let mut billing = certificates.tokens(&fixture, "billing");
    fixture.runtime.block_on(async {
        let mut held = Vec::new();
        for _ in 0..2 {
            held.push(billing.watch_revocations(watch()).await.unwrap());
        }
        let refused: Status = billing.watch_revocations(watch()).await.unwrap_err();
        assert_eq!(refused.code(), Code::ResourceExhausted);
        assert_eq!(
            refused.message(),
            "2 streams of revocations of this client, maximum 2 (`limits.revocation_watchers_per_client`), retry later"
        );
    });
    let mut other = certificates.tokens(&fixture, "operator");
    fixture.runtime.block_on(async {
        other.watch_revocations(watch()).await.unwrap();
    });
}

/// Each list and backup may hold a thread.
#[test]
fn unread_lists_leave_room_for_others() {
    let fixture = TestServer::plain();
    let address = fixture.server().admin_address();
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let endpoint = endpoint.initial_stream_window_size(0);
    let channel = fixture.runtime.block_on(endpoint.connect()).unwrap();
    let bearer = format!("Bearer {}", fixture.admin_token());
    let mut admin =
        AdminServiceClient::with_interceptor(channel, move |mut call: tonic::Request<()>| {
            call.metadata_mut()
                .insert("authorization", bearer.parse().unwrap());
            Ok(call)
        });
    let mut made = fixture.admin();
    fixture.runtime.block_on(async {
        // More entries than a response buffers.
        let revocations = CreateRevocationsRequest {
            issuer: ISS.to_owned(),
            kind: Kind::Subject as i32,
            names: (0..1000).map(|number| format!("subject-{number}")).collect(),
            ..CreateRevocationsRequest::default()
        };
        made.create_revocations(revocations).await.unwrap();
        let mut held = Vec::new();
        for _ in 0..4 {
            held.push(admin.list_audit(ListAuditRequest::default()).await.unwrap());
        }
        let list = ListRevocationsRequest {
            issuer: ISS.to_owned(),
        };
        for refused in [
            admin.backup(BackupRequest {}).await.err().unwrap(),
            admin.list_revocations(list).await.err().unwrap(),
            admin.list_audit(ListAuditRequest::default()).await.err().unwrap(),
        ] {
            assert_eq!(refused.code(), Code::ResourceExhausted);
            assert_eq!(
                refused.message(),
                "4 lists and backups of this client, maximum 4 (`ADMIN_STREAMS_PER_CLIENT`), retry later"
            );
        }
    });
    // Other calls are answered.
    let status = fixture
        .runtime
        .block_on(fixture.admin().status(StatusRequest {}));
    status.unwrap();
}

/// Strangers with wrong secrets, for a client and for names that do not exist, from one address.
#[test]
fn client_with_a_slow_hash_gets_in_beside_wrong_secrets() {
    let hash = jeton_server::SecretHash::of_imported("hunter2").unwrap();
    let client = format!(
        "[[client]]\nname = 'legacy'\nsecrets = ['{hash}']\nmay = ['token']\nissuers = ['*']\n\
         tokens = [{{profile = 'access'}}]\n"
    );
    let oauth = OAuth::with(&client);
    let address = oauth.fixture.address();
    let over = Arc::new(AtomicBool::new(false));
    let strangers: Vec<_> = (0..40)
        .map(|number| {
            let over = over.clone();
            thread::spawn(move || {
                let name = ["legacy", "nobody"][number % 2];
                let request = format!(
                    "POST /tenant/token HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\n\
                     content-type: application/x-www-form-urlencoded\r\ncontent-length: 29\r\n\r\n\
                     grant_type=client_credentials",
                    basic(name, "wrong")
                );
                let mut stream = connect_from(9, address);
                while !over.load(Ordering::Relaxed) && stream.write_all(request.as_bytes()).is_ok()
                {
                    if response(&mut stream).is_empty() {
                        stream = connect_from(9, address);
                    }
                }
            })
        })
        .collect();
    thread::sleep(Duration::from_millis(500));
    let form = [("grant_type", "client_credentials")];
    let header = basic("legacy", "hunter2");
    access_token(&oauth.post(&[("authorization", &header)], &form));
    over.store(true, Ordering::Relaxed);
    for stranger in strangers {
        stranger.join().unwrap();
    }
}

/// The certificate of a connection ends while the connection is open.
#[test]
fn certificate_that_ends_is_refused_on_its_connection() {
    let certificates = TestCertificates::new();
    let clock = crate::manual_clock::ManualClock::new();
    let ends = clock.seconds() + 3600;
    certificates.issue_until("billing", "billing.example", ends);
    let started = TestServer::with_clock(&certificates.config(), Arc::new(clock.clone()));
    let fixture = started.unwrap();
    let mut billing = certificates.tokens(&fixture, "billing");
    let issue = || IssueRequest {
        profile: "access".to_owned(),
        audience: "api".to_owned(),
        ..IssueRequest::default()
    };
    fixture.runtime.block_on(async {
        billing.issue(issue()).await.unwrap();
        clock.forward(3601);
        let refused = billing.issue(issue()).await.err().unwrap();
        assert_eq!(refused.code(), Code::Unauthenticated);
        assert!(
            refused
                .message()
                .starts_with("the client certificate has ended"),
            "{refused:?}"
        );
    });
}

/// Names of different types are different names.
#[test]
fn uri_of_a_certificate_is_no_dns_name() {
    let certificates = TestCertificates::new();
    certificates.issue_uri("stranger", "billing.example");
    certificates.issue_uri("workload", "spiffe://example/ns/prod");
    let workload = format!(
        "[[client]]\nname = 'workload'\ncertificate_name = 'spiffe://example/ns/prod'\nmay = ['issue']\n\
         issuers = ['{ISS}']\n"
    );
    let fixture = TestServer::with(&format!("{}{workload}", certificates.config()));
    let issue = |client: &str| {
        let mut tokens = certificates.tokens(&fixture, client);
        let request = IssueRequest {
            profile: "access".to_owned(),
            audience: "api".to_owned(),
            ..IssueRequest::default()
        };
        fixture.runtime.block_on(tokens.issue(request)).map(drop)
    };
    issue("billing").unwrap();
    issue("workload").unwrap();
    assert_eq!(issue("stranger").unwrap_err().code(), Code::Unauthenticated);
}

/// A resumed session would keep the certificate of the first one.
#[test]
fn session_with_a_client_certificate_is_not_resumed() {
    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let certificates = TestCertificates::new();
    let fixture = TestServer::with(&certificates.config());
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(certificates.path("ca.pem")).unwrap())
        .unwrap();
    let chain = vec![CertificateDer::from_pem_file(certificates.path("billing.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(certificates.path("billing.key")).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    for _ in 0..3 {
        let name = "127.0.0.1".try_into().unwrap();
        let client = rustls::ClientConnection::new(config.clone(), name).unwrap();
        let socket = TcpStream::connect(fixture.address()).unwrap();
        let mut stream = rustls::StreamOwned::new(client, socket);
        let request = b"GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        stream.write_all(request).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert!(answer.starts_with("HTTP/1.1 200 "));
        assert_eq!(
            stream.conn.handshake_kind(),
            Some(rustls::HandshakeKind::Full)
        );
    }
}
