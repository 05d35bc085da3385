//! Checks that every driver does what it offers and rejects what it must. For the tests of drivers.
//! It speaks the protocol with the driver, as the lab does, and uses keys printed in RFCs.

use crate::serve::serve_on;
use crate::{Driver, KeyForm, KeyHandling, Offer, Operation};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// The years 2100 and 2000, as numbers for JOSE and as text for PASETO.
const LATER: (i64, &str) = (4_102_444_800, "2100-01-01T00:00:00Z");
const EARLIER: (i64, &str) = (946_684_800, "2000-01-01T00:00:00Z");

/// Returns everything that a driver does wrong, one sentence each. An algorithm without a key
/// printed in an RFC is skipped.
#[must_use]
pub fn faults<D: Driver>() -> Vec<String> {
    let mut faults = Vec::new();
    for offer in D::OFFERS {
        for alg in one_or_none(offer.algs) {
            for enc in one_or_none(offer.encs) {
                let subject = Subject { offer, alg, enc };
                if let Some(keys) = subject.keys() {
                    let name = format!("{} {} {}", offer.format, or_empty(alg), or_empty(enc));
                    let found = subject.faults::<D>(&keys);
                    faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
                }
            }
        }
    }
    faults
}

struct Subject {
    offer: &'static Offer,
    alg: Option<&'static str>,
    enc: Option<&'static str>,
}

impl Subject {
    fn faults<D: Driver>(&self, keys: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        for (sign, check) in [("sign", "verify"), ("encrypt", "decrypt")] {
            if self.offers(sign) {
                faults.extend(self.tokens::<D>(keys, sign, check).err());
            }
        }
        for handling in self.offer.key_handling {
            faults.extend(self.round_trip::<D>(keys, *handling).err());
        }
        faults.extend(self.signature::<D>(keys).err());
        faults.extend(self.made_keys::<D>(keys).err());
        faults
    }

    fn tokens<D: Driver>(&self, keys: &Value, sign: &str, check: &str) -> Result<(), String> {
        for handling in self.offer.key_handling {
            for name in ["standard", "other"] {
                let mut claims = self.claims();
                if name == "other" {
                    claims["deep"] = json!({"numbers": [7]});
                }
                let preparing = self.prepare(sign, json!(handling), keys, name, &claims, &[]);
                let token = token_of::<D>(&preparing)?;
                let tokens = [token.as_str()];
                let checking = self.prepare(check, json!(handling), keys, name, &claims, &tokens);
                let seen = verify::<D>(&checking, &token)?;
                if seen["accepted"] != true || seen["claims"] != claims {
                    return Err(format!("answered {seen} for its own token"));
                }
                if run::<D>(&checking, 3, 2)? != 6 * u64::from(b'F') {
                    return Err(format!("the checksum of {check} is wrong"));
                }
                if *handling == KeyHandling::Prepared {
                    self.rejections::<D>(keys, sign, &checking, &token)?;
                }
            }
        }
        Ok(())
    }

    fn rejections<D: Driver>(
        &self,
        keys: &Value,
        sign: &str,
        checking: &Value,
        token: &str,
    ) -> Result<(), String> {
        for (what, forged) in self.negative_controls(token) {
            if verify::<D>(checking, &forged)?["accepted"] != false {
                return Err(format!("accepts {what}"));
            }
        }
        for (claim, value) in [
            ("exp", self.time(EARLIER)),
            ("exp", Value::Null),
            ("nbf", self.time(LATER)),
            ("iss", json!("https://impostor.example")),
            ("iss", Value::Null),
            ("aud", self.audience("elsewhere")),
            ("aud", Value::Null),
        ] {
            let mut claims = self.claims();
            claims[claim] = value.clone();
            if let Some(members) = claims.as_object_mut().filter(|_| value.is_null()) {
                members.remove(claim);
            }
            let wrong = self.prepare(sign, json!("prepared"), keys, "other", &claims, &[]);
            if verify::<D>(checking, &token_of::<D>(&wrong)?)?["accepted"] != false {
                return Err(format!("accepts {claim} = {value}"));
            }
        }
        Ok(())
    }

