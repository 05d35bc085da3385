//! The lab's driver for `rusty_paseto`: encryption in all four versions, and v4.public. The library
//! cannot be built with v4.public and another public purpose.
//!
//! Tokens are made with `GenericBuilder`, because `PasetoBuilder` adds an `nbf` that cannot be
//! removed. The parser borrows the token, so each token gets a new parser. The defaults run the
//! same checks, except issuer and audience, which have no default value.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jeton_driver_harness::key::Paserk;
use jeton_driver_harness::{
    Claims, ClaimsVisitor, Driver, DriverError, KeyForm, KeyHandling, KeySource, Map, Offer,
    Operation, Policy, Pool, PrepareRequest, Rejection, Signer, StandardPaseto, Verifier, Work,
    locked_version, serve, work,
};
use rusty_paseto::prelude::*;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

fn main() -> std::io::Result<()> {
    serve::<RustyPaseto>()
}

struct RustyPaseto;

const LOCAL: Offer = Offer {
    operations: &[
        Operation::Sign,
        Operation::Verify,
        Operation::Encrypt,
        Operation::Decrypt,
        Operation::RoundTrip,
        Operation::GenerateKey,
    ],
    key_handling: &[KeyHandling::Prepared, KeyHandling::ParsedPerCall],
    ..Offer::NOTHING
};

/// It reads the PASERK of these two, and of no key pair.
const LOCAL_WITH_PASERK: Offer = Offer {
    operations: &[
        Operation::Sign,
        Operation::Verify,
        Operation::Encrypt,
        Operation::Decrypt,
        Operation::RoundTrip,
        Operation::GenerateKey,
        Operation::LoadKey,
    ],
    key_text: &[KeyForm::Paserk],
    ..LOCAL
};

impl Driver for RustyPaseto {
    const LIBRARY: &'static str = "rusty_paseto";
    const OFFERS: &'static [Offer] = &[
        Offer {
            format: "v1.local",
            ..LOCAL
        },
        Offer {
            format: "v2.local",
            ..LOCAL_WITH_PASERK
        },
        Offer {
            format: "v3.local",
            ..LOCAL
        },
        Offer {
            format: "v4.local",
            ..LOCAL_WITH_PASERK
        },
        Offer {
            format: "v4.public",
            // It generates no key pairs.
            operations: &[Operation::Sign, Operation::Verify, Operation::RoundTrip],
            ..LOCAL
        },
    ];

    fn version() -> String {
        locked_version(include_str!("../Cargo.lock"), "rusty_paseto")
    }

    fn prepare(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
        match request.format.as_str() {
            "v1.local" => prepare::<V1Local>(&request),
            "v2.local" => prepare::<V2Local>(&request),
            "v3.local" => prepare::<V3Local>(&request),
            "v4.local" => prepare::<V4Local>(&request),
            _ => prepare::<V4Public>(&request),
        }
    }
}

/// One version and purpose.
trait Suite: 'static {
    type Sealing: Send + Sync;
    type Opening: Send + Sync;

    fn sealing(paserk: &str) -> Result<Self::Sealing, DriverError>;
    fn opening(paserk: &str) -> Result<Self::Opening, DriverError>;
    fn generate() -> Result<Self::Sealing, DriverError>;
    fn seal<C: LibraryClaims>(key: &Self::Sealing, claims: &C) -> Result<String, String>;
    fn open<C: DeserializeOwned>(
        key: &Self::Opening,
        token: &str,
        policy: &Policy,
        has_exp: bool,
    ) -> Result<C, Rejection>;
}

