//! Key sets for JWT and PASETO: selection by id and algorithm, skipped keys, and limits.

use std::time::Duration;

use jeton::error::{KeyProblem, Rejection, TokenKind};
use jeton::jwk::{KeySet, Skipped};
use jeton::key::{Alg, AnyKey, MacAlg, MacKey, SigAlg, SigningKey};
use jeton::paseto::{PasetoKey, PasetoKeySet, PasetoVerifier, TokenContext, v4};
use jeton::{Claims, Error, Policy, Scratch, Verified, danger, jwt::JwtVerifier, limits};
use serde::de::IgnoredAny;

fn claims() -> Claims<'static, ()> {
    Claims::new(())
        .issuer("i")
        .audience("a")
        .expires_in(Duration::from_secs(300))
}

fn policy() -> Policy {
    Policy::new("i", "a")
}

fn jwks<'t>(keys: impl IntoIterator<Item = &'t str>) -> String {
    let keys: Vec<&str> = keys.into_iter().collect();
    format!("{{\"keys\":[{}]}}", keys.join(","))
}

fn key(alg: SigAlg, id: &str) -> SigningKey {
    SigningKey::generate(alg).unwrap().with_key_id(id).unwrap()
}

fn public(key: &SigningKey) -> String {
    key.verifying_key().to_jwk()
}

fn verdict(set: &str, token: &str) -> Result<Option<String>, Rejection> {
    let verifier = JwtVerifier::new(KeySet::from_json(set).unwrap(), policy());
    let verified = verifier.verify::<IgnoredAny>(token);
    let id = verified.map(|verified| verified.key_id().map(str::to_owned));
    id.map_err(|error| error.rejection().unwrap().clone())
}

fn problem<T>(result: jeton::Result<T>) -> Option<KeyProblem> {
    match result.err()? {
        Error::Key(error) => Some(error.problem().clone()),
        _ => None,
    }
}

#[test]
fn kid_selects_the_key_and_alg_must_match() {
    let (one, two) = (key(SigAlg::ES256, "one"), key(SigAlg::EdDSA, "two"));
    let set = jwks([&*public(&one), &public(&two)]);
    for key in [&one, &two] {
        let token = key.issue(&claims()).unwrap();
        assert_eq!(verdict(&set, &token), Ok(key.key_id().map(str::to_owned)));
    }
    // The id of one key with the algorithm of the other: no key matches, and none is tried.
    let crossed = key(SigAlg::EdDSA, "one").issue(&claims()).unwrap();
    assert_eq!(verdict(&set, &crossed), Err(Rejection::UnknownKey));
    let other_key = key(SigAlg::EdDSA, "two").issue(&claims()).unwrap();
    assert_eq!(verdict(&set, &other_key), Err(Rejection::Signature));
    // Ids are compared exactly.
    for id in ["One", "on", "one ", "three"] {
        let token = key(SigAlg::ES256, id).issue(&claims()).unwrap();
        assert_eq!(verdict(&set, &token), Err(Rejection::UnknownKey), "{id}");
    }
}

#[test]
fn two_keys_with_the_same_kid_are_both_tried() {
    // During a rotation, some issuers keep the id, or use one id for two algorithms.
    let (one, two) = (key(SigAlg::ES256, "k"), key(SigAlg::ES256, "k"));
    let three = key(SigAlg::EdDSA, "k");
    let set = jwks([&*public(&one), &public(&two), &public(&three)]);
    for key in [&one, &two, &three] {
        assert!(verdict(&set, &key.issue(&claims()).unwrap()).is_ok());
    }
}