    /// Returns tokens that were changed or made without the key.
    fn negative_controls(&self, token: &str) -> Vec<(String, String)> {
        let mut forged: Vec<(String, String)> = ["", ".", "..", "....", &token[..token.len() - 9]]
            .map(|text| (format!("{text:?}"), text.to_owned()))
            .to_vec();
        let parts: Vec<&str> = token.split('.').collect();
        for (i, part) in parts
            .iter()
            .enumerate()
            .filter(|(_, part)| !part.is_empty())
        {
            let middle = part.len() / 2;
            let other = if part.as_bytes()[middle] == b'A' {
                "B"
            } else {
                "A"
            };
            let changed = [&part[..middle], other, &part[middle + 1..]].concat();
            let mut parts = parts.clone();
            parts[i] = &changed;
            forged.push((format!("part {i} changed"), parts.join(".")));
        }
        let payload = URL_SAFE_NO_PAD.encode(self.claims().to_string());
        for none in ["none", "None", "NONE"] {
            let header = URL_SAFE_NO_PAD.encode(json!({"alg": none}).to_string());
            forged.push((format!("alg {none}"), format!("{header}.{payload}.")));
        }
        forged
    }

    fn round_trip<D: Driver>(&self, keys: &Value, handling: KeyHandling) -> Result<(), String> {
        if !self.offers("round-trip") {
            return Ok(());
        }
        let claims = self.claims();
        let trip = self.prepare(
            "round-trip",
            json!(handling),
            keys,
            "standard",
            &claims,
            &[],
        );
        let length = token_of::<D>(&trip)?.len() as u64;
        let sum = run::<D>(&trip, 1, 1)?;
        // The last byte of a fresh token can be any base64url character.
        let last = sum.wrapping_sub(length + u64::from(b'F'));
        match (u64::from(b'-')..=u64::from(b'z')).contains(&last) {
            true => Ok(()),
            false => Err(format!("the checksum of round-trip is {sum}")),
        }
    }

    fn signature<D: Driver>(&self, keys: &Value) -> Result<(), String> {
        if !self.offers("verify-signature") {
            return Ok(());
        }
        let claims = self.claims();
        let prepared = json!("prepared");
        let token =
            token_of::<D>(&self.prepare("sign", prepared.clone(), keys, "standard", &claims, &[]))?;
        let tokens = [token.as_str()];
        let check = self.prepare(
            "verify-signature",
            prepared,
            keys,
            "standard",
            &claims,
            &tokens,
        );
        if verify::<D>(&check, &token)?["accepted"] != true || run::<D>(&check, 3, 2)? != 6 {
            return Err(
                "verify-signature rejects its own token, or its checksum is wrong".to_owned(),
            );
        }
        for (what, forged) in self.negative_controls(&token) {
            if verify::<D>(&check, &forged)?["accepted"] != false {
                return Err(format!("verify-signature accepts {what}"));
            }
        }
        Ok(())
    }

    fn made_keys<D: Driver>(&self, keys: &Value) -> Result<(), String> {
        // Only the key of `dir` depends on the content encryption. RSA operations are slow, so one
        // is enough.
        if !matches!(
            (self.alg, self.enc),
            (Some("dir"), _) | (_, None | Some("A256GCM"))
        ) {
            return Ok(());
        }
        let claims = self.claims();
        if self.offers("generate-key") {
            let make = self.prepare(
                "generate-key",
                json!("prepared"),
                keys,
                "standard",
                &claims,
                &[],
            );
            if run::<D>(&make, 1, 2)? != 2 {
                return Err("the checksum of generate-key is wrong".to_owned());
            }
        }
        // The RFCs printed no PEM of these keys.
        for form in self
            .offer
            .key_text
            .iter()
            .filter(|form| **form != KeyForm::Pem)
        {
            let mut load = self.prepare("load-key", json!(form), keys, "standard", &claims, &[]);
            let (private, public) = match form {
                KeyForm::Paserk => {
                    let paserk = &keys["paserk"];
                    match &paserk["local"] {
                        Value::Null => (paserk["secret"].clone(), paserk["public"].clone()),
                        local => (local.clone(), Value::Null),
                    }
                }
                _ => (as_text(&keys["private"]), as_text(&keys["public"])),
            };
            load["key_text"] = json!({"form": form, "private": private, "public": public});
            if run::<D>(&load, 3, 1)? != 3 {
                return Err("the checksum of load-key is wrong".to_owned());
            }
        }
        Ok(())
    }

