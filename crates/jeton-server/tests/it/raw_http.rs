//! HTTP/1.1 over plain TCP.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Longer than a response takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

pub(crate) fn get(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Response {
    send(address, "GET", path, headers, "")
}

pub(crate) fn post_form(address: SocketAddr, path: &str, form: &str) -> Response {
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    send(address, "POST", path, &headers, form)
}

pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut request = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        request.push_str(&format!("host: {address}\r\n"));
    }
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        request.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    // The server may have rejected the headers and closed the connection.
    let _ = stream.write_all(body.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    parse(&String::from_utf8(answer).unwrap())
}

/// Sends bytes unchanged, and reads the response until the server closes the connection.
pub(crate) fn send_bytes(address: SocketAddr, request: &[u8]) -> Response {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    parse(&String::from_utf8_lossy(&answer))
}

fn parse(answer: &str) -> Response {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap_or("0");
    let mut headers: HashMap<String, String> = HashMap::new();
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        // Lines of one name are one list (RFC 9110, section 5.3).
        headers
            .entry(name.to_ascii_lowercase())
            .and_modify(|list| list.extend([", ", value]))
            .or_insert_with(|| value.to_owned());
    }
    Response {
        status: status.parse().unwrap(),
        headers,
        body: body.to_owned(),
    }
}
