//! Requests: a path and a body, created once and sent repeatedly.

use std::net::SocketAddr;

use super::answer::{Answer, SUBJECT, tokens_of_batch};
use super::ask::ask_once;
use super::post::Post;
use super::tally::End;
use jeton_lab_harness::grpc::{put_bytes, put_text};
use jeton_lab_model::servers::{Algorithm, BATCH, Call};

/// The audience of tokens. For calls other than `GenerateJwt`, a server has a profile for each
/// algorithm, named after it, with this audience.
const AUDIENCE: &str = "api";

/// A call with its request.
#[derive(Debug, Clone)]
pub struct Request {
    pub(crate) call: Call,
    pub(super) algorithm: String,
    pub(crate) post: Post,
}

impl Request {
    /// `jwt.services.JwtService/GenerateJwt`: signs a token and verifies it.
    #[must_use]
    pub fn generate_jwt(algorithm: Algorithm) -> Self {
        Self::generate_jwt_with(algorithm.name())
    }

    /// The same with any algorithm name, to test the server's answer.
    pub(crate) fn generate_jwt_with(algorithm: &str) -> Self {
        let mut message = Vec::new();
        put_text(&mut message, 1, algorithm);
        Self {
            call: Call::GenerateJwt,
            algorithm: algorithm.to_owned(),
            post: Post::grpc("/jwt.services.JwtService/GenerateJwt", &message),
        }
    }

    /// Prepares any call. For a call that is about tokens, the server issues them first, once.
    ///
    /// # Errors
    ///
    /// The outcome of the call that should have issued them.
    pub fn prepare(target: SocketAddr, call: Call, algorithm: Algorithm) -> Result<Self, End> {
        let issued = || {
            let request = Self::issue(algorithm);
            let body = ask_once(target, &request.post)?;
            let answer = Answer::read(request.call, &body)?;
            answer.token.map(str::to_owned).ok_or(End::Garbage)
        };
        let issued_batch = || {
            let request = Self::issue_batch(algorithm);
            ask_once(target, &request.post)
        };
        Ok(match call {
            Call::GenerateJwt => Self::generate_jwt(algorithm),
            Call::Issue => Self::issue(algorithm),
            Call::IssueBatch => Self::issue_batch(algorithm),
            Call::IssueStream => Self::issue_stream(algorithm),
            Call::Verify => Self::verify(algorithm, &issued()?),
            Call::VerifyBatch => {
                let body = issued_batch()?;
                Self::verify_batch(algorithm, &tokens_of_batch(&body)?)
            }
            Call::VerifyStream => Self::verify_stream(algorithm, &issued()?),
            Call::VerifyRevoked => {
                let token = issued()?;
                let request = Self::verify_revoked(algorithm, &token);
                // The token must be rejected only because it was revoked.
                ask_once(target, &request.post)?;
                ask_once(target, &revoke(&token))?;
                match ask_once(target, &request.post) {
                    Err(end) if end == End::right(call) => request,
                    Err(end) => return Err(end),
                    Ok(_) => return Err(End::Accepted),
                }
            }
            Call::Introspect => Self::introspect(algorithm, &issued()?),
        })
    }

    /// `jeton.v1.IssueRequest`.
    fn issue(algorithm: Algorithm) -> Self {
        Self::of(
            Call::Issue,
            algorithm,
            Post::grpc("/jeton.v1.TokenService/Issue", &issue_request(algorithm)),
        )
    }

    /// The same, as one message of a stream.
    fn issue_stream(algorithm: Algorithm) -> Self {
        Self::of(
            Call::IssueStream,
            algorithm,
            Post::grpc(
                "/jeton.v1.TokenService/IssueStream",
                &issue_request(algorithm),
            ),
        )
    }

    /// `jeton.v1.IssueBatchRequest`.
    fn issue_batch(algorithm: Algorithm) -> Self {
        let mut item = Vec::new();
        put_text(&mut item, 1, SUBJECT);
        let mut message = Vec::new();
        put_text(&mut message, 2, algorithm.name());
        for _ in 0..BATCH {
            put_bytes(&mut message, 4, &item);
        }
        Self::of(
            Call::IssueBatch,
            algorithm,
            Post::grpc("/jeton.v1.TokenService/IssueBatch", &message),
        )
    }

