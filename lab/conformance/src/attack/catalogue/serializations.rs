//! Headers of the JSON serializations: unprotected and duplicate members.

use serde_json::{Map, Value, json};

use super::{Attack, Family, JOSE};
use crate::attack::fixtures::Stage;
use crate::attack::fixtures::jwe::under_text;
use crate::attack::fixtures::jws::b64;
use crate::attack::trial::Trial;

const FAMILY: Family = Family::Encoding;

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY
        .attack(
            "json-unprotected-alg",
            "`alg` of a JWS, or `enc` of a JWE, in the unprotected header",
            "`alg` and `enc` are read only from the protected header",
            "RFC 7515 10.7; RFC 7516 11.1",
            |s| {
                let header = header(s);
                let name = if s.enc.is_empty() { "alg" } else { "enc" };
                let alone = Map::from_iter([(name.to_owned(), header[name].clone())]);
                let mut rest = header.clone();
                rest.remove(name);
                let all = json_forms(s, "nothing is protected", None, &header);
                let only = json_forms(s, &format!("`{name}` is not"), Some(&rest), &alone);
                [all, only].concat()
            },
        )
        .on(JOSE),
    FAMILY
        .attack(
            "json-member-in-two-headers",
            "a member in both the protected and the unprotected header",
            "a header member is in only one header",
            "RFC 7515 7.2.1; RFC 7516 7.2.1",
            |s| {
                let header = header(s);
                let values = [
                    ("the same `alg`", json!(s.alg)),
                    ("`alg` none", json!("none")),
                ];
                let forms = values.map(|(spelling, alg)| {
                    let second = Map::from_iter([("alg".to_owned(), alg)]);
                    json_forms(s, spelling, Some(&header), &second)
                });
                forms.concat()
            },
        )
        .on(JOSE),
];

/// Returns the members of the valid header.
fn header(stage: &Stage) -> Map<String, Value> {
    serde_json::from_str(&stage.header(&[])).unwrap_or_default()
}

/// Returns the valid claims in both JSON serializations under these two headers, in an authentic
/// token.
fn json_forms(
    stage: &Stage,
    spelling: &str,
    protected: Option<&Map<String, Value>>,
    unprotected: &Map<String, Value>,
) -> Vec<Trial> {
    let documents = if stage.enc.is_empty() {
        signed(stage, protected, unprotected)
    } else {
        encrypted(stage, protected, unprotected)
    };
    let forms = ["flattened", "general"].into_iter();
    let trials = forms.zip(documents.into_iter().flatten());
    trials
        .map(|(form, document)| {
            let spelling = format!("{spelling}, {form}");
            Trial::token(spelling, stage.valid(), document.to_string())
        })
        .collect()
}

fn encoded(protected: Option<&Map<String, Value>>) -> Option<String> {
    protected.map(|header| b64(Value::from(header.clone()).to_string()))
}

fn signed(
    stage: &Stage,
    protected: Option<&Map<String, Value>>,
    unprotected: &Map<String, Value>,
) -> Option<[Value; 2]> {
    let protected = encoded(protected);
    let payload = b64(stage.claims().to_string());
    let input = protected.as_deref().unwrap_or_default();
    let token = stage.raw()?.token(&stage.alg, input, &payload)?;
    let (_, signature) = token.rsplit_once('.')?;
    let mut one = json!({"header": unprotected, "signature": signature});
    if let Some(protected) = protected {
        one["protected"] = protected.into();
    }
    let general = json!({"payload": payload, "signatures": [one]});
    one["payload"] = payload.into();
    Some([one, general])
}

