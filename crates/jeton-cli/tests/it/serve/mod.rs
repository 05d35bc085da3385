//! Tests of `jeton serve` and `jeton token`: the printed commands work, and the log contains no secret.

#[cfg(target_os = "linux")]
pub(crate) mod bounds;
mod browser_attack;
#[cfg(target_os = "linux")]
pub(crate) mod chaos;
mod configuration;
pub(crate) mod etcd;
mod follower;
mod full_disk;
mod grpcurl;
#[cfg(feature = "pkcs11")]
mod hsm;
mod oauth;
mod stopping;
pub(crate) mod tls;
#[cfg(feature = "otel")]
mod traces;
mod unread;
mod web_site;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use crate::binary;
use crate::serving::Serving;

fn shell(folder: &Path, line: &str) -> Output {
    Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns whether `/readyz` on this host says so.
fn is_ready_at(port: u16) -> bool {
    is_ready_within(port, Duration::from_secs(60))
}

/// Returns whether `/readyz` on this host says so in this time.
fn is_ready_within(port: u16, timeout: Duration) -> bool {
    let ask = || -> std::io::Result<String> {
        let address = ([127, 0, 0, 1], port).into();
        let mut stream = TcpStream::connect_timeout(&address, timeout)?;
        stream.set_read_timeout(Some(timeout))?;
        stream
            .write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
        let mut status = [0; 12];
        stream.read_exact(&mut status)?;
        Ok(String::from_utf8_lossy(&status).into_owned())
    };
    ask().is_ok_and(|status| status == "HTTP/1.1 200")
}

#[test]
fn serve_printed_commands_issue_verify_and_revoke() {
    let folder = tempfile::tempdir().unwrap();
    let server = Serving::any_port(folder.path(), &[]);
    let said = server.wait_for("token revoke");
    let commands: Vec<&str> = (said.lines())
        .filter(|line| line.starts_with("  ") && !line.contains("grpcurl"))
        .collect();
    let [issue, verify, revoke] = commands[..] else {
        panic!("three commands: {said}");
    };
    let issued = shell(folder.path(), issue);
    assert!(issued.status.success(), "{issue}: {}", text(&issued.stderr));
    let token = fs::read_to_string(folder.path().join("token")).unwrap();
    let verified = shell(folder.path(), verify);
    assert!(
        verified.status.success(),
        "{verify}: {}",
        text(&verified.stderr)
    );
    assert!(text(&verified.stdout).contains("\"sub\":\"alice\""));
    let revoked = shell(folder.path(), revoke);
    assert!(
        revoked.status.success(),
        "{revoke}: {}",
        text(&revoked.stderr)
    );
    let refused = shell(folder.path(), verify);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("rejected: the token is revoked"));

    // No other user can read the created files.
    use std::os::unix::fs::PermissionsExt as _;
    let data = folder.path().join("jeton-data");
    for (file, mode) in [
        ("", 0o700),
        ("admin-token", 0o600),
        ("key-encryption-key", 0o600),
        ("store.redb", 0o600),
    ] {
        let found = fs::metadata(data.join(file)).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{file}");
    }

    // Revocations and issued tokens survive a restart.
    let second = shell(folder.path(), issue);
    assert!(second.status.success());
    let other = fs::read_to_string(folder.path().join("token")).unwrap();
    server.signal("-TERM");
    let (code, said) = server.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("stopped"), "{said}");
    let server = Serving::any_port(folder.path(), &[]);
    let address = server.address();
    let verify = |token: &str| {
        let call = [
            "token",
            "verify",
            "--server",
            &address,
            "--audience",
            "api",
            token.trim(),
        ];
        binary::jeton(folder.path(), &call, b"")
    };
    assert_eq!(verify(&token).status.code(), Some(1));
    assert_eq!(verify(&other).status.code(), Some(0));
}

#[test]
fn serve_printed_commands_are_in_the_docs() {
    let folder = tempfile::tempdir().unwrap();
    let server = Serving::any_port(folder.path(), &[]);
    let to = format!(" --server {}", server.address());
    let said = server.wait_for("token revoke").replace(&to, "");
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/service.md");
    let book = fs::read_to_string(book).unwrap();
    let in_the_book: Vec<&str> = book
        .lines()
        .filter_map(|line| line.strip_prefix("jeton "))
        .filter(|command| command.starts_with("token "))
        .collect();
    let printed: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_once(' '))
        .filter(|(program, _)| *program != "grpcurl")
        .map(|(_, rest)| rest)
        .collect();
    assert_eq!(printed.len(), 3, "{said}");
    assert_eq!(printed, in_the_book);
}

