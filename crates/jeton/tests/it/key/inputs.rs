//! Keys and tokens as users have them: `vectors/inputs`.

use std::path::PathBuf;

use jeton::error::{Claim, FoundInput, JsonType, KeyError, KeyProblem, Part, Rejection};
use jeton::jwk::KeySet;
use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::jwt::JwtVerifier;
use jeton::key::{
    AnyKey, KeyFormat, KeyHalf, KeyManagementAlg, Keys, MacAlg, MacKey, Pkcs8Limits, SigAlg,
    SigningKey, VerifyingKey,
};
use jeton::paserk::Paserk;
use jeton::paseto::v4::{LocalKey, PublicKey};
use jeton::{Error, FixedClock, Limits, Policy, Timestamp};
use serde::de::IgnoredAny;

#[allow(clippy::disallowed_methods, reason = "a test reads files")]
fn bytes(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/inputs");
    std::fs::read(folder.join(name)).unwrap()
}

fn text(name: &str) -> String {
    String::from_utf8(bytes(name)).unwrap()
}

fn read(name: &str) -> Result<AnyKey, KeyError> {
    AnyKey::from_bytes(&bytes(name)).map_err(key_error)
}

fn key_error(error: Error) -> KeyError {
    match error {
        Error::Key(error) => error,
        other => panic!("{other:?}"),
    }
}

fn found(name: &str) -> FoundInput {
    match read(name).unwrap_err().problem() {
        KeyProblem::Found(found) => *found,
        other => panic!("{name}: {other:?}"),
    }
}

fn verdict(keys: impl Into<Keys>, token: &str) -> jeton::Result<()> {
    let token = text(token);
    JwsVerifier::new(keys).verify(token.trim()).map(|_| ())
}

fn rejection(keys: impl Into<Keys>, token: &str) -> Rejection {
    verdict(keys, token)
        .unwrap_err()
        .rejection()
        .unwrap()
        .clone()
}

/// The private key of P-521 without the zero byte in front, as some programs write it. OpenSSL, Go and RustCrypto
/// read it. RFC 5915, section 3, has the length of the curve.
const SHORT_SCALAR: &str = "-----BEGIN PRIVATE KEY-----
MIHtAgEAMBAGByqGSM49AgEGBSuBBAAjBIHVMIHSAgEBBEHnuAf9Ww8vSB2So6zr
eTtwW+Hks6J0LjXxEXeIOCE0RQrBHvoMYnP3O/wkWbOJZrlB2RF4NidvZybnYKlH
YdOFm6GBiQOBhgAEAR1w8SJLyjrJhfGzxDZn75o4xLjLPsDXiPQO0OwEKJ+ehiPf
YjRZvQQj9wqRc1jAIpWyPn+VdC9zTY1a/XFxikEBAYORRc850LXzx9gn3Vb0nNMO
aP4fAQFd2rNXM4kf5ye9vLflb12oLurCqguYss7OYytkRDZZAQp+C1fryaG4dyqQ
-----END PRIVATE KEY-----
";

#[test]
fn ec_private_key_without_leading_zero_is_read() {
    let key = SigningKey::from_pem(SHORT_SCALAR).unwrap();
    let token = JwsSigner::new(&key).sign(b"payload").unwrap();
    let verifier = JwsVerifier::new(key.verifying_key());
    assert!(verifier.verify(&token).is_ok());
    // It is written with its zeros.
    let whole = key.to_der().unwrap();
    let again = SigningKey::from_der(&whole).unwrap();
    assert_eq!(again.to_jwk().unwrap(), key.to_jwk().unwrap());
    let short = AnyKey::from_bytes(SHORT_SCALAR.as_bytes()).unwrap();
    assert_eq!(whole.len(), short.der().unwrap().len() + 1);
    assert!(short.decryption(KeyManagementAlg::EcdhEs).is_ok());
}

