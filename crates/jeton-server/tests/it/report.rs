//! `jwt.services.JwtService`, as called by the load generators of the gRPC benchmark.

use std::collections::BTreeSet;

use jeton_proto::report::GenerateJwtRequest;
use jeton_proto::report::jwt_service_client::JwtServiceClient;
use tonic::{Code, Status};

use crate::harness::{ISS, ISSUER, TestServer};

const ON: &str = "
[generate_jwt]
issuer = 'https://id.example/tenant'
hs256 = 'mac'
es256 = 'access'
";

fn generate(fixture: &TestServer, algorithm: &str) -> Result<(String, String), Status> {
    let mut client = JwtServiceClient::new(fixture.channel(fixture.address()));
    let request = GenerateJwtRequest {
        algorithm: algorithm.to_owned(),
    };
    let answer = fixture
        .runtime
        .block_on(client.generate_jwt(request))?
        .into_inner();
    Ok((answer.jwt, answer.sub))
}

#[test]
fn generate_jwt_uses_the_next_address() {
    let fixture = TestServer::with(&format!("{ON}{ISSUER}"));
    let mut subjects = BTreeSet::new();
    for (algorithm, calls) in [("HS256", 20), ("ES256", 20)] {
        for _ in 0..calls {
            let (jwt, sub) = generate(&fixture, algorithm).unwrap();
            assert_eq!(sub.len(), 18);
            let verified = fixture.verify(&jwt).unwrap();
            assert_eq!(verified.subject, sub);
            assert!(verified.claims_json.contains(ISS));
            subjects.insert(sub);
        }
    }
    assert_eq!(subjects.len(), 40);
}

#[test]
fn generate_jwt_unknown_algorithm_is_invalid() {
    let fixture = TestServer::with(&format!("{ON}{ISSUER}"));
    for algorithm in ["", "none", "RS256", "hs256"] {
        let status = generate(&fixture, algorithm).unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains("`algorithm`"), "{status:?}");
    }
    assert!(generate(&fixture, "HS256").is_ok());
}

#[test]
fn generate_jwt_is_served_only_if_configured() {
    let fixture = TestServer::plain();
    assert_eq!(
        generate(&fixture, "HS256").unwrap_err().code(),
        Code::Unimplemented
    );
}
