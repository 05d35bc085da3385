//! The lab's driver for `josekit`, on the OpenSSL of the system.
//!
//! Its validator checks the times, the issuer, and the audience of claims that have one: that there
//! is an audience, and an expiry, is checked by hand, and so is the content encryption of a JWE.
//!
//! By its defaults a token is decoded with its verifier or decrypter, as the library's first examples
//! have it, and nobody looks at the claims.

mod algorithm;

use algorithm::{Management, Signature};
use jeton_driver_harness::claims::Audience;
use jeton_driver_harness::{
    Claims, ClaimsVisitor, Driver, DriverError, KeyForm, KeyHandling, KeySource, Map, Offer,
    Operation, Pool, Practice, PrepareRequest, Rejection, Signer, Standard, Verifier, Work,
    locked_version, serve, work,
};
use josekit::JoseError;
use josekit::jwe::{JweDecrypter, JweEncrypter, JweHeader};
use josekit::jws::{self, JwsHeader, JwsSigner, JwsVerifier};
use josekit::jwt::{self, JwtPayload, JwtPayloadValidator};
use serde_json::Value;
use std::marker::PhantomData;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn main() -> std::io::Result<()> {
    serve::<Josekit>()
}

struct Josekit;

const JWT: Offer = Offer {
    format: "jwt",
    operations: &[
        Operation::Sign,
        Operation::Verify,
        Operation::VerifySignature,
        Operation::RoundTrip,
        Operation::GenerateKey,
        Operation::LoadKey,
    ],
    key_handling: &[KeyHandling::Prepared, KeyHandling::ParsedPerCall],
    ..Offer::NOTHING
};

const JWE: Offer = Offer {
    format: "jwe",
    encs: &[
        "A128CBC-HS256",
        "A192CBC-HS384",
        "A256CBC-HS512",
        "A128GCM",
        "A192GCM",
        "A256GCM",
    ],
    operations: &[
        Operation::Encrypt,
        Operation::Decrypt,
        Operation::RoundTrip,
        Operation::GenerateKey,
        Operation::LoadKey,
    ],
    ..JWT
};

impl Driver for Josekit {
    const LIBRARY: &'static str = "josekit";
    const OFFERS: &'static [Offer] = &[
        Offer {
            algs: &["HS256", "HS384", "HS512"],
            key_text: &[KeyForm::Jwk],
            ..JWT
        },
        Offer {
            algs: &[
                "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
                "ES256K", "EdDSA",
            ],
            key_text: &[KeyForm::Jwk, KeyForm::Pem],
            ..JWT
        },
        Offer {
            algs: &[
                "dir",
                "A128KW",
                "A192KW",
                "A256KW",
                "A128GCMKW",
                "A192GCMKW",
                "A256GCMKW",
            ],
            key_text: &[KeyForm::Jwk],
            ..JWE
        },
        Offer {
            algs: &[
                "RSA1_5",
                "RSA-OAEP",
                "RSA-OAEP-256",
                "RSA-OAEP-384",
                "RSA-OAEP-512",
                "ECDH-ES",
                "ECDH-ES+A128KW",
                "ECDH-ES+A192KW",
                "ECDH-ES+A256KW",
            ],
            key_text: &[KeyForm::Jwk, KeyForm::Pem],
            ..JWE
        },
    ];

    const BY_DRIVER: &'static [&'static str] = &[
        "jwt:exp",
        "jwe:exp",
        "jwt:audience-missing",
        "jwe:audience-missing",
        "jwe:jwe-enc-sibling",
    ];
    const PRACTICES: &'static [Practice] = &[Practice::Defaults, Practice::Documented];

    fn version() -> String {
        locked_version(include_str!("../Cargo.lock"), "josekit")
    }

    fn prepare(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
        match request.operation {
            Operation::GenerateKey => generate(&request),
            Operation::LoadKey => load(&request),
            Operation::VerifySignature => {
                let alg = Signature::named(request.alg()?)?;
                let text = public_text(&request)?;
                let verifier =
                    SignatureVerifier(KeySource::new(request.key_handling, move || {
                        alg.verifier(&text).map_err(DriverError::failed)
                    })?);
                work::verify(verifier, request.tokens)
            }
            _ => match &request.pool {
                Pool::Standard(pool) => with_claims(&request, pool.clone()),
                Pool::Map(pool) => with_claims(&request, pool.clone()),
                Pool::StandardPaseto(_) => {
                    Err(DriverError::invalid("these are the claims of PASETO"))
                }
            },
        }
    }
}