    /// `jeton.v1.VerifyRequest`.
    fn verify(algorithm: Algorithm, token: &str) -> Self {
        let post = Post::grpc("/jeton.v1.TokenService/Verify", &verify_request(token));
        Self::of(Call::Verify, algorithm, post)
    }

    /// The same for a revoked token.
    fn verify_revoked(algorithm: Algorithm, token: &str) -> Self {
        Self {
            call: Call::VerifyRevoked,
            ..Self::verify(algorithm, token)
        }
    }

    /// The same, as one message of a stream.
    fn verify_stream(algorithm: Algorithm, token: &str) -> Self {
        let post = Post::grpc(
            "/jeton.v1.TokenService/VerifyStream",
            &verify_request(token),
        );
        Self::of(Call::VerifyStream, algorithm, post)
    }

    /// `jeton.v1.VerifyBatchRequest`.
    fn verify_batch(algorithm: Algorithm, tokens: &[&str]) -> Self {
        let mut message = Vec::new();
        put_text(&mut message, 2, AUDIENCE);
        for token in tokens {
            put_text(&mut message, 3, token);
        }
        Self::of(
            Call::VerifyBatch,
            algorithm,
            Post::grpc("/jeton.v1.TokenService/VerifyBatch", &message),
        )
    }

    /// RFC 7662, section 2.1. The characters of a token need no escaping in a form.
    fn introspect(algorithm: Algorithm, token: &str) -> Self {
        let post = Post {
            path: "/introspect",
            content_type: "application/x-www-form-urlencoded",
            body: format!("token={token}").into(),
        };
        Self::of(Call::Introspect, algorithm, post)
    }

    fn of(call: Call, algorithm: Algorithm, post: Post) -> Self {
        Self {
            call,
            algorithm: algorithm.name().to_owned(),
            post,
        }
    }
}

/// `jeton.v1.RevokeRequest`, for this token only.
fn revoke(token: &str) -> Post {
    let mut message = Vec::new();
    put_text(&mut message, 2, token);
    Post::grpc("/jeton.v1.TokenService/Revoke", &message)
}

/// `jeton.v1.VerifyRequest`.
fn verify_request(token: &str) -> Vec<u8> {
    let mut message = Vec::new();
    put_text(&mut message, 2, AUDIENCE);
    put_text(&mut message, 3, token);
    message
}

/// `jeton.v1.IssueRequest`.
fn issue_request(algorithm: Algorithm) -> Vec<u8> {
    let mut message = Vec::new();
    put_text(&mut message, 2, algorithm.name());
    put_text(&mut message, 3, SUBJECT);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_is_length_and_message() {
        let request = Request::generate_jwt(Algorithm::Hs256);
        assert_eq!(&request.post.body[..], b"\0\0\0\0\x07\x0a\x05HS256");
        let issue = Request::issue(Algorithm::V4Local);
        let message = b"\0\0\0\0\x1e\x12\x08v4.local\x1a\x12user0001@mail.test";
        assert_eq!(&issue.post.body[..], message);
        let verify = Request::verify(Algorithm::Hs256, "a.b.c");
        assert_eq!(
            &verify.post.body[..],
            b"\0\0\0\0\x0c\x12\x03api\x1a\x05a.b.c"
        );
    }

    #[test]
    fn batch_request_has_all_items() {
        let batch = Request::issue_batch(Algorithm::Hs256);
        let item = b"\x22\x14\x0a\x12user0001@mail.test".len();
        let message = b"\x12\x05HS256".len() + item * BATCH as usize;
        assert_eq!(batch.post.body.len(), 5 + message);
    }

    #[test]
    fn request_with_long_name_is_complete() {
        let request = Request::generate_jwt_with(&"x".repeat(200));
        assert_eq!(request.post.body.len(), 5 + 3 + 200);
        assert_eq!(&request.post.body[..8], b"\0\0\0\0\xcb\x0a\xc8\x01");
    }
}
