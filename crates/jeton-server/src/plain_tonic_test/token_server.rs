//! The token service behind both transports.

use std::sync::Arc;

use jeton_proto::v1::admin_service_server::AdminServiceServer;
use jeton_proto::v1::token_service_server::{self, TokenServiceServer};
use tonic_health::ServingStatus;

use super::servers::{CALLS, HEADER_BYTES, MESSAGE_BYTES, PlainTonic, builder};
use crate::grpc::{AdminApi, TokenApi};
use crate::limits::NAME_MESSAGE_BYTES;
use crate::permissions::Caller;
use crate::{Config, Server};

pub(super) const ISS: &str = "https://id.example";

/// A token server on free ports of loopback, with its data folder.
pub(super) struct TokenServer {
    pub(super) server: Server,
    _folder: tempfile::TempDir,
}

impl TokenServer {
    pub(super) fn start() -> TokenServer {
        let folder = tempfile::tempdir().unwrap();
        let config = format!(
            "data = {:?}\nlisten = '127.0.0.1:0'\nadmin_listen = '127.0.0.1:0'\nworkers = 1\ndrain_seconds = 0\n\
             [limits]\nmessage_bytes = {MESSAGE_BYTES}\nheader_bytes = {HEADER_BYTES}\nbatch_items = 3\n\
             calls_per_connection = {CALLS}\nclient_stall_timeout_seconds = 2\nworker_delay_milliseconds = 60000\n\
             [[issuer]]\niss = '{ISS}'\nprofiles = [\n\
             {{name = 'access', alg = 'ES256', lifetime_seconds = 900, audiences = ['api']}},\n\
             {{name = 'mac', alg = 'HS256', lifetime_seconds = 900, audiences = ['api']}}]\n",
            folder.path().join("data")
        );
        let config = Config::from_toml(&config).unwrap();
        TokenServer {
            server: Server::start(config).unwrap(),
            _folder: folder,
        }
    }

    /// Serves the same service, issuers and keys behind plain tonic.
    ///
    /// Both servers have the caller of trial mode. Its routes, which tonic does not have, are the difference.
    pub(super) async fn behind_tonic(&self) -> PlainTonic {
        let (service, caller) = (
            self.server.service.clone(),
            Arc::new(Caller::administrator()),
        );
        let tokens = TokenApi {
            service: service.clone(),
            caller: caller.clone(),
            credentials: None,
            stream: None,
        };
        let admin = AdminApi { service, caller };
        let (health, health_server) = tonic_health::server::health_reporter();
        for name in ["", token_service_server::SERVICE_NAME] {
            health
                .set_service_status(name, ServingStatus::Serving)
                .await;
        }
        let reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(jeton_proto::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
            .with_service_name("grpc.health.v1.Health")
            .with_service_name(token_service_server::SERVICE_NAME)
            .build_v1()
            .unwrap();
        let router = builder()
            .add_service(TokenServiceServer::new(tokens).max_decoding_message_size(MESSAGE_BYTES))
            .add_service(AdminServiceServer::new(admin).max_decoding_message_size(MESSAGE_BYTES))
            .add_service(health_server.max_decoding_message_size(NAME_MESSAGE_BYTES))
            .add_service(reflection.max_decoding_message_size(NAME_MESSAGE_BYTES));
        PlainTonic::start(router).await
    }
}
