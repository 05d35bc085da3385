//! The lab's driver for `pasetors`: its versions 2, 3 and 4. It has no v3.local.
//!
//! Claims go through the library's `Claims` and `ClaimsValidationRules`. The library's rule for
//! `nbf` and `iat` requires both claims. The driver switches that rule off and compares `nbf` by
//! hand where it is present. The library's defaults have the rule on and reject every token without
//! `nbf`, so they are not attacked. Version 4 has functions that take claims. For the other
//! versions the driver writes and validates claims around the token, as those functions do.

use jeton_driver_harness::key::Paserk;
use jeton_driver_harness::{
    Claims as HarnessClaims, ClaimsVisitor, Driver, DriverError, KeyForm, KeyHandling, KeySource,
    Map, Offer, Operation, Pool, PrepareRequest, Rejection, Signer, StandardPaseto, Verifier, Work,
    locked_version, serve, work,
};
use pasetors::claims::{Claims, ClaimsValidationRules};
use pasetors::errors::Error;
use pasetors::keys::{
    AsymmetricKeyPair, AsymmetricPublicKey, AsymmetricSecretKey, Generate, SymmetricKey,
};
use pasetors::token::{TrustedToken, UntrustedToken};
use pasetors::version2::V2;
use pasetors::version3::V3;
use pasetors::version4::V4;
use pasetors::{local, public, version2, version3};
use serde_json::Value;
use std::marker::PhantomData;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

fn main() -> std::io::Result<()> {
    serve::<Pasetors>()
}

struct Pasetors;

const PUBLIC: Offer = Offer {
    operations: &[
        Operation::Sign,
        Operation::Verify,
        Operation::RoundTrip,
        Operation::GenerateKey,
        Operation::LoadKey,
    ],
    key_handling: &[KeyHandling::Prepared, KeyHandling::ParsedPerCall],
    key_text: &[KeyForm::Paserk],
    ..Offer::NOTHING
};

const LOCAL: Offer = Offer {
    operations: &[
        Operation::Sign,
        Operation::Verify,
        Operation::Encrypt,
        Operation::Decrypt,
        Operation::RoundTrip,
        Operation::GenerateKey,
        Operation::LoadKey,
    ],
    ..PUBLIC
};

impl Driver for Pasetors {
    const LIBRARY: &'static str = "pasetors";
    const OFFERS: &'static [Offer] = &[
        offer("v2.local", LOCAL),
        offer("v2.public", PUBLIC),
        offer("v3.public", PUBLIC),
        offer("v4.local", LOCAL),
        offer("v4.public", PUBLIC),
    ];

    const BY_DRIVER: &'static [&'static str] = &[
        "v2.local:nbf",
        "v2.public:nbf",
        "v3.public:nbf",
        "v4.local:nbf",
        "v4.public:nbf",
    ];

    fn version() -> String {
        locked_version(include_str!("../Cargo.lock"), "pasetors")
    }

    fn prepare(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
        match request.format.as_str() {
            "v2.local" => prepare::<V2Local>(&request),
            "v2.public" => prepare::<V2Public>(&request),
            "v3.public" => prepare::<V3Public>(&request),
            "v4.local" => prepare::<V4Local>(&request),
            _ => prepare::<V4Public>(&request),
        }
    }
}

const fn offer(format: &'static str, like: Offer) -> Offer {
    Offer { format, ..like }
}

/// One version and purpose.
trait Suite: 'static {
    /// The key that makes tokens, read from its PASERK.
    type Sealing: for<'a> TryFrom<&'a str, Error = Error> + Send + Sync;
    /// The key that verifies or decrypts them.
    type Opening: for<'a> TryFrom<&'a str, Error = Error> + Send + Sync;
    /// What is generated: a symmetric key, or both halves of a pair.
    type GeneratedKey;

    fn generate() -> Result<Self::GeneratedKey, Error>;
    fn seal(key: &Self::Sealing, claims: &Claims) -> Result<String, Error>;
    fn open<R>(
        key: &Self::Opening,
        token: &str,
        rules: &ClaimsValidationRules,
        read: impl FnOnce(&Claims) -> R,
    ) -> Result<R, Error>;
}

