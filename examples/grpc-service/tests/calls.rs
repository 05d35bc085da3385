//! Runs the service as a process, and calls it with its own client and with other tokens.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use jeton::key::{SigAlg, SigningKey};
use jeton::{Claims, FixedClock, Timestamp, jwt::JwtIssuer};
use jeton_example_grpc_service::greeter::GreetRequest;
use jeton_example_grpc_service::greeter::greeter_client::GreeterClient;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

/// The running service, which ends with the test.
struct Running {
    process: Child,
    url: String,
    key: Arc<SigningKey>,
    folder: tempfile::TempDir,
}

impl Running {
    fn start() -> Self {
        let key = SigningKey::generate(SigAlg::ES256).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let public = folder.path().join("public.jwk");
        std::fs::write(&public, key.verifying_key().to_jwk()).unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_grpc-service"))
            .args(["serve", "127.0.0.1:0"])
            .arg(&public)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on ").unwrap();
        Self {
            process,
            url: format!("http://{address}"),
            key: Arc::new(key),
            folder,
        }
    }

    /// Runs the client of the example with this key.
    fn client(&self, key: &SigningKey) -> Output {
        let private: PathBuf = self.folder.path().join("private.jwk");
        std::fs::write(&private, &*key.to_jwk().unwrap()).unwrap();
        Command::new(env!("CARGO_BIN_EXE_grpc-service"))
            .args(["call", &self.url, private.to_str().unwrap(), "alice"])
            .output()
            .unwrap()
    }

    async fn channel(&self) -> Channel {
        let endpoint = Channel::from_shared(self.url.clone()).unwrap();
        endpoint.connect().await.unwrap()
    }

    /// Calls the service with these `authorization` values.
    async fn greet(&self, authorization: &[String]) -> Result<String, Status> {
        let mut client = GreeterClient::new(self.channel().await);
        let mut request = Request::new(GreetRequest {
            greeting: "Good morning".to_owned(),
        });
        for one in authorization {
            let value = one.parse().unwrap();
            request.metadata_mut().append("authorization", value);
        }
        Ok(client.greet(request).await?.into_inner().text)
    }

    /// The status code for a token.
    async fn code(&self, token: &str) -> Code {
        let found = self.greet(&[format!("Bearer {token}")]).await;
        found.map_or_else(|status| status.code(), |_| Code::Ok)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn claims() -> Claims<'static, ()> {
    Claims::registered()
        .issuer("https://id.example")
        .audience("greeter")
        .subject("alice")
        .expires_in(Duration::from_secs(60))
}

fn issuer(key: &Arc<SigningKey>) -> JwtIssuer {
    let builder = JwtIssuer::builder(Arc::clone(key)).typ("at+jwt");
    builder.build().unwrap()
}

fn token(key: &Arc<SigningKey>, claims: &Claims<'_, ()>) -> String {
    issuer(key).issue(claims).unwrap()
}

#[test]
fn client_with_the_key_is_greeted_and_another_is_not() {
    let service = Running::start();
    let output = service.client(&service.key);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "Hello, alice\n");
    assert!(output.status.success());
    let other_key = SigningKey::generate(SigAlg::ES256).unwrap();
    let output = service.client(&other_key);
    assert!(!output.status.success());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("Unauthenticated"), "{stderr}");
}

#[tokio::test]
async fn token_of_the_issuer_is_accepted() {
    let service = Running::start();
    let token = format!("Bearer {}", token(&service.key, &claims()));
    let text = service.greet(&[token]).await.unwrap();
    assert_eq!(text, "Good morning, alice");
}

#[tokio::test]
async fn call_without_a_token_is_unauthenticated() {
    let service = Running::start();
    let status = service.greet(&[]).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
    assert_eq!(status.message(), "a bearer token is required");
    let valid = format!("Bearer {}", token(&service.key, &claims()));
    let status = service.greet(&[valid.clone(), valid]).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn expired_token_is_unauthenticated() {
    let service = Running::start();
    let past = FixedClock(Timestamp::from_unix_seconds(1_700_000_000).unwrap());
    let expired = issuer(&service.key)
        .issue_with_clock(&claims(), &past)
        .unwrap();
    assert_eq!(service.code(&expired).await, Code::Unauthenticated);
}

#[tokio::test]
async fn token_for_another_use_is_unauthenticated() {
    let service = Running::start();
    let key = &service.key;
    let without_subject = Claims::registered()
        .issuer("https://id.example")
        .audience("greeter")
        .expires_in(Duration::from_secs(60));
    for (what, token) in [
        ("audience", token(key, &claims().audience("billing"))),
        ("issuer", token(key, &claims().issuer("https://id.other"))),
        ("subject", token(key, &without_subject)),
        ("type", key.issue(&claims()).unwrap()),
    ] {
        assert_eq!(service.code(&token).await, Code::Unauthenticated, "{what}");
    }
}

#[tokio::test]
async fn health_service_needs_no_token() {
    let service = Running::start();
    let mut client = HealthClient::new(service.channel().await);
    let request = HealthCheckRequest {
        service: "greeter.v1.Greeter".to_owned(),
    };
    assert_eq!(client.check(request).await.unwrap().into_inner().status, 1);
}
