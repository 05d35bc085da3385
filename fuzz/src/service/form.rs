//! A posted form with a token from fuzzer input: content type, line break, body.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request};
use http_body_util::Full;

use super::with;

const FORM: &str = "application/x-www-form-urlencoded";

/// Content type and body.
pub struct Form<'d> {
    content_type: HeaderValue,
    body: &'d [u8],
}

impl<'d> Form<'d> {
    /// Returns `None` if there is no line break, or if a header cannot contain the first line.
    pub fn of(data: &'d [u8]) -> Option<Form<'d>> {
        let end = data.iter().position(|byte| *byte == b'\n')?;
        let content_type = HeaderValue::from_bytes(&data[..end]).ok()?;
        Some(Form {
            content_type,
            body: &data[end + 1..],
        })
    }

    /// The first inputs.
    pub fn seeds() -> Vec<String> {
        let good = with(|service| service.tokens.clone());
        let forms = good.iter().map(|token| format!("{FORM}\ntoken={token}"));
        let mut all: Vec<String> = forms.collect();
        all.extend(
            [
                "token=a&token=b",
                "token=%C3%A9&token_type_hint=access_token",
                "token=",
                "other=1",
            ]
            .map(|body| format!("{FORM}; charset=utf-8\n{body}")),
        );
        all
    }

    /// Returns a request that posts the form to this path.
    pub fn request(&self, path: &str) -> Request<Full<Bytes>> {
        Request::builder()
            .method(Method::POST)
            .uri(format!("http://id.example{path}"))
            .header(CONTENT_TYPE, &self.content_type)
            .body(Full::new(Bytes::copy_from_slice(self.body)))
            .expect("it is a request")
    }

    /// Returns the token, if the form has exactly one that is not empty.
    pub fn only_token(&self) -> Option<String> {
        let media_type = self
            .content_type
            .as_bytes()
            .split(|byte| *byte == b';')
            .next();
        let is_form = media_type?
            .trim_ascii()
            .eq_ignore_ascii_case(FORM.as_bytes());
        let all = form_urlencoded::parse(self.body);
        let tokens: Vec<String> = all
            .filter(|(name, _)| name == "token")
            .map(|(_, token)| token.into_owned())
            .collect();
        match tokens.as_slice() {
            [token] if is_form && !token.is_empty() => Some(token.clone()),
            _ => None,
        }
    }
}
