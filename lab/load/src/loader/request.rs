//! Requests: a path and a body, created once and sent repeatedly.

use std::net::SocketAddr;

use super::answer::{Answer, SUBJECT, tokens_of_batch};
use super::ask::ask_once;
use super::http_request::{HttpRequest, path};
use super::tally::End;
use jeton_lab_harness::grpc::{put_bytes, put_text};
use jeton_lab_model::servers::{Algorithm, BATCH, Call};

/// The audience of tokens. For calls other than `GenerateJwt`, a server has a profile for each
/// algorithm, named after it, with this audience.
pub(crate) const AUDIENCE: &str = "api";

/// A call with its request.
#[derive(Debug, Clone)]
pub struct Request {
    pub(crate) call: Call,
    pub(super) algorithm: String,
    pub(crate) http: HttpRequest,
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
        Self::of(Call::GenerateJwt, algorithm, &message)
    }

    /// Prepares any call but those of gateways, which [`Request::pass`] makes. For a call that is about tokens, the server
    /// issues them first, once.
    ///
    /// # Errors
    ///
    /// The outcome of the call that should have issued them.
    pub fn prepare(target: SocketAddr, call: Call, algorithm: Algorithm) -> Result<Self, End> {
        let issued = || {
            let request = Self::issue(Call::Issue, algorithm);
            let body = ask_once(target, &request.http)?;
            let answer = Answer::read(request.call, &body)?;
            answer.token.map(str::to_owned).ok_or(End::Garbage)
        };
        Ok(match call {
            Call::GenerateJwt => Self::generate_jwt(algorithm),
            Call::Issue | Call::IssueStream => Self::issue(call, algorithm),
            Call::IssueBatch => Self::issue_batch(algorithm),
            Call::Verify | Call::VerifyStream => Self::verify(call, algorithm, &issued()?),
            Call::VerifyBatch => {
                let body = ask_once(target, &Self::issue_batch(algorithm).http)?;
                let mut message = Vec::new();
                put_text(&mut message, 2, AUDIENCE);
                for token in tokens_of_batch(&body)? {
                    put_text(&mut message, 3, token);
                }
                Self::of(call, algorithm.name(), &message)
            }
            Call::VerifyRevoked => {
                let token = issued()?;
                let request = Self::verify(call, algorithm, &token);
                // The token must be rejected only because it was revoked.
                ask_once(target, &request.http)?;
                ask_once(target, &revoke(&token))?;
                match ask_once(target, &request.http) {
                    Err(end) if end == End::right(call) => request,
                    Err(end) => return Err(end),
                    Ok(_) => return Err(End::Accepted),
                }
            }
            // RFC 7662, section 2.1. The characters of a token need no escaping in a form.
            Call::Introspect => {
                let form = format!("token={}", issued()?).into();
                let kind = "application/x-www-form-urlencoded";
                Self::with(call, algorithm, HttpRequest::post(path(call), kind, form))
            }
            // A gateway issues no tokens.
            Call::Pass | Call::PassDifferent | Call::PassRevoked => return Err(End::Garbage),
        })
    }

    /// A call of a gateway, with each of these tokens in turn: a text with a token on each line.
    ///
    /// # Errors
    ///
    /// A sentence, if the file has no token, or a line is not a token.
    pub fn pass(call: Call, algorithm: Algorithm, tokens: &str) -> Result<Self, String> {
        if tokens.lines().next().is_none() {
            return Err("must have a token on each line, and has no lines".to_owned());
        }
        let http = HttpRequest::get(tokens.lines()).map_err(|line| {
            format!("line {line} has characters that no token has: write one token on each line")
        })?;
        Ok(Self::with(call, algorithm, http))
    }

    /// `jeton.v1.IssueRequest`, also as one message of a stream.
    fn issue(call: Call, algorithm: Algorithm) -> Self {
        let mut message = Vec::new();
        put_text(&mut message, 2, algorithm.name());
        put_text(&mut message, 3, SUBJECT);
        Self::of(call, algorithm.name(), &message)
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
        Self::of(Call::IssueBatch, algorithm.name(), &message)
    }

    /// `jeton.v1.VerifyRequest`, also as one message of a stream.
    fn verify(call: Call, algorithm: Algorithm, token: &str) -> Self {
        let mut message = Vec::new();
        put_text(&mut message, 2, AUDIENCE);
        put_text(&mut message, 3, token);
        Self::of(call, algorithm.name(), &message)
    }

    fn of(call: Call, algorithm: &str, message: &[u8]) -> Self {
        Self {
            call,
            algorithm: algorithm.to_owned(),
            http: HttpRequest::grpc(path(call), message),
        }
    }

    fn with(call: Call, algorithm: Algorithm, http: HttpRequest) -> Self {
        Self {
            call,
            algorithm: algorithm.name().to_owned(),
            http,
        }
    }
}

/// `jeton.v1.RevokeRequest`, for this token only.
fn revoke(token: &str) -> HttpRequest {
    let mut message = Vec::new();
    put_text(&mut message, 2, token);
    HttpRequest::grpc("/jeton.v1.TokenService/Revoke", &message)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn request_is_length_and_message() {
        let request = Request::generate_jwt(Algorithm::Hs256);
        assert_eq!(&request.http.body[..], b"\0\0\0\0\x07\x0a\x05HS256");
        let issue = Request::issue(Call::Issue, Algorithm::V4Local);
        let message = b"\0\0\0\0\x1e\x12\x08v4.local\x1a\x12user0001@mail.test";
        assert_eq!(&issue.http.body[..], message);
        let verify = Request::verify(Call::Verify, Algorithm::Hs256, "a.b.c");
        assert_eq!(
            &verify.http.body[..],
            b"\0\0\0\0\x0c\x12\x03api\x1a\x05a.b.c"
        );
    }

    #[test]
    fn gateway_request_has_the_tokens_of_its_lines() {
        let pass = |tokens| Request::pass(Call::PassDifferent, Algorithm::Es256, tokens);
        let bearers = pass("a.b.c\nd.e.f\n").map(|request| request.http.bearers);
        assert_eq!(
            bearers,
            Ok(["Bearer a.b.c", "Bearer d.e.f"]
                .map(HeaderValue::from_static)
                .into())
        );
        for (wrong, what) in [("", "has no lines"), ("a.b.c\nd\u{1}e\n", "line 2")] {
            let said = pass(wrong).map(|_| ());
            assert!(said.is_err_and(|said| said.contains(what)), "{wrong:?}");
        }
    }

    #[test]
    fn batch_request_has_all_items() {
        let batch = Request::issue_batch(Algorithm::Hs256);
        let item = b"\x22\x14\x0a\x12user0001@mail.test".len();
        let message = b"\x12\x05HS256".len() + item * BATCH as usize;
        assert_eq!(batch.http.body.len(), 5 + message);
    }

    #[test]
    fn request_with_long_name_is_complete() {
        let request = Request::generate_jwt_with(&"x".repeat(200));
        assert_eq!(request.http.body.len(), 5 + 3 + 200);
        assert_eq!(&request.http.body[..8], b"\0\0\0\0\xcb\x0a\xc8\x01");
    }
}
