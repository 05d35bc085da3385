//! The same calls by tonic's own client.

use std::net::SocketAddr;
use std::time::Duration;

use jeton_proto::v1::token_service_client::TokenServiceClient;
use jeton_proto::v1::{IssueRequest, KeysRequest, VerifyRequest};
use prost::Message;
use tokio_stream::StreamExt as _;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::{KeyAndValueRef, MetadataMap};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

use super::block_on;
use super::probe::Probes;
use super::probe_calls::issue;
use super::servers::{ISS, Pair, TokenServer};

/// What a client gets: a message or a status, and the metadata.
type Received = Result<(Vec<u8>, Vec<String>), (String, String, Vec<u8>, Vec<String>)>;

async fn channel(address: SocketAddr) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    endpoint.connect().await.unwrap()
}

fn metadata(map: &MetadataMap) -> Vec<String> {
    let shown = map.iter().map(|entry| match entry {
        KeyAndValueRef::Ascii(key, value) => format!("{key}: {value:?}"),
        KeyAndValueRef::Binary(key, value) => format!("{key}: {:?}", value.to_bytes().unwrap()),
    });
    let mut shown: Vec<String> = shown.filter(|entry| !entry.starts_with("date:")).collect();
    shown.sort();
    shown
}

fn received<M: Message>(result: Result<Response<M>, Status>) -> Received {
    match result {
        Ok(response) => {
            let metadata = metadata(response.metadata());
            Ok((response.get_ref().encode_to_vec(), metadata))
        }
        Err(status) => Err((
            format!("{:?}", status.code()),
            status.message().to_owned(),
            status.details().to_vec(),
            metadata(status.metadata()),
        )),
    }
}

/// Calls a method that tonic's generated client does not have.
async fn call(channel: Channel, path: &'static str) -> Received {
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await.unwrap();
    let codec: ProstCodec<KeysRequest, KeysRequest> = ProstCodec::default();
    let request = Request::new(KeysRequest::default());
    received(
        client
            .unary(request, PathAndQuery::from_static(path), codec)
            .await,
    )
}

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

#[test]
fn client_of_the_service_receives_the_same() {
    let tokens = TokenServer::start();
    let request = jeton_issuer::Request::new("access").subject("alice");
    let token = tokens
        .server
        .service
        .node
        .issue(ISS, &request)
        .unwrap()
        .token;
    let request = |token: &str| VerifyRequest {
        token: token.to_owned(),
        audience: "api".to_owned(),
        ..VerifyRequest::default()
    };
    block_on(async {
        let plain = tokens.behind_tonic().await;
        let pair = Pair {
            ours: tokens.server.data_address(),
            tonic: plain.address,
        };
        let mut all = Vec::new();
        for address in [pair.ours, pair.tonic] {
            let channel = channel(address).await;
            let mut client = TokenServiceClient::new(channel.clone());
            let mut seen = vec![
                received(client.keys(KeysRequest::default()).await),
                received(client.verify(request(&token)).await),
                received(client.verify(request("a.b.c")).await),
            ];
            let unknown = call(channel, "/jeton.v1.OtherService/Keys").await;
            // Of the two responses to an unknown service, a client sees the code. The text is its own.
            seen.push(unknown.map_err(|(code, ..)| (code, String::new(), Vec::new(), Vec::new())));
            all.push(seen);
        }
        for (ours, tonic) in all[0].iter().zip(&all[1]) {
            assert_eq!(ours, tonic);
        }
        assert!(all[0][..2].iter().all(Result::is_ok), "{:?}", all[0]);
    });
}