#[test]
fn pem_of_every_line_form_verifies() {
    for form in [
        "after",
        "blankfirst",
        "bom",
        "one",
        "trailing",
        "w60",
        "w76",
    ] {
        let name = format!("pem-forms/{form}.pem");
        let key = read(&name).unwrap().verifying(SigAlg::RS256).unwrap();
        assert_eq!(verdict(key, "pem-forms/tok"), Ok(()), "{form}");
        let key = VerifyingKey::from_pem_as(&text(&name), SigAlg::RS256).unwrap();
        assert_eq!(verdict(key, "pem-forms/tok"), Ok(()), "{form}");
    }
}

#[test]
fn keycloak_key_is_read_or_named() {
    for name in ["pem-keycloak/right.pem", "pem-keycloak/bare.txt"] {
        let key = read(name).unwrap();
        assert_eq!(key.half(), KeyHalf::Public);
        let key = key.verifying(SigAlg::RS256).unwrap();
        assert_eq!(verdict(key, "pem-keycloak/tok"), Ok(()), "{name}");
    }
    let bare = read("pem-keycloak/bare.txt").unwrap();
    assert_eq!(bare.format(), KeyFormat::Base64);
    let error = key_error(bare.verifying(None).unwrap_err());
    assert_eq!(error.problem(), &KeyProblem::AlgorithmNeeded);
    assert_eq!(
        read("pem-keycloak/wronglabel.pem").unwrap_err().to_string(),
        "key rejected: the block says RSA PUBLIC KEY but contains a PUBLIC KEY; change the label"
    );
    assert_eq!(found("pem-keycloak/realm.json"), FoundInput::KeycloakRealm);
}

/// RFC 5480, section 2.2.
#[test]
fn compressed_point_in_spki_verifies() {
    let key = read("ec-points/compub.pem").unwrap();
    let key = key.verifying(None).unwrap();
    assert_eq!(verdict(&key, "ec-points/tok"), Ok(()));
    let again = VerifyingKey::from_jwk(&key.to_jwk()).unwrap();
    assert_eq!(again.thumbprint(), key.thumbprint());
    let alg = KeyManagementAlg::EcdhEs;
    let key = read("ec-points/compub.pem")
        .unwrap()
        .encryption(alg)
        .unwrap();
    assert_eq!(key.thumbprint(), again.thumbprint());
}

/// RFC 7518, section 6.3.2: only `d` is required.
#[test]
fn rsa_without_primes_has_only_a_public_key() {
    let key = read("rsa-ned/min.jwk").unwrap();
    assert_eq!(key.half(), KeyHalf::Private);
    let error = key_error(key.signing(None).unwrap_err());
    assert_eq!(
        error.to_string(),
        "key rejected: `p` and `q` are missing: export the key with its primes"
    );
    let public = key.public().unwrap();
    assert_eq!(public.half(), KeyHalf::Public);
    assert!(public.verifying(None).is_ok());
    let key = read("rsa-ned/enc.jwk").unwrap();
    let error = key_error(key.decryption(None).unwrap_err());
    assert_eq!(error.problem(), &KeyProblem::PrimesMissing);
    assert!(key.public().unwrap().encryption(None).is_ok());
}

#[test]
fn coordinate_of_wrong_length_names_the_zero() {
    let set = |name: &str| KeySet::from_json(&text(name));
    let one = |name: &str| {
        let keys = read(name).unwrap().each().unwrap();
        key_error(keys[0].verifying(None).unwrap_err()).to_string()
    };
    assert_eq!(
        one("leading-zero/short.json"),
        "key rejected: x has 31 bytes, P-256 needs 32: a leading zero was removed"
    );
    assert_eq!(
        one("leading-zero/long.json"),
        "key rejected: x has 33 bytes, P-256 needs 32: a leading zero was added"
    );
    assert_eq!(
        one("leading-zero/numkid.json"),
        "key rejected: `kid` must be a string, not a number"
    );
    let skipped = set("leading-zero/numkid.json").unwrap();
    assert_eq!(
        skipped.skipped()[0].to_string(),
        "key 0: `kid` must be a string, not a number"
    );
    assert!(skipped.is_empty());
}

