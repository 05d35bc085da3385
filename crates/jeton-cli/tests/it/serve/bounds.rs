//! Strangers fill everything that they can make a server hold, at once and from many addresses.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;
use tokio::runtime::Builder;

use super::tls::Authority;
use super::unread::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, SETTINGS, frame_bytes, literal,
};
use crate::binary::{jeton, succeeds};
use crate::serving::Serving;

/// The memory of the chart (`deploy/helm`), bytes.
const CHART: u64 = 1 << 30;
/// The strangers, and the connections of each of a kind.
const ADDRESSES: u8 = 12;
const CONNECTIONS: usize = 30;
const STREAMS: u32 = 250;
/// A form that never ends, bytes.
const FORM: usize = 250 * 1024;
/// Longest that `/livez` may take on a busy machine.
const DEADLINE: Duration = Duration::from_secs(30);
/// How long the strangers keep what they have.
const HELD: Duration = Duration::from_secs(5);

#[test]
fn strangers_take_a_bounded_amount_of_memory_and_return_it() {
    raise_open_files();
    let folder = tempfile::tempdir().unwrap();
    let token = bearer_token(folder.path());
    let server = configured(folder.path());
    let (data, admin) = (at(&server.address()), at(&server.admin_address()));
    let before = resident(server.process());
    let watch = Watch::start(server.process(), data, admin, token.clone());
    let strangers: Vec<_> = (1..=ADDRESSES)
        .map(|address| thread::spawn(move || stranger(data, address)))
        .collect();
    // A client whose secret has a slow hash gets a token meanwhile.
    let url = server.address();
    let get = [
        "token",
        "get",
        "--server",
        &url,
        "--client",
        "ci",
        "--secret-file",
        "ci.secret",
    ];
    let begun = Instant::now();
    while jeton(folder.path(), &get, b"").status.code() != Some(0) {
        // A busy machine may need longer than the command waits.
        assert!(begun.elapsed() < 4 * DEADLINE, "the client is kept out");
    }
    let held: Vec<_> = strangers
        .into_iter()
        .flat_map(|stranger| stranger.join().unwrap())
        .collect();
    thread::sleep(HELD);
    let seen = watch.end();
    println!(
        "{} connections of strangers held what they could: resident before {} MiB, at most {} MiB; account at most {} \
         of {} MiB; {} refused; /livez took at most {} ms",
        held.len(),
        before >> 20,
        seen.resident >> 20,
        seen.held >> 20,
        seen.limit >> 20,
        seen.refused,
        seen.livez_milliseconds
    );
    assert!(
        seen.resident < CHART,
        "{} MiB resident",
        seen.resident >> 20
    );
    assert!(seen.limit > 0 && seen.held <= seen.limit + seen.limit / 10);
    assert!(seen.refused > 0, "the strangers filled no share");
    drop(held);
    let begun = Instant::now();
    loop {
        let held = metric(admin, &token, "jeton_client_memory_bytes").unwrap_or(u64::MAX);
        let resident = resident(server.process());
        if held < 4 << 20 && resident < before + (128 << 20) {
            println!(
                "after {} s: {} MiB resident",
                begun.elapsed().as_secs(),
                resident >> 20
            );
            return;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "{held} bytes held, {} MiB resident",
            resident >> 20
        );
        thread::sleep(Duration::from_millis(200));
    }
}

const ISSUER: &str = "[[issuer]]\niss = 'https://id.example'\nprofiles = [\
                      {name = 'access', alg = 'ES256', lifetime_seconds = 3600, audiences = ['api', 'jeton']}]\n";

/// A token of the client that reads the metrics. A server without clients issues it.
fn bearer_token(folder: &Path) -> String {
    fs::write(folder.join("jeton.toml"), ISSUER).unwrap();
    let server = Serving::any_port(folder, &["--config", "jeton.toml"]);
    let url = server.address();
    let issue = ["token", "issue", "--server", &url, "--profile", "access"];
    let of = ["--subject", "scraper", "--audience", "jeton"];
    let token = succeeds(folder, &[&issue[..], &of].concat(), b"");
    server.signal("-TERM");
    server.end();
    String::from_utf8(token).unwrap().trim().to_owned()
}

