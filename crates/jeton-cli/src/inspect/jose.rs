//! JWS and JWE in the compact serialization.

use jeton::danger;
use serde::Deserialize;

use super::report::{Content, Report, note_ambiguity};
use crate::exit::{Failure, Outcome};
use crate::output;

/// The only member of a header that changes what is said here.
#[derive(Deserialize)]
struct Header {
    alg: Option<String>,
}

/// `header.payload.signature`
pub(super) fn jws(token: &str) -> Outcome<Report> {
    let seen = danger::peek(token).map_err(|error| Failure::rejected(error.to_string()))?;
    let header = Content::of(seen.header);
    let payload = Content::of(seen.payload);
    let signature = token.rsplit('.').next().unwrap_or_default();
    let signature_bytes = base64_simd::URL_SAFE_NO_PAD
        .decode_to_vec(signature)
        .map_err(|_| Failure::rejected("the signature is malformed"))?
        .len();
    if is_unsigned(&header) {
        output::note("alg is none: the token has no signature, and no verifier should accept it");
    }
    note_ambiguity("header", &header);
    note_ambiguity("payload", &payload);
    let claims = matches!(&payload, Content::Json(json) if json.get().starts_with('{'));
    let title = match claims {
        true => "JWS compact, its payload is claims: a JWT",
        false => "JWS compact",
    };
    Ok(Report::new("jws", title)
        .number("token_bytes", token.len())
        .number("signature_bytes", signature_bytes)
        .part("header", header)
        .times(&payload)
        .part("payload", payload))
}

/// `header.encrypted key.nonce.ciphertext.tag`
pub(super) fn jwe(token: &str) -> Outcome<Report> {
    let mut lengths = Vec::new();
    let mut header = None;
    for part in token.split('.') {
        let bytes = base64_simd::URL_SAFE_NO_PAD
            .decode_to_vec(part)
            .map_err(|_| Failure::rejected("the token is malformed"))?;
        lengths.push(bytes.len());
        header.get_or_insert(bytes);
    }
    let header = Content::of(header.unwrap_or_default());
    if !matches!(header, Content::Json(_)) {
        return Err(Failure::rejected("the header is malformed"));
    }
    Ok(
        Report::new("jwe", "JWE compact: encrypted, only its header can be seen")
            .number("token_bytes", token.len())
            .number("encrypted_key_bytes", lengths[1])
            .number("ciphertext_bytes", lengths[3])
            .part("header", header),
    )
}

fn is_unsigned(header: &Content) -> bool {
    let Content::Json(json) = header else {
        return false;
    };
    let header: Result<Header, _> = serde_json::from_str(json.get());
    header.is_ok_and(|header| {
        header
            .alg
            .is_some_and(|alg| alg.eq_ignore_ascii_case("none"))
    })
}
