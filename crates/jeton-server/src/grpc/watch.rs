//! Followers of revocations: each has a thread that waits for the store, since the store may keep it
//! waiting, and a channel that holds little, so that one who is slow is let go and not waited for.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jeton_issuer::{Error, RevocationNews};
use jeton_proto::v1::{RevocationRule, RevocationUpdate, RevokedToken, revocation_rule::Kind};
use jeton_store::block_on;
use tokio::sync::mpsc::{self, Sender};
use tokio_stream::Stream;
use tonic::Status;

use super::TokenApi;
use crate::limits;
use crate::listen::Answered;
use crate::service::Failure;

/// What a follower is sent.
pub(super) type Updates =
    std::pin::Pin<Box<dyn Stream<Item = Result<RevocationUpdate, Status>> + Send>>;

/// Messages that wait for a follower.
const WAITING: usize = 16;
/// How long a follower that takes nothing is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn begin(mut api: TokenApi, iss: String) -> Result<Updates, Failure> {
    let Ok(place) = api.service.watchers.clone().try_acquire_owned() else {
        return Err(Failure::Overloaded(
            "as many follow revocations already as this server takes",
        ));
    };
    let (sender, receiver) = mpsc::channel(WAITING);
    let answered = api.shown.as_ref().map(|shown| shown.answer());
    let thread = std::thread::Builder::new().name("jeton-watch".to_owned());
    let spawned = thread.spawn(move || {
        let _place = place;
        if let Err(status) = follow(&mut api, &iss, &sender) {
            // If it cannot be told, it is gone or will see that the stream ends.
            let _ = sender.try_send(Err(status));
        }
    });
    match spawned {
        Ok(_) => Ok(Box::pin(Received(receiver, answered))),
        Err(_) => Err(Failure::Overloaded(
            "the system has no thread left for this",
        )),
    }
}

fn follow(
    api: &mut TokenApi,
    iss: &str,
    sender: &Sender<Result<RevocationUpdate, Status>>,
) -> Result<(), Status> {
    let status = |error: Error| Failure::from(error).status();
    let mut feed = block_on(api.service.node.revocations(iss)).map_err(status)?;
    loop {
        let news = block_on(feed.next()).map_err(status)?;
        if api.service.is_stopping() {
            return Err(Status::unavailable("the server is shutting down"));
        }
        api.check_again(iss)?;
        for update in updates(news) {
            if sender.is_closed() {
                return Ok(());
            }
            if !sent_in_time(sender, update) {
                return Err(Failure::Overloaded("the follower takes nothing: let go").status());
            }
        }
    }
}

/// Puts an update into the channel. False: nobody took anything for as long as is waited.
fn sent_in_time(
    sender: &Sender<Result<RevocationUpdate, Status>>,
    update: RevocationUpdate,
) -> bool {
    let mut update = Ok(update);
    let step = Duration::from_millis(20);
    for _ in 0..PATIENCE.as_millis() / step.as_millis() {
        match sender.try_send(update) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => return true,
            Err(mpsc::error::TrySendError::Full(back)) => update = back,
        }
        std::thread::sleep(step);
    }
    false
}

/// News in messages that are not too large.
fn updates(news: RevocationNews) -> Vec<RevocationUpdate> {
    let at = SystemTime::now().duration_since(UNIX_EPOCH);
    let at = i64::try_from(at.unwrap_or_default().as_secs()).unwrap_or(i64::MAX);
    let empty = RevocationUpdate {
        revision: news.revision.number(),
        at,
        is_snapshot: news.is_snapshot,
        tokens: Vec::new(),
        rules: Vec::new(),
    };
    let mut updates = Vec::new();
    for tokens in news.tokens.chunks(limits::SNAPSHOT_ENTRIES) {
        let tokens = tokens.iter().map(|(hash, minute)| RevokedToken {
            hash: hash.to_be_bytes().to_vec(),
            expires_minute: *minute,
        });
        updates.push(RevocationUpdate {
            tokens: tokens.collect(),
            ..empty.clone()
        });
    }
    for rules in news.rules.chunks(limits::SNAPSHOT_ENTRIES) {
        let rules = rules.iter().map(|rule| RevocationRule {
            kind: match rule.kind.as_str() {
                "token" => Kind::Token,
                "subject" => Kind::Subject,
                "client" => Kind::Client,
                "key" => Kind::Key,
                _ => Kind::Unspecified,
            } as i32,
            name: rule.name.clone(),
            not_before: rule.unstamped_until(),
            until: rule.until,
            epoch: rule.stamp.unwrap_or_default().epoch,
            number: rule.stamp.unwrap_or_default().number,
        });
        updates.push(RevocationUpdate {
            rules: rules.collect(),
            ..empty.clone()
        });
    }
    // Nothing new is news too: that the server is there, and how far it is.
    if updates.is_empty() && !news.is_snapshot {
        updates.push(empty);
    }
    updates
}

/// Its call is being answered as long as this is there.
struct Received(
    mpsc::Receiver<Result<RevocationUpdate, Status>>,
    #[expect(dead_code, reason = "it is dropped")] Option<Answered>,
);

impl Stream for Received {
    type Item = Result<RevocationUpdate, Status>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}