#[test]
fn serve_log_contains_no_token_key_or_secret() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("jeton.toml");
    fs::write(&config, "[log]\nlevel = 'trace'\n").unwrap();
    let server = Serving::any_port(folder.path(), &["--config", "jeton.toml"]);
    let address = server.address();
    let call = |args: &[&str]| {
        let args = [&["token", args[0], "--server", &address], &args[1..]].concat();
        binary::jeton(folder.path(), &args, b"")
    };
    let issued = call(&[
        "issue",
        "--profile",
        "access",
        "--subject",
        "canary-subject",
    ]);
    let token = text(&issued.stdout).trim().to_owned();
    assert_eq!(
        call(&["verify", "--audience", "api", &token]).status.code(),
        Some(0)
    );
    assert_eq!(
        call(&["verify", "--audience", "other", &token])
            .status
            .code(),
        Some(1)
    );
    assert_eq!(call(&["revoke", &token]).status.code(), Some(0));
    assert_eq!(
        call(&["verify", "--audience", "api", &token]).status.code(),
        Some(1)
    );
    let form = format!("token={token}");
    for path in ["introspect", "revoke"] {
        let url = format!("{address}/{path}");
        let curl = [
            "-sS",
            "-H",
            "authorization: Bearer canary-bearer",
            "-d",
            &form,
            &url,
        ];
        assert!(
            Command::new("curl")
                .args(curl)
                .output()
                .unwrap()
                .status
                .success()
        );
    }
    let data = folder.path().join("jeton-data");
    let admin_token = fs::read_to_string(data.join("admin-token")).unwrap();
    server.signal("-TERM");
    let key = fs::read_to_string(data.join("key-encryption-key")).unwrap();
    let (_, said) = server.end();
    assert!(said.contains("ready"), "there is a log at all: {said}");
    let signature = token.rsplit('.').next().unwrap();
    let payload = token.split('.').nth(1).unwrap();
    let (key, admin_token) = (key.trim(), admin_token.trim());
    for secret in [
        &*token,
        signature,
        payload,
        key,
        admin_token,
        "canary-bearer",
    ] {
        assert!(!said.contains(secret), "{said}");
    }
}

#[test]
fn serve_folder_in_use_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let first = Serving::any_port(folder.path(), &[]);
    first.address();
    let second = Serving::any_port(folder.path(), &[]);
    let (code, said) = second.end();
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("another process has the store open"),
        "{said}"
    );
}

#[test]
fn serve_and_token_invalid_calls_have_hints() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("jeton.toml"), "\n[limits]\nstream = 3\n").unwrap();
    let serve = |args: &[&str]| Serving::start(folder.path(), args).end();
    let (code, said) = serve(&["--config", "jeton.toml"]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("jeton.toml:3: `stream`: unknown field"),
        "{said}"
    );
    let (code, said) = serve(&["--listen", "0.0.0.0:0"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("`tls` is missing"), "{said}");
    assert!(!folder.path().join("jeton-data").exists());

    let call = [
        "token",
        "verify",
        "--server",
        "http://127.0.0.1:1",
        "--audience",
        "a",
        "t",
    ];
    binary::ends(folder.path(), &call, b"", 2, "run `jeton serve`");
}

