//! The responses.

use std::io::{self, Write};
use std::thread::sleep;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use super::habit::{Body, Document, Encoding, Framing, Habit, Table};
use super::header;

const PAGE: &str = "<!DOCTYPE html><html><body>Sign in</body></html>";

/// The white space of a large body, bytes.
const LARGE: usize = 5_000_000;

pub(super) fn text(stream: &mut impl Write, text: &str) -> io::Result<()> {
    head(stream, 200, &[("Content-Length", &text.len().to_string())])?;
    stream.write_all(text.as_bytes())
}

pub(super) fn status(stream: &mut impl Write, status: u16) -> io::Result<()> {
    head(stream, status, &[("Content-Length", "0")])
}

fn head(stream: &mut impl Write, status: u16, headers: &[(&str, &str)]) -> io::Result<()> {
    write!(stream, "HTTP/1.1 {status} -\r\nConnection: close\r\n")?;
    for (name, value) in headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    stream.write_all(b"\r\n")
}

pub(super) fn key_set(
    stream: &mut impl Write,
    habit: &Habit,
    request: &str,
    table: &Table,
) -> io::Result<()> {
    let is_missing = |(name, wanted): (&String, &String)| {
        !header(request, name).is_some_and(|value| value.contains(wanted.as_str()))
    };
    if habit.require.iter().any(is_missing) {
        return status(stream, 403);
    }
    let body = match habit.body {
        Body::Keys => table.keys.to_string(),
        Body::Html => PAGE.to_owned(),
        Body::Empty => String::new(),
        Body::Large => format!("{}{}", table.keys, " ".repeat(LARGE)),
    };
    // Of an issuer, they are for the document.
    let encodings: &[Encoding] = if habit.is_of_issuer() {
        &[]
    } else {
        &habit.encode
    };
    write(stream, habit, &encoded(body, encodings)?)
}

pub(super) fn document(stream: &mut impl Write, habit: &Habit, issuer: &str) -> io::Result<()> {
    let body = match &habit.document {
        Document::Page(_) => PAGE.to_owned(),
        Document::Members(members) => {
            let mut document = json!({"issuer": issuer, "jwks_uri": format!("{issuer}/keys")});
            for (name, value) in members {
                document[name] = value.clone();
            }
            document.to_string()
        }
    };
    let body = encoded(body, &habit.encode)?;
    head(
        stream,
        200,
        &[
            ("Content-Type", "application/json"),
            ("Content-Length", &body.len().to_string()),
        ],
    )?;
    stream.write_all(&body)
}

fn encoded(text: String, encodings: &[Encoding]) -> io::Result<Vec<u8>> {
    let mut body = text.into_bytes();
    for encoding in encodings {
        body = match encoding {
            Encoding::ByteOrderMark => [&b"\xef\xbb\xbf"[..], &*body].concat(),
            Encoding::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(&body)?;
                encoder.finish()?
            }
            // The texts are ASCII.
            Encoding::Utf16 => {
                let units = body.iter().flat_map(|byte| [*byte, 0]);
                [0xff, 0xfe].into_iter().chain(units).collect()
            }
        };
    }
    Ok(body)
}

fn write(stream: &mut impl Write, habit: &Habit, body: &[u8]) -> io::Result<()> {
    let length = match habit.framing {
        Framing::Length => Some(body.len()),
        Framing::Cut | Framing::Drip => Some(body.len() + 1_000_000),
        Framing::Chunked | Framing::Close | Framing::None => None,
    };
    let mut headers = vec![(
        "Content-Type".to_owned(),
        "application/jwk-set+json".to_owned(),
    )];
    headers.extend(length.map(|length| ("Content-Length".to_owned(), length.to_string())));
    if habit.framing == Framing::Chunked {
        headers.push(("Transfer-Encoding".to_owned(), "chunked".to_owned()));
    }
    for (name, value) in &habit.headers {
        headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        headers.extend(value.clone().map(|value| (name.clone(), value)));
    }
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    head(stream, habit.status, &headers)?;
    match habit.framing {
        Framing::None => Ok(()),
        Framing::Length | Framing::Close | Framing::Cut => stream.write_all(body),
        Framing::Chunked => chunked(stream, body),
        Framing::Drip => drip(stream),
    }
}

fn chunked(stream: &mut impl Write, body: &[u8]) -> io::Result<()> {
    for part in body.chunks(16 * 1024) {
        write!(stream, "{:x}\r\n", part.len())?;
        stream.write_all(part)?;
        stream.write_all(b"\r\n")?;
    }
    stream.write_all(b"0\r\n\r\n")
}

/// Writes white space until the client goes away.
fn drip(stream: &mut impl Write) -> io::Result<()> {
    loop {
        stream.write_all(b" ")?;
        stream.flush()?;
        sleep(Duration::from_millis(100));
    }
}
