use std::sync::Arc;

use super::Members;

/// The members of a JWK that are kept and written again: `use`, `key_ops` and `x5c` (RFC 7517, sections 4.2,
/// 4.3 and 4.7). The certificates are neither validated nor trusted.
#[derive(Clone, Default)]
pub(crate) struct Metadata {
    pub(super) has_use: bool,
    pub(super) has_operations: bool,
    /// The certificates as JSON text.
    pub(super) certificates: Option<Arc<str>>,
}

impl Metadata {
    /// Makes the JWK have `use`.
    pub(crate) fn set_use(&mut self) {
        self.has_use = true;
    }

    /// Replaces the certificates, in DER. `x5c` has base64, not base64url (RFC 7517, section 4.7).
    pub(crate) fn set_certificates(&mut self, chain: &[&[u8]]) {
        let texts = chain.iter().map(|der| {
            let base64 = base64_simd::STANDARD.encode_to_string(der);
            format!("\"{base64}\"")
        });
        let text = texts.collect::<Vec<String>>().join(",");
        self.certificates = (!text.is_empty()).then(|| Arc::from(text));
    }

    /// Reads the metadata of a JWK whose `use` and `key_ops` were already checked.
    pub(crate) fn of(members: &Members<'_>) -> Metadata {
        Metadata {
            has_use: members.has_value("use"),
            has_operations: members.has_value("key_ops"),
            certificates: members.strings("x5c").map(Arc::from),
        }
    }
}