fn generate(request: &PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
    if request.format == "jwe" {
        let (alg, enc) = (
            Management::named(request.alg()?)?,
            request.enc()?.to_owned(),
        );
        return work::keys(move || alg.generate(&enc).map_err(DriverError::failed));
    }
    let alg = Signature::named(request.alg()?)?;
    work::keys(move || alg.generate().map_err(DriverError::failed))
}

fn load(request: &PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
    let text = request.key_text()?.clone();
    let private = text.private()?;
    // A secret has no public half, and is read once.
    let public = text.public.clone();
    if request.format == "jwe" {
        let alg = Management::named(request.alg()?)?;
        return match (text.form, public) {
            (_, None) => work::keys(move || alg.decrypter(&private).map_err(DriverError::failed)),
            (KeyForm::Pem, Some(public)) => work::keys(move || {
                let private = alg
                    .decrypter_from_pem(&private)
                    .map_err(DriverError::failed)?;
                let public = alg
                    .encrypter_from_pem(&public)
                    .map_err(DriverError::failed)?;
                Ok((private, public))
            }),
            (_, Some(public)) => work::keys(move || {
                let private = alg.decrypter(&private).map_err(DriverError::failed)?;
                let public = alg.encrypter(&public).map_err(DriverError::failed)?;
                Ok((private, public))
            }),
        };
    }
    let alg = Signature::named(request.alg()?)?;
    match (text.form, public) {
        (_, None) => work::keys(move || alg.signer(&private).map_err(DriverError::failed)),
        (KeyForm::Pem, Some(public)) => work::keys(move || {
            let private = alg.signer_from_pem(&private).map_err(DriverError::failed)?;
            let public = alg
                .verifier_from_pem(&public)
                .map_err(DriverError::failed)?;
            Ok((private, public))
        }),
        (_, Some(public)) => work::keys(move || {
            let private = alg.signer(&private).map_err(DriverError::failed)?;
            let public = alg.verifier(&public).map_err(DriverError::failed)?;
            Ok((private, public))
        }),
    }
}

/// The public JWK, or the secret one where there is no pair.
fn public_text(request: &PrepareRequest) -> Result<String, DriverError> {
    request.keys.public().or_else(|_| request.keys.private())
}

fn with_claims<C: Written>(
    request: &PrepareRequest,
    pool: Vec<C>,
) -> Result<Box<dyn Work>, DriverError> {
    let token_signer = || {
        Ok::<_, DriverError>(TokenSigner {
            key: signer_key(request)?,
            pool,
        })
    };
    let checker = || {
        Ok::<_, DriverError>(Checker::<C> {
            key: checking_key(request)?,
            policy: (request.practice == Practice::Documented).then(|| PolicyCheck::new(request)),
            claims: PhantomData,
        })
    };
    match request.operation {
        Operation::Sign | Operation::Encrypt => Ok(work::sign(token_signer()?)),
        Operation::RoundTrip => Ok(work::round_trip(token_signer()?, checker()?)),
        _ => work::verify(checker()?, request.tokens.clone()),
    }
}

/// What makes a token: a key and the header that goes with it.
enum SignerKey {
    Signing(Box<dyn JwsSigner>, Box<JwsHeader>),
    Sealing(Box<dyn JweEncrypter>, Box<JweHeader>),
}

