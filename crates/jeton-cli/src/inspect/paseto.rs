//! Reports PASETOs of every version: `version.purpose.body.footer`.

use jeton::limits;

use super::report::{Content, Report};
use crate::exit::{Failure, Outcome};

/// A version and purpose.
struct Kind {
    name: &'static str,
    title: &'static str,
    /// The length of the signature behind the message of a signed token, bytes.
    signature_bytes: Option<usize>,
}

const KINDS: [Kind; 8] = [
    signed("v1.public", "PASETO version 1, signed (superseded)", 256),
    encrypted("v1.local", "PASETO version 1, encrypted (superseded)"),
    signed("v2.public", "PASETO version 2, signed (superseded)", 64),
    encrypted("v2.local", "PASETO version 2, encrypted (superseded)"),
    signed("v3.public", "PASETO version 3, signed", 96),
    encrypted("v3.local", "PASETO version 3, encrypted"),
    signed("v4.public", "PASETO version 4, signed", 64),
    encrypted("v4.local", "PASETO version 4, encrypted"),
];

const fn signed(name: &'static str, title: &'static str, signature_bytes: usize) -> Kind {
    Kind {
        name,
        title,
        signature_bytes: Some(signature_bytes),
    }
}

const fn encrypted(name: &'static str, title: &'static str) -> Kind {
    Kind {
        name,
        title,
        signature_bytes: None,
    }
}

pub(super) fn is_paseto(token: &str) -> bool {
    split(token).is_some()
}

pub(super) fn report(token: &str) -> Outcome<Report> {
    let malformed = |part: &str| Failure::rejected(format!("the {part} is malformed"));
    let (kind, rest) = split(token).ok_or_else(|| malformed("token"))?;
    let (body, footer) = match rest.split_once('.') {
        Some((body, footer)) => (body, Some(footer)),
        None => (rest, None),
    };
    let decode = |text: &str, part| {
        base64_simd::URL_SAFE_NO_PAD
            .decode_to_vec(text)
            .map_err(|_| malformed(part))
    };
    let mut body = decode(body, "payload")?;
    let mut report = Report::new(kind.name, kind.title).number("token_bytes", token.len());
    match kind.signature_bytes {
        Some(signature_bytes) => {
            let message_bytes = body.len().checked_sub(signature_bytes);
            body.truncate(message_bytes.ok_or_else(|| malformed("payload"))?);
            let payload = Content::of(body);
            report = report
                .note_ambiguity("payload", &payload)
                .number("signature_bytes", signature_bytes)
                .times(&payload)
                .part("payload", payload);
        }
        None => report = report.number("encrypted_bytes", body.len()),
    }
    if let Some(footer) = footer {
        let footer = decode(footer, "footer")?;
        if footer.len() > limits::FOOTER_BYTES {
            let (bytes, limit) = (footer.len(), limits::FOOTER_BYTES);
            return Err(Failure::rejected(format!(
                "the footer has {bytes} bytes, the limit is {limit}"
            )));
        }
        report = report.part("footer", Content::of(footer));
    }
    Ok(report)
}

/// Returns the kind and the rest behind its dot.
fn split(token: &str) -> Option<(&'static Kind, &str)> {
    KINDS.iter().find_map(|kind| {
        let rest = token.strip_prefix(kind.name)?.strip_prefix('.')?;
        Some((kind, rest))
    })
}
