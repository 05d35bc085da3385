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
    Claims, Contract, Driver, Held, KeyForm, KeyHandling, Look, Map, Offer, Order, Pool, Practice,
    Refusal, Rejection, Signer, Standard, Verifier, Work, locked_version, serve, work,
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
    contracts: &[
        Contract::Sign,
        Contract::Verify,
        Contract::VerifySignature,
        Contract::RoundTrip,
        Contract::GenerateKey,
        Contract::LoadKey,
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
    contracts: &[
        Contract::Encrypt,
        Contract::Decrypt,
        Contract::RoundTrip,
        Contract::GenerateKey,
        Contract::LoadKey,
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

    fn prepare(order: Order) -> Result<Box<dyn Work>, Refusal> {
        match order.contract {
            Contract::GenerateKey => generate(&order),
            Contract::LoadKey => load(&order),
            Contract::VerifySignature => {
                let alg = Signature::named(order.alg()?)?;
                let text = public_text(&order)?;
                let verifier = SignatureVerifier(Held::new(order.key_handling, move || {
                    alg.verifier(&text).map_err(Refusal::failed)
                })?);
                work::verify(verifier, order.tokens)
            }
            _ => match &order.pool {
                Pool::Standard(pool) => with_claims(&order, pool.clone()),
                Pool::Map(pool) => with_claims(&order, pool.clone()),
                Pool::StandardPaseto(_) => Err(Refusal::invalid("these are the claims of PASETO")),
            },
        }
    }
}

fn generate(order: &Order) -> Result<Box<dyn Work>, Refusal> {
    if order.format == "jwe" {
        let (alg, enc) = (Management::named(order.alg()?)?, order.enc()?.to_owned());
        return work::keys(move || alg.generate(&enc).map_err(Refusal::failed));
    }
    let alg = Signature::named(order.alg()?)?;
    work::keys(move || alg.generate().map_err(Refusal::failed))
}

fn load(order: &Order) -> Result<Box<dyn Work>, Refusal> {
    let text = order.key_text()?.clone();
    let private = text.private()?;
    // A secret has no public half, and is read once.
    let public = text.public.clone();
    if order.format == "jwe" {
        let alg = Management::named(order.alg()?)?;
        return match (text.form, public) {
            (_, None) => work::keys(move || alg.decrypter(&private).map_err(Refusal::failed)),
            (KeyForm::Pem, Some(public)) => work::keys(move || {
                let private = alg.decrypter_from_pem(&private).map_err(Refusal::failed)?;
                let public = alg.encrypter_from_pem(&public).map_err(Refusal::failed)?;
                Ok((private, public))
            }),
            (_, Some(public)) => work::keys(move || {
                let private = alg.decrypter(&private).map_err(Refusal::failed)?;
                let public = alg.encrypter(&public).map_err(Refusal::failed)?;
                Ok((private, public))
            }),
        };
    }
    let alg = Signature::named(order.alg()?)?;
    match (text.form, public) {
        (_, None) => work::keys(move || alg.signer(&private).map_err(Refusal::failed)),
        (KeyForm::Pem, Some(public)) => work::keys(move || {
            let private = alg.signer_from_pem(&private).map_err(Refusal::failed)?;
            let public = alg.verifier_from_pem(&public).map_err(Refusal::failed)?;
            Ok((private, public))
        }),
        (_, Some(public)) => work::keys(move || {
            let private = alg.signer(&private).map_err(Refusal::failed)?;
            let public = alg.verifier(&public).map_err(Refusal::failed)?;
            Ok((private, public))
        }),
    }
}

/// The public JWK, or the secret one where there is no pair.
fn public_text(order: &Order) -> Result<String, Refusal> {
    order.keys.public().or_else(|_| order.keys.private())
}

fn with_claims<C: Written>(order: &Order, pool: Vec<C>) -> Result<Box<dyn Work>, Refusal> {
    let minter = || {
        Ok::<_, Refusal>(Minter {
            key: minting_key(order)?,
            pool,
        })
    };
    let checker = || {
        Ok::<_, Refusal>(Checker::<C> {
            key: checking_key(order)?,
            policy: (order.practice == Practice::Documented).then(|| PolicyCheck::new(order)),
            claims: PhantomData,
        })
    };
    match order.contract {
        Contract::Sign | Contract::Encrypt => Ok(work::sign(minter()?)),
        Contract::RoundTrip => Ok(work::round_trip(minter()?, checker()?)),
        _ => work::verify(checker()?, order.tokens.clone()),
    }
}

/// What makes a token: a key and the header that goes with it.
enum Minting {
    Signing(Box<dyn JwsSigner>, Box<JwsHeader>),
    Sealing(Box<dyn JweEncrypter>, Box<JweHeader>),
}

fn minting_key(order: &Order) -> Result<Held<Minting>, Refusal> {
    if order.format == "jwe" {
        let (alg, text) = (Management::named(order.alg()?)?, public_text(order)?);
        let mut header = JweHeader::new();
        header.set_token_type("JWT");
        header.set_content_encryption(order.enc()?);
        return Held::new(order.key_handling, move || {
            let key = alg.encrypter(&text).map_err(Refusal::failed)?;
            Ok(Minting::Sealing(key, Box::new(header.clone())))
        });
    }
    let (alg, text) = (Signature::named(order.alg()?)?, order.keys.private()?);
    let mut header = JwsHeader::new();
    header.set_token_type("JWT");
    Held::new(order.key_handling, move || {
        let key = alg.signer(&text).map_err(Refusal::failed)?;
        Ok(Minting::Signing(key, Box::new(header.clone())))
    })
}

/// What opens a token.
enum Checking {
    Verifying(Box<dyn JwsVerifier>),
    /// With the one content encryption that is taken.
    Opening(Box<dyn JweDecrypter>, Option<String>),
}

fn checking_key(order: &Order) -> Result<Held<Checking>, Refusal> {
    if order.format == "jwe" {
        let (alg, text) = (Management::named(order.alg()?)?, order.keys.private()?);
        let enc = match order.practice {
            Practice::Documented => Some(order.enc()?.to_owned()),
            Practice::Defaults => None,
        };
        return Held::new(order.key_handling, move || {
            let key = alg.decrypter(&text).map_err(Refusal::failed)?;
            Ok(Checking::Opening(key, enc.clone()))
        });
    }
    let (alg, text) = (Signature::named(order.alg()?)?, public_text(order)?);
    Held::new(order.key_handling, move || {
        alg.verifier(&text)
            .map(Checking::Verifying)
            .map_err(Refusal::failed)
    })
}

struct Minter<C> {
    key: Held<Minting>,
    pool: Vec<C>,
}

impl<C: Written> Signer for Minter<C> {
    type Scratch = ();
    type Token = String;

    fn pool(&self) -> usize {
        self.pool.len()
    }

    fn sign(&self, (): &mut (), index: usize) -> Result<String, String> {
        self.key.with(|key| {
            let payload = self.pool[index].write().map_err(said)?;
            match key {
                Minting::Signing(signer, header) => {
                    jwt::encode_with_signer(&payload, header, signer.as_ref())
                }
                Minting::Sealing(encrypter, header) => {
                    jwt::encode_with_encrypter(&payload, header, encrypter.as_ref())
                }
            }
            .map_err(said)
        })
    }
}

struct Checker<C> {
    key: Held<Checking>,
    policy: Option<PolicyCheck>,
    claims: PhantomData<fn() -> C>,
}

impl<C: Written> Verifier for Checker<C> {
    type Scratch = ();

    fn verify<L: Look>(&self, (): &mut (), token: &str, look: L) -> Result<L::Seen, Rejection> {
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
            C::show(&payload, look)
        })
    }
}