fn signer_key(request: &PrepareRequest) -> Result<KeySource<SignerKey>, DriverError> {
    if request.format == "jwe" {
        let (alg, text) = (Management::named(request.alg()?)?, public_text(request)?);
        let mut header = JweHeader::new();
        header.set_token_type("JWT");
        header.set_content_encryption(request.enc()?);
        return KeySource::new(request.key_handling, move || {
            let key = alg.encrypter(&text).map_err(DriverError::failed)?;
            Ok(SignerKey::Sealing(key, Box::new(header.clone())))
        });
    }
    let (alg, text) = (Signature::named(request.alg()?)?, request.keys.private()?);
    let mut header = JwsHeader::new();
    header.set_token_type("JWT");
    KeySource::new(request.key_handling, move || {
        let key = alg.signer(&text).map_err(DriverError::failed)?;
        Ok(SignerKey::Signing(key, Box::new(header.clone())))
    })
}

/// What opens a token.
enum Checking {
    Verifying(Box<dyn JwsVerifier>),
    /// With the one content encryption that is taken.
    Opening(Box<dyn JweDecrypter>, Option<String>),
}

fn checking_key(request: &PrepareRequest) -> Result<KeySource<Checking>, DriverError> {
    if request.format == "jwe" {
        let (alg, text) = (Management::named(request.alg()?)?, request.keys.private()?);
        let enc = match request.practice {
            Practice::Documented => Some(request.enc()?.to_owned()),
            Practice::Defaults => None,
        };
        return KeySource::new(request.key_handling, move || {
            let key = alg.decrypter(&text).map_err(DriverError::failed)?;
            Ok(Checking::Opening(key, enc.clone()))
        });
    }
    let (alg, text) = (Signature::named(request.alg()?)?, public_text(request)?);
    KeySource::new(request.key_handling, move || {
        alg.verifier(&text)
            .map(Checking::Verifying)
            .map_err(DriverError::failed)
    })
}

struct TokenSigner<C> {
    key: KeySource<SignerKey>,
    pool: Vec<C>,
}

impl<C: Written> Signer for TokenSigner<C> {
    type Scratch = ();
    type Token = String;

    fn pool(&self) -> usize {
        self.pool.len()
    }

    fn sign(&self, (): &mut (), index: usize) -> Result<String, String> {
        self.key.with(|key| {
            let payload = self.pool[index].write().map_err(said)?;
            match key {
                SignerKey::Signing(signer, header) => {
                    jwt::encode_with_signer(&payload, header, signer.as_ref())
                }
                SignerKey::Sealing(encrypter, header) => {
                    jwt::encode_with_encrypter(&payload, header, encrypter.as_ref())
                }
            }
            .map_err(said)
        })
    }
}

struct Checker<C> {
    key: KeySource<Checking>,
    policy: Option<PolicyCheck>,
    claims: PhantomData<fn() -> C>,
}

impl<C: Written> Verifier for Checker<C> {
    type Scratch = ();

    fn verify<L: ClaimsVisitor>(
        &self,
        (): &mut (),
        token: &str,
        visit: L,
    ) -> Result<L::Output, Rejection> {
        self.key.with(|key| {
            let payload = match key {
                Checking::Verifying(verifier) => {
                    jwt::decode_with_verifier(token, verifier.as_ref())
                        .map_err(said)?
                        .0
                }
                Checking::Opening(decrypter, enc) => {
                    let opened = jwt::decode_with_decrypter(token, decrypter.as_ref());
                    let (payload, header) = opened.map_err(said)?;
                    if enc.is_some() && header.content_encryption() != enc.as_deref() {
                        return Err("the content encryption is another".to_owned());
                    }
                    payload
                }
            };
            if let Some(policy) = &self.policy {
                policy.check(&payload)?;
            }
            C::show(&payload, visit)
        })
    }
}

struct PolicyCheck {
    validator: JwtPayloadValidator,
    audience_demanded: bool,
    expiry_demanded: bool,
}

