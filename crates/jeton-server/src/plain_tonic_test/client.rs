//! The same calls by tonic's own client.

use jeton_proto::v1::token_service_client::TokenServiceClient;
use jeton_proto::v1::{KeysRequest, VerifyRequest};
use tonic::Request;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic_prost::ProstCodec;

use super::block_on;
use super::client_view::{Received, channel, received};
use super::servers::Pair;
use super::token_server::{ISS, TokenServer};

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
