//! Why jeton rejects what other libraries read. `docs/reference/key-readers.md` shows this list.

use base64_simd::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::pem_changes;
use crate::readers::{Format, Rejected};
use crate::tlv::Element;

/// A documented reason.
pub struct Reason {
    pub id: &'static str,
    /// What jeton rejects.
    pub what: &'static str,
    pub why: &'static str,
    /// The codes of the errors, each with its member, or with `*` for any.
    errors: &'static [(&'static str, &'static str)],
    /// Whether the input is of this kind. The code alone may have other causes.
    is: fn(&Input<'_>) -> bool,
}

/// What is rejected, and how.
pub struct Input<'i> {
    format: Format,
    bytes: &'i [u8],
    /// The member that the error names.
    member: &'static str,
}

impl Input<'_> {
    /// The bytes of the JWK's member that the error names.
    fn member(&self) -> Option<Vec<u8>> {
        let jwk: Value = serde_json::from_slice(self.bytes).ok()?;
        let text = jwk.get(self.member)?.as_str()?;
        URL_SAFE_NO_PAD.decode_to_vec(text).ok()
    }

    fn has_leading_zero(&self) -> bool {
        let member = self.member();
        self.format == Format::Jwk
            && member.is_some_and(|bytes| matches!(bytes.first(), None | Some(0)))
    }

    fn is_even(&self) -> bool {
        match self.format {
            Format::Jwk => self
                .member()
                .is_some_and(|bytes| bytes.last().is_some_and(|last| last % 2 == 0)),
            _ => true,
        }
    }

    /// The number of PEM blocks that begin.
    fn blocks(&self) -> usize {
        String::from_utf8_lossy(self.bytes)
            .matches("-----BEGIN ")
            .count()
    }

    fn has_trailing_bytes(&self) -> bool {
        let der = match self.format {
            Format::Der => self.bytes.to_vec(),
            _ => {
                let text = String::from_utf8_lossy(self.bytes);
                pem_changes::read(&text).map_or(Vec::new(), |(_, der)| der)
            }
        };
        self.member == "privateKey"
            || Element::read(&der).is_none()
                && Element::read_first(&der).is_some_and(|(_, rest)| !rest.is_empty())
    }
}

const ANY: fn(&Input<'_>) -> bool = |_| true;

pub const ALL: &[Reason] = &[
    Reason {
        id: "another-use",
        what: "a JWK whose `use` is neither `sig` nor `enc`",
        why: "a key has one purpose (RFC 7517, section 4.2)",
        errors: &[("KEY_USE_MISMATCH", "use")],
        is: ANY,
    },
    Reason {
        id: "broken-block",
        what: "a PEM text with a broken block in front of the key",
        why: "which text belongs to which block is not certain; the error names the block's fault",
        errors: &[("KEY_PEM_LABEL", "*"), ("KEY_TRUNCATED", "*")],
        is: |input| input.blocks() > 1,
    },
    Reason {
        id: "deep-nesting",
        what: "a JWK with members nested deeper than the limit",
        why: "nothing in a JWK is nested so deep; the limit bounds the stack",
        errors: &[("KEY_TOO_LARGE", "")],
        is: ANY,
    },
    Reason {
        id: "duplicate-member",
        what: "a JWK with a duplicate member, also inside unknown members",
        why: "libraries choose different ones (RFC 7517, section 4)",
        errors: &[("KEY_DUPLICATE_MEMBER", "*")],
        is: ANY,
    },
    Reason {
        id: "ed25519-point",
        what: "an Ed25519 public key that is not a point, or one of small order",
        why: "no signature, or any signature, is valid for it (RFC 8032, section 5.1.3)",
        errors: &[("KEY_INVALID", "x"), ("KEY_INVALID", "subjectPublicKey")],
        is: ANY,
    },
    Reason {
        id: "empty-key-id",
        what: "a JWK with an empty `kid`",
        why: "it selects no key",
        errors: &[("KEY_WRONG_LENGTH", "kid")],
        is: ANY,
    },
    Reason {
        id: "leading-zero",
        what: "a JWK with a zero byte in front of an RSA number",
        why: "the encoding is the shortest (RFC 7518, section 2); another one has another thumbprint",
        errors: &[("KEY_INVALID", "*")],
        is: |input| input.has_leading_zero(),
    },
    Reason {
        id: "long-key-id",
        what: "a JWK whose `kid` is longer than the limit",
        why: "a token repeats it in its header; the limit bounds the header",
        errors: &[("KEY_TOO_LARGE", "kid")],
        is: ANY,
    },
    Reason {
        id: "other-primes",
        what: "an RSA private key with more than two primes (`oth`)",
        why: "a library without them must not use the key (RFC 7518, section 6.3.2.7)",
        errors: &[
            ("KEY_UNSUPPORTED", "oth"),
            ("KEY_UNSUPPORTED", "otherPrimeInfos"),
        ],
        is: ANY,
    },
    Reason {
        id: "private-member",
        what: "a public JWK with a private member, also of another key type",
        why: "a secret in a public key is published (RFC 7517, section 9.2)",
        errors: &[("KEY_IS_PRIVATE", "*")],
        is: ANY,
    },
    Reason {
        id: "rsa-even",
        what: "an RSA key with an even modulus or exponent",
        why: "it is no RSA key (RFC 8017, section 3.1)",
        errors: &[("KEY_INVALID", "n"), ("KEY_INVALID", "e")],
        is: |input| input.is_even(),
    },
    Reason {
        id: "rsa-long-exponent",
        what: "an RSA key with an exponent of more than 33 bits",
        why: "each verification costs more time with each bit",
        errors: &[("KEY_TOO_LARGE", "e")],
        is: ANY,
    },
    Reason {
        id: "rsa-short-modulus",
        what: "an RSA key under 2,048 bits",
        why: "it is too weak (RFC 7518, section 3.3); `danger` reads it",
        errors: &[("KEY_TOO_WEAK", "n")],
        is: ANY,
    },
    Reason {
        id: "rsa-small-exponent",
        what: "an RSA key with an exponent under 65,537",
        why: "it makes mistakes in padding exploitable (FIPS 186-5, section 5.4)",
        errors: &[("KEY_TOO_WEAK", "e")],
        is: ANY,
    },
    Reason {
        id: "several-keys",
        what: "a PEM text with several keys",
        why: "others take the first one; which is meant is not known",
        errors: &[("KEY_MULTIPLE_PEM_BLOCKS", "*")],
        is: ANY,
    },
    Reason {
        id: "short-private-key",
        what: "an EC private key that is more than three bytes shorter than its curve",
        why: "it is a key of another curve; up to three zeros in front may be missing",
        errors: &[("KEY_WRONG_LENGTH", "privateKey")],
        is: ANY,
    },
    Reason {
        id: "trailing-data",
        what: "DER with bytes after the key, or after the OCTET STRING inside PKCS#8",
        why: "DER has one encoding of a key, and what follows is not read by all",
        errors: &[("KEY_MALFORMED", "*")],
        is: |input| input.has_trailing_bytes(),
    },
];

/// Returns the reason for this error of this input.
pub fn of(format: Format, input: &[u8], rejected: &Rejected) -> Option<&'static Reason> {
    let input = Input {
        format,
        bytes: input,
        member: rejected.member,
    };
    ALL.iter().find(|reason| {
        let mut errors = reason.errors.iter();
        errors.any(|(code, member)| {
            *code == rejected.code && (*member == "*" || *member == rejected.member)
        }) && (reason.is)(&input)
    })
}