macro_rules! local {
    ($name:ident, $version:ty, $load:expr) => {
        struct $name;

        impl Suite for $name {
            type Sealing = PasetoSymmetricKey<$version, Local>;
            type Opening = PasetoSymmetricKey<$version, Local>;

            fn sealing(paserk: &str) -> Result<Self::Sealing, DriverError> {
                let load: fn(&str) -> Result<Self::Sealing, DriverError> = $load;
                load(paserk)
            }

            fn opening(paserk: &str) -> Result<Self::Opening, DriverError> {
                Self::sealing(paserk)
            }

            fn generate() -> Result<Self::Sealing, DriverError> {
                Ok(Key::<32>::try_new_random()
                    .map_err(DriverError::failed)?
                    .into())
            }

            fn seal<C: LibraryClaims>(key: &Self::Sealing, claims: &C) -> Result<String, String> {
                let mut builder = GenericBuilder::<$version, Local>::default();
                claims.write(&mut builder)?;
                builder.try_encrypt(key).map_err(message)
            }

            fn open<C: DeserializeOwned>(
                key: &Self::Opening,
                token: &str,
                policy: &Policy,
                has_exp: bool,
            ) -> Result<C, Rejection> {
                let mut parser = parser::<$version, Local>(policy, has_exp);
                parser.parse_into(token, key).map_err(message)
            }
        }
    };
}

local!(V1Local, V1, |text| Ok(raw::<32>(text, "k1.local.")?.into()));
local!(V2Local, V2, |text| FromPaserk::try_from_paserk_str(text)
    .map_err(DriverError::failed));
local!(V3Local, V3, |text| Ok(raw::<32>(text, "k3.local.")?.into()));
local!(V4Local, V4, |text| FromPaserk::try_from_paserk_str(text)
    .map_err(DriverError::failed));

struct V4Public;

impl Suite for V4Public {
    type Sealing = Key<64>;
    type Opening = Key<32>;

    fn sealing(paserk: &str) -> Result<Key<64>, DriverError> {
        raw(paserk, "k4.secret.")
    }

    fn opening(paserk: &str) -> Result<Key<32>, DriverError> {
        raw(paserk, "k4.public.")
    }

    fn generate() -> Result<Key<64>, DriverError> {
        Err(DriverError::unsupported(
            "rusty_paseto generates no key pairs",
        ))
    }

    fn seal<C: LibraryClaims>(key: &Key<64>, claims: &C) -> Result<String, String> {
        let mut builder = GenericBuilder::<V4, Public>::default();
        claims.write(&mut builder)?;
        let key = PasetoAsymmetricPrivateKey::<V4, Public>::from(key);
        builder.try_sign(&key).map_err(message)
    }

    fn open<C: DeserializeOwned>(
        key: &Key<32>,
        token: &str,
        policy: &Policy,
        has_exp: bool,
    ) -> Result<C, Rejection> {
        let key = PasetoAsymmetricPublicKey::<V4, Public>::from(key);
        let mut parser = parser::<V4, Public>(policy, has_exp);
        parser.parse_into(token, &key).map_err(message)
    }
}

/// A parser with the library's rules: `exp` is required, `nbf` is checked, issuer and audience must
/// match.
fn parser<'a, V, P>(policy: &'a Policy, has_exp: bool) -> PasetoParser<'a, V, P> {
    let mut parser = PasetoParser::<V, P>::default();
    if !has_exp {
        parser.set_no_expiration_danger_acknowledged();
    }
    if let Some(issuer) = &policy.issuer {
        parser = parser.expect_issuer(issuer);
    }
    if let Some(audience) = &policy.audience {
        parser = parser.expect_audience(audience);
    }
    parser
}

fn raw<const SIZE: usize>(paserk: &str, header: &str) -> Result<Key<SIZE>, DriverError> {
    let text = paserk.strip_prefix(header);
    let text = text.ok_or_else(|| DriverError::invalid("the PASERK has another kind"))?;
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(DriverError::invalid)?;
    Key::try_from(bytes.as_slice()).map_err(DriverError::failed)
}

fn prepare<S: Suite>(request: &PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
    match request.operation {
        Operation::GenerateKey => work::keys(S::generate),
        Operation::LoadKey => {
            let text = request.key_text()?.private()?;
            work::keys(move || S::sealing(&text))
        }
        _ => match &request.pool {
            Pool::StandardPaseto(pool) => with_claims::<S, _>(request, pool.clone()),
            Pool::Map(pool) => with_claims::<S, _>(request, pool.clone()),
            Pool::Standard(_) => Err(DriverError::invalid("JWT claims are not supported")),
        },
    }
}