impl PolicyCheck {
    fn new(request: &PrepareRequest) -> Self {
        let mut validator = JwtPayloadValidator::new();
        if let Some(issuer) = &request.policy.issuer {
            validator.set_issuer(issuer);
        }
        if let Some(audience) = &request.policy.audience {
            validator.set_audience(audience);
        }
        Self {
            validator,
            audience_demanded: request.policy.audience.is_some(),
            expiry_demanded: request.pool.has_exp(),
        }
    }

    fn check(&self, payload: &JwtPayload) -> Result<(), Rejection> {
        self.validator.validate(payload).map_err(said)?;
        if self.expiry_demanded && payload.expires_at().is_none() {
            return Err("exp is missing".to_owned());
        }
        if self.audience_demanded && payload.audience().is_none() {
            return Err("aud is missing".to_owned());
        }
        Ok(())
    }
}

struct SignatureVerifier(KeySource<Box<dyn JwsVerifier>>);

impl Verifier for SignatureVerifier {
    type Scratch = ();

    fn verify<L: ClaimsVisitor>(
        &self,
        (): &mut (),
        token: &str,
        visit: L,
    ) -> Result<L::Output, Rejection> {
        self.0.with(|verifier| {
            jws::deserialize_compact(token, verifier.as_ref()).map_err(said)?;
            Ok(visit.visit(&()))
        })
    }
}

/// Claims that go into the library's payload and come out of it.
trait Written: Claims + Clone + Send + Sync + 'static {
    fn write(&self) -> Result<JwtPayload, JoseError>;
    fn show<L: ClaimsVisitor>(payload: &JwtPayload, visit: L) -> Result<L::Output, Rejection>;
}

impl Written for Standard {
    fn write(&self) -> Result<JwtPayload, JoseError> {
        let mut payload = JwtPayload::new();
        payload.set_issuer(&self.iss);
        payload.set_subject(&self.sub);
        // Not set_audience, which turns a list of one into a text and so makes a shorter token.
        let audience = self.aud.0.iter().map(|one| Value::from(one.as_str()));
        payload.set_claim("aud", Some(audience.collect()))?;
        payload.set_expires_at(&time(self.exp));
        if let Some(begins) = self.nbf {
            payload.set_not_before(&time(begins));
        }
        payload.set_issued_at(&time(self.iat));
        payload.set_jwt_id(&self.jti);
        payload.set_claim("name", Some(self.name.as_str().into()))?;
        payload.set_claim("admin", Some(self.admin.into()))?;
        Ok(payload)
    }

    fn show<L: ClaimsVisitor>(payload: &JwtPayload, visit: L) -> Result<L::Output, Rejection> {
        let text = |text: Option<&str>| text.map(str::to_owned).ok_or("a claim is missing");
        let audience = payload.audience().ok_or("aud is missing")?;
        Ok(visit.visit(&Standard {
            iss: text(payload.issuer())?,
            sub: text(payload.subject())?,
            aud: Audience(audience.into_iter().map(str::to_owned).collect()),
            exp: seconds(payload.expires_at()).ok_or("exp is missing")?,
            nbf: seconds(payload.not_before()),
            iat: seconds(payload.issued_at()).ok_or("iat is missing")?,
            jti: text(payload.jwt_id())?,
            name: text(payload.claim("name").and_then(Value::as_str))?,
            admin: payload
                .claim("admin")
                .and_then(Value::as_bool)
                .ok_or("admin is missing")?,
        }))
    }
}

impl Written for Map {
    fn write(&self) -> Result<JwtPayload, JoseError> {
        JwtPayload::from_map(self.clone())
    }

    fn show<L: ClaimsVisitor>(payload: &JwtPayload, visit: L) -> Result<L::Output, Rejection> {
        Ok(visit.visit(payload.claims_set()))
    }
}

fn time(seconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds.unsigned_abs())
}

fn seconds(time: Option<SystemTime>) -> Option<i64> {
    let since = time?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

fn said(error: JoseError) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::Josekit;
    use jeton_driver_harness::conformance::faults;

    #[test]
    fn does_what_it_offers_and_refuses_what_it_must() {
        assert_eq!(faults::<Josekit>(), Vec::<String>::new());
    }
}
