//! The few messages that are sent, as gRPC frames: one byte that says that nothing is compressed,
//! four of length, and the message in protobuf.

/// jeton's profile for HS256.
pub(super) const HS256_PROFILE: &str = "mac";

/// A string field. Shorter than 128 bytes, and so is the field's number times eight.
fn text(field: u8, value: &str) -> Vec<u8> {
    nested(field, value.as_bytes())
}

fn nested(field: u8, value: &[u8]) -> Vec<u8> {
    let length = u8::try_from(value.len()).unwrap_or(u8::MAX);
    assert!(
        length < 128,
        "one byte of length is enough for what is sent here"
    );
    [&[field << 3 | 2, length], value].concat()
}

fn frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&[0], &length.to_be_bytes()[..], message].concat()
}

/// `jwt.services.GenerateJwtRequest`.
pub(crate) fn generate_jwt(algorithm: &str) -> Vec<u8> {
    frame(&text(1, algorithm))
}

/// `jeton.v1.IssueRequest`: profile and subject.
pub(super) fn issue(profile: &str) -> Vec<u8> {
    frame(&[text(2, profile), text(3, "alice")].concat())
}

/// `jeton.v1.IssueRequest` with the claims that the token endpoint sets.
pub(super) fn issue_access_token(profile: &str) -> Vec<u8> {
    let claims = r#"{"client_id":"ci","scope":"read"}"#;
    frame(&[text(2, profile), text(3, "ci"), text(5, claims)].concat())
}

/// `jeton.v1.IssueBatchRequest`: the profile, and so many tokens with a subject each.
pub(super) fn issue_batch(profile: &str, tokens: usize) -> Vec<u8> {
    let item = nested(4, &text(1, "alice"));
    frame(&[text(2, profile), item.repeat(tokens)].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_is_length_and_message() {
        assert_eq!(generate_jwt("HS256"), b"\0\0\0\0\x07\x0a\x05HS256");
    }
}
