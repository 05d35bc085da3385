//! The line to an endpoint: one question after another, and a most of them.

use std::time::{Duration, Instant};

use crate::attack::session::Reply;

/// So many requests are made of one target at most.
pub(super) const REQUESTS_MAX: u32 = 10_000;

/// And for so long at most.
pub(super) const TIME_MAX: Duration = Duration::from_secs(600);

/// The longest answer that is read, bytes.
pub(super) const ANSWER_BYTES_MAX: usize = 64 << 10;

/// A way to ask an endpoint of a token.
pub(super) trait Line {
    /// What it says of the token.
    fn ask(&mut self, token: &str) -> Reply;

    /// What it calls itself, from its last answer.
    fn server(&self) -> Option<&str>;
}

/// A target, and what it was asked so far.
pub(super) struct Endpoint<'a> {
    line: Box<dyn Line + 'a>,
    requests: u32,
    until: Instant,
}

/// The most of requests or of time is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spent;

impl<'a> Endpoint<'a> {
    pub(super) fn new(line: Box<dyn Line + 'a>) -> Self {
        Self {
            line,
            requests: 0,
            until: Instant::now() + TIME_MAX,
        }
    }

    /// What it says of a token, and how long that took.
    pub(super) fn ask(&mut self, token: &str) -> Result<(Reply, Duration), Spent> {
        if self.requests >= REQUESTS_MAX || Instant::now() >= self.until {
            return Err(Spent);
        }
        self.requests += 1;
        let began = Instant::now();
        let reply = self.line.ask(token);
        Ok((reply, began.elapsed()))
    }

    pub(super) fn server(&self) -> Option<&str> {
        self.line.server()
    }
}
