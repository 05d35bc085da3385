//! A small web site for Chromium to visit, and Chromium itself.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a page may take, on a machine that has much else to do.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The path at which a site answers with its page.
pub(crate) const PAGE: &str = "/page";
/// Where a page says that it has finished.
pub(crate) const REPORT: &str = "/report";

/// A request that arrived.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) method: String,
    pub(crate) path: String,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Hit {
    /// A header's value; empty if the request does not have it.
    pub(crate) fn header(&self, name: &str) -> &str {
        let named = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut named = named.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        named.next().map_or("", |(_, value)| value)
    }
}

/// A web site on loopback. It answers everything, as a careless service would, and remembers it.
pub(crate) struct Site {
    address: SocketAddr,
    hits: Arc<Mutex<Vec<Hit>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Site {
    /// On a port of the system's choosing, or on that one. `page` is what it has at [`PAGE`].
    pub(crate) fn start(port: u16, page: &str) -> Site {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let (hits, is_over) = (
            Arc::new(Mutex::new(Vec::new())),
            Arc::new(AtomicBool::new(false)),
        );
        let address = listener.local_addr().unwrap();
        let page = page.to_owned();
        let (seen, over) = (hits.clone(), is_over.clone());
        let thread = thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                match listener.accept() {
                    // A browser opens connections that it may use later: each has a thread.
                    Ok((stream, _)) => {
                        let (seen, page) = (seen.clone(), page.clone());
                        thread::spawn(move || answer(stream, &page, &seen));
                    }
                    Err(_) => thread::sleep(Duration::from_millis(5)),
                }
            }
        });
        Site {
            address,
            hits,
            is_over,
            thread: Some(thread),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What has come for that path.
    pub(crate) fn hits(&self, path: &str) -> Vec<Hit> {
        let hits = self.hits.lock().unwrap();
        hits.iter()
            .filter(|hit| hit.path == path)
            .cloned()
            .collect()
    }

    /// Waits for a request for that path.
    pub(crate) fn wait_for(&self, path: &str) -> Hit {
        let begun = Instant::now();
        loop {
            if let Some(hit) = self.hits(path).pop() {
                return hit;
            }
            let all = || self.hits.lock().unwrap().clone();
            assert!(
                begun.elapsed() < TIMEOUT,
                "nothing came for {path}: {:?}",
                all()
            );
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Site {
    /// The port is free afterwards.
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn answer(mut stream: TcpStream, page: &str, hits: &Mutex<Vec<Hit>>) {
    let _ = stream.set_nonblocking(false);
    let _ = stream.set_read_timeout(Some(TIMEOUT));
    let Some(hit) = read(&mut stream) else {
        return;
    };
    let body = match hit.path.as_str() {
        PAGE => page,
        _ => "careless",
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\ncache-control: no-store\r\n\
         connection: close\r\n\r\n",
        body.len()
    );
    hits.lock().unwrap().push(hit);
    let _ = stream.write_all([head.as_bytes(), body.as_bytes()].concat().as_slice());
}

fn read(stream: &mut TcpStream) -> Option<Hit> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let mut words = head.split(' ').map(str::to_owned);
            let (method, path) = (words.next()?, words.next()?);
            let mut hit = Hit {
                method,
                path,
                head,
                body: bytes[end + 4..].to_vec(),
            };
            let length: usize = hit.header("content-length").parse().unwrap_or(0);
            while hit.body.len() < length {
                match stream.read(&mut piece) {
                    Ok(more @ 1..) => hit.body.extend_from_slice(&piece[..more]),
                    _ => return None,
                }
            }
            return Some(hit);
        }
        match stream.read(&mut piece) {
            Ok(more @ 1..) => bytes.extend_from_slice(&piece[..more]),
            _ => return None,
        }
    }
}

/// Chromium on a page, until it is dropped.
pub(crate) struct Chromium {
    child: Child,
    _profile: TempDir,
}

impl Chromium {
    /// Opens a page. Names under `.example` lead to this machine.
    pub(crate) fn open(url: &str) -> Chromium {
        let program: PathBuf = std::env::var_os("JETON_CHROMIUM")
            .expect("cargo xtask test --only browser-attack says where it is")
            .into();
        let profile = tempfile::tempdir().unwrap();
        let child = Command::new(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--host-resolver-rules=MAP *.example 127.0.0.1",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Chromium {
            child,
            _profile: profile,
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
