//! Runs a case with the Rust library.

use std::str::FromStr;
use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use jeton::error::{Claim, KeyProblem};
use jeton::jwe::Decrypter;
use jeton::jwk::KeySet;
use jeton::jws::JwsVerifier;
use jeton::jwt::{EncryptedVerifier, JwtIssuer, JwtVerifier, MultiIssuerVerifier, NestedVerifier};
use jeton::key::{
    Alg, AnyKey, ContentKey, DecryptionKeys, KeyFormat, KeyHalf, KeyManagementAlg, KeyWrapAlg,
    Keys, MacAlg, MacKey, WrappingKey,
};
use jeton::paserk::Paserk;
use jeton::paseto::{PasetoKeySet, PasetoKeys, PasetoVerifier, v3, v4};
use jeton::{
    Claims, Error, FixedClock, Issue, Limits, Policy, RawClaims, Result, Timestamp, Verified,
    Verify,
};
use jeton_bindings::Fault;
use serde_json::{Map, Value};

use super::make::base64url;
use super::{Case, Expected, KeyData, Trusted};

pub(crate) fn run(case: &Case) -> Expected {
    if has_undeclared_shared_keys(&case.options) {
        return code("INVALID_OPTION");
    }
    let found = match case.action.as_str() {
        "verify" => verify(case).map(|verified| Expected {
            header: header(case),
            ..of_verified(&verified)
        }),
        "unverified" => unverified(case),
        "verify-bytes" => verify_bytes(case).map(|bytes| Expected {
            payload: Some(base64url(&bytes)),
            ..Expected::default()
        }),
        "issue" => issue(case).map(|token| Expected {
            token: Some(token),
            ..Expected::default()
        }),
        "import" => import(case.key.as_ref().unwrap()),
        other => panic!("{}: unknown action {other}", case.id),
    };
    found.unwrap_or_else(|error| match error.code() {
        // In other languages, the members are a setting.
        "INVALID_HEADER_MEMBER" => code("INVALID_OPTION"),
        other => code(other),
    })
}

fn code(code: &str) -> Expected {
    Expected {
        code: Some(code.into()),
        ..Expected::default()
    }
}

/// Rust has a method for these issuers, and no flag.
fn has_undeclared_shared_keys(options: &Map<String, Value>) -> bool {
    let issuers = options.get("issuer").and_then(Value::as_array);
    let is_shared = options.contains_key("shared_keys");
    issuers.map_or(0, Vec::len) > 1 && !is_shared
}

/// The header of a token that is verified: of the signed token inside, if it is nested.
fn header(case: &Case) -> Option<String> {
    if format(case) == "paseto" {
        return None;
    }
    let token = case.token.as_deref().unwrap();
    let inner = (!case.decryption.is_empty()).then(|| {
        let decrypter = Decrypter::new(decryption(case).unwrap());
        let plaintext = decrypter.decrypt(token).unwrap().into_plaintext();
        String::from_utf8(plaintext).unwrap()
    });
    let (header, _) = inner.as_deref().unwrap_or(token).split_once('.').unwrap();
    Some(String::from_utf8(Base64UrlUnpadded::decode_vec(header).unwrap()).unwrap())
}

/// Only the libraries for other languages have it. Its cases state the text.
fn unverified(case: &Case) -> Result<Expected> {
    match jeton_bindings::unverified(case.token.as_deref().unwrap()) {
        Ok(text) => Ok(Expected {
            json: Some(text),
            ..Expected::default()
        }),
        Err(Fault::Library(error)) => Err(error),
        Err(other) => panic!("{}: {other}", case.id),
    }
}

fn of_verified(verified: &Verified<RawClaims>) -> Expected {
    let seconds = |moment: Option<Timestamp>| moment.map(Timestamp::unix_seconds);
    let audiences: Vec<String> = verified.audiences().map(|one| one.into_owned()).collect();
    let header = verified.header();
    Expected {
        json: Some(verified.json().into()),
        alg: Some(header.alg().into()),
        kid: header.kid().map(Into::into),
        typ: header.typ().map(Into::into),
        footer: verified
            .footer()
            .map(|footer| String::from_utf8(footer.into()).unwrap()),
        issuer: verified.issuer().map(Into::into),
        subject: verified.subject().map(Into::into),
        audiences: (!audiences.is_empty()).then_some(audiences),
        expires_at: seconds(verified.expires_at()),
        not_before: seconds(verified.not_before()),
        issued_at: seconds(verified.issued_at()),
        token_id: verified.token_id().map(Into::into),
        ..Expected::default()
    }
}

fn text<'o>(options: &'o Map<String, Value>, name: &str) -> Option<&'o str> {
    options.get(name).map(|value| value.as_str().unwrap())
}

