use sha2::{Digest, Sha256};

use crate::base64;

/// Returns the SHA-256 thumbprint of the required members of a key (RFC 7638, section 3), base64url.
///
/// `members` must be sorted by name, and no value may need an escape.
pub(crate) fn thumbprint(members: &[(&str, &str)]) -> String {
    let mut hash = Sha256::new();
    for (index, (name, value)) in members.iter().enumerate() {
        hash.update(if index == 0 { "{\"" } else { ",\"" });
        hash.update(name);
        hash.update("\":\"");
        hash.update(value);
        hash.update("\"");
    }
    hash.update("}");
    base64::encode(&hash.finalize())
}

/// Returns a thumbprint as a URI (RFC 9278, section 3).
pub(crate) fn thumbprint_uri(thumbprint: &str) -> String {
    format!("urn:ietf:params:oauth:jwk-thumbprint:sha-256:{thumbprint}")
}
