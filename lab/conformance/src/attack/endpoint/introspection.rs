//! Forms with a token, one after another: to introspection (RFC 7662, section 2), or to the token endpoint with a
//! grant (RFC 6749).

use http::Response;
use serde_json::Value;
use ureq::{Agent, Body};
use zeroize::Zeroizing;

use super::address::Target;
use super::grant_form::{Authorization, Grant};
use super::line::{ANSWER_BYTES_MAX, EndpointClient};
use crate::attack::session::Reply;
use crate::attack::trial::FormChange;
use jeton_lab_harness::protocol::ANSWER_LIMIT;

/// An endpoint that takes a token in a form.
pub(super) struct Introspection<'a> {
    target: &'a Target,
    /// `None`: introspection.
    grant: Option<Grant>,
    agent: Agent,
    authorization: Option<Zeroizing<String>>,
    server: Option<String>,
    /// The access token that the endpoint issued last.
    issued: Option<Zeroizing<String>>,
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
            issued: None,
        }
    }
}

impl Introspection<'_> {
    /// Returns the status and the body of an answer.
    fn read(&mut self, mut response: Response<Body>) -> Result<(u16, Vec<u8>), Reply> {
        let status = response.status().as_u16();
        let named = response.headers().get("server");
        self.server = named.and_then(|v| v.to_str().ok()).map(str::to_owned);
        let body = response.body_mut().with_config();
        let body = body.limit(ANSWER_BYTES_MAX as u64).read_to_vec();
        Ok((status, body.map_err(|error| failed(&error))?))
    }

    fn introspect(&mut self, token: &str) -> Result<Reply, Reply> {
        let address = format!("http://{}{}", self.target.socket, self.target.path);
        let mut request = self.agent.post(&address);
        request = request.header("host", &self.target.authority);
        request = request.header("accept", "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header("authorization", authorization.as_str());
        }
        let sent = request.send_form([("token", token), ("token_type_hint", "access_token")]);
        let (status, body) = self.read(sent.map_err(|error| failed(&error))?)?;
        Ok(meaning(status, &body))
    }

    fn grant(&mut self, grant: Grant, token: &str, changes: &[FormChange]) -> Result<Reply, Reply> {
        let issued = self.issued.as_ref().map(|token| token.as_str());
        let form = grant.request(token, changes, issued);
        let (socket, path) = (&self.target.socket, &self.target.path);
        let mut request = http::Request::builder()
            .method(if form.is_get { "GET" } else { "POST" })
            .uri(format!("http://{socket}{path}{}", form.query))
            .header("host", &self.target.authority)
            .header("accept", "application/json");
        if !form.is_get {
            request = request.header("content-type", form.content_type);
        }
        let authorization = match &form.authorization {
            Authorization::OfOperator => self.authorization.as_ref().map(|value| value.as_str()),
            Authorization::Other(value) => Some(value.as_str()),
            Authorization::None => None,
        };
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        let unasked = |_| Reply::Unasked("the request cannot be made".into());
        let sent = if form.is_get {
            self.agent.run(request.body(()).map_err(unasked)?)
        } else {
            self.agent.run(request.body(form.body).map_err(unasked)?)
        };
        let (status, body) = self.read(sent.map_err(|error| failed(&error))?)?;
        let (reply, issued) = meaning_of_grant(status, &body, form.scope.as_deref());
        if issued.is_some() {
            self.issued = issued;
        }
        // These are verdicts on a form, and not on a token.
        Ok(match (status, changes.is_empty()) {
            (403 | 405 | 415, false) => Reply::Refused(format!("answered {status}")),
            _ => reply,
        })
    }
}

impl EndpointClient for Introspection<'_> {
    fn ask(&mut self, token: &str) -> Reply {
        let asked = match self.grant {
            None => self.introspect(token),
            Some(grant) => self.grant(grant, token, &[]),
        };
        asked.unwrap_or_else(|reply| reply)
    }

    fn ask_form(&mut self, token: &str, changes: &[FormChange]) -> Reply {
        match self.grant {
            None => Reply::Unasked("only a token endpoint has such a form".into()),
            Some(grant) => {
                let asked = self.grant(grant, token, changes);
                asked.unwrap_or_else(|reply| reply)
            }
        }
    }

    fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }
}

/// Returns what an answer of the token endpoint means for the token (RFC 6749, section 5), and the issued token.
///
/// An endpoint may issue a token with less scope than requested, if it says so (section 3.3).
fn meaning_of_grant(
    status: u16,
    body: &[u8],
    requested: Option<&str>,
) -> (Reply, Option<Zeroizing<String>>) {
    match status {
        200 => {}
        // Of the token: the control of the same caller was accepted.
        401 => return (Reply::Refused("answered 401".into()), None),
        _ => return (meaning(status, body), None),
    }
    let answer: Option<Value> = serde_json::from_slice(body).ok();
    let text = |name: &str| answer.as_ref()?.get(name)?.as_str();
    let Some(issued) = text("access_token") else {
        let why = "answered 200 without `access_token`";
        return (Reply::Crashed(why.into()), None);
    };
    let is_less = match (requested, text("scope")) {
        (Some(requested), Some(given)) => {
            let given: Vec<&str> = given.split(' ').collect();
            !requested.split(' ').any(|scope| given.contains(&scope))
        }
        _ => false,
    };
    if is_less {
        (Reply::Refused("gave another scope".into()), None)
    } else {
        (Reply::Accepted, Some(Zeroizing::new(issued.to_owned())))
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
        let meaning_of_grant = |status, body, scope| meaning_of_grant(status, body, scope).0;
        let issued = b"{\"access_token\":\"a\",\"token_type\":\"Bearer\"}";
        assert_eq!(meaning_of_grant(200, issued, None), Reply::Accepted);
        // Without `scope`, the token has the scope of the request.
        assert_eq!(meaning_of_grant(200, issued, Some("x")), Reply::Accepted);
        let scoped = b"{\"access_token\":\"a\",\"scope\":\"read list\"}";
        let list = meaning_of_grant(200, scoped, Some("x list"));
        assert_eq!(list, Reply::Accepted);
        let less = meaning_of_grant(200, scoped, Some("x"));
        assert!(matches!(less, Reply::Refused(_)));
        for wrong in [&b"{}"[..], b"{\"access_token\":1}", b"{\"active\":true}"] {
            assert!(matches!(
                meaning_of_grant(200, wrong, None),
                Reply::Crashed(_)
            ));
        }
        let refused = meaning_of_grant(400, b"{\"error\":\"invalid_grant\"}", None);
        assert!(matches!(refused, Reply::Refused(_)));
        assert!(matches!(
            meaning_of_grant(401, b"", None),
            Reply::Refused(_)
        ));
        assert!(matches!(
            meaning_of_grant(429, b"", None),
            Reply::Unasked(_)
        ));
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