fn texts(options: &Map<String, Value>, name: &str) -> Option<Vec<String>> {
    Some(match options.get(name)? {
        Value::String(one) => vec![one.clone()],
        list => serde_json::from_value(list.clone()).unwrap(),
    })
}

fn policy(options: &Map<String, Value>) -> Policy {
    let mut policy = if options.contains_key("access_tokens") {
        Policy::access_token("", "")
    } else {
        Policy::new("", "")
    };
    policy = match texts(options, "issuer") {
        Some(issuers) => policy.issuers_with_shared_keys(issuers),
        None => policy.any_issuer(),
    };
    policy = match texts(options, "audience") {
        Some(audiences) => policy.audiences(audiences),
        None => policy.any_audience(),
    };
    if options.contains_key("without_expiry") {
        policy = policy.without_expiry();
    }
    if let Some(types) = texts(options, "typ") {
        policy = policy.types(types);
    }
    for name in texts(options, "required").unwrap_or_default() {
        policy = match Claim::from_name(&name) {
            Some(claim) => policy.require(claim),
            None => policy.require_custom(name),
        };
    }
    let seconds = |name: &str| Some(Duration::from_secs(options.get(name)?.as_u64()?));
    if let Some(leeway) = seconds("leeway") {
        policy = policy.leeway(leeway);
    }
    if let Some(max_age) = seconds("max_age") {
        policy = policy.max_age(max_age);
    }
    policy
}

fn limits(options: &Map<String, Value>) -> Limits {
    let mut limits = Limits::new();
    let number = |name: &str| Some(options.get("limits")?.get(name)?.as_u64()? as usize);
    if let Some(bytes) = number("token_bytes") {
        limits = limits.token_bytes(bytes);
    }
    if let Some(depth) = number("json_depth") {
        limits = limits.json_depth(depth as u32);
    }
    limits
}

fn alg(key: &KeyData) -> Option<&str> {
    text(&key.options, "alg")
}

fn keys(case: &Case) -> Result<Keys> {
    keys_of(case.key.as_ref(), case.keys.as_ref())
}

fn keys_of(one: Option<&KeyData>, set: Option<&KeyData>) -> Result<Keys> {
    let key = one.or(set).unwrap();
    if text(&key.options, "format") == Some("secret") {
        return Ok(MacKey::new(
            MacAlg::from_str(alg(key).unwrap()).unwrap(),
            key.data.as_bytes(),
        )?
        .into());
    }
    let default = alg(key).or(text(&key.options, "default_alg"));
    let default = default.map(|alg| Alg::from_str(alg).unwrap());
    if set.is_some() {
        let set = match default {
            Some(alg) => KeySet::from_json_with_default(&key.data, alg)?,
            None => KeySet::from_json(&key.data)?,
        };
        if set.is_empty() {
            return Err(Error::Key(KeyProblem::NoUsableKey.into()));
        }
        return Ok(set.into());
    }
    let any = AnyKey::from_bytes(key.data.as_bytes())?;
    match any.half() {
        KeyHalf::Private => any.public()?.keys(default),
        _ => any.keys(default),
    }
}

fn decryption(case: &Case) -> Result<DecryptionKeys> {
    let mut all: Option<DecryptionKeys> = None;
    for key in &case.decryption {
        let one = decryption_key(key)?;
        all = Some(match all {
            None => one,
            Some(all) => all.and(one),
        });
    }
    Ok(all.unwrap())
}

fn decryption_key(key: &KeyData) -> Result<DecryptionKeys> {
    let jwk = key.data.as_str();
    let name = alg(key)
        .map(str::to_owned)
        .or_else(|| stated(jwk, "alg"))
        .unwrap();
    if let Ok(alg) = KeyWrapAlg::from_str(&name) {
        return Ok(WrappingKey::from_jwk_as(jwk, alg)?.into());
    }
    if let Ok(alg) = KeyManagementAlg::from_str(&name) {
        return Ok(AnyKey::from_bytes(jwk.as_bytes())?.decryption(alg)?.into());
    }
    Ok(content(key)?.into())
}

fn content(key: &KeyData) -> Result<ContentKey> {
    match text(&key.options, "enc") {
        Some(enc) => ContentKey::from_jwk_as(&key.data, enc.parse().unwrap()),
        None => ContentKey::from_jwk(&key.data),
    }
}

fn stated(jwk: &str, name: &str) -> Option<String> {
    let jwk: Value = serde_json::from_str(jwk).ok()?;
    jwk.get(name)?.as_str().map(Into::into)
}

