//! One call outside of any load, with its token in hand.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::task::LocalSet;
use tokio::time::timeout;

use super::answer::Answer;
use super::call::Call;
use super::exchange::{Exchange, NotConnected};
use super::tally::End;

/// How long one answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// A token, and the subject that the answer names beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) jwt: String,
    pub(crate) sub: String,
}

/// Makes one call on a connection of its own.
pub(crate) fn ask(target: SocketAddr, call: &Call) -> Result<Token, End> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|_| End::NotConnected)?;
    let exchange = Exchange::new(target, call);
    let asked = async {
        let mut send = exchange
            .connect()
            .await
            .map_err(|NotConnected| End::NotConnected)?;
        exchange.once(&mut send).await.map_err(|ended| ended.end)
    };
    let limited = async { timeout(ANSWER_LIMIT, asked).await };
    let body = LocalSet::new()
        .block_on(&runtime, limited)
        .unwrap_or(Err(End::Unanswered))?;
    let answer = Answer::read(&body).ok_or(End::Garbage)?;
    Ok(Token {
        jwt: answer.jwt.to_owned(),
        sub: answer.sub.to_owned(),
    })
}

impl Token {
    /// As it came.
    pub(crate) fn answer(&self) -> Answer<'_> {
        Answer {
            jwt: &self.jwt,
            sub: &self.sub,
        }
    }
}
