//! Keys and tokens as users have them: `vectors/inputs`.

use std::path::PathBuf;

use jeton::error::{FoundInput, KeyError, KeyProblem, Rejection};
use jeton::jwk::KeySet;
use jeton::key::{
    AnyKey, KeyFormat, KeyHalf, KeyManagementAlg, Keys, SigAlg, SigningKey, VerifyingKey,
};
use jeton::{Error, Limits, jws};

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
        KeyProblem::Found(found) => found,
        other => panic!("{name}: {other:?}"),
    }
}

fn verdict(keys: impl Into<Keys>, token: &str) -> jeton::Result<()> {
    let token = text(token);
    jws::Verifier::new(keys).verify(token.trim()).map(|_| ())
}

fn rejection(keys: impl Into<Keys>, token: &str) -> Rejection {
    verdict(keys, token).unwrap_err().rejection().unwrap()
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
    assert_eq!(error.problem(), KeyProblem::AlgorithmNeeded);
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
    assert_eq!(error.problem(), KeyProblem::PrimesMissing);
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
    assert!(set("leading-zero/numkid.json").is_err());
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
    let verifier = jws::Verifier::new(set()).limits(tight);
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
        "no `kid`, and 9 keys could have signed it; limit 8"
    );
    let token = text("many-keys/nokid");
    let wide = Limits::default().keys_tried(9);
    let verifier = jws::Verifier::new(nine()).limits(wide);
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
    let wide: Vec<u8> = pem.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (input, kind) in [
        (b" \n".to_vec(), FoundInput::Empty),
        (base64.into_bytes(), FoundInput::EncodedTwice),
        (wide, FoundInput::Utf16),
        (
            pem.replace('\n', "\\n").into_bytes(),
            FoundInput::EscapedLineEnds,
        ),
        (b"{\"jwks_uri\":\"\"}".to_vec(), FoundInput::IssuerMetadata),
        (b"{\"a\":1}".to_vec(), FoundInput::OtherJson),
        (b"[]".to_vec(), FoundInput::OtherJson),
    ] {
        let error = key_error(AnyKey::from_bytes(&input).unwrap_err());
        assert_eq!(error.problem(), KeyProblem::Found(kind));
    }
    let set = read("many-keys/nine.json").unwrap();
    let error = key_error(set.verifying(None).unwrap_err());
    let keys = KeyProblem::Found(FoundInput::JwkSet { keys: 9 });
    assert_eq!(error.problem(), keys);
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
        assert_eq!(error.problem(), KeyProblem::Decryption, "{name}");
        let error = read(name, &[b'x'; 1025]).unwrap_err();
        assert_eq!(error.problem(), KeyProblem::TooLarge, "{name}");
    }
    assert_eq!(
        read("encrypted/pbes1.pem", b"password")
            .unwrap_err()
            .problem(),
        KeyProblem::Unsupported
    );
    assert!(read("encrypted/plain.pem", b"password").is_ok());
}

/// The cost is checked before any work.
#[test]
fn encrypted_pkcs8_of_high_cost_is_rejected() {
    let costly = bytes("encrypted/costly.pem");
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
    let (asked_mib, limit_mib) = (16 * 127, 256);
    let costly = KeyProblem::PasswordScrypt {
        asked_mib,
        limit_mib,
    };
    assert_eq!(error.problem(), costly);
}
