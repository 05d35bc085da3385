//! Clients that follow revocations: one that reads nothing, and one whose server stops.

use std::time::{Duration, Instant};

use jeton_proto::v1::token_service_client::TokenServiceClient;
use jeton_proto::v1::{RevokeRequest, TokenId, WatchRevocationsRequest, revoke_request};
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

use crate::harness::{ISSUER, TestServer, reason};

/// Time limit for a condition, generous for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

fn revoke(fixture: &TestServer, tokens: &mut TokenServiceClient<Channel>, number: usize) {
    let what = revoke_request::What::TokenId(TokenId {
        id: number.to_string(),
        expires_at: fixture.issue("access", "a").expires_at,
    });
    let request = RevokeRequest {
        what: Some(what),
        ..RevokeRequest::default()
    };
    fixture.runtime.block_on(tokens.revoke(request)).unwrap();
}

#[test]
fn watcher_that_reads_nothing_is_disconnected() {
    let limits = "[limits]\nrevocation_watchers = 1\nclient_stall_timeout_seconds = 1\n";
    let fixture = TestServer::with(&format!("{limits}{ISSUER}"));
    let endpoint = Endpoint::from_shared(format!("http://{}", fixture.address())).unwrap();
    let endpoint = endpoint.initial_stream_window_size(0);
    let channel = fixture.runtime.block_on(endpoint.connect()).unwrap();
    let mut unread = TokenServiceClient::new(channel);
    let request = WatchRevocationsRequest::default;
    let held = fixture
        .runtime
        .block_on(unread.watch_revocations(request()));
    assert!(held.is_ok());
    let mut tokens = fixture.tokens();
    // More updates than the queue of the client holds.
    for number in 0..20 {
        revoke(&fixture, &mut tokens, number);
    }
    let begun = Instant::now();
    loop {
        match fixture
            .runtime
            .block_on(tokens.watch_revocations(request()))
        {
            Ok(_) => break,
            Err(status) => assert_eq!(status.code(), Code::ResourceExhausted),
        }
        assert!(
            begun.elapsed() < TIMEOUT,
            "the first client was not disconnected"
        );
    }
}

#[test]
fn watcher_receives_unavailable_when_the_server_stops() {
    // The fixture replaces the default, 20 s, by none.
    let mut fixture = TestServer::with(&format!("drain_seconds = 10\n{ISSUER}"));
    let mut tokens = fixture.tokens();
    let server = fixture.server.take().unwrap();
    let ended = fixture.runtime.block_on(async {
        let request = WatchRevocationsRequest::default();
        let mut updates = tokens
            .watch_revocations(request)
            .await
            .unwrap()
            .into_inner();
        assert!(updates.message().await.unwrap().is_some());
        let stopping = std::thread::spawn(move || server.stop());
        let status = loop {
            if let Err(status) = updates.message().await {
                break status;
            }
        };
        drop((updates, tokens));
        (status, stopping)
    });
    assert_eq!(ended.0.code(), Code::Unavailable, "{:?}", ended.0);
    assert!(ended.0.message().contains("shutting down"), "{:?}", ended.0);
    ended.1.join().unwrap();
}

#[test]
fn watcher_resumes_after_its_last_update() {
    let fixture = TestServer::plain();
    let mut tokens = fixture.tokens();
    revoke(&fixture, &mut tokens, 0);
    let watch = |resume_token: &[u8]| {
        let mut tokens = fixture.tokens();
        fixture.runtime.block_on(async {
            let request = WatchRevocationsRequest {
                resume_token: resume_token.to_vec(),
                ..WatchRevocationsRequest::default()
            };
            let mut updates = tokens.watch_revocations(request).await?.into_inner();
            let mut count = 0;
            loop {
                let update = updates.message().await?.unwrap();
                count += update.tokens.len();
                assert_eq!(update.resume_token.is_empty(), update.is_snapshot);
                if !update.is_snapshot {
                    return Ok::<_, tonic::Status>((count, update.resume_token));
                }
            }
        })
    };
    let (count, after) = watch(&[]).unwrap();
    assert_eq!(count, 1);
    revoke(&fixture, &mut tokens, 1);
    revoke(&fixture, &mut tokens, 2);
    let (count, newest) = watch(&after).unwrap();
    assert_eq!(count, 2);
    assert_eq!(watch(&newest).unwrap().0, 0);
    assert_eq!(watch(&[]).unwrap().0, 3);
    let mut other = newest.clone();
    *other.last_mut().unwrap() ^= 1;
    let lost = watch(&other).unwrap_err();
    assert_eq!(lost.code(), Code::Aborted);
    assert_eq!(reason(&lost), "FELL_BEHIND");
    let wrong = watch(&newest[1..]).unwrap_err();
    assert_eq!(wrong.code(), Code::InvalidArgument);
    assert_eq!(
        wrong.message(),
        "`resume_token`: has 23 bytes, must have 24"
    );
}

#[test]
fn updates_state_age_and_time() {
    let fixture = TestServer::plain();
    let mut tokens = fixture.tokens();
    let watched = fixture.runtime.block_on(async {
        let request = WatchRevocationsRequest::default();
        let updates = tokens.watch_revocations(request).await;
        updates.unwrap().into_inner()
    });
    let mut updates = watched;
    let next = |updates: &mut tonic::Streaming<jeton_proto::v1::RevocationUpdate>| {
        let update = fixture
            .runtime
            .block_on(updates.message())
            .unwrap()
            .unwrap();
        (update.age_ms.unwrap(), update.clock_ms.unwrap())
    };
    let (age, first) = next(&mut updates);
    assert!(age < TIMEOUT.as_millis() as u64, "{age}");
    std::thread::sleep(Duration::from_millis(50));
    revoke(&fixture, &mut tokens, 1);
    let (_, second) = next(&mut updates);
    assert!(second >= first + 50, "{first} {second}");
}