fn with_claims<S: Suite, C: LibraryClaims>(
    request: &PrepareRequest,
    pool: Vec<C>,
) -> Result<Box<dyn Work>, DriverError> {
    let Paserk {
        local,
        secret,
        public,
    } = request.keys.paserk.clone().unwrap_or_default();
    let (seals, opens) = (local.clone().or(secret), local.or(public));
    let missing = || DriverError::invalid("a PASERK is missing");
    let token_signer = || {
        let text = seals.ok_or_else(missing)?;
        let key = KeySource::new(request.key_handling, move || S::sealing(&text))?;
        Ok::<_, DriverError>(TokenSigner::<S, C> { key, pool })
    };
    let checker = || {
        let text = opens.ok_or_else(missing)?;
        Ok::<_, DriverError>(Checker::<S, C> {
            key: KeySource::new(request.key_handling, move || S::opening(&text))?,
            policy: request.policy.clone(),
            has_exp: request.pool.has_exp(),
            claims: PhantomData,
        })
    };
    match request.operation {
        Operation::Sign | Operation::Encrypt => Ok(work::sign(token_signer()?)),
        Operation::RoundTrip => Ok(work::round_trip(token_signer()?, checker()?)),
        _ => work::verify(checker()?, request.tokens.clone()),
    }
}

struct TokenSigner<S: Suite, C> {
    key: KeySource<S::Sealing>,
    pool: Vec<C>,
}

impl<S: Suite, C: LibraryClaims> Signer for TokenSigner<S, C> {
    type Scratch = ();
    type Token = String;

    fn pool(&self) -> usize {
        self.pool.len()
    }

    fn sign(&self, (): &mut (), index: usize) -> Result<String, String> {
        self.key.with(|key| S::seal(key, &self.pool[index]))
    }
}

struct Checker<S: Suite, C> {
    key: KeySource<S::Opening>,
    policy: Policy,
    has_exp: bool,
    claims: PhantomData<fn() -> C>,
}

impl<S: Suite, C: LibraryClaims> Verifier for Checker<S, C> {
    type Scratch = ();

    fn verify<L: ClaimsVisitor>(
        &self,
        (): &mut (),
        token: &str,
        visit: L,
    ) -> Result<L::Output, Rejection> {
        self.key.with(|key| {
            let claims = S::open::<C>(key, token, &self.policy, self.has_exp)?;
            Ok(visit.visit(&claims))
        })
    }
}

/// Claims that the library's builder takes.
trait LibraryClaims: Claims + DeserializeOwned + Send + Sync + 'static {
    fn write<'a, V, P>(&'a self, builder: &mut GenericBuilder<'a, 'a, V, P>) -> Result<(), String>;
}

impl LibraryClaims for StandardPaseto {
    fn write<'a, V, P>(&'a self, builder: &mut GenericBuilder<'a, 'a, V, P>) -> Result<(), String> {
        builder
            .set_claim(IssuerClaim::from(self.iss.as_str()))
            .set_claim(SubjectClaim::from(self.sub.as_str()))
            .set_claim(AudienceClaim::from(self.aud.as_str()))
            .set_claim(ExpirationClaim::try_from(self.exp.as_str()).map_err(message)?)
            .set_claim(IssuedAtClaim::try_from(self.iat.as_str()).map_err(message)?)
            .set_claim(TokenIdentifierClaim::from(self.jti.as_str()))
            .set_claim(CustomClaim::try_from(("name", self.name.as_str())).map_err(message)?)
            .set_claim(CustomClaim::try_from(("admin", self.admin)).map_err(message)?);
        if let Some(begins) = &self.nbf {
            builder.set_claim(NotBeforeClaim::try_from(begins.as_str()).map_err(message)?);
        }
        Ok(())
    }
}

impl LibraryClaims for Map {
    fn write<'a, V, P>(&'a self, builder: &mut GenericBuilder<'a, 'a, V, P>) -> Result<(), String> {
        let boxed = |value: &serde_json::Value| -> Box<dyn erased_serde::Serialize> {
            Box::new(value.clone())
        };
        let claims = self
            .iter()
            .map(|(name, value)| (name.clone(), boxed(value)));
        builder.extend_claims(claims.collect());
        Ok(())
    }
}

fn message(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::RustyPaseto;
    use jeton_driver_harness::conformance::faults;

    #[test]
    fn driver_passes_conformance_checks() {
        assert_eq!(faults::<RustyPaseto>(), Vec::<String>::new());
    }
}
