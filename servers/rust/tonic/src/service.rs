//! The service's only method: signs and verifies a token.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use tonic::{Request, Response, Status};

use crate::keys::{Claims, Keys};
use crate::report::jwt_service_server::JwtService;
use crate::report::{GenerateJwtRequest, GenerateJwtResponse};

const ADDRESSES: usize = 1000;
const LIFETIME_SECONDS: u64 = 7200;

pub(crate) struct Service {
    keys: Keys,
    addresses: Vec<String>,
    next: AtomicUsize,
}

impl Service {
    pub(crate) fn new(keys: Keys) -> Self {
        Self {
            keys,
            addresses: (0..ADDRESSES)
                .map(|i| format!("user{i:04}@mail.test"))
                .collect(),
            next: AtomicUsize::new(0),
        }
    }
}

#[tonic::async_trait]
impl JwtService for Service {
    /// Signs a token for the next address, verifies it, and returns both.
    async fn generate_jwt(
        &self,
        request: Request<GenerateJwtRequest>,
    ) -> Result<Response<GenerateJwtResponse>, Status> {
        let pair = (self.keys.of(&request.get_ref().algorithm))
            .ok_or_else(|| Status::invalid_argument("algorithm must be HS256 or ES256"))?;
        let sub = &self.addresses[self.next.fetch_add(1, Ordering::Relaxed) % ADDRESSES];
        let iat = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_err(|_| Status::internal("the clock is before 1970"))?
            .as_secs();
        let claims = Claims {
            sub: sub.clone(),
            iat,
            exp: iat + LIFETIME_SECONDS,
        };
        let jwt =
            (pair.sign(&claims)).map_err(|_| Status::internal("the token could not be signed"))?;
        match pair.verify(&jwt) {
            Ok(verified) if verified.sub == *sub => Ok(Response::new(GenerateJwtResponse {
                jwt,
                sub: claims.sub,
            })),
            _ => Err(Status::internal("the token could not be verified")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use tonic::Code;

    use super::*;
    use crate::arguments::Arguments;

    /// The private key of this test only.
    const PRIVATE: &str = include_str!("../../../../crates/jeton-cli/tests/keys/es256.pem");
    const PUBLIC: &str = include_str!("../../../../crates/jeton-cli/tests/keys/es256.pub.pem");

    fn service(secret: &str) -> Result<Service, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &str| -> PathBuf {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            path
        };
        let arguments = Arguments {
            listen: "127.0.0.1:0".parse().unwrap(),
            hs256: file("hs256", secret),
            es256: file("es256", PRIVATE),
            es256_public: file("es256-public", PUBLIC),
            cores: 1,
        };
        Keys::load(&arguments).map(Service::new)
    }

    fn call(service: &Service, algorithm: &str) -> Result<GenerateJwtResponse, Status> {
        let request = Request::new(GenerateJwtRequest {
            algorithm: algorithm.to_owned(),
        });
        let runtime = crate::runtime(1).unwrap();
        runtime
            .block_on(service.generate_jwt(request))
            .map(Response::into_inner)
    }

    #[test]
    fn token_verifies_with_given_key_and_lives_two_hours() {
        let service = service("thirty-two bytes, all of a secret").unwrap();
        for algorithm in ["HS256", "ES256"] {
            let answer = call(&service, algorithm).unwrap();
            let claims = (service.keys.of(algorithm).unwrap())
                .verify(&answer.jwt)
                .unwrap();
            assert_eq!(
                (claims.sub.as_str(), claims.sub.len()),
                (answer.sub.as_str(), 18)
            );
            assert_eq!(claims.exp - claims.iat, LIFETIME_SECONDS);
            let header = jsonwebtoken::decode_header(&answer.jwt).unwrap();
            let kid = (algorithm == "ES256").then(|| "report".to_owned());
            assert_eq!(header.kid, kid);
        }
    }

    #[test]
    fn calls_concurrent_get_their_own_answers() {
        let service = service("thirty-two bytes, all of a secret").unwrap();
        let met: BTreeSet<String> = (0..ADDRESSES)
            .map(|_| call(&service, "HS256").unwrap().sub)
            .collect();
        assert_eq!(met.len(), ADDRESSES);
    }

    #[test]
    fn call_unknown_algorithm_is_an_error() {
        let service = service("thirty-two bytes, all of a secret").unwrap();
        for algorithm in ["", "none", "HS512", "hs256"] {
            let said = call(&service, algorithm).unwrap_err();
            assert_eq!(said.code(), Code::InvalidArgument, "{algorithm}");
        }
        call(&service, "HS256").unwrap();
    }

    #[test]
    fn keys_short_secret_is_rejected() {
        assert!(service("short").is_err_and(|why| why.contains("HS256 requires at least 32")));
    }
}
