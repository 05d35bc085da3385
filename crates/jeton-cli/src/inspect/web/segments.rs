//! Splits the text of a token into segments: by its dots, or by the members of its JSON.
//!
//! Nothing is decoded here; the report has the content of the segments.

use crate::inspect::json_tokens::{self, json_tokens};

/// The kind of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Header,
    Payload,
    Signature,
    EncryptedKey,
    Iv,
    Ciphertext,
    Tag,
    Aad,
    /// Version and purpose of a PASETO.
    Version,
    /// The message of a PASETO with its signature, or its ciphertext.
    Body,
    Footer,
}

/// A piece of the text and its kind; `None` for separators.
pub(super) type Segment<'t> = (Option<Kind>, &'t str);

const JWS: [Kind; 3] = [Kind::Header, Kind::Payload, Kind::Signature];
const JWE: [Kind; 5] = [
    Kind::Header,
    Kind::EncryptedKey,
    Kind::Iv,
    Kind::Ciphertext,
    Kind::Tag,
];

/// Splits the whole text. `format` is the format of the report.
pub(super) fn segments<'t>(format: &str, token: &'t str) -> Vec<Segment<'t>> {
    match format {
        "jws" | "jwe" if token.starts_with('{') => json(token),
        "jws" => dotted(token, &JWS),
        "jwe" => dotted(token, &JWE),
        version => {
            let body = token.strip_prefix(version).unwrap_or(token);
            let body = body.strip_prefix('.').unwrap_or(body);
            let (head, _) = token.split_at(token.len() - body.len());
            let mut all = vec![
                (Some(Kind::Version), head.trim_end_matches('.')),
                (None, "."),
            ];
            all.extend(dotted(body, &[Kind::Body, Kind::Footer]));
            all
        }
    }
}

fn dotted<'t>(text: &'t str, kinds: &[Kind]) -> Vec<Segment<'t>> {
    let mut all = Vec::new();
    for (index, part) in text.split('.').enumerate() {
        if index > 0 {
            all.push((None, "."));
        }
        all.push((kinds.get(index).copied(), part));
    }
    all
}

/// Finds the values of the members of RFC 7515, section 7.2, and RFC 7516, section 7.2.
fn json(text: &str) -> Vec<Segment<'_>> {
    let mut all = Vec::new();
    let (mut kind, mut end) = (None, 0);
    let mut tokens = json_tokens(text).peekable();
    while let Some(token) = tokens.next() {
        match token.kind {
            json_tokens::Kind::Colon => {}
            json_tokens::Kind::String => {
                let inside = token.range.start + 1..token.range.end - 1;
                let next = tokens.peek().map(|token| token.kind);
                if next == Some(json_tokens::Kind::Colon) {
                    kind = kind_of(&text[inside]);
                } else if let Some(kind) = kind.take() {
                    all.push((None, &text[end..inside.start]));
                    all.push((Some(kind), &text[inside.clone()]));
                    end = inside.end;
                }
            }
            _ => kind = None,
        }
    }
    all.push((None, &text[end..]));
    all
}

fn kind_of(member: &str) -> Option<Kind> {
    Some(match member {
        "protected" => Kind::Header,
        "payload" => Kind::Payload,
        "signature" => Kind::Signature,
        "encrypted_key" => Kind::EncryptedKey,
        "iv" => Kind::Iv,
        "ciphertext" => Kind::Ciphertext,
        "tag" => Kind::Tag,
        "aad" => Kind::Aad,
        _ => return None,
    })
}

