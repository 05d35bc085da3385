//! Reads PEM (RFC 7468) as its section 2 recommends for parsers: any line length, white space anywhere, text
//! before and after the block, a byte order mark, and every line end. Any other character inside a block is an
//! error with its line number. The base64 itself is decoded strictly.

use base64ct::{Base64, Encoding as _};
use zeroize::Zeroizing;

use crate::error::{FoundInput, KeyError, KeyProblem};
use crate::key::der_form::DerForm;
use crate::key::key_text;
use crate::key::other_input::PEM_BEGIN as BEGIN;
pub(super) use crate::key::other_input::is_pem as is;
use crate::key::other_input::{found_object, found_text};
use crate::limits;

/// The only key in a PEM text.
pub(super) struct Pem {
    pub(super) form: DerForm,
    pub(super) der: Zeroizing<Vec<u8>>,
}

/// One block, not decoded yet.
struct Block<'t> {
    label: &'t str,
    /// The text in front of the body, to count its lines.
    before: &'t str,
    body: &'t str,
}

const BEGIN_WORD: &str = "BEGIN ";
const END: &str = "-----END ";
const HYPHENS: &str = "-----";

/// Returns the error for a text without a block.
fn no_block(text: &str) -> KeyError {
    let start = text.trim_start_matches('\u{feff}').trim_start().as_bytes();
    match start {
        [] => KeyError::input(FoundInput::Empty),
        [b'{', ..] => KeyError::input(found_object(text).unwrap_or(FoundInput::Jwk)),
        [b'k', b'1'..=b'4', b'.', ..] => KeyError::input(FoundInput::Paserk),
        _ if key_text::has_open_ssh_key(start) => KeyError::input(FoundInput::OpenSshPublicKey),
        _ => match key_text::base64(start) {
            Some(inner) if DerForm::of(&inner).is_some() => KeyError::input(FoundInput::BareBase64),
            Some(inner) if key_text::is_key_text(&inner) => {
                KeyError::input(FoundInput::EncodedTwice)
            }
            _ => match found_text(text) {
                Some(found) => KeyError::input(found),
                None => KeyError::new(KeyProblem::Malformed).with_expected("PEM"),
            },
        },
    }
}

/// Returns the error for bytes that are no DER.
pub(super) fn not_der(bytes: &[u8]) -> KeyError {
    match std::str::from_utf8(bytes) {
        Ok(text) if is(text) => KeyError::input(FoundInput::Pem),
        Ok(text) if text.trim().is_empty() => KeyError::input(FoundInput::Empty),
        Ok(text) if text.trim_start().starts_with('{') => {
            KeyError::input(found_object(text).unwrap_or(FoundInput::Jwk))
        }
        _ => KeyError::new(KeyProblem::Malformed).with_expected("DER"),
    }
}

impl Pem {
    /// Reads the only key in a text. Certificates and EC parameters next to it are skipped.
    pub(super) fn read(text: &str) -> Result<Pem, KeyError> {
        let pem = Self::labelled(text)?;
        pem.check_label()?;
        Ok(pem)
    }

    /// Reads the only key in a text, and believes its label. If the key cannot be read then, `check_label` has a better
    /// error.
    pub(super) fn labelled(text: &str) -> Result<Pem, KeyError> {
        if text.len() > limits::KEY_BYTES {
            return Err(KeyError::too_large("PEM", text.len(), limits::KEY_BYTES));
        }
        let mut key = None;
        let (mut has_certificate, mut has_parameters) = (false, false);
        let mut left = text;
        while let Some((block, behind)) = next_block(text, left)? {
            left = behind;
            match block.label {
                "EC PARAMETERS" => has_parameters = true,
                label if is_certificate(label) => has_certificate = true,
                _ if key.is_some() => return Err(KeyError::new(KeyProblem::SeveralBlocks)),
                _ => key = Some(block),
            }
        }
        match key {
            Some(block) => block.decode(),
            None if has_certificate => Err(KeyError::input(FoundInput::Certificate)),
            None if has_parameters => Err(KeyError::input(FoundInput::Parameters)),
            None => Err(no_block(text)),
        }
    }

    /// Checks that the label is that of the form.
    pub(super) fn check_label(&self) -> Result<(), KeyError> {
        match DerForm::of(&self.der) {
            Some(found) if found != self.form => Err(match found {
                DerForm::Certificate => KeyError::input(FoundInput::Certificate),
                DerForm::Pkcs12 => KeyError::input(FoundInput::Pkcs12),
                _ => KeyError::new(KeyProblem::Label {
                    stated: self.form.label(),
                    found: found.label(),
                }),
            }),
            _ => Ok(()),
        }
    }
}

/// Returns whether a label is that of a certificate.
fn is_certificate(label: &str) -> bool {
    ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains(&label)
}

/// Returns the DER of the first certificate in a text, if there is one.
pub(super) fn certificate(text: &str) -> Result<Option<Zeroizing<Vec<u8>>>, KeyError> {
    let mut left = text;
    while let Some((block, behind)) = next_block(text, left)? {
        if is_certificate(block.label) {
            return block.base64().map(Some);
        }
        left = behind;
    }
    Ok(None)
}

