//! A key server with the habits in `sdk/testdata/fetch.json`, and a proxy.

mod habit;
mod response;
mod tls;

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use self::habit::Table;
pub use self::habit::{Expected, Habit};
use self::tls::Authority;

/// The largest head of a request, bytes.
const HEAD_BYTES: usize = 64 * 1024;

/// The host whose key set is reached only through the proxy.
pub const PROXIED_HOST: &str = "keys.example";

/// The host that the proxy refuses, with an HTML page.
pub const REFUSED_HOST: &str = "refused.example";

/// A running key server. It ends with the process.
///
/// | address | response |
/// |---|---|
/// | `/NAME/keys` | the key set, with the habit NAME |
/// | `/NAME/.well-known/openid-configuration` | the document of the issuer `ADDRESS/NAME` |
/// | `/NAME/count` | how many requests `/NAME/keys` got |
/// | `/NAME/head` | the head of the last request to `/NAME/keys` |
/// | `/proxy/head` | the head of the last CONNECT, or an empty text |
pub struct KeyServer {
    /// The address with http.
    pub http: String,
    /// The address with https, on `localhost`.
    pub https: String,
    /// The address of the proxy. It connects to this server, whatever host a client names.
    pub proxy: String,
    /// The certificate authority of https, in PEM.
    pub authority: String,
    table: Arc<Table>,
}

struct Shared {
    table: Arc<Table>,
    tls: Arc<rustls::ServerConfig>,
    /// The heads of the requests, by name.
    heads: Mutex<HashMap<String, Vec<String>>>,
}

impl KeyServer {
    /// Starts it. `data` is the text of `fetch.json`.
    ///
    /// # Errors
    ///
    /// The data cannot be read, or no port is free.
    pub fn start(data: &str) -> io::Result<KeyServer> {
        let table: Table = serde_json::from_str(data).map_err(io::Error::other)?;
        let table = Arc::new(table);
        let authority = Authority::new()?;
        let shared = Arc::new(Shared {
            table: Arc::clone(&table),
            tls: authority.config(&[PROXIED_HOST, "localhost"])?,
            heads: Mutex::default(),
        });
        let http = listen(&shared, |shared, stream| {
            let mut stream = stream;
            shared.answer(&mut stream, "http")
        })?;
        let https = listen(&shared, |shared, stream| shared.answer_over_tls(stream))?;
        let proxy = listen(&shared, |shared, stream| shared.tunnel(stream))?;
        Ok(KeyServer {
            http: format!("http://127.0.0.1:{http}"),
            https: format!("https://localhost:{https}"),
            proxy: format!("http://127.0.0.1:{proxy}"),
            authority: authority.pem().to_owned(),
            table,
        })
    }

    /// Returns the token that its keys verify: issuer `https://id.example`, audience `api`.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.table.token
    }

    /// Returns all habits.
    #[must_use]
    pub fn habits(&self) -> &[Habit] {
        &self.table.habits
    }

    /// Returns what a client reads at this address of the server.
    ///
    /// # Errors
    ///
    /// The server does not respond.
    pub fn read(&self, path: &str) -> io::Result<String> {
        let address = self.http.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address)?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
        body.ok_or_else(|| io::Error::other("no response"))
    }
}

/// Accepts connections on a free port, each in a thread.
fn listen(
    shared: &Arc<Shared>,
    serve: fn(&Shared, TcpStream) -> io::Result<()>,
) -> io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let shared = Arc::clone(&shared);
            // A client that goes away is no error of the server.
            thread::spawn(move || drop(serve(&shared, stream)));
        }
    });
    Ok(port)
}

impl Shared {
    fn heads(&self) -> MutexGuard<'_, HashMap<String, Vec<String>>> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, name: &str, head: &str) {
        let mut heads = self.heads();
        heads
            .entry(name.to_owned())
            .or_default()
            .push(head.to_owned());
    }

    fn answer_over_tls(&self, stream: TcpStream) -> io::Result<()> {
        let connection =
            rustls::ServerConnection::new(Arc::clone(&self.tls)).map_err(io::Error::other)?;
        let mut stream = rustls::StreamOwned::new(connection, stream);
        self.answer(&mut stream, "https")?;
        stream.conn.send_close_notify();
        stream.flush()
    }

    fn tunnel(&self, stream: TcpStream) -> io::Result<()> {
        let mut stream = stream;
        let head = read_head(&mut stream)?;
        self.note("proxy", &head);
        let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
        if !head.starts_with("CONNECT ") || target.starts_with(REFUSED_HOST) {
            let page = "<html>not allowed</html>";
            return write!(
                stream,
                "HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
                page.len()
            );
        }
        stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
        self.answer_over_tls(stream)
    }

    /// Answers one request and ends the connection.
    fn answer(&self, stream: &mut (impl Read + Write), scheme: &str) -> io::Result<()> {
        let head = read_head(stream)?;
        let path = head.split(' ').nth(1).unwrap_or_default();
        let (name, rest) = path
            .trim_start_matches('/')
            .split_once('/')
            .unwrap_or_default();
        let noted = self.heads().get(name).cloned().unwrap_or_default();
        match rest {
            "count" => return response::text(stream, &noted.len().to_string()),
            "head" => {
                let last = noted.last().map_or("", String::as_str);
                return response::text(stream, last);
            }
            _ => {}
        }
        let Some(habit) = self.table.habits.iter().find(|habit| habit.name == name) else {
            return response::status(stream, 404);
        };
        let host = header(&head, "host").unwrap_or_default();
        let base = format!("{scheme}://{host}/{name}");
        match rest {
            "keys" => {
                self.note(name, &head);
                response::key_set(stream, habit, &head, &self.table)
            }
            ".well-known/openid-configuration" if habit.is_of_issuer() => {
                response::document(stream, habit, &base)
            }
            _ => response::status(stream, 404),
        }
    }
}

fn read_head(stream: &mut impl Read) -> io::Result<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    // Byte by byte: what follows the head of CONNECT belongs to TLS.
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte)? == 0 || head.len() == HEAD_BYTES {
            return Err(io::Error::other("the request ends too early"));
        }
        head.push(byte[0]);
    }
    String::from_utf8(head).map_err(io::Error::other)
}

/// Returns the value of a header.
fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}