macro_rules! suite {
    (
        $name:ident: $sealing:ty, $opening:ty, $made:ty;
        $seal:expr;
        $open:expr;
    ) => {
        struct $name;

        impl Suite for $name {
            type Sealing = $sealing;
            type Opening = $opening;
            type GeneratedKey = $made;

            fn generate() -> Result<$made, Error> {
                <$made>::generate()
            }

            fn seal(key: &$sealing, claims: &Claims) -> Result<String, Error> {
                let seal: fn(&$sealing, &Claims) -> Result<String, Error> = $seal;
                seal(key, claims)
            }

            fn open<R>(
                key: &$opening,
                token: &str,
                rules: &ClaimsValidationRules,
                read: impl FnOnce(&Claims) -> R,
            ) -> Result<R, Error> {
                let open: fn(&$opening, &str, &ClaimsValidationRules) -> Opened = $open;
                open(key, token, rules).and_then(|opened| match opened {
                    Ok(trusted) => trusted
                        .payload_claims()
                        .map(read)
                        .ok_or(Error::InvalidClaim),
                    Err(claims) => Ok(read(&claims)),
                })
            }
        }
    };
}

/// Claims that the library validated, inside or after opening the token.
type Opened = Result<Result<TrustedToken, Claims>, Error>;

suite! {
    V2Local: SymmetricKey<V2>, SymmetricKey<V2>, SymmetricKey<V2>;
    |key, claims| version2::LocalToken::encrypt(key, claims.to_string()?.as_bytes(), None);
    |key, token, rules| {
        let token = UntrustedToken::try_from(token)?;
        validated(&version2::LocalToken::decrypt(key, &token, None)?, rules)
    };
}

suite! {
    V2Public: AsymmetricSecretKey<V2>, AsymmetricPublicKey<V2>, AsymmetricKeyPair<V2>;
    |key, claims| version2::PublicToken::sign(key, claims.to_string()?.as_bytes(), None);
    |key, token, rules| {
        let token = UntrustedToken::try_from(token)?;
        validated(&version2::PublicToken::verify(key, &token, None)?, rules)
    };
}

suite! {
    V3Public: AsymmetricSecretKey<V3>, AsymmetricPublicKey<V3>, AsymmetricKeyPair<V3>;
    |key, claims| version3::PublicToken::sign(key, claims.to_string()?.as_bytes(), None, None);
    |key, token, rules| {
        let token = UntrustedToken::try_from(token)?;
        validated(&version3::PublicToken::verify(key, &token, None, None)?, rules)
    };
}

suite! {
    V4Local: SymmetricKey<V4>, SymmetricKey<V4>, SymmetricKey<V4>;
    |key, claims| local::encrypt(key, claims, None, None);
    |key, token, rules| {
        let token = UntrustedToken::try_from(token)?;
        local::decrypt(key, &token, rules, None, None).map(Ok)
    };
}

suite! {
    V4Public: AsymmetricSecretKey<V4>, AsymmetricPublicKey<V4>, AsymmetricKeyPair<V4>;
    |key, claims| public::sign(key, claims, None, None);
    |key, token, rules| {
        let token = UntrustedToken::try_from(token)?;
        public::verify(key, &token, rules, None, None).map(Ok)
    };
}

fn validated(trusted: &TrustedToken, rules: &ClaimsValidationRules) -> Opened {
    let claims = Claims::from_string(trusted.payload())?;
    rules.validate_claims(&claims)?;
    Ok(Err(claims))
}

fn prepare<S: Suite>(request: &PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
    match request.operation {
        Operation::GenerateKey => work::keys(|| S::generate().map_err(DriverError::failed)),
        Operation::LoadKey => load::<S>(request),
        _ => match &request.pool {
            Pool::StandardPaseto(pool) => with_claims::<S, _>(request, pool.clone()),
            Pool::Map(pool) => with_claims::<S, _>(request, pool.clone()),
            Pool::Standard(_) => Err(DriverError::invalid("JWT claims are not supported")),
        },
    }
}

fn load<S: Suite>(request: &PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
    let text = request.key_text()?;
    let private = text.private()?;
    let Some(public) = text.public.clone() else {
        return work::keys(move || key::<S::Sealing>(&private));
    };
    work::keys(move || Ok((key::<S::Sealing>(&private)?, key::<S::Opening>(&public)?)))
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
        let key = KeySource::new(request.key_handling, move || key(&text))?;
        Ok::<_, DriverError>(TokenSigner::<S, C> { key, pool })
    };
    let checker = || {
        let text = opens.ok_or_else(missing)?;
        Ok::<_, DriverError>(Checker::<S, C> {
            key: KeySource::new(request.key_handling, move || key(&text))?,
            rules: rules(request),
            claims: PhantomData,
        })
    };
    match request.operation {
        Operation::Sign | Operation::Encrypt => Ok(work::sign(token_signer()?)),
        Operation::RoundTrip => Ok(work::round_trip(token_signer()?, checker()?)),
        _ => work::verify(checker()?, request.tokens.clone()),
    }
}

