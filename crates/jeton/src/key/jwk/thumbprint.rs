use aws_lc_rs::digest::{Context, SHA256};

use crate::base64;

/// Returns the SHA-256 thumbprint of the required members of a key (RFC 7638, section 3), base64url.
///
/// `members` must be sorted by name, and no value may need an escape.
pub(crate) fn thumbprint(members: &[(&str, &str)]) -> String {
    let mut hash = Context::new(&SHA256);
    for (index, (name, value)) in members.iter().enumerate() {
        hash.update(if index == 0 { b"{\"" } else { b",\"" });
        hash.update(name.as_bytes());
        hash.update(b"\":\"");
        hash.update(value.as_bytes());
        hash.update(b"\"");
    }
    hash.update(b"}");
    base64::encode(hash.finish().as_ref())
}

/// Returns a thumbprint as a URI (RFC 9278, section 3).
pub(crate) fn thumbprint_uri(thumbprint: &str) -> String {
    format!("urn:ietf:params:oauth:jwk-thumbprint:sha-256:{thumbprint}")
}