/// Returns the next block and the text behind it.
fn next_block<'t>(text: &'t str, left: &'t str) -> Result<Option<(Block<'t>, &'t str)>, KeyError> {
    let Some((_, rest)) = split_once(left, BEGIN) else {
        return Ok(None);
    };
    let truncated = || KeyError::new(KeyProblem::Truncated);
    let (label, rest) = split_once(rest, HYPHENS).ok_or_else(truncated)?;
    let before = &text[..text.len() - rest.len()];
    let (body, rest) = find(rest, HYPHENS)
        .map(|at| rest.split_at(at))
        .ok_or_else(truncated)?;
    let rest = rest.strip_prefix(END).ok_or_else(truncated)?;
    let (end, rest) = split_once(rest, HYPHENS).ok_or_else(truncated)?;
    // The hyphens belong to the next block.
    if rest.starts_with(BEGIN_WORD) {
        return Err(truncated());
    }
    if label.trim() != end.trim() {
        return Err(KeyError::new(KeyProblem::Labels));
    }
    let block = Block {
        label: label.trim(),
        before,
        body,
    };
    Ok(Some((block, rest)))
}

fn split_once<'t>(text: &'t str, line: &str) -> Option<(&'t str, &'t str)> {
    let at = find(text, line)?;
    Some((&text[..at], &text[at + line.len()..]))
}

/// Finds what begins with a hyphen. Base64 has no hyphens, so this is faster than the search of the standard library.
fn find(text: &str, line: &str) -> Option<usize> {
    let mut hyphens = memchr::memchr_iter(b'-', text.as_bytes());
    hyphens.find(|at| text[*at..].starts_with(line))
}

/// Returns the number of line ends: LF, CR or CRLF.
fn lines(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_end = |(at, byte): (usize, &u8)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    bytes.iter().enumerate().filter(|one| is_end(*one)).count()
}

impl Block<'_> {
    fn decode(self) -> Result<Pem, KeyError> {
        let form = match self.label {
            "PRIVATE KEY" => DerForm::Pkcs8,
            "RSA PRIVATE KEY" => DerForm::Pkcs1Private,
            "EC PRIVATE KEY" => DerForm::Sec1,
            "PUBLIC KEY" => DerForm::Spki,
            "RSA PUBLIC KEY" => DerForm::Pkcs1Public,
            "ENCRYPTED PRIVATE KEY" => DerForm::EncryptedPkcs8,
            "OPENSSH PRIVATE KEY" => return Err(KeyError::input(FoundInput::OpenSshPrivateKey)),
            "PGP PRIVATE KEY BLOCK" | "PGP PUBLIC KEY BLOCK" => {
                return Err(KeyError::input(FoundInput::Pgp));
            }
            "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST" => {
                return Err(KeyError::input(FoundInput::CertificateRequest));
            }
            "DSA PRIVATE KEY" => return Err(KeyError::input(FoundInput::Dsa)),
            "X509 CRL" => return Err(KeyError::input(FoundInput::RevocationList)),
            "PKCS7" | "PKCS #7 SIGNED DATA" | "CMS" => {
                return Err(KeyError::input(FoundInput::Pkcs7));
            }
            "DH PARAMETERS" | "X9.42 DH PARAMETERS" | "DSA PARAMETERS" => {
                return Err(KeyError::input(FoundInput::Parameters));
            }
            _ => {
                return Err(KeyError::at("PEM label", KeyProblem::Unsupported)
                    .with_expected("PRIVATE KEY or PUBLIC KEY"));
            }
        };
        let has_field = |name| self.body.contains(name);
        if has_field(":") && (has_field("Proc-Type:") || has_field("DEK-Info:")) {
            return Err(KeyError::input(FoundInput::OldEncryptedPem));
        }
        let der = self.base64()?;
        Ok(Pem { form, der })
    }

    /// Decodes the base64, without the white space.
    fn base64(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let mut base64 = Zeroizing::new(Vec::with_capacity(self.body.len()));
        for line in self.body.split_ascii_whitespace() {
            base64.extend_from_slice(line.as_bytes());
        }
        let decode = match self.label {
            "PUBLIC KEY" | "RSA PUBLIC KEY" | "CERTIFICATE" => decode_public,
            _ => decode,
        };
        decode(&base64).or_else(|_| self.unusual_base64())
    }

    /// Decodes base64 with any white space of Unicode, and says where another character is.
    #[cold]
    fn unusual_base64(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let mut base64 = Zeroizing::new(Vec::with_capacity(self.body.len()));
        for (at, character) in self.body.char_indices() {
            match character {
                'A'..='Z' | 'a'..='z' | '0'..='9' | '+' | '/' | '=' => base64.push(character as u8),
                _ if character.is_whitespace() => {}
                '\\' if matches!(self.body.as_bytes().get(at + 1), Some(b'n' | b'r')) => {
                    return Err(KeyError::input(FoundInput::EscapedLineEnds));
                }
                _ => {
                    let line = 1 + lines(self.before) + lines(&self.body[..at]);
                    let line = u32::try_from(line).unwrap_or(u32::MAX);
                    return Err(KeyError::new(KeyProblem::PemCharacter { line }));
                }
            }
        }
        decode(&base64)
    }
}

