//! Hostile input that costs a reader memory or time. Each has at most the requested length, without the text around it.

use base64_simd::URL_SAFE_NO_PAD;

/// The length of the payload of the longest token within the default limit, bytes.
pub(crate) const PAYLOAD_BYTES: usize = 1_500_000;

/// The default limit for a token, bytes.
pub(crate) const TOKEN_BYTES: usize = 2 * 1024 * 1024 - 1024;

pub(crate) type Named = (&'static str, String);

/// Repeats a text up to this length.
fn filled(bytes: usize, piece: &str) -> String {
    piece.repeat(bytes / piece.len())
}

/// Repeats a text as a list: `0,0,0`.
pub(crate) fn list(bytes: usize, element: &str) -> String {
    let all = filled(bytes, &format!("{element},"));
    all.trim_end_matches(',').to_owned()
}

pub(crate) fn nested(bytes: usize, open: &str, inner: &str, close: &str) -> String {
    let levels = bytes / (open.len() + close.len());
    format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
}

/// Returns members with distinct names: `"0":0,"1":0`.
pub(crate) fn members(bytes: usize) -> String {
    let each = (0..bytes / 12).map(|number| format!("\"{number:x}\":0"));
    each.collect::<Vec<_>>().join(",")
}

/// Returns JSON and invalid JSON of about this length.
pub(crate) fn documents(bytes: usize) -> Vec<Named> {
    vec![
        (
            "arrays",
            format!("{{\"a\":{}}}", nested(bytes, "[", "", "]")),
        ),
        ("objects", nested(bytes, "{\"a\":", "1", "}")),
        ("keys", nested(bytes, "{\"jwk\":", "1", "}")),
        ("unclosed arrays", filled(bytes, "[")),
        ("unclosed objects", filled(bytes, "{\"a\":")),
        ("members", format!("{{{}}}", members(bytes))),
        ("one member", format!("{{{}}}", list(bytes, "\"\":0"))),
        ("elements", format!("{{\"a\":[{}]}}", list(bytes, "0"))),
        (
            "elements at the limit",
            format!(
                "{{\"a\":{}{}{}}}",
                "[".repeat(31),
                list(bytes, "0"),
                "]".repeat(31)
            ),
        ),
        (
            "empty objects",
            format!("{{\"a\":[{}]}}", list(bytes, "{}")),
        ),
        (
            "escapes",
            format!("{{\"a\":\"{}\"}}", filled(bytes, "\\u0000")),
        ),
        (
            "turned",
            format!("{{\"a\":\"{}\"}}", filled(bytes, "\u{202e}")),
        ),
        ("name", format!("{{\"{}\":0}}", filled(bytes, "\\n"))),
        ("digits", format!("{{\"exp\":{}}}", filled(bytes, "1"))),
        ("exponent", format!("{{\"exp\":1e{}}}", filled(bytes, "9"))),
        ("times", format!("{{{}}}", list(bytes, "\"exp\":1"))),
        (
            "private members",
            format!("{{\"jwk\":{{\"kty\":\"oct\",{}}}}}", list(bytes, "\"k\":1")),
        ),
        ("controls", filled(bytes, "\u{1b}\u{9b}")),
        ("blanks", format!("{{{}}}", filled(bytes, " "))),
    ]
}

fn encoded(text: &str) -> String {
    URL_SAFE_NO_PAD.encode_to_string(text)
}

/// Returns tokens of every format with one of [`documents`] in each part.
pub(crate) fn holding(document: &str) -> Vec<Named> {
    let (there, plain) = (encoded(document), document);
    let signed = encoded(&format!("{document}{}", "\0".repeat(64)));
    let with_enc = document.replacen('{', "{\"enc\":\"A256GCM\",", 1);
    let jwe_header = encoded(match document {
        document if document.starts_with("{\"") => &with_enc,
        document => document,
    });
    vec![
        ("JWS payload", format!("eyJhbGciOiJIUzI1NiJ9.{there}.AAAA")),
        ("JWS header", format!("{there}.e30.AAAA")),
        (
            "JWS unprotected header",
            format!(r#"{{"payload":"e30","header":{plain},"signature":"AA"}}"#),
        ),
        ("JWE header", format!("{jwe_header}.AAAA.AAAA.AAAA.AAAA")),
        (
            "JWE unprotected header",
            format!(r#"{{"unprotected":{plain},"iv":"AA","ciphertext":"AA","tag":"AA"}}"#),
        ),
        (
            "JWE additional data",
            format!(r#"{{"protected":"e30","aad":"{there}","iv":"","ciphertext":"","tag":""}}"#),
        ),
        ("PASETO payload", format!("v4.public.{signed}")),
        ("PASETO footer", format!("v4.local.AAAA.{there}")),
        ("PASERK", format!("k4.secret.{there}")),
        (
            "JWK",
            format!(r#"{{"kty":"EC","crv":"P-256","x":{plain}}}"#),
        ),
        ("key set", format!(r#"{{"keys":[{plain}]}}"#)),
        ("itself", plain.to_owned()),
    ]
}

/// Returns tokens with many parts.
pub(crate) fn of_many_parts(bytes: usize) -> Vec<Named> {
    let signatures = |one: &str| format!(r#"{{"payload":"","signatures":[{}]}}"#, list(bytes, one));
    let recipients =
        |one: &str| format!(r#"{{"ciphertext":"","recipients":[{}]}}"#, list(bytes, one));
    vec![
        ("dots", filled(bytes, ".")),
        ("parts", filled(bytes, "eyJhbGciOiJIUzI1NiJ9.")),
        ("PASETO dots", format!("v4.public.{}", filled(bytes, "."))),
        ("PASERK dots", format!("k4.local.{}", filled(bytes, "."))),
        ("signatures", signatures(r#"{"signature":""}"#)),
        (
            "protected signatures",
            signatures(r#"{"protected":"e30","signature":"AA"}"#),
        ),
        ("recipients", recipients("{}")),
        (
            "encrypted keys",
            recipients(r#"{"header":{"alg":"dir"},"encrypted_key":"AA"}"#),
        ),
        (
            "one recipient's strings",
            format!(
                r#"{{"ciphertext":"","header":{{{}}}}}"#,
                list(bytes, r#""tag":"x""#)
            ),
        ),
        ("escaped dots", filled(bytes, "%2E%3d")),
        ("padding", filled(bytes, "= \n")),
        ("bytes", "\0".repeat(bytes)),
        ("quotes", filled(bytes, "\"")),
        ("scheme", format!("Bearer{}", filled(bytes, " "))),
    ]
}

/// Returns invalid key files of at most this length.
pub(crate) fn keys(bytes: usize) -> Vec<Named> {
    let set = |one: &str| format!(r#"{{"keys":[{}]}}"#, list(bytes, one));
    let line = format!("{}\n", "A".repeat(64));
    let pem = |label: &str, inner: &str| {
        format!("-----BEGIN {label}-----\n{inner}\n-----END {label}-----\n")
    };
    let mut all = vec![
        ("empty keys", set("{}")),
        ("nulls", set("null")),
        ("oct keys", set(r#"{"kty":"oct","k":"AAAA"}"#)),
        ("PEM lines", pem("PUBLIC KEY", &filled(bytes, &line))),
        ("PEM short lines", pem("PRIVATE KEY", &filled(bytes, "A\n"))),
        ("PEM begins", filled(bytes, "-----BEGIN PUBLIC KEY-----\n")),
        (
            "PEM headers",
            pem("RSA PRIVATE KEY", &filled(bytes, "a: b\n")),
        ),
        (
            "PEM parameters",
            filled(bytes, "-----END EC PARAMETERS-----"),
        ),
        ("DER sequences", filled(bytes, "0\u{7f}")),
        (
            "DER integers",
            format!("0\u{7f}{}", filled(bytes, "\u{2}\u{1}\u{1}")),
        ),
        (
            "RSA key",
            format!(
                r#"{{"kty":"RSA","alg":"RS256","e":"AQAB","n":"{}"}}"#,
                filled(bytes, "A")
            ),
        ),
        (
            "exponent",
            format!(
                r#"{{"kty":"RSA","alg":"RS256","n":"AQAB","e":"{}"}}"#,
                filled(bytes, "_")
            ),
        ),
        (
            "names",
            set(&format!(
                r#"{{"kty":"EC","crv":"P-256","kid":"{}"}}"#,
                "k".repeat(1000)
            )),
        ),
    ];
    for (name, document) in documents(bytes) {
        let key = format!(r#"{{"kty":"EC","crv":"P-256","x":{document},"y":"AA"}}"#);
        all.push((name, format!(r#"{{"keys":[{key}]}}"#)));
        all.push((name, key));
    }
    all
}