#[test]
fn null_member_is_absent_or_named() {
    let reason = |name: &str| {
        let keys = read(name).unwrap().each().unwrap();
        key_error(keys[0].verifying(None).unwrap_err()).to_string()
    };
    for name in ["jwk-nulls/x5cnull.json", "jwk-nulls/x5ctext.json"] {
        let set = KeySet::from_json(&text(name)).unwrap();
        assert_eq!(verdict(set, "jwk-nulls/tok"), Ok(()), "{name}");
        let key = &read(name).unwrap().each().unwrap()[0];
        let notes = key.ignored_members();
        let notes: Vec<_> = notes
            .iter()
            .map(|note| (note.name(), note.is_null()))
            .collect();
        assert_eq!(notes, [("x5c", name.ends_with("x5cnull.json"))], "{name}");
    }
    let nulls = reason("jwk-nulls/nulls.json");
    assert_eq!(nulls, "key rejected: `d` is null: remove it");
    let nulls = reason("jwk-nulls/algnull.json");
    assert_eq!(nulls, "key rejected: `alg` is null: remove it");
    let jwk = SigningKey::generate(SigAlg::ES256)
        .unwrap()
        .verifying_key()
        .to_jwk();
    for (member, is_right) in [
        ("\"use\":null", true),
        ("\"key_ops\":null", true),
        ("\"x5c\":[7]", true),
        ("\"x5t\":7", true),
        ("\"use\":7", false),
        ("\"key_ops\":\"verify\"", false),
        ("\"kid\":null", false),
    ] {
        let jwk = jwk.replacen('{', &format!("{{{member},"), 1);
        assert_eq!(VerifyingKey::from_jwk(&jwk).is_ok(), is_right, "{member}");
    }
}

#[test]
fn key_id_up_to_its_limit_is_accepted() {
    let set = || KeySet::from_json(&text("long-kid/jwks.json")).unwrap();
    assert_eq!(verdict(set(), "long-kid/rsa.tok"), Ok(()));
    let token = text("long-kid/rsa.tok");
    let tight = Limits::default().key_id_bytes(507);
    let verifier = JwsVerifier::new(set()).limits(tight);
    let error = verifier.verify(token.trim()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the `kid` in the header has 508 bytes, limit 507"
    );
}

#[test]
fn header_with_five_certificates_is_accepted() {
    let key = read("long-header/p.pem").unwrap();
    let key = key.verifying(SigAlg::RS256).unwrap();
    assert_eq!(verdict(key, "long-header/t5"), Ok(()));
}

#[test]
fn ninth_key_without_key_id_names_the_limit() {
    let nine = || KeySet::from_json(&text("many-keys/nine.json")).unwrap();
    let too_many = Rejection::TooManyKeys { keys: 9, limit: 8 };
    assert_eq!(rejection(nine(), "many-keys/nokid"), too_many);
    assert_eq!(
        too_many.to_string(),
        "the token has no `kid`, and 9 keys match its `alg`: at most 8 are tried"
    );
    let token = text("many-keys/nokid");
    let wide = Limits::default().keys_tried(9);
    let verifier = JwsVerifier::new(nine()).limits(wide);
    assert!(verifier.verify(token.trim()).is_ok());
    assert_eq!(verdict(nine(), "many-keys/kid"), Ok(()));
    let many = KeySet::from_json(&text("many-keys/many.json")).unwrap();
    assert_eq!(many.len(), 130);
}