fn encrypted(
    stage: &Stage,
    protected: Option<&Map<String, Value>>,
    unprotected: &Map<String, Value>,
) -> Option<[Value; 2]> {
    let managed = stage.recipient()?.manage(&stage.alg, &stage.enc)?;
    let protected = encoded(protected);
    let aad = protected.as_deref().unwrap_or_default();
    let claims = stage.claims().to_string();
    let token = under_text(aad, &managed, &stage.enc, claims.as_bytes())?;
    let parts: Vec<&str> = token.split('.').collect();
    let [_, encrypted_key, iv, ciphertext, tag] = parts[..] else {
        return None;
    };
    let mut common = json!({
        "unprotected": unprotected, "iv": iv, "ciphertext": ciphertext, "tag": tag,
    });
    if let Some(protected) = &protected {
        common["protected"] = protected.as_str().into();
    }
    let mut own = Map::new();
    if !managed.header.is_empty() {
        own.insert("header".into(), managed.header.clone().into());
    }
    if !encrypted_key.is_empty() {
        own.insert("encrypted_key".into(), encrypted_key.into());
    }
    let mut general = common.clone();
    general["recipients"] = json!([own]);
    let flattened = common.as_object()?.clone().into_iter().chain(own);
    Some([Value::from_iter(flattened), general])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use jeton::danger;
    use jeton::error::{Part, Rejection};
    use jeton::jwe::Decrypter;
    use jeton::jwk::KeySet;
    use jeton::jws::JwsVerifier;
    use jeton::key::{ContentKey, DecryptionKeys};

    use super::*;
    use crate::attack::trial::Act;
    use jeton_lab_model::Format;

    /// Returns jeton's rejection of each token of an attack, and whether jeton accepts it where
    /// unprotected headers are allowed.
    fn rejections(stage: &Stage, id: &str) -> Vec<(Rejection, bool)> {
        let trials = Attack::named(id).unwrap().trials(stage);
        assert!(!trials.is_empty());
        let told = trials.iter().map(|trial| {
            let Act::Verify(token) = &trial.act else {
                panic!("expected a token");
            };
            let keys = stage.keys();
            let jwk = keys.private.or(keys.public).unwrap().to_string();
            let (plain, allowed) = if stage.format == Format::Jwe {
                let decrypter = || {
                    let keys = match stage.alg.as_str() {
                        "dir" => ContentKey::from_jwk_as(&jwk, stage.enc.parse().unwrap())
                            .map(DecryptionKeys::from),
                        _ => DecryptionKeys::from_jwk_set(&format!("{{\"keys\":[{jwk}]}}")),
                    };
                    Decrypter::new(keys.unwrap())
                };
                let allowed = danger::allow_unprotected_enc(decrypter());
                (
                    decrypter().decrypt_json(token).map(drop),
                    allowed.decrypt_json(token).map(drop),
                )
            } else {
                let set = || KeySet::from_json(&format!("{{\"keys\":[{jwk}]}}")).unwrap();
                let allowed = danger::allow_unprotected_alg(JwsVerifier::new(set()));
                (
                    JwsVerifier::new(set()).verify_json(token).map(drop),
                    allowed.verify_json(token).map(drop),
                )
            };
            (
                plain.unwrap_err().rejection().unwrap().clone(),
                allowed.is_ok(),
            )
        });
        told.collect()
    }

    fn stages() -> Vec<Stage> {
        let stage = |format, alg, enc| Stage::new(format, alg, enc, 1_800_000_000).unwrap();
        vec![
            stage(Format::Jwt, "HS256", ""),
            stage(Format::Jwt, "ES256", ""),
            stage(Format::Jwe, "dir", "A256GCM"),
            stage(Format::Jwe, "A256GCMKW", "A256GCM"),
            stage(Format::Jwe, "ECDH-ES", "A128CBC-HS256"),
        ]
    }

    #[test]
    fn json_unprotected_alg_has_only_this_fault() {
        for stage in stages() {
            let expected = match stage.format {
                Format::Jwe => Rejection::UnprotectedEnc,
                _ => Rejection::UnprotectedAlg,
            };
            for rejection in rejections(&stage, "json-unprotected-alg") {
                assert_eq!(rejection, (expected.clone(), true), "{}", stage.alg);
            }
        }
    }

    #[test]
    fn json_member_in_two_headers_is_always_rejected() {
        for stage in stages() {
            for rejection in rejections(&stage, "json-member-in-two-headers") {
                let expected = Rejection::DuplicateMember(Part::Header);
                assert_eq!(rejection, (expected, false), "{}", stage.alg);
            }
        }
    }
}