/// A server with a client that has a slow hash and one that signs assertions: it reads forms without credentials.
fn configured(folder: &Path) -> Serving {
    let run = |args: &[&str]| String::from_utf8(succeeds(folder, args, b"")).unwrap();
    fs::write(
        folder.join("ci.secret"),
        "correct horse battery staple 0123456789\n",
    )
    .unwrap();
    let hash = run(&["admin", "client", "hash", "--secret-file", "ci.secret"]);
    fs::write(
        folder.join("one.jwk"),
        run(&["key", "new", "--alg", "ES256", "--kid", "one"]),
    )
    .unwrap();
    let public = run(&["key", "public", "one.jwk"]);
    fs::write(folder.join("keys.json"), format!("{{\"keys\":[{public}]}}")).unwrap();
    let configuration = format!(
        "{ISSUER}\
         [bearer]\nissuer = 'https://id.example'\naudience = 'jeton'\n\
         [[client]]\nname = 'scraper'\nbearer_subject = 'scraper'\nmay = ['metrics']\nissuers = ['*']\n\
         [[client]]\nname = 'ci'\nsecrets = ['{}']\nmay = ['token']\nissuers = ['*']\n\
         tokens = [{{profile = 'access'}}]\n\
         [[client]]\nname = 'signer'\nkeys_file = 'keys.json'\nmay = ['token']\nissuers = ['*']\n\
         tokens = [{{profile = 'access'}}]\n",
        hash.trim()
    );
    fs::write(folder.join("jeton.toml"), configuration).unwrap();
    Serving::any_port(folder, &["--config", "jeton.toml"])
}

/// The strangers have more sockets than many shells allow at first.
pub(crate) fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, raised).unwrap();
}

/// What a connection sends, by its number.
type Kind = fn(usize) -> Vec<u8>;

/// Opens everything from one address, and returns the connections.
fn stranger(server: SocketAddr, address: u8) -> Vec<TcpStream> {
    let mut held = Vec::new();
    for number in 0..CONNECTIONS {
        for kind in [
            unread_responses,
            endless_headers,
            endless_form,
            unread_pipeline,
            wrong_secret,
            too_long_headers,
            unfinished_headers,
            unfinished_calls,
            unfinished_forms,
        ] {
            let Some(mut stream) = connect(server, address) else {
                continue;
            };
            // A server that refuses closes the connection.
            let _ = stream.write_all(&kind(number));
            held.push(stream);
        }
    }
    held
}

fn connect(server: SocketAddr, address: u8) -> Option<TcpStream> {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket
            .bind(SocketAddr::from(([127, 0, 9, address], 0)))
            .unwrap();
        socket.connect(server).await
    });
    let stream = stream.and_then(tokio::net::TcpStream::into_std).ok()?;
    stream.set_nonblocking(false).unwrap();
    stream
        .set_write_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    Some(stream)
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

fn block(method: &str, path: &str, content_type: &str) -> Vec<u8> {
    let mut headers = Vec::new();
    for (name, value) in [
        (":method", method),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("content-type", content_type),
        ("te", "trailers"),
    ] {
        literal(&mut headers, name, value);
    }
    headers
}

/// Responses of all kinds, with a window of zero.
fn unread_responses(number: usize) -> Vec<u8> {
    let window = frame_bytes(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]);
    let mut bytes = [PREFACE, &window].concat();
    let kinds = [
        block("GET", "/.well-known/jwks.json", "text/plain"),
        block("GET", "/nowhere", "text/plain"),
        block("POST", "/grpc.health.v1.Health/Watch", "application/grpc"),
        block("POST", "/introspect", "application/x-www-form-urlencoded"),
    ];
    for stream in 0..STREAMS {
        let (id, kind) = (2 * stream + 1, (number + stream as usize) % kinds.len());
        bytes.extend(match kind {
            0 | 1 => frame_bytes(HEADERS, END_HEADERS | END_STREAM, id, &kinds[kind]),
            _ => frame_bytes(HEADERS, END_HEADERS, id, &kinds[kind]),
        });
        match kind {
            2 => bytes.extend(frame_bytes(DATA, END_STREAM, id, &[0; 5])),
            3 => bytes.extend(frame_bytes(DATA, END_STREAM, id, b"token=a")),
            _ => {}
        }
    }
    bytes
}

/// Calls with as many headers as are accepted, whose message never begins.
fn endless_headers(_: usize) -> Vec<u8> {
    let mut headers = block("POST", "/grpc.health.v1.Health/Check", "application/grpc");
    for number in 0..350 {
        literal(&mut headers, &format!("x{number}"), "y");
    }
    opened(&headers)
}

/// Forms without credentials that never end, in streams of one connection.
fn endless_form(number: usize) -> Vec<u8> {
    let path = ["/token", "/introspect", "/revoke"][number % 3];
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         content-length: {}\r\n\r\nsubject_token=",
        FORM + 1000
    );
    [head.as_bytes(), &vec![b'a'; FORM]].concat()
}

/// Requests on one connection whose responses are not read.
fn unread_pipeline(_: usize) -> Vec<u8> {
    b"GET /.well-known/jwks.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(2000)
}

