//! Stopping a server: running calls finish, new ones are not accepted, and the time is limited.

use std::time::{Duration, Instant};

use jeton_proto::v1::{IssueRequest, issue_outcome};
use tokio::sync::mpsc;
use tokio_stream::Stream;

use crate::harness::{ISSUER, TestServer};

/// A stream of requests from a channel.
struct Fed(mpsc::Receiver<IssueRequest>);

impl Stream for Fed {
    type Item = IssueRequest;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<IssueRequest>> {
        self.0.poll_recv(context)
    }
}

fn request() -> IssueRequest {
    IssueRequest {
        profile: "mac".to_owned(),
        ..IssueRequest::default()
    }
}

#[test]
fn stop_waits_for_open_streams() {
    let mut fixture = TestServer::with(&format!("drain_seconds = 300\n{ISSUER}"));
    let server = fixture.server.take().unwrap();
    let address = server.data_address();
    let channel = fixture.channel(address);
    let mut tokens = jeton_proto::v1::token_service_client::TokenServiceClient::new(channel);
    let stopped = fixture.runtime.block_on(async {
        let (feed, fed) = mpsc::channel(1);
        feed.send(request()).await.unwrap();
        let mut outcomes = tokens.issue_stream(Fed(fed)).await.unwrap().into_inner();
        assert!(outcomes.message().await.unwrap().is_some());
        let stopping = std::thread::spawn(move || server.stop());
        let begun = Instant::now();
        while std::net::TcpStream::connect(address).is_ok() {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "a new connection was accepted"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(
            !stopping.is_finished(),
            "the server did not wait for the stream"
        );
        feed.send(request()).await.unwrap();
        let outcome = outcomes.message().await.unwrap().unwrap().outcome;
        assert!(matches!(outcome, Some(issue_outcome::Outcome::Issued(_))));
        drop(feed);
        assert!(outcomes.message().await.unwrap().is_none());
        drop(tokens);
        stopping
    });
    let begun = Instant::now();
    stopped.join().unwrap();
    // It must not wait for the end of the time limit.
    assert!(begun.elapsed() < Duration::from_secs(100));
}

#[test]
fn stop_closes_streams_after_the_time_limit() {
    let mut fixture = TestServer::with(&format!("drain_seconds = 1\n{ISSUER}"));
    let server = fixture.server.take().unwrap();
    let channel = fixture.channel(server.data_address());
    let mut tokens = jeton_proto::v1::token_service_client::TokenServiceClient::new(channel);
    let (feed, fed) = mpsc::channel(1);
    let outcomes = fixture.runtime.block_on(async {
        feed.send(request()).await.unwrap();
        tokens.issue_stream(Fed(fed)).await.unwrap()
    });
    let begun = Instant::now();
    server.stop();
    let took = begun.elapsed();
    assert!(
        (Duration::from_millis(900)..Duration::from_secs(60)).contains(&took),
        "{took:?}"
    );
    drop((feed, outcomes));
}
