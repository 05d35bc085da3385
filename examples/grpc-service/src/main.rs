//! A gRPC service whose calls need a token, and a client that signs its own tokens.

use std::error::Error;
use std::fs;
use std::time::Duration;

use jeton::error::Claim;
use jeton::key::{SigningKey, VerifyingKey};
use jeton::{
    Claims, Policy,
    jwt::{JwtIssuer, JwtVerifier},
};
use jeton_example_grpc_service::greeter::greeter_client::GreeterClient;
use jeton_example_grpc_service::greeter::greeter_server::{Greeter, GreeterServer};
use jeton_example_grpc_service::greeter::{GreetRequest, GreetResponse};
use jeton_tower::{RequireToken, SendToken};
use serde::de::IgnoredAny;
use tonic::service::LayerExt as _;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Server};
use tonic::{Request, Response, Status};

const ISSUER: &str = "https://id.example";
const AUDIENCE: &str = "greeter";
const TYPE: &str = "at+jwt";
const LIFETIME: Duration = Duration::from_secs(60);
const USAGE: &str = "usage: serve ADDRESS PUBLIC_JWK_FILE | call URL PRIVATE_JWK_FILE SUBJECT";

struct Service;

#[tonic::async_trait]
impl Greeter for Service {
    async fn greet(&self, call: Request<GreetRequest>) -> Result<Response<GreetResponse>, Status> {
        let token = jeton_tower::require::<IgnoredAny>(&call)?;
        let subject = token.subject().unwrap_or_default();
        let text = format!("{}, {subject}", call.get_ref().greeting);
        Ok(Response::new(GreetResponse { text }))
    }
}

/// Greets callers with a token. The health service needs none.
async fn serve(address: &str, key_file: &str) -> Result<(), Box<dyn Error>> {
    let key = VerifyingKey::from_jwk(&fs::read_to_string(key_file)?)?;
    let policy = Policy::new(ISSUER, AUDIENCE)
        .typ(TYPE)
        .require(Claim::Subject);
    let tokens = RequireToken::new(JwtVerifier::new(key, policy));
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<GreeterServer<Service>>().await;
    let incoming = TcpIncoming::bind(address.parse()?)?;
    println!("listening on {}", incoming.local_addr()?);
    Server::builder()
        .add_service(health_service)
        .add_service(tokens.named_layer(GreeterServer::new(Service)))
        .serve_with_incoming(incoming)
        .await?;
    Ok(())
}

/// Calls the service, with a new token for each call.
async fn call(url: &str, key_file: &str, subject: &str) -> Result<(), Box<dyn Error>> {
    let key = SigningKey::from_jwk(&fs::read_to_string(key_file)?)?;
    let tokens = JwtIssuer::builder(key)
        .typ(TYPE)
        .issuer(ISSUER)
        .audience(AUDIENCE)
        .lifetime(LIFETIME)
        .build()?;
    let claims = Claims::registered().subject(subject.to_owned());
    let channel = Channel::from_shared(url.to_owned())?.connect().await?;
    let send = SendToken::new(move || tokens.issue(&claims));
    let mut client = GreeterClient::with_interceptor(channel, send);
    let greeting = "Hello".to_owned();
    let response = client.greet(GreetRequest { greeting }).await?;
    println!("{}", response.get_ref().text);
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", address, key_file] => serve(address, key_file).await,
        ["call", url, key_file, subject] => call(url, key_file, subject).await,
        _ => Err(USAGE.into()),
    }
}
