//! Forms with a token, one after another: to introspection (RFC 7662, section 2), or to the token endpoint with a
//! grant (RFC 6749).

use serde_json::Value;
use ureq::Agent;
use zeroize::Zeroizing;

use super::address::Target;
use super::line::{ANSWER_BYTES_MAX, EndpointClient};
use crate::attack::session::Reply;
use jeton_lab_harness::protocol::ANSWER_LIMIT;

/// A grant of the token endpoint, which takes a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// An assertion (RFC 7523, section 2.1).
    JwtBearer,
    /// The subject token of an exchange (RFC 8693, section 2.1).
    TokenExchange,
}

/// An endpoint that takes a token in a form.
pub(super) struct Introspection<'a> {
    target: &'a Target,
    /// `None`: introspection.
    grant: Option<Grant>,
    agent: Agent,
    authorization: Option<Zeroizing<String>>,
    server: Option<String>,
}

impl<'a> Introspection<'a> {
    pub(super) fn new(
        target: &'a Target,
        grant: Option<Grant>,
        authorization: Option<Zeroizing<String>>,
    ) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // Neither a redirect nor a proxy from the environment may send the tokens elsewhere.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_global(Some(ANSWER_LIMIT))
            .user_agent("jeton-lab-attack")
            .build()
            .into();
        Self {
            target,
            grant,
            agent,
            authorization,
            server: None,
        }
    }
}

impl EndpointClient for Introspection<'_> {
    fn ask(&mut self, token: &str) -> Reply {
        let address = format!("http://{}{}", self.target.socket, self.target.path);
        let mut request = self
            .agent
            .post(&address)
            .header("host", &self.target.authority)
            .header("accept", "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header("authorization", authorization.as_str());
        }
        let answered = request.send_form(form(self.grant, token));
        match answered {
            Ok(mut response) => {
                let status = response.status().as_u16();
                let named = response.headers().get("server");
                self.server = named.and_then(|v| v.to_str().ok()).map(str::to_owned);
                let body = response
                    .body_mut()
                    .with_config()
                    .limit(ANSWER_BYTES_MAX as u64)
                    .read_to_vec();
                match body {
                    Ok(body) => match self.grant {
                        None => meaning(status, &body),
                        Some(_) => meaning_of_grant(status, &body),
                    },
                    Err(error) => failed(&error),
                }
            }
            Err(error) => failed(&error),
        }
    }

    fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }
}

fn form(grant: Option<Grant>, token: &str) -> Vec<(&'static str, &str)> {
    match grant {
        None => vec![("token", token), ("token_type_hint", "access_token")],
        Some(Grant::JwtBearer) => vec![
            ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
            ("assertion", token),
        ],
        Some(Grant::TokenExchange) => vec![
            (
                "grant_type",
                "urn:ietf:params:oauth:grant-type:token-exchange",
            ),
            ("subject_token", token),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
        ],
    }
}

/// Returns what an answer of the token endpoint means for the token (RFC 6749, section 5).
fn meaning_of_grant(status: u16, body: &[u8]) -> Reply {
    match status {
        200 => {}
        // Of the token: the control of the same caller was accepted.
        401 => return Reply::Refused("answered 401".into()),
        _ => return meaning(status, body),
    }
    let answer: Option<Value> = serde_json::from_slice(body).ok();
    match answer
        .as_ref()
        .and_then(|answer| answer.get("access_token"))
    {
        Some(Value::String(_)) => Reply::Accepted,
        _ => Reply::Crashed("answered 200 without `access_token`".into()),
    }
}

/// Returns what an answer means for the token, or that it does not refer to the token.
fn meaning(status: u16, body: &[u8]) -> Reply {
    match status {
        200 => {
            let answer: Option<Value> = serde_json::from_slice(body).ok();
            match answer.as_ref().and_then(|a| a.get("active")) {
                Some(Value::Bool(true)) => Reply::Accepted,
                Some(Value::Bool(false)) => Reply::Refused("not active".into()),
                _ => Reply::Crashed("answered 200 without a boolean `active`".into()),
            }
        }
        // The sent text is not a token, or too long for one.
        400 | 413 | 414 | 422 | 431 => Reply::Refused(format!("answered {status}")),
        500..=599 => Reply::Crashed(format!("answered {status}")),
        _ => Reply::Unasked(format!(
            "answered {status}, which is no verdict on the token"
        )),
    }
}

fn failed(error: &ureq::Error) -> Reply {
    match error {
        ureq::Error::Timeout(_) => Reply::Hung(format!(
            "did not answer within {} s",
            ANSWER_LIMIT.as_secs()
        )),
        ureq::Error::BodyExceedsLimit(most) => {
            Reply::Crashed(format!("answered more than {most} bytes"))
        }
        error => Reply::Crashed(format!("no answer: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_endpoint_answer_maps_to_reply() {
        let issued = b"{\"access_token\":\"a\",\"token_type\":\"Bearer\"}";
        assert_eq!(meaning_of_grant(200, issued), Reply::Accepted);
        for wrong in [&b"{}"[..], b"{\"access_token\":1}", b"{\"active\":true}"] {
            assert!(matches!(meaning_of_grant(200, wrong), Reply::Crashed(_)));
        }
        let refused = meaning_of_grant(400, b"{\"error\":\"invalid_grant\"}");
        assert!(matches!(refused, Reply::Refused(_)));
        assert!(matches!(meaning_of_grant(401, b""), Reply::Refused(_)));
        assert!(matches!(meaning_of_grant(429, b""), Reply::Unasked(_)));
    }

    #[test]
    fn introspection_answer_maps_to_reply() {
        assert_eq!(meaning(200, b"{\"active\":true}"), Reply::Accepted);
        assert!(matches!(
            meaning(200, b"{\"active\":false}"),
            Reply::Refused(_)
        ));
        for wrong in [
            &b"{}"[..],
            b"true",
            b"",
            b"{\"active\":\"true\"}",
            b"{\"active\":1}",
        ] {
            assert!(
                matches!(meaning(200, wrong), Reply::Crashed(_)),
                "{wrong:?}"
            );
        }
        assert!(matches!(meaning(400, b""), Reply::Refused(_)));
        assert!(matches!(meaning(503, b""), Reply::Crashed(_)));
        for said in [301, 401, 403, 404, 429] {
            assert!(matches!(
                meaning(said, b"{\"active\":true}"),
                Reply::Unasked(_)
            ));
        }
    }
}
