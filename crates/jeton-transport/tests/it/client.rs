//! The same calls by tonic's own client.

use std::time::Duration;

use jeton_proto::v1::IssueRequest;
use jeton_proto::v1::token_service_client::TokenServiceClient;
use tokio_stream::StreamExt as _;
use tonic::{Request, Response};

use super::block_on;
use super::client_view::{channel, received};
use super::probe::Probes;
use super::probe_calls::issue;

#[test]
fn client_receives_each_status_as_from_tonic() {
    block_on(async {
        let probes = Probes::start().await;
        let mut ours = TokenServiceClient::new(channel(probes.pair.ours).await);
        let mut tonic = TokenServiceClient::new(channel(probes.pair.tonic).await);
        let codes = (1..=17).map(|code| format!("code {code}"));
        let others = ["ok", "status without a message", "long 5000", "wait 20"];
        for subject in codes.chain(others.map(str::to_owned)) {
            let request = || {
                let mut request = Request::new(issue(&subject));
                request.set_timeout(Duration::from_secs(60));
                let metadata = request.metadata_mut();
                metadata.insert_bin(
                    "x-sent-bin",
                    tonic::metadata::MetadataValue::from_bytes(&[0, 255]),
                );
                request
            };
            let (from_ours, from_tonic) =
                tokio::join!(ours.issue(request()), tonic.issue(request()));
            assert_eq!(received(from_ours), received(from_tonic), "{subject}");
        }
        drop((ours, tonic));
        probes.stop().await;
    });
}

#[test]
fn client_streams_are_as_from_tonic() {
    block_on(async {
        let probes = Probes::start().await;
        let mut all = Vec::new();
        for address in [probes.pair.ours, probes.pair.tonic] {
            let mut client = TokenServiceClient::new(channel(address).await);
            let messages = ["a", "b", "fail", "c"].map(issue);
            let messages: Vec<IssueRequest> = messages.into();
            let stream = client.issue_stream(tokio_stream::iter(messages)).await;
            let mut stream = stream.unwrap().into_inner();
            let mut seen = Vec::new();
            while let Some(next) = stream.next().await {
                seen.push(received(next.map(Response::new)));
            }
            all.push(seen);
        }
        assert_eq!(all[0], all[1]);
        assert_eq!(all[0].len(), 3);
        probes.stop().await;
    });
}