#[test]
fn serve_reload_applies_valid_and_ignores_invalid_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("jeton.toml");
    let issuer = "[[issuer]]\niss = 'i'\nprofiles = [{name = 'p', alg = 'ES256', lifetime_seconds = 60, audiences = ['a']}]\n";
    fs::write(&config, issuer).unwrap();
    let server = Serving::any_port(folder.path(), &["--config", "jeton.toml"]);
    let address = server.address();
    server.wait_for(" INFO ready");
    let issue = || {
        let call = ["token", "issue", "--server", &address, "--profile", "p"];
        binary::jeton(folder.path(), &call, b"").status.code()
    };
    assert_eq!(issue(), Some(0));
    fs::write(&config, format!("{issuer}[nonsense]\n")).unwrap();
    server.signal("-HUP");
    server.wait_for("the previous configuration stays in force");
    assert_eq!(issue(), Some(0));
    let clients = "[bearer]\nissuer = 'i'\naudience = 'a'\n[[client]]\nname = 'c'\nbearer_subject = 's'\nmay = ['issue']\nissuers = ['*']\n";
    fs::write(&config, format!("{issuer}{clients}")).unwrap();
    server.signal("-HUP");
    server.wait_for("configuration reloaded");
    assert_eq!(issue(), Some(2), "now callers must say who they are");
    let admin_token = folder.path().join("jeton-data/admin-token");
    assert!(!admin_token.exists(), "it is nobody's any more");
    fs::write(&config, issuer).unwrap();
    server.signal("-HUP");
    let is_there = || admin_token.exists() && issue() == Some(0);
    assert!(sometime(is_there), "without clients there is one again");
}

/// Retries until the condition holds.
fn sometime(holds: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if holds() {
            return true;
        }
        thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn serve_reload_applies_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("jeton.toml");
    fs::write(&config, "hosts = ['one.example']\n").unwrap();
    let server = Serving::any_port(folder.path(), &["--config", "jeton.toml"]);
    let urls = [server.address(), server.admin_address()].map(|url| format!("{url}/livez"));
    let status = |host: &str| {
        let codes = urls.clone().map(|url| {
            let host = format!("host: {host}");
            let curl = [
                "-sS",
                "-o",
                "/dev/null",
                "-w",
                "%{http_code}",
                "-H",
                &host,
                &url,
            ];
            text(&Command::new("curl").args(curl).output().unwrap().stdout)
        });
        assert_eq!(codes[0], codes[1]);
        codes[0].clone()
    };
    assert_eq!(
        (status("one.example"), status("two.example")),
        ("200".into(), "421".into())
    );
    fs::write(&config, "hosts = ['two.example']\n").unwrap();
    server.signal("-HUP");
    server.wait_for("configuration reloaded");
    assert_eq!(
        (status("one.example"), status("two.example")),
        ("421".into(), "200".into())
    );
    for wrong in ["*.example", "https://a.example", "a.example:80", "a@b", ""] {
        fs::write(&config, format!("\nhosts = ['{wrong}']\n")).unwrap();
        let (code, said) = Serving::any_port(folder.path(), &["--config", "jeton.toml"]).end();
        assert_eq!(code, Some(2), "{wrong}");
        assert!(
            said.contains("jeton.toml:2: `hosts`: expected host names without scheme"),
            "{said}"
        );
    }
}

/// Starts a server with a limit on open files, which the shell sets.
fn serve_with_files(folder: &Path, files: &str) -> Serving {
    let shell = ["sh", "-c", "ulimit -n $0 && exec \"$@\"", files];
    let args = [
        "--config",
        "jeton.toml",
        "--listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
    ];
    Serving::start_by(&shell, folder, &args)
}

#[test]
fn serve_connections_are_limited_by_open_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("jeton.toml"), "workers = 1\n").unwrap();
    let server = serve_with_files(folder.path(), "200");
    let admin = server.admin_address();
    let said = server.wait_for(" INFO ready");
    assert!(
        said.contains("`limits.connections` is 10000") && said.contains("may open 200 files"),
        "{said}"
    );

    // More connections than open files; the admin listener has its own limit.
    let hold = |url: String| -> Vec<TcpStream> {
        let to = url.strip_prefix("http://").unwrap().to_owned();
        let hold = |_| {
            let mut stream = TcpStream::connect(&*to).unwrap();
            let _ = stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
            stream
        };
        (0..300).map(hold).collect()
    };
    let _held = hold(server.address());
    let is_answered = || {
        let url = format!("{admin}/livez");
        Command::new("curl")
            .args(["-sS", "--max-time", "5", &url])
            .output()
            .unwrap()
            .status
            .success()
    };
    assert!(sometime(is_answered), "{}", server.said());
    let _more = hold(admin.clone());
    assert!(sometime(is_answered), "{}", server.said());
    assert!(
        !server.said().contains("cannot accept connections"),
        "{}",
        server.said()
    );

    let (code, said) = serve_with_files(folder.path(), "100").end();
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("the limit is 100, and the server needs at least"),
        "{said}"
    );
}