#[test]
fn token_without_kid_is_tried_with_limited_keys() {
    let others: Vec<SigningKey> = (0..limits::KEYS_TRIED)
        .map(|id| key(SigAlg::EdDSA, &id.to_string()))
        .collect();
    let anonymous = SigningKey::generate(SigAlg::EdDSA).unwrap();
    let token = anonymous.issue(&claims()).unwrap();
    let mut all: Vec<String> = others.iter().map(public).collect();
    all.push(public(&anonymous));
    let too_late = jwks(all.iter().map(String::as_str));
    let too_many = Rejection::TooManyKeys { keys: 9, limit: 8 };
    assert_eq!(verdict(&too_late, &token), Err(too_many));
    let in_time = jwks(all[1..].iter().map(String::as_str));
    assert_eq!(verdict(&in_time, &token), Ok(None));
    // Keys of other algorithms do not count.
    let mut mixed: Vec<String> = (0..20)
        .map(|id| public(&key(SigAlg::ES256, &id.to_string())))
        .collect();
    mixed.push(public(&anonymous));
    assert_eq!(
        verdict(&jwks(mixed.iter().map(String::as_str)), &token),
        Ok(None)
    );
}

#[test]
fn unknown_keys_in_a_set_are_skipped() {
    let good = key(SigAlg::ES256, "good");
    let unknown = [
        r#"{"kty":"new","kid":"x"}"#,
        r#"{"kty":"EC","crv":"P-999","x":"AA","y":"AA"}"#,
        r#"{"kty":"RSA","n":"AQAB","e":"AQAB","alg":"RS256"}"#,
        r#"{"kty":"OKP","crv":"X25519","x":"AAAA"}"#,
        r#"{"kid":"nothing else"}"#,
        "{}",
        "7",
        "null",
    ];
    let public = public(&good);
    let set = jwks(unknown.into_iter().chain([public.as_str()]));
    let read = KeySet::from_json(&set).unwrap();
    assert_eq!((read.len(), read.skipped().len()), (1, unknown.len()));
    assert!(verdict(&set, &good.issue(&claims()).unwrap()).is_ok());
}

