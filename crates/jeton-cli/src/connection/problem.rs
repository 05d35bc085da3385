//! Finds out why a server cannot be reached.
//!
//! The client for gRPC says that a connection failed. This connects once more, without gRPC, and reads what TLS says.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, ClientConfig, ClientConnection, Error, Stream};

use super::settings::Settings;
use crate::exit::Failure;
use crate::input;

/// The time limit of each step.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How often an answer is read. A server may send it in parts.
const READS: usize = 16;

/// Why a server cannot be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Problem {
    /// The server has no TLS, and the URL requires it.
    ServerWithoutTls,
    /// The server has TLS, and the URL does not.
    ServerWithTls,
    UnknownAuthority,
    /// The certificate of the server has these names.
    OtherName(Vec<String>),
    Certificate(String),
    /// The server requires a client certificate.
    NoClientCertificate,
    /// The server refuses the client certificate, for this reason.
    ClientCertificate(String),
}

/// Connects once more, and returns the problem. `None`: it has nothing to do with TLS.
pub(super) fn find(settings: &Settings) -> Option<Problem> {
    let uri: Uri = settings.url.parse().ok()?;
    if uri.scheme_str() == Some("https") {
        let config = settings.tls().ok()?;
        match with_tls(&uri, config) {
            Ok(()) => None,
            Err(error) => match error
                .get_ref()
                .and_then(|inner| inner.downcast_ref::<Error>())
            {
                Some(error) => {
                    of_tls(error, settings.identity.is_some()).or_else(|| speaks_plain_http(&uri))
                }
                None => speaks_plain_http(&uri),
            },
        }
    } else {
        has_tls(&uri, settings).then_some(Problem::ServerWithTls)
    }
}

fn speaks_plain_http(uri: &Uri) -> Option<Problem> {
    let answer = plain(uri).ok()?;
    answer
        .starts_with(b"HTTP/")
        .then_some(Problem::ServerWithoutTls)
}

/// Whether a server has TLS: it answers a request without TLS with an alert, or with an error that says so, or it answers
/// nothing and makes a handshake.
fn has_tls(uri: &Uri, settings: &Settings) -> bool {
    const ALERT: u8 = 21;
    let Ok(answer) = plain(uri) else { return false };
    match answer.first() {
        Some(&ALERT) => true,
        Some(_) => answer.starts_with(b"HTTP/1.") && answer.windows(5).any(|word| word == b"HTTPS"),
        None => match settings.tls().map(|config| with_tls(uri, config)) {
            Ok(Ok(())) => true,
            // The certificate was received.
            Ok(Err(error)) => matches!(
                error
                    .get_ref()
                    .and_then(|inner| inner.downcast_ref::<Error>()),
                Some(Error::InvalidCertificate(_) | Error::AlertReceived(_))
            ),
            Err(_) => false,
        },
    }
}

