//! `jwt.services.JwtService`, as the gRPC report's loaders call it.

use std::collections::BTreeSet;

use jeton_proto::report::GenerateJwtRequest;
use jeton_proto::report::jwt_service_client::JwtServiceClient;
use tonic::{Code, Status};

use crate::world::{ISS, ISSUER, World};

const ON: &str = "
[generate_jwt]
issuer = 'https://id.example/tenant'
hs256 = 'mac'
es256 = 'access'
";

fn generate(world: &World, algorithm: &str) -> Result<(String, String), Status> {
    let mut client = JwtServiceClient::new(world.channel(world.address()));
    let request = GenerateJwtRequest {
        algorithm: algorithm.to_owned(),
    };
    let answer = world
        .runtime
        .block_on(client.generate_jwt(request))?
        .into_inner();
    Ok((answer.jwt, answer.sub))
}

#[test]
fn each_call_signs_for_the_next_address() {
    let world = World::with(&format!("{ON}{ISSUER}"));
    let mut subjects = BTreeSet::new();
    for (algorithm, calls) in [("HS256", 20), ("ES256", 20)] {
        for _ in 0..calls {
            let (jwt, sub) = generate(&world, algorithm).unwrap();
            assert_eq!(sub.len(), 18);
            let verified = world.verify(&jwt).unwrap();
            assert_eq!(verified.subject, sub);
            assert!(verified.claims_json.contains(ISS));
            subjects.insert(sub);
        }
    }
    assert_eq!(subjects.len(), 40);
}

#[test]
fn an_unknown_algorithm_is_an_invalid_argument() {
    let world = World::with(&format!("{ON}{ISSUER}"));
    for algorithm in ["", "none", "RS256", "hs256"] {
        let status = generate(&world, algorithm).unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains("`algorithm`"), "{status:?}");
    }
    assert!(generate(&world, "HS256").is_ok());
}

#[test]
fn it_is_served_only_if_it_is_configured() {
    let world = World::plain();
    assert_eq!(
        generate(&world, "HS256").unwrap_err().code(),
        Code::Unimplemented
    );
}