/// Wrong secrets for a client and for names that do not exist.
fn wrong_secret(number: usize) -> Vec<u8> {
    // `ci:wrong` and `no:wrong`.
    let credentials = ["Y2k6d3Jvbmc=", "bm86d3Jvbmc="][number % 2];
    format!(
        "POST /token HTTP/1.1\r\nhost: localhost\r\nauthorization: Basic {credentials}\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: 29\r\n\r\n\
         grant_type=client_credentials"
    )
    .repeat(10)
    .into_bytes()
}

/// Headers whose answer comes from HTTP/2 itself, and then silence: no handler sees these streams.
fn too_long_headers(_: usize) -> Vec<u8> {
    let mut first = block("GET", "/livez", "text/plain");
    // A field that enters the dynamic table: a literal with indexing (RFC 7541, section 6.2.1), of 3,900 bytes.
    first.extend([0x40, 1, b'z', 0x7f, 0xbd, 0x1d]);
    first.extend([b'v'; 3900]);
    // The newest entry of the table, five times.
    let more = [&block("GET", "/livez", "text/plain")[..], &[0xbe; 5]].concat();
    let mut bytes = [PREFACE, &frame_bytes(SETTINGS, 0, 0, &[])].concat();
    let flags = END_HEADERS | END_STREAM;
    bytes.extend(frame_bytes(HEADERS, flags, 1, &first));
    for stream in 1..STREAMS {
        bytes.extend(frame_bytes(HEADERS, flags, 2 * stream + 1, &more));
    }
    bytes
}

/// A header block and a frame of it, neither complete.
fn unfinished_headers(_: usize) -> Vec<u8> {
    let mut headers = block("GET", "/livez", "text/plain");
    // A value of 16,127 bytes, of which 15,000 are here.
    headers.extend([0, 1, b'z', 0x7f, 0x80, 0x7d]);
    headers.extend([b'v'; 15_000]);
    let more = frame_bytes(CONTINUATION, 0, 1, &[b'v'; 16_000]);
    let settings = frame_bytes(SETTINGS, 0, 0, &[]);
    let begun = frame_bytes(HEADERS, 0, 1, &headers);
    [PREFACE, &settings, &begun, &more[..15_900]].concat()
}

/// Calls without a message.
fn unfinished_calls(_: usize) -> Vec<u8> {
    let headers = block("POST", "/grpc.health.v1.Health/Check", "application/grpc");
    opened(&headers)
}

/// Forms without a byte.
fn unfinished_forms(_: usize) -> Vec<u8> {
    let form = "application/x-www-form-urlencoded";
    opened(&block("POST", "/introspect", form))
}

/// As many streams as a connection may have, with these headers and no end.
fn opened(headers: &[u8]) -> Vec<u8> {
    let mut bytes = [PREFACE, &frame_bytes(SETTINGS, 0, 0, &[])].concat();
    for stream in 0..STREAMS {
        bytes.extend(frame_bytes(HEADERS, END_HEADERS, 2 * stream + 1, headers));
    }
    bytes
}

/// The start of a TLS handshake: a message of 65,024 bytes (RFC 8446, section 4), without its end.
fn unfinished_handshake(_: usize) -> Vec<u8> {
    let message = [&[1, 0, 0xfe, 0][..], &[b'a'; 65_000]].concat();
    let record = |piece: &[u8]| {
        let length = u16::try_from(piece.len()).unwrap().to_be_bytes();
        [&[22, 3, 1][..], &length, piece].concat()
    };
    message.chunks(16_384).flat_map(record).collect()
}

/// What a connection holds beside its calls is charged, for as long as it holds it.
#[test]
fn connections_hold_no_more_than_they_are_charged() {
    let tls = "[tls]\ncertificate = 'server.pem'\nkey = 'server.key'\n";
    let kinds: [(Kind, usize, &str); 5] = [
        (too_long_headers, 100, ""),
        (unfinished_headers, 100, ""),
        (unfinished_handshake, 100, tls),
        (unfinished_calls, 10, ""),
        (unfinished_forms, 10, ""),
    ];
    for (kind, connections, config) in kinds {
        // A machine that is busy for longer than a handshake may take is measured again.
        let measured = (0..10).find_map(|_| taken_and_charged(kind, connections, config));
        let (taken, charged) = measured.unwrap();
        println!("{connections} connections take {taken} bytes, charged {charged}");
        assert!(
            charged > 0 && taken <= charged + charged / 10,
            "{connections} connections take {taken} bytes, charged {charged}"
        );
    }
}