#[test]
fn entra_keys_verify_with_a_default_algorithm() {
    let json = text("entra-keycloak/entra.json");
    let set = KeySet::from_json_with_default(&json, SigAlg::RS256).unwrap();
    assert_eq!(verdict(set, "entra-keycloak/tok"), Ok(()));
    let keys = read("entra-keycloak/entra.json").unwrap();
    let keys = keys.keys(jeton::key::Alg::Sig(SigAlg::RS256)).unwrap();
    assert_eq!(verdict(keys, "entra-keycloak/tok"), Ok(()));
    let set = KeySet::from_json(&text("entra-keycloak/keycloak.json")).unwrap();
    let skipped = &set.skipped()[0];
    assert_eq!(skipped.key_id(), Some("enc1"));
    assert!(skipped.serves_another_use());
}

#[test]
fn input_of_another_kind_is_named() {
    for (name, kind) in [
        ("google-x509/x509.json", FoundInput::CertificatesByKeyId),
        ("pkcs12/a.pfx", FoundInput::Pkcs12),
        ("pkcs12/ks.jks", FoundInput::JavaKeyStore),
        ("pkcs12/enc.pem", FoundInput::EncryptedPkcs8),
        ("encrypted/old.pem", FoundInput::OldEncryptedPem),
        ("encrypted/ssh", FoundInput::OpenSshPrivateKey),
        ("encrypted/ssh.pub", FoundInput::OpenSshPublicKey),
    ] {
        assert_eq!(found(name), kind, "{name}");
    }
    let pem = text("encrypted/plain.pem");
    let base64 = base64_simd::STANDARD.encode_to_string(&pem);
    let secret = format!("{{\"data\":{{\"a\":\"YWRtaW4=\",\"tls.key\":\"{base64}\"}}}}");
    let wide: Vec<u8> = pem.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (input, kind) in [
        (b" \n".to_vec(), FoundInput::Empty),
        (base64.into_bytes(), FoundInput::EncodedTwice),
        (secret.into_bytes(), FoundInput::EncodedTwiceInJson),
        (
            b"{\"data\":{\"a\":\"YWRtaW4=\"}}".to_vec(),
            FoundInput::OtherJson,
        ),
        (wide, FoundInput::Utf16),
        (
            pem.replace('\n', "\\n").into_bytes(),
            FoundInput::EscapedLineEnds,
        ),
        (b"{\"jwks_uri\":\"\"}".to_vec(), FoundInput::IssuerMetadata),
        (b"{\"a\":1}".to_vec(), FoundInput::OtherJson),
        (b"[]".to_vec(), FoundInput::JsonValue(JsonType::Array)),
        (b"7".to_vec(), FoundInput::JsonValue(JsonType::Number)),
        (b"[{\"kty\":\"EC\"}]".to_vec(), FoundInput::JwkList),
        (
            b"{\"KeyId\":\"k\",\"PublicKey\":\"MFkw\"}".to_vec(),
            FoundInput::AwsKmsKey,
        ),
        (b"{\"error\":\"x\"}".to_vec(), FoundInput::ServerError),
        (
            b"{\"key\":{\"kty\":\"EC\"}}".to_vec(),
            FoundInput::JwkInJson,
        ),
        (b"<html></html>".to_vec(), FoundInput::WebPage),
        (b"<?xml version=\"1.0\"?><a/>".to_vec(), FoundInput::Xml),
        (b"<RSAKeyValue></RSAKeyValue>".to_vec(), FoundInput::XmlKey),
        (b"eyJhbGciOiJFUzI1NiJ9.e30.AA".to_vec(), FoundInput::Token),
        (b"v4.public.AAAA".to_vec(), FoundInput::Token),
        (b"https://id.example/jwks".to_vec(), FoundInput::Address),
    ] {
        let error = key_error(AnyKey::from_bytes(&input).unwrap_err());
        assert_eq!(error.problem(), &KeyProblem::Found(kind));
    }
    let set = read("many-keys/nine.json").unwrap();
    let error = key_error(set.verifying(None).unwrap_err());
    let keys = KeyProblem::Found(FoundInput::JwkSet { keys: 9 });
    assert_eq!(error.problem(), &keys);
}

