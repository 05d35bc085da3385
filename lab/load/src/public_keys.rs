//! A server's own public keys, for algorithms for which the run has none.

use jeton_lab_harness::grpc::{Field, unframed};
use jeton_lab_model::servers::Algorithm;

/// Returns the keys in an answer to `jeton.v1.TokenService/Keys` in the form that
/// [`Checker::read`](super::loader::Checker::read) reads: the set of JWKs, or PASERKs one per line.
pub(super) fn public_keys(body: &[u8], algorithm: Algorithm) -> Option<String> {
    let mut rest = unframed(body)?;
    let (mut jwk_set, mut paserks) = (None, String::new());
    while !rest.is_empty() {
        match Field::take(&mut rest)? {
            Field::Bytes(1, text) => jwk_set = Some(std::str::from_utf8(text).ok()?),
            Field::Bytes(2, text) => {
                paserks.push_str(std::str::from_utf8(text).ok()?);
                paserks.push('\n');
            }
            _ => {}
        }
    }
    match algorithm {
        Algorithm::V4Public | Algorithm::V4Local => Some(paserks),
        Algorithm::Hs256 | Algorithm::Es256 | Algorithm::Rs256 | Algorithm::EdDsa => {
            jwk_set.map(str::to_owned)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_lab_harness::grpc::{framed, put_text};

    #[test]
    fn public_keys_answer_has_both_kinds() {
        let mut message = Vec::new();
        put_text(&mut message, 1, "{\"keys\":[]}");
        put_text(&mut message, 2, "k4.public.a");
        put_text(&mut message, 2, "k4.public.b");
        put_text(&mut message, 3, "etag");
        let body = framed(&message);
        let keys = |algorithm| public_keys(&body, algorithm);
        assert_eq!(keys(Algorithm::Rs256).as_deref(), Some("{\"keys\":[]}"));
        let both = "k4.public.a\nk4.public.b\n";
        assert_eq!(keys(Algorithm::V4Public).as_deref(), Some(both));
        assert_eq!(public_keys(b"<html>", Algorithm::Rs256), None);
    }
}