fn connect(uri: &Uri) -> io::Result<TcpStream> {
    let is_tls = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    let mut last = io::Error::from(ErrorKind::NotFound);
    for address in (host(uri), port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(stream) => {
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Without the brackets of an IPv6 address.
fn host(uri: &Uri) -> &str {
    let host = uri.host().unwrap_or_default();
    host.trim_start_matches('[').trim_end_matches(']')
}

/// A request that every server answers.
fn request(uri: &Uri) -> String {
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    format!("GET /livez HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n\r\n")
}

/// Sends a request without TLS; returns the beginning of the answer.
fn plain(uri: &Uri) -> io::Result<Vec<u8>> {
    let mut stream = connect(uri)?;
    stream.write_all(request(uri).as_bytes())?;
    let mut answer = vec![0; 4096];
    let mut length = 0;
    // What came before an error counts too: a server with TLS may reset the connection.
    for _ in 0..READS {
        match stream.read(&mut answer[length..]) {
            Ok(0) | Err(_) => break,
            Ok(received) => length += received,
        }
    }
    answer.truncate(length);
    Ok(answer)
}

/// Makes the handshake and sends a request. With TLS 1.3, a server refuses a client certificate after the handshake.
fn with_tls(uri: &Uri, config: ClientConfig) -> io::Result<()> {
    let invalid = |_| io::Error::from(ErrorKind::InvalidInput);
    let name = ServerName::try_from(host(uri).to_owned()).map_err(invalid)?;
    let mut connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    let mut socket = connect(uri)?;
    let sent = Stream::new(&mut connection, &mut socket).write_all(request(uri).as_bytes());
    if sent.as_ref().is_err_and(|error| error.get_ref().is_some()) {
        return sent;
    }
    // The server may have closed the connection before the request. Its reason can still be read.
    for _ in 0..READS {
        let state = connection.process_new_packets();
        let state = state.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        if state.plaintext_bytes_to_read() > 0 || state.peer_has_closed() {
            break;
        }
        if connection.read_tls(&mut socket)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

/// `None`: the answer is not TLS, or the reason is another one.
fn of_tls(error: &Error, has_certificate: bool) -> Option<Problem> {
    use AlertDescription as Alert;
    match error {
        Error::InvalidCertificate(error) => Some(of_certificate(error)),
        Error::AlertReceived(alert) => match alert {
            Alert::CertificateRequired => Some(Problem::NoClientCertificate),
            // TLS 1.2 has no alert for a missing certificate.
            Alert::BadCertificate if !has_certificate => Some(Problem::NoClientCertificate),
            _ if !has_certificate => None,
            Alert::UnknownCA => Some(refused("it is from an unknown authority")),
            Alert::CertificateExpired => Some(refused("it has expired, or is not valid yet")),
            Alert::CertificateRevoked => Some(refused("it is revoked")),
            Alert::UnsupportedCertificate => Some(refused("it is not for clients")),
            Alert::BadCertificate | Alert::CertificateUnknown | Alert::AccessDenied => {
                Some(refused("it is not accepted"))
            }
            Alert::DecryptError => Some(refused("its signature is not valid")),
            _ => None,
        },
        _ => None,
    }
}

fn refused(why: &str) -> Problem {
    Problem::ClientCertificate(why.to_owned())
}

fn of_certificate(error: &CertificateError) -> Problem {
    match error {
        CertificateError::UnknownIssuer => Problem::UnknownAuthority,
        CertificateError::NotValidForNameContext { presented, .. } => {
            Problem::OtherName(presented.iter().map(|name| bare(name)).collect())
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            Problem::Certificate("has expired".to_owned())
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            Problem::Certificate("is not valid yet; check the clock of this machine".to_owned())
        }
        other => Problem::Certificate(format!("is not accepted: {other}")),
    }
}

/// The name in `DnsName("a.example")` or `IpAddress(127.0.0.1)`.
fn bare(presented: &str) -> String {
    let inner = presented
        .split_once('(')
        .map_or(presented, |(_, inner)| inner);
    inner.trim_end_matches(')').trim_matches('"').to_owned()
}

impl Problem {
    /// Returns the failure with the option that corrects it.
    pub(super) fn failure(&self, settings: &Settings) -> Failure {
        let url = &settings.url;
        let rest = url.split_once("://").map_or(&**url, |(_, rest)| rest);
        let (what, hint) = match self {
            Problem::ServerWithoutTls => (
                "the server has no TLS, and the URL begins with https".to_owned(),
                format!("to connect without TLS, add `--server http://{rest}`"),
            ),
            Problem::ServerWithTls => (
                "the server has TLS, and the URL begins with http".to_owned(),
                format!(
                    "to connect with TLS, add `--server https://{rest}`; for an authority of your own, add `--ca FILE`"
                ),
            ),
            Problem::UnknownAuthority => {
                let among = match &settings.ca {
                    Some(file) => format!("none in {}", input::name_of(file)),
                    None => "none of this system".to_owned(),
                };
                (
                    format!("the certificate of the server is from another authority: {among}"),
                    "to trust its authority, add `--ca FILE`".to_owned(),
                )
            }
            Problem::OtherName(names) => {
                let uri: Option<Uri> = url.parse().ok();
                let port = uri.and_then(|uri| uri.port_u16());
                let port = port.map_or(String::new(), |port| format!(":{port}"));
                // A wildcard is the name of no server.
                let hint = match names.iter().find(|name| !name.contains('*')) {
                    None => "the server needs a certificate with its name".to_owned(),
                    Some(name) if name.contains(':') => {
                        format!("to use its name, add `--server https://[{name}]{port}`")
                    }
                    Some(name) => format!("to use its name, add `--server https://{name}{port}`"),
                };
                (
                    format!(
                        "the certificate of the server is for another name: {}",
                        names.join(", ")
                    ),
                    hint,
                )
            }
            Problem::Certificate(what) => (
                format!("the certificate of the server {what}"),
                "the operator of the server must renew it".to_owned(),
            ),
            Problem::NoClientCertificate => (
                "the server requires a client certificate".to_owned(),
                "to send one, add `--client-certificate FILE --client-key FILE`".to_owned(),
            ),
            Problem::ClientCertificate(why) => (
                format!("the server refuses the client certificate: {why}"),
                "to send another one, add `--client-certificate FILE --client-key FILE`; the server accepts the \
                 authorities of `tls.client_ca`"
                    .to_owned(),
            ),
        };
        Failure::error(format!("cannot reach the server: {what}")).hint(hint)
    }
}