/// Each reader says what it found: of one JWK, of a key set, of PEM, of DER and of any key.
#[test]
fn every_reader_names_another_input() {
    let pem = "{\"pem\":\"-----BEGIN PUBLIC KEY-----\\nAA==\\n-----END PUBLIC KEY-----\"}";
    for (text, kind) in [
        (
            "{\"KeyId\":\"k\",\"PublicKey\":\"MFkw\"}",
            FoundInput::AwsKmsKey,
        ),
        ("{\"jwks_uri\":\"\"}", FoundInput::IssuerMetadata),
        ("{\"error\":\"x\"}", FoundInput::ServerError),
        ("[1]", FoundInput::JsonValue(JsonType::Array)),
        ("<!doctype HTML><html>", FoundInput::WebPage),
        ("eyJhbGciOiJFUzI1NiJ9.e30.AA", FoundInput::Token),
    ] {
        let found = KeyProblem::Found(kind);
        for error in [
            VerifyingKey::from_jwk(text).unwrap_err(),
            KeySet::from_json(text).unwrap_err(),
            VerifyingKey::from_pem(text).unwrap_err(),
            AnyKey::from_bytes(text.as_bytes()).unwrap_err(),
        ] {
            assert_eq!(key_error(error).problem(), &found, "{text}");
        }
    }
    let error = key_error(AnyKey::from_bytes(pem.as_bytes()).unwrap_err());
    assert_eq!(error.problem(), &KeyProblem::Found(FoundInput::PemInJson));
    // An object without another mark is a JWK without its first member.
    let error = key_error(VerifyingKey::from_jwk("{\"a\":1}").unwrap_err());
    assert_eq!(error.to_string(), "key rejected: kty: missing");
    let error = key_error(KeySet::from_json("{\"a\":1}").unwrap_err());
    assert_eq!(error.to_string(), "key rejected: keys: missing");
}

#[test]
fn key_next_to_a_certificate_is_read() {
    let key = read("pkcs12/both.pem").unwrap();
    assert_eq!(key.half(), KeyHalf::Private);
    assert!(key.signing(SigAlg::RS256).is_ok());
    assert!(
        read("encrypted/parameters.pem")
            .unwrap()
            .signing(None)
            .is_ok()
    );
}

#[test]
fn encrypted_pkcs8_needs_the_password() {
    let plain = read("encrypted/plain.pem").unwrap().signing(None).unwrap();
    let read = |name: &str, password: &[u8]| {
        AnyKey::from_bytes_with_password(&bytes(name), password).map_err(key_error)
    };
    for name in ["encrypted/pbkdf2.pem", "encrypted/scrypt.pem"] {
        let key = read(name, b"password").unwrap().signing(None).unwrap();
        assert_eq!(
            key.verifying_key().thumbprint(),
            plain.verifying_key().thumbprint()
        );
        let error = read(name, b"Password").unwrap_err();
        assert_eq!(error.problem(), &KeyProblem::Decryption, "{name}");
        let error = read(name, &[b'x'; 1025]).unwrap_err();
        assert_eq!(error.problem(), &KeyProblem::TooLarge, "{name}");
    }
    // The padding is right by chance, and the rest is noise.
    let error = read("encrypted/pbkdf2.pem", b"w372").unwrap_err();
    assert_eq!(error.problem(), &KeyProblem::Decryption);
    assert_eq!(
        read("encrypted/pbes1.pem", b"password")
            .unwrap_err()
            .problem(),
        &KeyProblem::Unsupported
    );
    assert!(read("encrypted/plain.pem", b"password").is_ok());
}

