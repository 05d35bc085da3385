//! Long calls on one worker: other calls are handled in between. The tests compare order, not time.

use jeton_proto::v1::{
    IssueBatchRequest, IssueItem, IssueRequest, VerifyBatchRequest, VerifyRequest,
    issue_outcome::Outcome as Issued, verify_outcome::Outcome as Verified,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_stream::StreamExt as _;

use crate::harness::TestServer;

const ITEMS: usize = 4096;

/// Slow signatures: RSA, and the largest curve.
const CONFIG: &str = r#"
[[issuer]]
iss = "https://id.example/tenant"
profiles = [
    {name = "slow", alg = "PS512", lifetime_seconds = 900, audiences = ["api"]},
    {name = "curve", alg = "ES512", lifetime_seconds = 900, audiences = ["api"]},
]
"#;

/// Counts the responses of `/livez` until the work has ended.
async fn answered_until<T>(fixture: &TestServer, work: impl Future<Output = T>) -> (T, usize) {
    let mut answered = 0;
    let mut work = std::pin::pin!(work);
    let done = loop {
        let health = async {
            let mut stream = tokio::net::TcpStream::connect(fixture.address())
                .await
                .unwrap();
            let request = b"GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
            stream.write_all(request).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert!(answer.ends_with("live\n"), "{answer}");
            // A pause, so that health checks do not keep the worker busy.
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        };
        tokio::select! {
            biased;
            done = &mut work => break done,
            () = health => answered += 1,
        }
    };
    (done, answered)
}

/// Without slices, at most two responses arrive: those before the work starts.
const SEVERAL: usize = 6;

#[test]
fn health_responds_during_a_long_batch() {
    let fixture = TestServer::with(CONFIG);
    let mut tokens = fixture.tokens();
    let batch = IssueBatchRequest {
        profile: "slow".to_owned(),
        items: vec![IssueItem::default(); ITEMS],
        ..IssueBatchRequest::default()
    };
    fixture.runtime.block_on(async {
        let (done, answered) = answered_until(&fixture, tokens.issue_batch(batch)).await;
        let outcomes = done.unwrap().into_inner().outcomes;
        assert_eq!(outcomes.len(), ITEMS);
        let is_issued = |one: &Option<Issued>| matches!(one, Some(Issued::Issued(_)));
        assert!(outcomes.iter().all(|one| is_issued(&one.outcome)));
        assert!(
            answered >= SEVERAL,
            "{answered} answers while a batch was issued"
        );
    });

    let token = fixture.issue("curve", "alice").token;
    let batch = VerifyBatchRequest {
        audience: "api".to_owned(),
        tokens: vec![token; ITEMS],
        ..VerifyBatchRequest::default()
    };
    let mut tokens = fixture.tokens();
    fixture.runtime.block_on(async {
        let (done, answered) = answered_until(&fixture, tokens.verify_batch(batch)).await;
        let outcomes = done.unwrap().into_inner().outcomes;
        assert_eq!(outcomes.len(), ITEMS);
        let is_verified = |one: &Option<Verified>| matches!(one, Some(Verified::Verified(_)));
        assert!(outcomes.iter().all(|one| is_verified(&one.outcome)));
        assert!(
            answered >= SEVERAL,
            "{answered} answers while a batch was verified"
        );
    });
}

#[test]
fn health_responds_during_full_streams() {
    let fixture = TestServer::with(CONFIG);
    let mut tokens = fixture.tokens();
    let request = IssueRequest {
        profile: "slow".to_owned(),
        ..IssueRequest::default()
    };
    fixture.runtime.block_on(async {
        let all = async {
            let requests = tokio_stream::iter(vec![request; ITEMS]);
            let outcomes = tokens.issue_stream(requests).await.unwrap().into_inner();
            outcomes.map(Result::unwrap).collect::<Vec<_>>().await
        };
        let (outcomes, answered) = answered_until(&fixture, all).await;
        assert_eq!(outcomes.len(), ITEMS);
        assert!(
            answered >= SEVERAL,
            "{answered} answers while a stream was issued"
        );
    });

    let token = fixture.issue("curve", "alice").token;
    let request = VerifyRequest {
        audience: "api".to_owned(),
        token,
        ..VerifyRequest::default()
    };
    let mut tokens = fixture.tokens();
    fixture.runtime.block_on(async {
        let all = async {
            let requests = tokio_stream::iter(vec![request; ITEMS]);
            let outcomes = tokens.verify_stream(requests).await.unwrap().into_inner();
            outcomes.map(Result::unwrap).collect::<Vec<_>>().await
        };
        let (outcomes, answered) = answered_until(&fixture, all).await;
        assert_eq!(outcomes.len(), ITEMS);
        assert!(
            answered >= SEVERAL,
            "{answered} answers while a stream was verified"
        );
    });
}
