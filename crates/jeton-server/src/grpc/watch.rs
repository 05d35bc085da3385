//! `WatchRevocations`.
//!
//! Each client has a task, which waits for the node and not for the store, and a short queue. A client that
//! stops reading is disconnected.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jeton_issuer::{ResumeToken, RevocationFeed, RevocationUpdate as FeedUpdate};
use jeton_proto::v1::{RevocationRule, RevocationUpdate, RevokedToken, revocation_rule::Kind};
use jeton_store::Moment;
use jeton_store::limits::PROGRESS_EVERY;
use jeton_transport::wait_until_true;
use tokio::sync::mpsc::{self, Sender};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_stream::Stream;
use tonic::Status;

use super::token_api::TokenApi;
use crate::failure::Failure;
use crate::limits;

/// The response stream.
pub(super) type Updates = Pin<Box<dyn Stream<Item = Result<RevocationUpdate, Status>> + Send>>;

/// `resume_token`: that of the last update which the client has. Empty: it has none.
pub(super) fn start(api: TokenApi, iss: String, resume_token: &[u8]) -> Result<Updates, Failure> {
    let permit = api.service.watchers.acquire(api.caller.name())?;
    if let Some(stream) = &api.stream {
        stream.charge().add(limits::WATCHER_BYTES)?;
    }
    let node = &api.service.node;
    let feed = match resume_token {
        [] => node.revocations(&iss)?,
        token => node.resume_revocations(&iss, &ResumeToken::from_bytes(token)?)?,
    };
    let (sender, received) = mpsc::channel(limits::WATCHER_MESSAGES);
    let task = tokio::spawn(async move {
        let _permit = permit;
        follow(api, &iss, feed, &sender).await
    });
    Ok(Box::pin(UpdateStream {
        received,
        task: Some(task),
        started: Moment::now(),
    }))
}

/// Sends the updates of the feed until the stream ends, and returns the final status.
async fn follow(
    mut api: TokenApi,
    iss: &str,
    mut feed: RevocationFeed,
    sender: &Sender<FeedUpdate>,
) -> Status {
    let transport = &api.service.transport;
    let (mut stopping, stall) = (
        transport.stopping.clone(),
        transport.settings.client_stall_timeout,
    );
    let updates = async {
        loop {
            // A heartbeat, also without contact to the store. It carries the growing age of the view.
            let news = match timeout(PROGRESS_EVERY, feed.next()).await {
                Ok(Ok(news)) => news,
                Ok(Err(error)) => return Failure::from(error).status(),
                Err(_) => feed.progress(),
            };
            if let Err(status) = api.check_again(iss) {
                return status;
            }
            if timeout(stall, sender.send(news)).await.is_err() {
                return Failure::Overloaded("the client stopped reading updates".into()).status();
            }
        }
    };
    tokio::select! {
        status = updates => status,
        () = wait_until_true(&mut stopping) => Status::unavailable("the server is shutting down"),
    }
}

/// The response stream of one client.
struct UpdateStream {
    received: mpsc::Receiver<FeedUpdate>,
    /// `None` after the final status was returned.
    task: Option<JoinHandle<Status>>,
    started: Moment,
}

impl Stream for UpdateStream {
    type Item = Result<RevocationUpdate, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(news) = ready!(self.received.poll_recv(context)) {
            return Poll::Ready(Some(Ok(update(news, self.started))));
        }
        let Some(task) = &mut self.task else {
            return Poll::Ready(None);
        };
        let ended = ready!(Pin::new(task).poll(context));
        self.task = None;
        let status = ended.unwrap_or_else(|_| Status::internal("internal error"));
        Poll::Ready(Some(Err(status)))
    }
}

impl Drop for UpdateStream {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// Builds the message that is sent now.
fn update(news: FeedUpdate, started: Moment) -> RevocationUpdate {
    let milliseconds = |took: Duration| u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let at = SystemTime::now().duration_since(UNIX_EPOCH);
    let resume_token = news.resume_token.map(|token| token.to_bytes().to_vec());
    let tokens = news.tokens.iter().map(|(hash, minute)| RevokedToken {
        hash: hash.to_be_bytes().to_vec(),
        expires_minute: *minute,
    });
    RevocationUpdate {
        revision: news.revision.number(),
        at: i64::try_from(at.unwrap_or_default().as_secs()).unwrap_or(i64::MAX),
        is_snapshot: news.is_snapshot,
        age_ms: Some(milliseconds(news.age())),
        clock_ms: Some(milliseconds(started.elapsed())),
        tokens: tokens.collect(),
        rules: news.rules.into_iter().map(rule).collect(),
        resume_token: resume_token.unwrap_or_default(),
    }
}

fn rule(rule: jeton_issuer::RevocationRule) -> RevocationRule {
    let not_before = rule.unstamped_until();
    let stamp = rule.stamp.unwrap_or_default();
    RevocationRule {
        kind: match rule.kind.as_str() {
            "token" => Kind::Token,
            "subject" => Kind::Subject,
            "client" => Kind::Client,
            "key" => Kind::Key,
            _ => Kind::Unspecified,
        } as i32,
        name: rule.name,
        not_before,
        until: rule.until,
        epoch: stamp.epoch,
        number: stamp.number,
        is_ended: rule.is_ended,
    }
}