/// The cost is checked before any work.
#[test]
fn encrypted_pkcs8_of_high_cost_is_rejected() {
    let costly = bytes("encrypted/costly.pem");
    let wide = Pkcs8Limits::new().pbkdf2_iterations(1_000_001);
    let key = AnyKey::from_bytes_with_password_within(&costly, b"another", &wide);
    let error = key_error(key.map(drop).unwrap_err());
    assert_eq!(error.problem(), &KeyProblem::Decryption);
    let error = AnyKey::from_bytes_with_password(&costly, b"password").unwrap_err();
    assert_eq!(
        error.to_string(),
        "key rejected: requires 1000001 PBKDF2 iterations, maximum 1000000"
    );
    let scrypt = text("encrypted/scrypt.pem");
    let body: String = scrypt
        .lines()
        .filter(|line| !line.starts_with('-'))
        .collect();
    let mut der = base64_simd::STANDARD.decode_to_vec(body).unwrap();
    // N = 16,384, r = 8, p = 1.
    let costs = [2, 2, 0x40, 0, 2, 1, 8, 2, 1, 1];
    let at = der
        .windows(costs.len())
        .position(|part| part == costs)
        .unwrap();
    der[at + 9] = 0x7f;
    let error = key_error(AnyKey::from_bytes_with_password(&der, b"x").unwrap_err());
    let costly = |asked_mib, limit_mib| KeyProblem::PasswordScrypt {
        asked_mib,
        limit_mib,
    };
    assert_eq!(error.problem(), &costly(16 * 127, 256));
    let tight = Pkcs8Limits::new().scrypt_memory_bytes(16 * 1024 * 1024 - 1);
    let file = bytes("encrypted/scrypt.pem");
    let key = AnyKey::from_bytes_with_password_within(&file, b"password", &tight);
    let error = key_error(key.map(drop).unwrap_err());
    assert_eq!(error.problem(), &costly(16, 15));
}

fn at_the_time_of_the_tokens() -> FixedClock {
    FixedClock(Timestamp::from_unix_seconds(1_795_656_378).unwrap())
}

/// What a verifier with this policy says about a token, at the time when it was made.
fn claims_verdict(policy: Policy, key: &str, token: &str) -> Option<Rejection> {
    let key = read(key).unwrap().verifying(None).unwrap();
    let verifier = JwtVerifier::new(key, policy).clock(at_the_time_of_the_tokens());
    let result = verifier.verify::<IgnoredAny>(text(token).trim());
    result.err().map(|error| error.rejection().unwrap().clone())
}

fn policy() -> Policy {
    Policy::new("https://id.example", "api")
}

/// AWS load balancers sign over padded parts. The signature is right, and the token is not a JWT (RFC 7515, section 2).
#[test]
fn token_with_padded_parts_is_rejected() {
    let key = read("aws-alb/pub.pem").unwrap().verifying(None).unwrap();
    let malformed = Rejection::Malformed(Part::Header);
    assert_eq!(rejection(&key, "aws-alb/alb"), malformed);
    let token = text("aws-alb/alb");
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let signature = base64_simd::URL_SAFE.decode_to_vec(signature.trim());
    let check =
        jeton::__private::check_signature(&key.into(), signed.as_bytes(), &signature.unwrap());
    assert_eq!(check, Some(jeton::__private::SignatureCheck::Valid));
}

#[test]
fn critical_extension_of_an_open_banking_token_is_named() {
    for key in ["crit-and-b64/p.pem", "crit-and-b64/p.jwk"] {
        let key = || read(key).unwrap().verifying(None).unwrap();
        let unknown = Rejection::CriticalExtension;
        assert_eq!(rejection(key(), "crit-and-b64/ob"), unknown);
        // RFC 7797, section 3: true is the default.
        assert_eq!(verdict(key(), "crit-and-b64/b64true"), Ok(()));
        assert_eq!(verdict(key(), "crit-and-b64/logout"), Ok(()));
    }
}