struct PolicyCheck {
    validator: JwtPayloadValidator,
    audience_demanded: bool,
    expiry_demanded: bool,
}

impl PolicyCheck {
    fn new(order: &Order) -> Self {
        let mut validator = JwtPayloadValidator::new();
        if let Some(issuer) = &order.policy.issuer {
            validator.set_issuer(issuer);
        }
        if let Some(audience) = &order.policy.audience {
            validator.set_audience(audience);
        }
        Self {
            validator,
            audience_demanded: order.policy.audience.is_some(),
            expiry_demanded: order.pool.has_exp(),
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

struct SignatureVerifier(Held<Box<dyn JwsVerifier>>);

impl Verifier for SignatureVerifier {
    type Scratch = ();

    fn verify<L: Look>(&self, (): &mut (), token: &str, look: L) -> Result<L::Seen, Rejection> {
        self.0.with(|verifier| {
            jws::deserialize_compact(token, verifier.as_ref()).map_err(said)?;
            Ok(look.look(&()))
        })
    }
}

/// Claims that go into the library's payload and come out of it.
trait Written: Claims + Clone + Send + Sync + 'static {
    fn write(&self) -> Result<JwtPayload, JoseError>;
    fn show<L: Look>(payload: &JwtPayload, look: L) -> Result<L::Seen, Rejection>;
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

    fn show<L: Look>(payload: &JwtPayload, look: L) -> Result<L::Seen, Rejection> {
        let text = |text: Option<&str>| text.map(str::to_owned).ok_or("a claim is missing");
        let audience = payload.audience().ok_or("aud is missing")?;
        Ok(look.look(&Standard {
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

    fn show<L: Look>(payload: &JwtPayload, look: L) -> Result<L::Seen, Rejection> {
        Ok(look.look(payload.claims_set()))
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