fn paseto_keys(case: &Case) -> Result<PasetoKeys> {
    let key = case.key.as_ref().or(case.keys.as_ref()).unwrap();
    if case.keys.is_some() {
        return Ok(PasetoKeySet::from_paserks(key.data.lines())?.into());
    }
    let (text, kind) = (
        key.data.as_str(),
        Paserk::parse(&key.data)?.kind().to_string(),
    );
    Ok(match kind.as_str() {
        "k3.local" => v3::LocalKey::from_paserk(text)?.into(),
        "k3.public" => v3::PublicKey::from_paserk(text)?.into(),
        "k3.secret" => v3::SecretKey::from_paserk(text)?.public_key().into(),
        "k4.local" => v4::LocalKey::from_paserk(text)?.into(),
        "k4.public" => v4::PublicKey::from_paserk(text)?.into(),
        _ => v4::SecretKey::from_paserk(text)?.public_key().into(),
    })
}

fn clock(case: &Case) -> FixedClock {
    FixedClock(Timestamp::from_unix_seconds(case.now.unwrap()).unwrap())
}

fn format(case: &Case) -> &str {
    text(&case.options, "format").unwrap_or("jwt")
}

fn verify(case: &Case) -> Result<Verified<RawClaims>> {
    let (options, token) = (&case.options, case.token.as_deref().unwrap());
    if !case.issuers.is_empty() {
        return several_issuers(case)?.verify_raw(token);
    }
    let (policy, limits, clock) = (policy(options), limits(options), clock(case));
    if format(case) == "paseto" {
        let mut verifier = PasetoVerifier::new(paseto_keys(case)?, policy)
            .limits(limits)
            .clock(clock);
        if let Some(footer) = text(options, "footer") {
            verifier = verifier.footer(footer);
        }
        if let Some(assertion) = text(options, "implicit_assertion") {
            verifier = verifier.implicit_assertion(assertion);
        }
        return verifier.verify_raw(token);
    }
    if let Some(key) = case.key.as_ref().filter(|key| alg(key) == Some("dir")) {
        return EncryptedVerifier::new(&content(key)?, policy)
            .limits(limits)
            .clock(clock)
            .verify_raw(token);
    }
    let verifier = JwtVerifier::new(keys(case)?, policy)
        .limits(limits)
        .clock(clock);
    if case.decryption.is_empty() {
        return verifier.verify_raw(token);
    }
    let decrypter = Decrypter::new(decryption(case)?).limits(limits);
    NestedVerifier::new(decrypter, verifier).verify_raw(token)
}

fn several_issuers(case: &Case) -> Result<MultiIssuerVerifier> {
    let mut all = MultiIssuerVerifier::new().clock(clock(case));
    for Trusted { key, keys, options } in &case.issuers {
        all = all.issuer(keys_of(key.as_ref(), keys.as_ref())?, policy(options))?;
    }
    Ok(all)
}

fn verify_bytes(case: &Case) -> Result<Vec<u8>> {
    let token = case.token.as_deref().unwrap();
    let content = case
        .content
        .as_deref()
        .map(|text| Base64UrlUnpadded::decode_vec(text).unwrap());
    let is_json = case.options.contains_key("serialization");
    let limits = limits(&case.options);
    if format(case) == "jwe" {
        let decrypter = Decrypter::new(decryption(case)?).limits(limits);
        let decrypted = if is_json {
            decrypter.decrypt_json(token)?
        } else {
            decrypter.decrypt(token)?
        };
        return Ok(decrypted.into_plaintext());
    }
    let verifier = JwsVerifier::new(keys(case)?).limits(limits);
    Ok(match (is_json, content) {
        (false, None) => verifier.verify(token)?,
        (false, Some(content)) => verifier.verify_detached(token, &content)?,
        (true, None) => verifier.verify_json(token)?,
        (true, Some(content)) => verifier.verify_json_detached(token, &content)?,
    }
    .into_payload())
}

fn issue(case: &Case) -> Result<String> {
    let (options, key) = (&case.options, case.key.as_ref().unwrap());
    let claims = Claims::from_json(case.claims.as_deref().unwrap())?;
    let mut builder = match text(&key.options, "format") {
        Some("secret") => JwtIssuer::builder(MacKey::new(MacAlg::HS256, key.data.as_bytes())?),
        _ => JwtIssuer::builder(AnyKey::from_bytes(key.data.as_bytes())?.signing(None)?),
    };
    if options.contains_key("access_tokens") {
        builder = builder.access_tokens();
    }
    if let Some(issuer) = text(options, "issuer") {
        builder = builder.issuer(issuer.to_owned());
    }
    builder = match options.get("audience") {
        Some(Value::String(one)) => builder.audience(one.clone()),
        Some(_) => builder.audiences(texts(options, "audience").unwrap()),
        None => builder,
    };
    let seconds = |name: &str| Some(Duration::from_secs(options.get(name)?.as_u64()?));
    if let Some(lifetime) = seconds("lifetime") {
        builder = builder.lifetime(lifetime);
    }
    if let Some(ago) = seconds("issued_ago") {
        builder = builder.issued_ago(ago);
    }
    if options.contains_key("without_expiry") {
        builder = builder.without_expiry();
    }
    if let Some(typ) = text(options, "typ") {
        builder = builder.typ(typ.to_owned());
    }
    for (name, value) in options
        .get("headers")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        builder = builder.header(name, value);
    }
    Issue::issue_with_clock(&builder.build()?, &claims, &clock(case))
}

