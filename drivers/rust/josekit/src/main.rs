//! The lab's driver for `josekit`, on the system's OpenSSL.
//!
//! The library's validator checks times, issuer, and the audience if the claims have one. This
//! driver checks by hand that `aud` and `exp` are present, and the content encryption of a JWE.
//!
//! With its defaults, a token is decoded with its verifier or decrypter, as in the library's first
//! examples. The claims are then not checked.

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
                    Err(DriverError::invalid("PASETO claims are not supported"))
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
    // A symmetric key has no public half and is read once.
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

/// Returns the public JWK, or the symmetric one where there is no pair.
fn public_text(request: &PrepareRequest) -> Result<String, DriverError> {
    request.keys.public().or_else(|_| request.keys.private())
}

fn with_claims<C: LibraryClaims>(
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

/// A signing or encryption key, and its header.
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

/// A verification or decryption key.
enum Checking {
    Verifying(Box<dyn JwsVerifier>),
    /// With the only accepted content encryption.
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

impl<C: LibraryClaims> Signer for TokenSigner<C> {
    type Scratch = ();
    type Token = String;

    fn pool(&self) -> usize {
        self.pool.len()
    }

    fn sign(&self, (): &mut (), index: usize) -> Result<String, String> {
        self.key.with(|key| {
            let payload = self.pool[index].write().map_err(message)?;
            match key {
                SignerKey::Signing(signer, header) => {
                    jwt::encode_with_signer(&payload, header, signer.as_ref())
                }
                SignerKey::Sealing(encrypter, header) => {
                    jwt::encode_with_encrypter(&payload, header, encrypter.as_ref())
                }
            }
            .map_err(message)
        })
    }
}

struct Checker<C> {
    key: KeySource<Checking>,
    policy: Option<PolicyCheck>,
    claims: PhantomData<fn() -> C>,
}

impl<C: LibraryClaims> Verifier for Checker<C> {
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
                        .map_err(message)?
                        .0
                }
                Checking::Opening(decrypter, enc) => {
                    let opened = jwt::decode_with_decrypter(token, decrypter.as_ref());
                    let (payload, header) = opened.map_err(message)?;
                    if enc.is_some() && header.content_encryption() != enc.as_deref() {
                        return Err("the content encryption does not match".to_owned());
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
    audience_required: bool,
    expiry_required: bool,
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
            audience_required: request.policy.audience.is_some(),
            expiry_required: request.pool.has_exp(),
        }
    }

    fn check(&self, payload: &JwtPayload) -> Result<(), Rejection> {
        self.validator.validate(payload).map_err(message)?;
        if self.expiry_required && payload.expires_at().is_none() {
            return Err("exp is missing".to_owned());
        }
        if self.audience_required && payload.audience().is_none() {
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
            jws::deserialize_compact(token, verifier.as_ref()).map_err(message)?;
            Ok(visit.visit(&()))
        })
    }
}

/// Claims that convert to and from the library's payload.
trait LibraryClaims: Claims + Clone + Send + Sync + 'static {
    fn write(&self) -> Result<JwtPayload, JoseError>;
    fn show<L: ClaimsVisitor>(payload: &JwtPayload, visit: L) -> Result<L::Output, Rejection>;
}

impl LibraryClaims for Standard {
    fn write(&self) -> Result<JwtPayload, JoseError> {
        let mut payload = JwtPayload::new();
        payload.set_issuer(&self.iss);
        payload.set_subject(&self.sub);
        // Not set_audience: it turns a list of one into a string, which makes a shorter token.
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

impl LibraryClaims for Map {
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

fn message(error: JoseError) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::Josekit;
    use jeton_driver_harness::conformance::faults;

    #[test]
    fn driver_passes_conformance_checks() {
        assert_eq!(faults::<Josekit>(), Vec::<String>::new());
    }
}