/// Resident memory and charge of so many connections that send this. `None`: a handshake ended meanwhile.
fn taken_and_charged(kind: Kind, connections: usize, config: &str) -> Option<(u64, u64)> {
    let folder = tempfile::tempdir().unwrap();
    Authority::new(&folder.path().join("ca.pem")).certify(folder.path(), 4096);
    fs::write(folder.path().join("jeton.toml"), config).unwrap();
    let server = Serving::any_port(folder.path(), &["--config", "jeton.toml"]);
    let open = || -> Vec<TcpStream> {
        let address = server.address();
        let (_, address) = address.split_once("://").unwrap();
        let opened = (0..connections).map(|number| {
            let mut stream = connect(address.parse().unwrap(), 1).unwrap();
            stream.write_all(&kind(number)).unwrap();
            stream
        });
        opened.collect()
    };
    let see = || {
        thread::sleep(HELD / 5);
        let url = format!("{}/metrics", server.admin_address());
        let page = Command::new("curl").args(["-sSk", &url]).output().unwrap();
        let page = String::from_utf8(page.stdout).unwrap();
        let charged = number_of(&page, "jeton_client_memory_bytes").unwrap();
        let ended = number_of(&page, "jeton_tls_handshakes_failed_total").unwrap();
        (ended == 0).then(|| (resident(server.process()), charged))
    };
    // The first ones take some memory that the next ones use too.
    let first = open();
    let before = see()?;
    let next = open();
    let after = see()?;
    drop((first, next));
    Some((
        after.0.saturating_sub(before.0),
        after.1.saturating_sub(before.1),
    ))
}

/// The most that was seen meanwhile.
#[derive(Debug, Default)]
struct Seen {
    resident: u64,
    held: u64,
    limit: u64,
    refused: u64,
    livez_milliseconds: u64,
}

struct Watch {
    over: Arc<AtomicBool>,
    resident: Arc<AtomicU64>,
    memory: JoinHandle<()>,
    calls: JoinHandle<Seen>,
}

impl Watch {
    fn start(process: u32, data: SocketAddr, admin: SocketAddr, token: String) -> Watch {
        let (over, most) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicU64::new(0)),
        );
        let (ended, peak) = (over.clone(), most.clone());
        let memory = thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                peak.fetch_max(resident(process), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(10));
            }
        });
        let ended = over.clone();
        let calls = thread::spawn(move || {
            let mut seen = Seen::default();
            while !ended.load(Ordering::Relaxed) {
                let begun = Instant::now();
                // On a busy machine a connection may be closed, or wait for longer than it may, before its call arrives.
                let live = loop {
                    match get(data, "/livez", None) {
                        Ok(live) if !live.is_empty() => break live,
                        none => assert!(begun.elapsed() < 4 * DEADLINE, "/livez: {none:?}"),
                    }
                };
                assert!(live.starts_with("HTTP/1.1 200"), "/livez: {live}");
                let took = u64::try_from(begun.elapsed().as_millis()).unwrap();
                seen.livez_milliseconds = seen.livez_milliseconds.max(took);
                let number = |name| metric(admin, &token, name).unwrap_or_default();
                seen.held = seen.held.max(number("jeton_client_memory_bytes"));
                seen.limit = seen.limit.max(number("jeton_client_memory_limit_bytes"));
                seen.refused = seen
                    .refused
                    .max(number("jeton_client_memory_refused_total"));
                thread::sleep(Duration::from_millis(50));
            }
            seen
        });
        Watch {
            over,
            resident: most,
            memory,
            calls,
        }
    }

    fn end(self) -> Seen {
        self.over.store(true, Ordering::Relaxed);
        self.memory.join().unwrap();
        let seen = self.calls.join().unwrap();
        Seen {
            resident: self.resident.load(Ordering::Relaxed),
            ..seen
        }
    }
}

fn at(url: &str) -> SocketAddr {
    url.strip_prefix("http://").unwrap().parse().unwrap()
}

fn get(server: SocketAddr, path: &str, token: Option<&str>) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&server, DEADLINE)?;
    assert_eq!(server.ip(), IpAddr::from([127, 0, 0, 1]));
    stream.set_read_timeout(Some(DEADLINE))?;
    let token = token.map_or(String::new(), |token| {
        format!("authorization: Bearer {token}\r\n")
    });
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{token}connection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}

fn metric(admin: SocketAddr, token: &str, name: &str) -> Option<u64> {
    let page = get(admin, "/metrics", Some(token)).ok()?;
    number_of(&page, name)
}

fn number_of(page: &str, name: &str) -> Option<u64> {
    let line = page
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    line.parse().ok()
}

fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    kib.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