fn import(key: &KeyData) -> Result<Expected> {
    let found = |kind: &str, alg: &str, kid: Option<&str>, thumbprint: Option<String>| Expected {
        kind: Some(kind.into()),
        alg: Some(alg.into()),
        kid: kid.map(Into::into),
        thumbprint,
        ..Expected::default()
    };
    if text(&key.options, "format") == Some("secret") {
        let key = MacKey::new(
            MacAlg::from_str(alg(key).unwrap()).unwrap(),
            key.data.as_bytes(),
        )?;
        return Ok(found(
            "symmetric",
            key.alg().name(),
            key.key_id(),
            Some(key.thumbprint()),
        ));
    }
    let any = AnyKey::from_bytes(key.data.as_bytes())?;
    if any.format() == KeyFormat::Paserk {
        return paserk(any.text().unwrap());
    }
    let name = alg(key)
        .map(str::to_owned)
        .or_else(|| stated(any.text()?, "alg"));
    let name = name.as_deref();
    if let Some(alg) = name.and_then(|name| KeyManagementAlg::from_str(name).ok()) {
        let (kind, public) = match any.half() {
            KeyHalf::Public => ("public", any.encryption(alg)?),
            _ => ("private", any.decryption(alg)?.encryption_key()),
        };
        return Ok(found(
            kind,
            alg.name(),
            public.key_id(),
            Some(public.thumbprint()),
        ));
    }
    if let Some(alg) = name.and_then(|name| KeyWrapAlg::from_str(name).ok()) {
        let key = WrappingKey::from_jwk_as(any.text().unwrap_or_default(), alg)?;
        return Ok(found(
            "symmetric",
            alg.name(),
            key.key_id(),
            Some(key.thumbprint()),
        ));
    }
    // The library reports an unknown algorithm.
    let signature = name.and_then(|name| Alg::from_str(name).ok());
    match (any.half(), signature) {
        (KeyHalf::Symmetric, None) | (_, Some(Alg::Mac(_))) => {
            let key = match signature {
                Some(Alg::Mac(alg)) => any.mac(alg)?,
                _ => any.mac(None)?,
            };
            Ok(found(
                "symmetric",
                key.alg().name(),
                key.key_id(),
                Some(key.thumbprint()),
            ))
        }
        (half, signature) => {
            let alg = match signature {
                Some(Alg::Sig(alg)) => Some(alg),
                _ => None,
            };
            let (kind, public) = match half {
                KeyHalf::Public => ("public", any.verifying(alg)?),
                _ => ("private", any.signing(alg)?.verifying_key()),
            };
            Ok(found(
                kind,
                public.alg().name(),
                public.key_id(),
                Some(public.thumbprint()),
            ))
        }
    }
}

fn paserk(text: &str) -> Result<Expected> {
    let kind = text.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let (kind, alg, id) = match kind.as_str() {
        "k3.local" => (
            "symmetric",
            "v3.local",
            v3::LocalKey::from_paserk(text)?.id(),
        ),
        "k4.local" => (
            "symmetric",
            "v4.local",
            v4::LocalKey::from_paserk(text)?.id(),
        ),
        "k3.public" => (
            "public",
            "v3.public",
            v3::PublicKey::from_paserk(text)?.id(),
        ),
        "k4.public" => (
            "public",
            "v4.public",
            v4::PublicKey::from_paserk(text)?.id(),
        ),
        "k3.secret" => (
            "private",
            "v3.public",
            v3::SecretKey::from_paserk(text)?.public_key().id(),
        ),
        "k4.secret" => (
            "private",
            "v4.public",
            v4::SecretKey::from_paserk(text)?.public_key().id(),
        ),
        _ => return Err(Error::Key(KeyProblem::Unsupported.into())),
    };
    Ok(Expected {
        kind: Some(kind.into()),
        alg: Some(alg.into()),
        kid: Some(id.to_string()),
        ..Expected::default()
    })
}