/// A logout token (OpenID Connect Back-Channel Logout, section 2.4) has its own type, and this one has no `exp`.
#[test]
fn logout_token_needs_its_type_and_no_expiry() {
    let verdict = |policy| claims_verdict(policy, "crit-and-b64/p.pem", "crit-and-b64/logout");
    assert_eq!(verdict(policy()), Some(Rejection::TypeMismatch));
    let logout = || policy().typ("logout+jwt");
    let no_expiry = Rejection::ClaimMissing(Claim::Expiry);
    assert_eq!(verdict(logout()), Some(no_expiry));
    assert_eq!(verdict(logout().without_expiry()), None);
}

/// RFC 7515, section 4.1.9.
#[test]
fn type_with_application_prefix_is_the_same_type() {
    let verdict = |policy, token| claims_verdict(policy, "typ-full/p.pem", token);
    for wanted in ["at+jwt", "application/at+jwt"] {
        for token in ["typ-full/full", "typ-full/short"] {
            assert_eq!(verdict(policy().typ(wanted), token), None, "{token}");
        }
        let bearer = verdict(policy().typ(wanted), "typ-full/bearer");
        assert_eq!(bearer, Some(Rejection::TypeMismatch));
    }
    for token in ["typ-full/full", "typ-full/short", "typ-full/bearer"] {
        let mismatch = Some(Rejection::TypeMismatch);
        assert_eq!(verdict(policy(), token), mismatch, "{token}");
    }
    assert_eq!(verdict(policy().typ("bearer"), "typ-full/bearer"), None);
}

/// The bytes of the text are the secret, without the end of the line.
#[test]
fn secret_in_a_file_is_used_as_its_bytes() {
    let (plain, encoded) = (text("secrets/secret.txt"), text("secrets/secret.b64"));
    let decoded = base64_simd::STANDARD.decode_to_vec(encoded.trim()).unwrap();
    for (secret, is_right) in [
        (plain.trim().as_bytes(), true),
        (&decoded, true),
        (encoded.trim().as_bytes(), false),
    ] {
        let key = MacKey::new(MacAlg::HS256, secret).unwrap();
        assert_eq!(verdict(&key, "secrets/tok").is_ok(), is_right);
    }
    let key = MacKey::new(MacAlg::HS256, plain.trim().as_bytes()).unwrap();
    assert_eq!(rejection(&key, "secrets/stok"), Rejection::Signature);
    // A secret has no mark, so it is not taken for a key of some form.
    for name in ["secrets/secret.txt", "secrets/secret.b64"] {
        let error = read(name).map(drop).unwrap_err();
        assert_eq!(error.problem(), &KeyProblem::Malformed, "{name}");
    }
}

/// RFC 9901: the JWT is the part before the first `~`.
#[test]
fn sd_jwt_is_no_jwt_but_its_first_part_is() {
    let key = || read("sd-jwt/p.pem").unwrap().verifying(None).unwrap();
    assert_eq!(verdict(key(), "sd-jwt/jwt"), Ok(()));
    let typ = || policy().typ("dc+sd-jwt");
    // This issuer sets no audience: the key binding has one.
    assert_eq!(claims_verdict(typ(), "sd-jwt/p.pem", "sd-jwt/jwt"), None);
    for name in ["sd-jwt/sd", "sd-jwt/kb"] {
        assert!(verdict(key(), name).is_err(), "{name}");
        let token = text(name);
        let (jwt, _) = token.split_once('~').unwrap();
        assert!(JwsVerifier::new(key()).verify(jwt).is_ok());
    }
}