    fn offers(&self, operation: &str) -> bool {
        let offered = |one: &Operation| json!(one) == operation;
        self.offer.operations.iter().any(offered)
    }

    fn is_paseto(&self) -> bool {
        self.offer.format.starts_with('v')
    }

    fn claims(&self) -> Value {
        json!({
            "iss": "https://issuer.example", "sub": "user", "aud": self.audience("api"),
            "exp": self.time(LATER), "iat": self.time(EARLIER), "jti": "0123456789abcdeF",
            "name": "John", "admin": true,
        })
    }

    fn audience(&self, one: &str) -> Value {
        if self.is_paseto() {
            json!(one)
        } else {
            json!([one])
        }
    }

    fn time(&self, (number, text): (i64, &str)) -> Value {
        if self.is_paseto() {
            json!(text)
        } else {
            json!(number)
        }
    }

    fn prepare(
        &self,
        operation: &str,
        handling: Value,
        keys: &Value,
        name: &str,
        claims: &Value,
        tokens: &[&str],
    ) -> Value {
        json!({
            "op": "prepare", "contract": operation, "format": self.offer.format,
            "alg": self.alg, "enc": self.enc, "key_handling": handling, "keys": keys,
            "claims": {"name": name, "values": [claims]},
            "policy": {"issuer": "https://issuer.example", "audience": "api"}, "tokens": tokens,
        })
    }

    /// Returns the keys for a `prepare` request, if there are any for this algorithm.
    fn keys(&self) -> Option<Value> {
        let Some(alg) = self.alg else {
            return Some(paserk(self.offer.format));
        };
        let secret = |bytes: usize| {
            let k = URL_SAFE_NO_PAD.encode(vec![7; bytes]);
            Some(json!({"private": {"kty": "oct", "alg": alg, "k": k}, "public": null}))
        };
        let digits = |name: &str| {
            name.trim_start_matches(['H', 'S', 'A'])[..3]
                .parse::<usize>()
                .ok()
        };
        match (alg, &alg[..2]) {
            ("dir", _) => {
                let enc = self.enc?;
                let halves = if enc.contains("CBC") { 2 } else { 1 };
                secret(digits(enc)? / 8 * halves)
            }
            (_, "HS" | "A1" | "A2") => secret(digits(alg)? / 8),
            (_, "RS" | "PS") => Some(pair(include_str!(
                "../../../../vectors/rfc7515/rfc7515_A.2.jwk"
            ))),
            ("ES256", _) | (_, "EC") => Some(pair(include_str!(
                "../../../../vectors/rfc7515/rfc7515_A.3.jwk"
            ))),
            ("ES512", _) => Some(pair(include_str!(
                "../../../../vectors/rfc7515/rfc7515_A.4.jwk"
            ))),
            ("EdDSA", _) => Some(pair(ED25519)),
            ("ML-DSA-44", _) => Some(ml_dsa(include_str!(
                "../../../../vectors/ml-dsa-jose/ML_DSA_44.jose.json"
            ))),
            ("ML-DSA-65", _) => Some(ml_dsa(include_str!(
                "../../../../vectors/ml-dsa-jose/ML_DSA_65.jose.json"
            ))),
            ("ML-DSA-87", _) => Some(ml_dsa(include_str!(
                "../../../../vectors/ml-dsa-jose/ML_DSA_87.jose.json"
            ))),
            _ => None,
        }
    }
}