/// The same for every reader: the set is empty and says why, and a verifier with it knows no key.
#[test]
fn set_without_usable_key_is_empty_and_says_why() {
    let set = jwks([r#"{"kty":"new","kid":"x"}"#]);
    let token = key(SigAlg::ES256, "x").issue(&claims()).unwrap();
    for read in [
        KeySet::from_json(&set),
        KeySet::from_json_as(&set, SigAlg::ES256),
        KeySet::from_json_with_default(&set, SigAlg::ES256),
        KeySet::from_published_json(&set, None),
        KeySet::from_published_json(&set, SigAlg::ES256),
        danger::weak_key_set(&set, None),
        danger::weak_key_set(&set, Alg::Sig(SigAlg::ES256)),
    ] {
        let read = read.unwrap();
        assert!(read.is_empty());
        assert_eq!(
            read.skipped()[0].to_string(),
            "key 0: kty: not supported: expected EC, OKP, RSA or AKP"
        );
        let verifier = JwtVerifier::new(read, policy());
        let error = verifier.verify::<IgnoredAny>(&token).unwrap_err();
        assert_eq!(error.rejection(), Some(&Rejection::UnknownKey));
    }
    let any = AnyKey::from_bytes(set.as_bytes()).unwrap();
    for alg in [None, Some(Alg::Sig(SigAlg::RS256))] {
        assert_eq!(problem(any.keys(alg)), Some(KeyProblem::NoUsableKey));
    }
    assert!(KeySet::from_json(r#"{"keys":[]}"#).unwrap().is_empty());
}

#[test]
fn key_set_over_limits_is_rejected() {
    let public = public(&key(SigAlg::EdDSA, "k"));
    let full = jwks(std::iter::repeat_n(public.as_str(), limits::KEY_SET_KEYS));
    assert_eq!(
        KeySet::from_json(&full).unwrap().len(),
        limits::KEY_SET_KEYS
    );
    // Skipped keys count towards the limit, because parsing them costs time.
    let crowded = jwks(std::iter::repeat_n("{}", limits::KEY_SET_KEYS).chain([public.as_str()]));
    assert_eq!(
        problem(KeySet::from_json(&crowded)),
        Some(KeyProblem::TooLarge)
    );
    let padded = format!(
        "{}{}",
        jwks([public.as_str()]),
        " ".repeat(limits::KEY_SET_BYTES)
    );
    assert_eq!(
        problem(KeySet::from_json(&padded)),
        Some(KeyProblem::TooLarge)
    );
}

#[test]
fn secret_keys_in_a_set_verify_only_macs() {
    let mac = MacKey::generate(MacAlg::HS256)
        .unwrap()
        .with_key_id("m")
        .unwrap();
    let pair = key(SigAlg::ES256, "p");
    let set = jwks([mac.to_jwk().as_str(), &public(&pair)]);
    let token = mac.issue(&claims()).unwrap();
    assert_eq!(verdict(&set, &token), Ok(Some("m".into())));
    // A MAC with the published public key as the secret, and its id.
    let forger = MacKey::new(MacAlg::HS256, &[7; 32])
        .unwrap()
        .with_key_id("p")
        .unwrap();
    let forged = forger.issue(&claims()).unwrap();
    assert_eq!(verdict(&set, &forged), Err(Rejection::UnknownKey));
}

fn footer(kid: &str) -> String {
    format!("{{\"kid\":\"{kid}\"}}")
}

fn paseto_set(keys: impl IntoIterator<Item = PasetoKey>) -> jeton::Result<PasetoKeySet> {
    let mut set = PasetoKeySet::new();
    for key in keys {
        set.insert(key)?;
    }
    Ok(set)
}

fn paseto_verdict(set: &PasetoKeySet, token: &str) -> Result<String, Rejection> {
    let verifier = PasetoVerifier::new(set.clone(), policy());
    let rejection = |error: Error| error.rejection().unwrap().clone();
    let verified: Verified<IgnoredAny> = verifier.verify(token).map_err(rejection)?;
    let mut scratch = Scratch::new();
    let again = verifier
        .verify_in::<IgnoredAny>(token, &mut scratch)
        .map_err(rejection)?;
    assert_eq!(again.key_id(), verified.key_id());
    Ok(verified.key_id().unwrap().to_owned())
}

#[test]
fn paseto_footer_kid_selects_the_key() {
    let (one, two) = (
        v4::SecretKey::generate().unwrap(),
        v4::SecretKey::generate().unwrap(),
    );
    let local = v4::LocalKey::generate().unwrap();
    let set = paseto_set([
        one.public_key().into(),
        (&two.public_key()).into(),
        (&local).into(),
    ])
    .unwrap();
    let algs: Vec<_> = set.iter().map(PasetoKey::alg).collect();
    assert_eq!(algs, ["v4.public", "v4.public", "v4.local"]);
    for key in [&one, &two] {
        let id = key.public_key().id().to_string();
        let footer = footer(&id);
        let token = key
            .issue_with(&claims(), TokenContext::new().footer(&footer))
            .unwrap();
        assert_eq!(paseto_verdict(&set, &token), Ok(id));
    }
    let id = local.id().to_string();
    let (named, unnamed) = (footer(&id), "{\"kid\":null}".replace("null", "\"\""));
    let token = local
        .issue_with(&claims(), TokenContext::new().footer(&named))
        .unwrap();
    assert_eq!(paseto_verdict(&set, &token), Ok(id));
    let token = local
        .issue_with(&claims(), TokenContext::new().footer(&unnamed))
        .unwrap();
    assert_eq!(paseto_verdict(&set, &token), Err(Rejection::UnknownKey));
    // The id of another key, and the id of a local key on a public token.
    for id in [two.public_key().id().to_string(), local.id().to_string()] {
        let footer = footer(&id);
        let token = one
            .issue_with(&claims(), TokenContext::new().footer(&footer))
            .unwrap();
        let rejection = paseto_verdict(&set, &token).unwrap_err();
        assert!(matches!(
            rejection,
            Rejection::Signature | Rejection::UnknownKey
        ));
    }
}

#[test]
fn paseto_without_kid_is_tried_with_limited_keys() {
    let pairs: Vec<v4::SecretKey> = (0..=limits::KEYS_TRIED)
        .map(|_| v4::SecretKey::generate().unwrap())
        .collect();
    let set = paseto_set(pairs.iter().map(|pair| pair.public_key().into())).unwrap();
    for footer in ["", "not JSON", "[\"kid\"]", "{\"for\":\"you\"}"] {
        let context = TokenContext::new().footer(footer);
        let first = pairs[0].issue_with(&claims(), context).unwrap();
        let eighth = pairs[limits::KEYS_TRIED - 1]
            .issue_with(&claims(), context)
            .unwrap();
        let ninth = pairs[limits::KEYS_TRIED]
            .issue_with(&claims(), context)
            .unwrap();
        assert!(paseto_verdict(&set, &first).is_ok(), "{footer}");
        assert!(paseto_verdict(&set, &eighth).is_ok(), "{footer}");
        assert_eq!(
            paseto_verdict(&set, &ninth),
            Err(Rejection::TooManyKeys { keys: 9, limit: 8 }),
            "{footer}"
        );
    }
    // With a `kid`, a key at any position is found.
    let last = &pairs[limits::KEYS_TRIED];
    let footer = footer(&last.public_key().id().to_string());
    let token = last
        .issue_with(&claims(), TokenContext::new().footer(&footer))
        .unwrap();
    assert!(paseto_verdict(&set, &token).is_ok());
}

#[test]
fn unverified_footer_is_read_strictly() {
    let pair = v4::SecretKey::generate().unwrap();
    let set = paseto_set([pair.public_key().into()]).unwrap();
    let id = pair.public_key().id();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    let long = footer(&"k".repeat(limits::KEY_ID_BYTES + 1));
    for (bad, rejection) in [
        (format!("{{\"kid\":\"{id}\""), "the footer is malformed"),
        (format!("{{\"kid\":\"{id}\"}} x"), "the footer is malformed"),
        ("{\"kid\":7}".into(), "the footer is malformed"),
        (
            format!("{{\"kid\":\"other\",\"kid\":\"{id}\"}}"),
            "the footer has a duplicate member",
        ),
        (deep, "the footer is nested more than 32 levels"),
        (long, "the `kid` in the footer has 1025 bytes, limit 1024"),
    ] {
        let token = pair
            .issue_with(&claims(), TokenContext::new().footer(&bad))
            .unwrap();
        let verdict = paseto_verdict(&set, &token).map_err(|why| why.to_string());
        assert_eq!(verdict, Err(rejection.to_owned()));
        // A single key does not read the footer.
        let alone = PasetoVerifier::new(pair.public_key(), policy());
        assert!(alone.verify::<IgnoredAny>(&token).is_ok());
    }
}

#[test]
fn paseto_key_set_accepts_only_versions_of_its_keys() {
    let (local, pair) = (
        v4::LocalKey::generate().unwrap(),
        v4::SecretKey::generate().unwrap(),
    );
    let only_public = paseto_set([pair.public_key().into()]).unwrap();
    let token = local.issue(&claims()).unwrap();
    let wrong_format = |token: &str| Rejection::WrongFormat {
        found: TokenKind::of(token),
        expected: TokenKind::V4Public,
    };
    assert_eq!(
        paseto_verdict(&only_public, &token),
        Err(wrong_format(&token))
    );
    for text in [
        "",
        "v4.",
        "v4.public",
        "v3.public.AAAA",
        "V4.public.AAAA",
        "ey.ey.AA",
    ] {
        assert_eq!(paseto_verdict(&only_public, text), Err(wrong_format(text)));
    }
}

#[test]
fn paseto_key_set_has_limits_and_skips_unknown_keys() {
    let public = |_| v4::SecretKey::generate().unwrap().public_key();
    let keys: Vec<v4::PublicKey> = (0..=limits::KEY_SET_KEYS).map(public).collect();
    let set = |keys: &[v4::PublicKey]| paseto_set(keys.iter().map(PasetoKey::from));
    assert_eq!(set(&keys[1..]).unwrap().len(), limits::KEY_SET_KEYS);
    assert_eq!(problem(set(&keys)), Some(KeyProblem::TooLarge));
    let twice = [keys[0].clone(), keys[1].clone(), keys[0].clone()];
    assert_eq!(problem(set(&twice)), Some(KeyProblem::Duplicate));

    let (local, secret) = (
        v4::LocalKey::generate().unwrap(),
        v4::SecretKey::generate().unwrap(),
    );
    let (local_text, secret_text) = (local.to_paserk(), secret.to_paserk().unwrap());
    let public_text = keys[0].to_paserk();
    let texts = [
        public_text.as_str(),
        "k9.public.AAAA",
        "",
        &secret_text,
        &local_text,
    ];
    let read = PasetoKeySet::from_paserks(texts).unwrap();
    let skipped: Vec<_> = read.skipped().iter().map(Skipped::to_string).collect();
    assert_eq!(read.len(), 2);
    assert_eq!(
        skipped,
        [
            "key 1: paserk: malformed: expected a text that begins like k4.public.",
            "key 2: paserk: malformed: expected a text that begins like k4.public.",
            "key 3: paserk: private key given, public key expected"
        ]
    );
    let crowd = std::iter::repeat_n("", limits::KEY_SET_KEYS).chain([public_text.as_str()]);
    assert_eq!(
        problem(PasetoKeySet::from_paserks(crowd)),
        Some(KeyProblem::TooLarge)
    );
    let empty = PasetoKeySet::from_paserks([""]).unwrap();
    assert_eq!((empty.is_empty(), empty.skipped().len()), (true, 1));
    for token in ["", "v4.public.AAAA", &secret.issue(&claims()).unwrap()] {
        assert_eq!(paseto_verdict(&empty, token), Err(Rejection::UnknownKey));
    }
}

/// A SPIFFE bundle names the use of its keys with words of its own.
#[test]
fn set_with_another_use_reads_keys_of_that_use_only() {
    let with_use = |key: &SigningKey, key_use: &str| {
        let jwk = public(key);
        jwk.replacen('{', &format!("{{\"use\":\"{key_use}\","), 1)
    };
    let keys = ["svid", "certificate", "sig", "enc", "none"];
    let keys = keys.map(|id| key(SigAlg::ES256, id));
    let [svid, certificate, sig, enc, none] = &keys;
    let set = jwks([
        &*with_use(svid, "jwt-svid"),
        &*with_use(certificate, "x509-svid"),
        &*with_use(sig, "sig"),
        &*with_use(enc, "enc"),
        &*public(none),
    ]);
    let ids = |set: &KeySet| -> Vec<String> {
        let ids = set.iter().filter_map(|key| key.key_id());
        ids.map(str::to_owned).collect()
    };
    let read = KeySet::from_published_json_with_use(&set, "jwt-svid", None).unwrap();
    assert_eq!(ids(&read), ["svid"]);
    assert_eq!(read.skipped().len(), 4);
    assert!(read.skipped().iter().all(Skipped::serves_another_use));
    let read = KeySet::from_published_json(&set, None).unwrap();
    assert_eq!(ids(&read), ["sig", "none"]);
    let why = read.skipped()[0].reason();
    assert_eq!(
        (why.found(), why.expected()),
        (Some("jwt-svid"), Some("sig"))
    );
    let refused = KeySet::from_published_json_with_use(&set, "enc", None);
    assert!(
        matches!(refused, Err(Error::Key(error)) if *error.problem() == KeyProblem::AnotherUse)
    );
    let absent = KeySet::from_published_json_with_use(&set, "other", None).unwrap();
    assert!(absent.is_empty());
    // The default algorithm applies as in other sets.
    let rsa = key(SigAlg::RS256, "rsa");
    let rsa = with_use(&rsa, "jwt-svid").replace("\"alg\":\"RS256\",", "");
    let set = jwks([&*rsa]);
    assert!(
        KeySet::from_published_json_with_use(&set, "jwt-svid", None)
            .unwrap()
            .is_empty()
    );
    let read = KeySet::from_published_json_with_use(&set, "jwt-svid", SigAlg::RS256).unwrap();
    assert_eq!(ids(&read), ["rsa"]);
}