/// Decodes base64, but not in constant time.
fn decode_public(base64: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    base64_simd::STANDARD
        .decode_to_vec(base64)
        .map(Zeroizing::new)
        .map_err(|_| KeyError::at("PEM", KeyProblem::NotBase64))
}

/// Decodes base64 in constant time for its length.
fn decode(base64: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    // An incomplete or malformed key is wiped too.
    let mut der = Zeroizing::new(vec![0; base64.len().div_ceil(4) * 3]);
    let length = Base64::decode(base64, &mut der)
        .map_err(|_| KeyError::at("PEM", KeyProblem::NotBase64))?
        .len();
    der.truncate(length);
    Ok(der)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;
    use crate::error::PemLabel;
    use crate::key::{SigAlg, SigningKey, VerifyingKey};

    fn public_pem() -> String {
        let key = SigningKey::generate(SigAlg::ES256).unwrap().verifying_key();
        key.to_pem().unwrap()
    }

    fn problem(text: &str) -> KeyProblem {
        match VerifyingKey::from_pem(text) {
            Err(crate::Error::Key(error)) => error.problem().clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn pem_with_any_white_space_is_read() {
        let pem = public_pem();
        let body: String = pem.lines().filter(|line| !line.contains("---")).collect();
        let (begin, end) = ("-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----");
        let lines = |length: usize, end: &str| {
            let lines: Vec<&str> = (0..body.len())
                .step_by(length)
                .map(|at| &body[at..body.len().min(at + length)])
                .collect();
            lines.join(end)
        };
        for text in [
            format!("{begin}{body}{end}"),
            format!("{begin} {body} {end}"),
            format!("{begin}\n\n{body}\n\n{end}\n\n"),
            format!("{begin}\n{}\n{end}", lines(60, "\n")),
            format!("{begin}\n{}\n{end}", lines(76, "\n")),
            format!("{begin}\n{}\n{end}", lines(1, " ")),
            format!("\u{feff}{}", pem.replace('\n', "\r\n")),
            pem.replace('\n', "\r"),
            pem.replace('\n', "  \n\t"),
            pem.replace('\n', "\u{a0}\u{b}\u{2028}"),
            format!("Bag Attributes\n{pem}the end"),
        ] {
            assert!(VerifyingKey::from_pem(&text).is_ok(), "{text}");
        }
    }

    #[test]
    fn other_character_in_pem_names_its_line() {
        let pem = public_pem();
        let mut lines: Vec<String> = pem.lines().map(str::to_owned).collect();
        lines[2].insert(5, '*');
        for end in ["\n", "\r\n", "\r"] {
            let text = format!("a comment{end}{}", lines.join(end));
            assert_eq!(
                problem(&text),
                KeyProblem::PemCharacter { line: 4 },
                "{text}"
            );
        }
        assert_eq!(
            problem(&pem.replace('\n', "\\n")),
            KeyProblem::Found(FoundInput::EscapedLineEnds)
        );
    }

    #[test]
    fn incomplete_or_noncanonical_base64_is_rejected() {
        let (begin, end) = ("-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----");
        for body in ["MFk", "MF=k", "MFkw=", "MB==", "MFl="] {
            assert_eq!(
                problem(&format!("{begin}\n{body}\n{end}")),
                KeyProblem::NotBase64
            );
        }
        let pem = public_pem();
        assert_eq!(problem(&pem[..pem.len() - 30]), KeyProblem::Truncated);
        assert_eq!(problem(&format!("{begin}\n{pem}")), KeyProblem::Truncated);
    }

    #[test]
    fn second_key_in_pem_is_named() {
        let pem = public_pem();
        assert_eq!(problem(&format!("{pem}{pem}")), KeyProblem::SeveralBlocks);
        let certificate = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
        let found = KeyProblem::Found(FoundInput::Certificate);
        assert_eq!(problem(certificate), found);
        assert!(VerifyingKey::from_pem(&format!("{certificate}{pem}{certificate}")).is_ok());
    }

    /// Otherwise the hyphens of the next BEGIN would end the first block, and the second key would not be seen.
    #[test]
    fn end_without_hyphens_before_a_key_is_truncated() {
        let (first, second) = (public_pem(), public_pem());
        let first = first.trim_end().trim_end_matches('-');
        for between in ["\n", " ", "\n\n", ""] {
            let text = format!("{first}{between}{second}");
            assert_eq!(problem(&text), KeyProblem::Truncated, "{between:?}");
        }
    }

    #[test]
    fn wrong_label_of_pem_is_named() {
        let wrong = public_pem().replace("PUBLIC KEY", "RSA PUBLIC KEY");
        let (stated, found) = (PemLabel::RsaPublicKey, PemLabel::PublicKey);
        assert_eq!(problem(&wrong), KeyProblem::Label { stated, found });
    }
}