/// RFC 8037, appendix A.1.
const ED25519: &str = r#"{"kty":"OKP","crv":"Ed25519",
    "d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
    "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

/// The PASETO test vector 3-S-1, whose key is hexadecimal text.
const P384_SECRET: &str = "20347609607477aca8fbfbc5e6218455f3199669792ef8b466faa87bdc67798144c848dd03661eed5ac62461340cea96";
const P384_PUBLIC: &str = "02fbcb7c69ee1c60579be7a334134878d9c5c5bf35d552dab63c0140397ed14cef637d7720925c44699ea30e72874c72fb";

fn pair(private: &str) -> Value {
    let private: Value = serde_json::from_str(private).unwrap_or_default();
    let mut public = private.clone();
    if let Some(members) = public.as_object_mut() {
        for secret in ["d", "p", "q", "dp", "dq", "qi", "priv"] {
            members.remove(secret);
        }
    }
    json!({"private": private, "public": public})
}

/// The pair of an example of RFC 9964.
fn ml_dsa(example: &str) -> Value {
    let example: Value = serde_json::from_str(example).unwrap_or_default();
    pair(&example["jwk"].to_string())
}

fn paserk(format: &str) -> Value {
    let version = &format[1..2];
    let key = |kind: &str, bytes: &[u8]| {
        let text = URL_SAFE_NO_PAD.encode(bytes);
        format!("k{version}.{kind}.{text}")
    };
    if format.ends_with(".local") {
        return json!({"paserk": {"local": key("local", &[7; 32])}});
    }
    let (secret, public) = if version == "3" {
        (unhex(P384_SECRET), unhex(P384_PUBLIC))
    } else {
        let jwk = pair(ED25519);
        let member = |name: &str| {
            let text = jwk["private"][name].as_str().unwrap_or_default();
            URL_SAFE_NO_PAD.decode(text).unwrap_or_default()
        };
        ([member("d"), member("x")].concat(), member("x"))
    };
    json!({"paserk": {"secret": key("secret", &secret), "public": key("public", &public)}})
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = (0..text.len()).step_by(2);
    digits
        .filter_map(|i| u8::from_str_radix(&text[i..i + 2], 16).ok())
        .collect()
}

fn token_of<D: Driver>(prepare: &Value) -> Result<String, String> {
    let answer = ask::<D>(prepare, json!({"op": "token", "index": 0}))?;
    Ok(answer["token"].as_str().unwrap_or_default().to_owned())
}

fn verify<D: Driver>(prepare: &Value, token: &str) -> Result<Value, String> {
    ask::<D>(prepare, json!({"op": "verify", "token": token}))
}

fn run<D: Driver>(prepare: &Value, iterations: u64, threads: u64) -> Result<u64, String> {
    let run = json!({"op": "run", "iterations": iterations, "threads": threads});
    let answer = ask::<D>(prepare, run)?;
    answer["checksum"]
        .as_u64()
        .ok_or_else(|| format!("answered {answer}"))
}

/// Sends `prepare` and one request in a new session. Both answers must be ok.
fn ask<D: Driver>(prepare: &Value, request: Value) -> Result<Value, String> {
    let lines = format!("{prepare}\n{request}\n");
    let mut output = Vec::new();
    serve_on::<D>(&mut lines.as_bytes(), &mut output).map_err(|error| error.to_string())?;
    let mut last = Value::Null;
    for line in output
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        last = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        if last["ok"] != true {
            let of = &prepare["contract"];
            return Err(format!("{of} answered {last}"));
        }
    }
    Ok(last)
}

fn as_text(jwk: &Value) -> Value {
    if jwk.is_null() {
        Value::Null
    } else {
        json!(jwk.to_string())
    }
}

fn one_or_none(names: &'static [&'static str]) -> Vec<Option<&'static str>> {
    match names {
        [] => vec![None],
        names => names.iter().copied().map(Some).collect(),
    }
}

fn or_empty(name: Option<&'static str>) -> &'static str {
    name.unwrap_or_default()
}