/// Tokens are taken exactly as they are.
#[test]
fn pasted_text_around_a_token_is_rejected() {
    let key = || read("pasted/p.pem").unwrap().verifying(None).unwrap();
    let verifier = JwsVerifier::new(key());
    assert_eq!(verdict(key(), "pasted/tok"), Ok(()));
    for name in [
        "bearer", "comma", "cookie", "dots", "json", "nlnl", "query", "quotes", "two",
    ] {
        let pasted = text(&format!("pasted/{name}"));
        assert!(verifier.verify(&pasted).is_err(), "{name}");
        assert!(verifier.verify_json(&pasted).is_err(), "{name}");
    }
    let token = text("pasted/tok");
    let token = token.trim();
    for pasted in [
        format!("{token}\n"),
        format!(" {token}"),
        format!("{token}\r\n"),
    ] {
        assert!(verifier.verify(&pasted).is_err(), "{pasted:?}");
    }
}

#[test]
fn paserk_and_pem_of_one_key_are_the_same_key() {
    let paserk = text("paseto-paserk/pub");
    let key = PublicKey::from_paserk(paserk.trim()).unwrap();
    assert_eq!(Paserk::parse(paserk.trim()).unwrap().id(), key.id());
    let any = read("paseto-paserk/pub").unwrap();
    assert_eq!(any.format(), KeyFormat::Paserk);
    assert_eq!(any.half(), KeyHalf::Public);
    assert_eq!(any.text(), Some(paserk.trim()));
    let error = key_error(any.verifying(None).map(drop).unwrap_err());
    let found = KeyProblem::Found(FoundInput::Paserk);
    assert_eq!(error.problem(), &found);
    let pem = read("paseto-paserk/pub.pem").unwrap();
    let raw = &pem.der().unwrap()[12..];
    let encoded = base64_simd::URL_SAFE_NO_PAD.encode_to_string(raw);
    assert_eq!(paserk.trim(), format!("k4.public.{encoded}"));
    let another = text("paseto-paserk/p.paserk");
    assert_ne!(PublicKey::from_paserk(another.trim()).unwrap(), key);
}

#[test]
fn local_token_of_another_key_is_not_decrypted() {
    let key = LocalKey::generate().unwrap();
    let error = key.decrypt(text("paseto-paserk/local").trim(), b"");
    let rejection = error.map(drop).unwrap_err().rejection().cloned();
    assert_eq!(rejection, Some(Rejection::Decryption));
}

#[test]
fn certificate_key_is_taken_only_if_asked_for() {
    let text = text("pkcs12/both.pem");
    let private = AnyKey::from_bytes(text.as_bytes()).unwrap();
    let public = AnyKey::from_certificate(text.as_bytes()).unwrap();
    let of_private = private.public().unwrap().verifying(SigAlg::RS256).unwrap();
    let of_certificate = public.verifying(SigAlg::RS256).unwrap();
    assert_eq!(of_certificate.thumbprint(), of_private.thumbprint());
    let certificate = &text[text.find("-----BEGIN CERTIFICATE").unwrap()..];
    let end = "-----END CERTIFICATE-----";
    let certificate = &certificate[..certificate.find(end).unwrap() + end.len()];
    assert!(AnyKey::from_bytes(certificate.as_bytes()).is_err());
    assert!(AnyKey::from_certificate(certificate.as_bytes()).is_ok());
    // Every truncation and every changed byte of the DER is an error or a key, never a panic.
    let body: String = certificate
        .lines()
        .filter(|line| !line.contains("---"))
        .collect();
    let der = base64_simd::STANDARD.decode_to_vec(body).unwrap();
    assert!(AnyKey::from_certificate(&der).is_ok());
    for end in 0..der.len() {
        assert!(AnyKey::from_certificate(&der[..end]).is_err(), "{end}");
    }
    for at in 0..der.len() {
        let mut changed = der.clone();
        changed[at] ^= 0x55;
        let _ = AnyKey::from_certificate(&changed).map(|key| key.verifying(SigAlg::RS256));
    }
    for other in ["", "a", "pem-forms/one.pem", "pkcs12/a.pfx"] {
        let content = if other.contains('/') {
            bytes(other)
        } else {
            other.as_bytes().to_vec()
        };
        assert!(AnyKey::from_certificate(&content).is_err(), "{other}");
    }
}