fn key<K: for<'a> TryFrom<&'a str, Error = Error>>(text: &str) -> Result<K, DriverError> {
    K::try_from(text).map_err(|error| DriverError::failed(format!("{error:?}")))
}

fn rules(request: &PrepareRequest) -> ClaimsValidationRules {
    let mut rules = ClaimsValidationRules::new();
    rules.disable_valid_at();
    if !request.pool.has_exp() {
        rules.allow_non_expiring();
    }
    if let Some(issuer) = &request.policy.issuer {
        rules.validate_issuer_with(issuer);
    }
    if let Some(audience) = &request.policy.audience {
        rules.validate_audience_with(audience);
    }
    rules
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
        self.key.with(|key| {
            let claims = self.pool[index].write().map_err(message)?;
            S::seal(key, &claims).map_err(message)
        })
    }
}

struct Checker<S: Suite, C> {
    key: KeySource<S::Opening>,
    rules: ClaimsValidationRules,
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
            let read = |claims: &Claims| {
                check_not_before(claims)?;
                Ok(visit.visit(&C::read(claims)?))
            };
            S::open(key, token, &self.rules, read).map_err(message)?
        })
    }
}

fn check_not_before(claims: &Claims) -> Result<(), Rejection> {
    let Some(begins) = claims.get_claim("nbf") else {
        return Ok(());
    };
    let begins = begins.as_str().ok_or("nbf is not text")?;
    let begins = OffsetDateTime::parse(begins, &Rfc3339).map_err(|error| error.to_string())?;
    if begins > OffsetDateTime::now_utc() {
        return Err("token is not valid yet".to_owned());
    }
    Ok(())
}

/// Claims that convert to and from the library's type.
trait LibraryClaims: HarnessClaims + Send + Sync + Sized + 'static {
    fn write(&self) -> Result<Claims, Error>;
    fn read(claims: &Claims) -> Result<Self, Rejection>;
}

impl LibraryClaims for StandardPaseto {
    fn write(&self) -> Result<Claims, Error> {
        let mut claims = Claims::new()?;
        // Claims that the library sets by itself and these claims do not have.
        claims.remove_claim("nbf");
        claims.issuer(&self.iss)?;
        claims.subject(&self.sub)?;
        claims.audience(&self.aud)?;
        claims.expiration(&self.exp)?;
        if let Some(begins) = &self.nbf {
            claims.not_before(begins)?;
        }
        claims.issued_at(&self.iat)?;
        claims.token_identifier(&self.jti)?;
        claims.add_additional("name", self.name.as_str())?;
        claims.add_additional("admin", self.admin)?;
        Ok(claims)
    }

    fn read(claims: &Claims) -> Result<Self, Rejection> {
        let text = |name: &str| {
            let text = claims.get_claim(name).and_then(Value::as_str);
            text.map(str::to_owned)
                .ok_or_else(|| format!("{name} is missing"))
        };
        let admin = claims.get_claim("admin").and_then(Value::as_bool);
        Ok(Self {
            iss: text("iss")?,
            sub: text("sub")?,
            aud: text("aud")?,
            exp: text("exp")?,
            nbf: text("nbf").ok(),
            iat: text("iat")?,
            jti: text("jti")?,
            name: text("name")?,
            admin: admin.ok_or("admin is missing")?,
        })
    }
}

impl LibraryClaims for Map {
    fn write(&self) -> Result<Claims, Error> {
        let json = serde_json::to_string(self).map_err(|_| Error::ClaimInvalidJson)?;
        Claims::from_string(&json)
    }

    /// The library gives access to all claims at once only as JSON.
    fn read(claims: &Claims) -> Result<Self, Rejection> {
        let json = claims.to_string().map_err(message)?;
        serde_json::from_str(&json).map_err(|error| error.to_string())
    }
}

fn message(error: Error) -> String {
    format!("{error:?}")
}

#[cfg(test)]
mod tests {
    use super::Pasetors;
    use jeton_driver_harness::conformance::faults;

    #[test]
    fn driver_passes_conformance_checks() {
        assert_eq!(faults::<Pasetors>(), Vec::<String>::new());
    }
}
