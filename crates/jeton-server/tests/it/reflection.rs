//! A client that uses reflection only, like grpcurl.
//!
//! It lists the services, fetches their descriptors, and builds its messages from them.

use std::collections::BTreeSet;

use bytes::{Buf as _, BufMut as _};
use http::uri::PathAndQuery;
use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, MethodDescriptor};
use tokio_stream::StreamExt as _;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_reflection::pb::v1::{ServerReflectionRequest, ServerReflectionResponse};

use crate::harness::TestServer;

async fn ask(channel: &Channel, request: MessageRequest) -> MessageResponse {
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(request),
    };
    let mut client = ServerReflectionClient::new(channel.clone());
    let stream = tokio_stream::iter([request]);
    let mut answers = client
        .server_reflection_info(stream)
        .await
        .unwrap()
        .into_inner();
    let answer: ServerReflectionResponse = answers.next().await.unwrap().unwrap();
    answer.message_response.unwrap()
}

async fn services(channel: &Channel) -> Vec<String> {
    let listed = ask(channel, MessageRequest::ListServices(String::new())).await;
    let MessageResponse::ListServicesResponse(listed) = listed else {
        panic!("no list");
    };
    let services: BTreeSet<String> = listed.service.into_iter().map(|one| one.name).collect();
    services.into_iter().collect()
}

async fn describe(channel: &Channel, service: &str) -> DescriptorPool {
    let request = MessageRequest::FileContainingSymbol(service.to_owned());
    let MessageResponse::FileDescriptorResponse(files) = ask(channel, request).await else {
        panic!("no descriptor of {service}");
    };
    let mut pool = DescriptorPool::new();
    for file in files.file_descriptor_proto {
        pool.decode_file_descriptor_proto(&file[..]).unwrap();
    }
    pool
}

async fn call(channel: &Channel, method: &MethodDescriptor, json: &str) -> DynamicMessage {
    let mut json = serde_json::Deserializer::from_str(json);
    let message = DynamicMessage::deserialize(method.input(), &mut json).unwrap();
    let service = method.parent_service().full_name().to_owned();
    let path = PathAndQuery::try_from(format!("/{service}/{}", method.name())).unwrap();
    let mut client = tonic::client::Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let codec = Dynamic(method.output());
    let answer = client.unary(Request::new(message), path, codec).await;
    answer.unwrap().into_inner()
}

#[test]
fn reflection_lists_the_services_of_the_listener() {
    let fixture = TestServer::plain();
    let channel = fixture.channel(fixture.server().admin_address());
    let services = fixture.runtime.block_on(services(&channel));
    assert_eq!(services, ["grpc.health.v1.Health", "jeton.v1.AdminService"]);
}

#[test]
fn client_with_reflection_only_can_issue_verify_and_revoke() {
    let fixture = TestServer::plain();
    let channel = fixture.channel(fixture.address());
    fixture.runtime.block_on(async {
        let services = services(&channel).await;
        assert_eq!(services, ["grpc.health.v1.Health", "jeton.v1.TokenService"]);

        let pool = describe(&channel, "jeton.v1.TokenService").await;
        let service = pool.get_service_by_name("jeton.v1.TokenService").unwrap();
        let method = |name: &str| {
            service
                .methods()
                .find(|method| method.name() == name)
                .unwrap()
        };

        let issued = call(
            &channel,
            &method("Issue"),
            r#"{"profile":"access","subject":"bob"}"#,
        )
        .await;
        let token = issued
            .get_field_by_name("token")
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned();
        let request = format!(r#"{{"audience":"api","token":"{token}"}}"#);
        let verified = call(&channel, &method("Verify"), &request).await;
        assert_eq!(
            verified.get_field_by_name("subject").unwrap().as_str(),
            Some("bob")
        );
        let request = format!(r#"{{"token":"{token}"}}"#);
        let revoked = call(&channel, &method("Revoke"), &request).await;
        assert!(
            revoked
                .get_field_by_name("revision")
                .unwrap()
                .as_u64()
                .unwrap()
                > 0
        );
        assert!(is_rejected_by(&channel, &token).await);
    });
}

async fn is_rejected_by(channel: &Channel, token: &str) -> bool {
    let mut client =
        jeton_proto::v1::token_service_client::TokenServiceClient::new(channel.clone());
    let request = jeton_proto::v1::VerifyRequest {
        audience: "api".to_owned(),
        token: token.to_owned(),
        ..Default::default()
    };
    client.verify(request).await.is_err()
}

/// A codec for messages that are described by a descriptor.
#[derive(Clone)]
struct Dynamic(MessageDescriptor);

impl Codec for Dynamic {
    type Encode = DynamicMessage;
    type Decode = DynamicMessage;
    type Encoder = Dynamic;
    type Decoder = Dynamic;

    fn encoder(&mut self) -> Dynamic {
        self.clone()
    }

    fn decoder(&mut self) -> Dynamic {
        self.clone()
    }
}

impl Encoder for Dynamic {
    type Item = DynamicMessage;
    type Error = Status;

    fn encode(
        &mut self,
        message: DynamicMessage,
        buffer: &mut EncodeBuf<'_>,
    ) -> Result<(), Status> {
        buffer.put_slice(&message.encode_to_vec());
        Ok(())
    }
}

impl Decoder for Dynamic {
    type Item = DynamicMessage;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<DynamicMessage>, Status> {
        let bytes = buffer.copy_to_bytes(buffer.remaining());
        Ok(Some(DynamicMessage::decode(self.0.clone(), bytes).unwrap()))
    }
}