impl Kind {
    /// Returns the CSS class with its colour.
    pub(super) fn class(self) -> &'static str {
        match self {
            Kind::Header | Kind::Version => "header",
            Kind::Payload | Kind::Body => "payload",
            Kind::Signature => "signature",
            Kind::EncryptedKey => "key",
            Kind::Iv => "iv",
            Kind::Ciphertext => "ciphertext",
            Kind::Tag => "tag",
            Kind::Aad | Kind::Footer => "footer",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Header => "Header",
            Kind::Payload => "Payload",
            Kind::Signature => "Signature",
            Kind::EncryptedKey => "Encrypted key",
            Kind::Iv => "Initialization vector",
            Kind::Ciphertext => "Ciphertext",
            Kind::Tag => "Authentication tag",
            Kind::Aad => "Additional data",
            Kind::Version => "Version and purpose",
            Kind::Body => "Payload",
            Kind::Footer => "Footer",
        }
    }

    /// Returns its meaning and the reference.
    pub(super) fn meaning(self, format: &str) -> (&'static str, &'static str) {
        match self {
            Kind::Header if format == "jwe" => (
                "Algorithms and key of the encryption. Protected: decryption detects a change",
                "RFC 7516, section 4",
            ),
            Kind::Header => (
                "Algorithm and key of the signature. Protected: covered by the signature",
                "RFC 7515, section 4",
            ),
            Kind::Payload => (
                "The signed content. Not encrypted: anyone who has the token can read it",
                "RFC 7515, section 3",
            ),
            Kind::Signature => (
                "Signature or MAC over header and payload. Verification requires the key",
                "RFC 7515, section 5.2",
            ),
            Kind::EncryptedKey => (
                "The encrypted content key; empty for direct encryption and direct key agreement",
                "RFC 7516, section 2",
            ),
            Kind::Iv => ("Nonce of the encryption", "RFC 7516, section 2"),
            Kind::Ciphertext => (
                "The encrypted payload. Decryption requires the key",
                "RFC 7516, section 2",
            ),
            Kind::Tag => ("Detects a change during decryption", "RFC 7516, section 2"),
            Kind::Aad => (
                "Additional authenticated data: not encrypted, covered by the tag",
                "RFC 7516, section 2",
            ),
            Kind::Version => (
                "The header of a PASETO: each version has one algorithm for each purpose",
                "PASETO, Message Format",
            ),
            Kind::Body if format.ends_with("local") => (
                "Nonce, ciphertext and tag. Decryption requires the key",
                "PASETO, Message Format",
            ),
            Kind::Body => (
                "The signed content, followed by the signature. Not encrypted: anyone who has the token can read it",
                "PASETO, Message Format",
            ),
            Kind::Footer => (
                "Not encrypted, covered by the signature or tag; usually names the key",
                "PASETO, Message Format",
            ),
        }
    }

    /// Returns the part of the report with its content.
    pub(super) fn part(self) -> Option<&'static str> {
        match self {
            Kind::Header => Some("header"),
            Kind::Payload | Kind::Body => Some("payload"),
            Kind::Aad => Some("aad"),
            Kind::Footer => Some("footer"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(format: &str, token: &str) -> Vec<(Kind, String)> {
        let all = segments(format, token);
        let text: String = all.iter().map(|(_, text)| *text).collect();
        assert_eq!(text, token, "every character is in a segment");
        all.into_iter()
            .filter_map(|(kind, text)| Some((kind?, text.to_owned())))
            .collect()
    }

    #[test]
    fn segments_of_compact_token_are_split_at_dots() {
        let kinds = |format, token| -> Vec<Kind> {
            whole(format, token).iter().map(|(kind, _)| *kind).collect()
        };
        assert_eq!(kinds("jws", "a.b.c"), JWS);
        assert_eq!(kinds("jws", "a..c"), JWS);
        assert_eq!(kinds("jwe", "a.b.c.d.e"), JWE);
        assert_eq!(
            kinds("v4.public", "v4.public.b.f"),
            [Kind::Version, Kind::Body, Kind::Footer]
        );
        assert_eq!(kinds("v4.local", "v4.local.b"), [Kind::Version, Kind::Body]);
    }

    #[test]
    fn segments_of_json_token_are_its_members() {
        let text = r#"{"payload": "a", "x":"payload","signatures":[{"header":{"kid":"\"tag"},"signature" :"b\""}]}"#;
        assert_eq!(
            whole("jws", text),
            [
                (Kind::Payload, "a".to_owned()),
                (Kind::Signature, "b\\\"".to_owned())
            ]
        );
        whole("jws", r#"{"payload":"a"#);
        assert!(whole("jws", r#"{"a":["payload","x"]}"#).is_empty());
    }
}
