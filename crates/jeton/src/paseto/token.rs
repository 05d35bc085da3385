//! The text of a token: `version.purpose.body` or `version.purpose.body.footer`.

use smallvec::SmallVec;

use super::TokenContext;
use crate::base64;
use crate::error::{Part, Rejection};
use crate::limits;
use crate::token_limits::Limits;

/// A decoded footer. One with a key id fits on the stack.
pub(super) type Footer = SmallVec<[u8; 128]>;

/// The parts of a token before authentication.
pub(super) struct Parts<'t> {
    body: &'t [u8],
    pub(super) footer: Footer,
}

impl<'t> Parts<'t> {
    /// Splits a token that must start with this header, which ends with a dot.
    ///
    /// Lengths are checked before contents. The cost does not depend on the number of dots.
    pub(super) fn of(
        token: &'t str,
        header: &str,
        limits: &Limits,
    ) -> Result<Parts<'t>, Rejection> {
        let rest = token.strip_prefix(header);
        let rest = rest.ok_or_else(|| Rejection::wrong_format(token, header))?;
        if token.len() > limits.token_bytes {
            return Err(Rejection::too_large(
                Part::Token,
                token.len(),
                limits.token_bytes,
            ));
        }
        let Some((body, encoded)) = rest.split_once('.') else {
            return Ok(Parts {
                body: rest.as_bytes(),
                footer: Footer::new(),
            });
        };
        let (body, encoded) = (body.as_bytes(), encoded.as_bytes());
        // An absent footer has no dot, so `v4.local.body.` is malformed.
        if encoded.is_empty() {
            return Err(Rejection::Malformed(Part::Footer));
        }
        if encoded.len() > base64::encoded_length(limits::FOOTER_BYTES) {
            return Err(Rejection::too_large(
                Part::Footer,
                decoded_length(encoded),
                limits::FOOTER_BYTES,
            ));
        }
        // A further dot is not in the base64url alphabet.
        let mut footer: Footer = smallvec::smallvec![0; decoded_length(encoded)];
        base64::decode_into(encoded, &mut footer)
            .map_err(|_| Rejection::Malformed(Part::Footer))?;
        Ok(Parts { body, footer })
    }

    /// Returns the context of the token.
    pub(super) fn context<'a>(&'a self, implicit_assertion: &'a [u8]) -> TokenContext<'a> {
        TokenContext::new()
            .footer(&self.footer)
            .implicit_assertion(implicit_assertion)
    }

    /// Length of the body, bytes.
    pub(super) fn body_bytes(&self) -> usize {
        decoded_length(self.body)
    }

    /// Decodes the body into a buffer of exactly its length.
    pub(super) fn body_into(&self, buffer: &mut [u8]) -> Result<(), Rejection> {
        match base64::decode_into(self.body, buffer) {
            Ok(decoded) if decoded.len() == self.body_bytes() => Ok(()),
            _ => Err(Rejection::Malformed(Part::Payload)),
        }
    }
}

/// Assembles a token in one allocation.
#[cfg(test)]
pub(super) fn assemble(header: &str, body: &[u8], footer: &[u8]) -> String {
    let mut token = String::new();
    assemble_onto(header, body, footer, &mut token);
    token
}

/// Appends a token to a string.
pub(super) fn assemble_onto(header: &str, body: &[u8], footer: &[u8], token: &mut String) {
    // The capacity is exact if the string is empty.
    token.reserve(length(header, body.len(), footer));
    token.push_str(header);
    base64::encode_onto(body, token);
    footer_onto(footer, token);
}

/// Appends the footer, with the dot before it.
pub(super) fn footer_onto(footer: &[u8], token: &mut String) {
    if !footer.is_empty() {
        token.push('.');
        base64::encode_onto(footer, token);
    }
}

/// Returns the length of a token.
pub(super) fn length(header: &str, body_bytes: usize, footer: &[u8]) -> usize {
    let footer_bytes = match footer {
        [] => 0,
        footer => 1 + base64::encoded_length(footer.len()),
    };
    header.len() + base64::encoded_length(body_bytes) + footer_bytes
}

/// Returns the length of the decoded bytes; an upper limit if the text is not valid.
fn decoded_length(encoded: &[u8]) -> usize {
    encoded.len() / 4 * 3 + encoded.len() % 4 * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "v4.local.";

    fn parts(token: &str) -> Result<(usize, Vec<u8>), Rejection> {
        let parts = Parts::of(token, HEADER, &Limits::default())?;
        let mut body = vec![0; parts.body_bytes()];
        parts.body_into(&mut body)?;
        Ok((body.len(), parts.footer.to_vec()))
    }

    #[test]
    fn assembled_token_splits_into_its_parts() {
        for body in 0..70 {
            for footer in [0, 1, 2, 3, 200, limits::FOOTER_BYTES] {
                let token = assemble(HEADER, &vec![1; body], &vec![2; footer]);
                assert_eq!(token.len(), token.capacity());
                assert_eq!(parts(&token), Ok((body, vec![2; footer])));
            }
        }
    }

    #[test]
    fn empty_footer_after_dot_is_malformed() {
        assert_eq!(parts("v4.local.AAAA"), Ok((3, vec![])));
        assert_eq!(
            parts("v4.local.AAAA."),
            Err(Rejection::Malformed(Part::Footer))
        );
        assert_eq!(
            parts("v4.local.AAAA.."),
            Err(Rejection::Malformed(Part::Footer))
        );
        assert_eq!(
            parts("v4.local.AAAA.AAAA."),
            Err(Rejection::Malformed(Part::Footer))
        );
        assert_eq!(
            parts("v4.local.AAAA.AAAA.AAAA"),
            Err(Rejection::Malformed(Part::Footer))
        );
    }

    #[test]
    fn sizes_are_checked_before_contents() {
        let large = format!("v4.local.AAAA.{}", ".".repeat(100_000));
        assert!(matches!(
            parts(&large),
            Err(Rejection::TooLarge {
                part: Part::Footer,
                ..
            })
        ));
        let larger = format!("v4.local.{}", ".".repeat(3_000_000));
        assert!(matches!(
            parts(&larger),
            Err(Rejection::TooLarge {
                part: Part::Token,
                ..
            })
        ));
        let footer = vec![0; limits::FOOTER_BYTES + 1];
        assert!(matches!(
            parts(&assemble(HEADER, b"abc", &footer)),
            Err(Rejection::TooLarge {
                part: Part::Footer,
                ..
            })
        ));
    }
}
