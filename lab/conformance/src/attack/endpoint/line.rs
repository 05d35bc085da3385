//! Requests to an endpoint, one after another, with a maximum number.

use std::time::{Duration, Instant};

use crate::attack::session::Reply;
use crate::attack::trial::FormChange;

/// The maximum number of requests to one target.
pub(super) const REQUESTS_MAX: u32 = 10_000;

/// The maximum duration.
pub(super) const TIME_MAX: Duration = Duration::from_secs(600);

/// The maximum length of an answer that is read, in bytes.
pub(super) const ANSWER_BYTES_MAX: usize = 64 << 10;

/// A client of an endpoint.
pub(super) trait EndpointClient {
    /// Sends a token and returns the verdict.
    fn ask(&mut self, token: &str) -> Reply;

    /// Sends a form of the token endpoint with these changes, and returns the verdict.
    fn ask_form(&mut self, token: &str, changes: &[FormChange]) -> Reply {
        let _ = (token, changes);
        Reply::Unasked("only a token endpoint has such a form".into())
    }

    /// Returns the server's name from its last answer.
    fn server(&self) -> Option<&str>;
}

/// A target, with the number of requests and the time so far.
pub(super) struct Endpoint<'a> {
    line: Box<dyn EndpointClient + 'a>,
    requests: u32,
    until: Instant,
}

/// The maximum number of requests or the maximum duration is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LimitReached;

impl<'a> Endpoint<'a> {
    pub(super) fn new(line: Box<dyn EndpointClient + 'a>) -> Self {
        Self {
            line,
            requests: 0,
            until: Instant::now() + TIME_MAX,
        }
    }

    /// Sends a token. Returns the verdict and the time that it took.
    pub(super) fn ask(&mut self, token: &str) -> Result<(Reply, Duration), LimitReached> {
        self.counted(|line| line.ask(token))
    }

    /// Sends a form of the token endpoint with these changes.
    pub(super) fn ask_form(
        &mut self,
        token: &str,
        changes: &[FormChange],
    ) -> Result<(Reply, Duration), LimitReached> {
        self.counted(|line| line.ask_form(token, changes))
    }

    /// Sends a request, and sends it once more if there is no answer in time: a busy machine must not look like an
    /// endpoint that hangs.
    fn counted(
        &mut self,
        mut ask: impl FnMut(&mut dyn EndpointClient) -> Reply,
    ) -> Result<(Reply, Duration), LimitReached> {
        match self.counted_once(&mut ask)? {
            (Reply::Hung(_), _) => self.counted_once(&mut ask),
            answered => Ok(answered),
        }
    }

    fn counted_once(
        &mut self,
        ask: &mut impl FnMut(&mut dyn EndpointClient) -> Reply,
    ) -> Result<(Reply, Duration), LimitReached> {
        if self.requests >= REQUESTS_MAX || Instant::now() >= self.until {
            return Err(LimitReached);
        }
        self.requests += 1;
        let began = Instant::now();
        let reply = ask(&mut *self.line);
        Ok((reply, began.elapsed()))
    }

    pub(super) fn server(&self) -> Option<&str> {
        self.line.server()
    }
}
