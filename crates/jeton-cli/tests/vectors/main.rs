//! Runs the examples of the RFCs with the binary: RFC 7515 (appendix A), 7516 (appendix A), 7520 (sections 4, 5 and 6),
//! 7797 and 8037, each in every serialization of the RFC.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../it/binary.rs"]
#[allow(dead_code)]
mod binary;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use binary::{ends, jeton, succeeds, vector, vector_json};
use libtest_mimic::{Arguments, Trial};
use serde_json::Value;

/// The program that is tested.
const PROGRAM: &str = "jeton";

fn main() -> ExitCode {
    let mut trials = Vec::new();
    trials.extend(rfc7515());
    trials.extend(rfc7516());
    trials.extend(rfc7520_signed());
    trials.extend(rfc7520_encrypted());
    trials.extend(rfc7520_nested());
    trials.extend(rfc7797());
    trials.push(trial("RFC8037_EdDSA".to_owned(), |folder| {
        let example = vector_json("rfc8037/cookbook-jws.json");
        let key = public(folder, "key", &example["input"]["key"], "EdDSA");
        let payload = example["input"]["payload"].as_str().unwrap();
        for form in ["compact", "json", "json_flat"] {
            let token = text(&example["output"][form]);
            let call = ["jws", "verify", "--key", &key, "--alg", "EdDSA", "-"];
            assert_eq!(
                succeeds(folder, &call, token.as_bytes()),
                payload.as_bytes()
            );
        }
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial(name: String, run: impl FnOnce(&Path) + Send + 'static) -> Trial {
    Trial::test(name.replace(' ', "_"), move || {
        let folder = tempfile::tempdir()?;
        run(folder.path());
        Ok(())
    })
}

/// Writes a key and returns its name.
fn write(folder: &Path, name: &str, key: &Value) -> String {
    fs::write(folder.join(name), key.to_string()).unwrap();
    name.to_owned()
}

/// Writes the public key of a key pair, or a symmetric key unchanged.
fn public(folder: &Path, name: &str, key: &Value, alg: &str) -> String {
    let private = write(folder, &format!("{name}.private"), key);
    if key["kty"] == "oct" {
        return private;
    }
    let jwk = succeeds(folder, &["key", "public", &private, "--alg", alg], b"");
    fs::write(folder.join(name), jwk).unwrap();
    name.to_owned()
}

fn text(token: &Value) -> String {
    match token.as_str() {
        Some(compact) => compact.to_owned(),
        None => token.to_string(),
    }
}

fn decode(text: &Value) -> Vec<u8> {
    let text = text.as_str().unwrap();
    base64_simd::URL_SAFE_NO_PAD.decode_to_vec(text).unwrap()
}

fn rfc7515() -> Vec<Trial> {
    const CLAIMS: &str =
        "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}";
    let mut trials = Vec::new();
    for (section, alg, payload) in [
        ("A.1", "HS256", CLAIMS),
        ("A.2", "RS256", CLAIMS),
        ("A.3", "ES256", CLAIMS),
        ("A.4", "ES512", "Payload"),
    ] {
        trials.push(trial(format!("RFC7515 {section}"), move |folder| {
            let key = vector_json(&format!("rfc7515/rfc7515_{section}.jwk"));
            let key = public(folder, "key", &key, alg);
            let token = vector(&format!("rfc7515/rfc7515_{section}.jwsc"));
            let verify = ["jws", "verify", "--key", &key, "--alg", alg, "-"];
            let token = token.trim();
            assert_eq!(
                succeeds(folder, &verify, token.as_bytes()),
                payload.as_bytes()
            );
            let other = token.replacen('.', ".A", 1);
            ends(folder, &verify, other.as_bytes(), 1, "rejected: ");
        }));
    }
    for (section, alg) in [("A.1", "HS256"), ("A.2", "RS256")] {
        trials.push(trial(
            format!("RFC7515 {section} made again"),
            move |folder| {
                let key = write(
                    folder,
                    "key",
                    &vector_json(&format!("rfc7515/rfc7515_{section}.jwk")),
                );
                let sign = ["jws", "sign", "--key", &key, "--alg", alg, "-"];
                let token = succeeds(folder, &sign, CLAIMS.as_bytes());
                let again = vector(&format!("rfc7515/rfc7515_{section}.jwsc"));
                // A.1 has a typ and a line break in its header.
                if section == "A.2" {
                    assert_eq!(String::from_utf8(token).unwrap().trim(), again.trim());
                } else {
                    let verify = ["jws", "verify", "--key", &key, "--alg", alg, "-"];
                    assert_eq!(succeeds(folder, &verify, &token), CLAIMS.as_bytes());
                }
            },
        ));
    }
    trials.push(trial("RFC7515 A.5 none".to_owned(), |folder| {
        let key = write(folder, "key", &vector_json("rfc7515/rfc7515_A.1.jwk"));
        let token = vector("rfc7515/rfc7515_A.5.jwsc");
        let call = ["jws", "verify", "--key", &key, "--alg", "HS256", "-"];
        ends(folder, &call, token.as_bytes(), 1, "rejected: ");
    }));
    for (file, key, alg, index) in [
        ("A.6.jwsg", "A.6.1", "RS256", 0),
        ("A.6.jwsg", "A.6.2", "ES256", 1),
        ("A.7.jwsf", "A.7", "ES256", 0),
    ] {
        trials.push(trial(format!("RFC7515 {file} by {key}"), move |folder| {
            let key = vector_json(&format!("rfc7515/rfc7515_{key}.jwk"));
            let key = public(folder, "key", &key, alg);
            let token = vector(&format!("rfc7515/rfc7515_{file}"));
            let call = ["jws", "verify", "--key", &key, "--alg", alg, "-"];
            assert_eq!(succeeds(folder, &call, token.as_bytes()), CLAIMS.as_bytes());
            let call = ["jws", "verify", "--json", "--key", &key, "--alg", alg, "-"];
            let verdict: Value =
                serde_json::from_slice(&succeeds(folder, &call, token.as_bytes())).unwrap();
            assert_eq!(verdict["valid"], true);
            assert_eq!(verdict["signature_index"], index);
            assert_eq!(verdict["alg"], alg);
            assert_eq!(verdict["header"]["alg"], alg);
            assert_eq!(verdict["kid"], verdict["unprotected"]["kid"]);
            assert_eq!(decode(&verdict["payload"]), CLAIMS.as_bytes());
        }));
    }
    trials
}

fn rfc7516() -> Vec<Trial> {
    let vectors = vector_json("rfc7516/appendix-a.json");
    let tests = vectors["tests"].as_array().unwrap().clone();
    let mut trials = Vec::new();
    for test in tests {
        let name = test["name"].as_str().unwrap().to_owned();
        let (token, keys) = ["compact", "general_json", "flattened_json"]
            .iter()
            .find_map(|form| test.get(form))
            .map(|token| match test.get("jwk") {
                Some(key) => (token, vec![key.clone()]),
                None => (token, test["jwks"].as_array().unwrap().clone()),
            })
            .unwrap();
        let algs: &[&str] = match name.as_str() {
            "RFC7516 A.1" => &["RSA-OAEP"],
            "RFC7516 A.2" => &["RSA1_5"],
            "RFC7516 A.3" | "RFC7516 A.5" => &["A128KW"],
            "RFC7516 A.4" => &["RSA1_5", "A128KW"],
            other => panic!("{other}: unknown"),
        };
        for (index, alg) in algs.iter().enumerate() {
            let key = keys
                .iter()
                .find(|key| (key["kty"] == "RSA") == alg.starts_with("RSA"));
            let (key, token) = (key.unwrap().clone(), text(token));
            let plaintext = decode(&test["plaintext_b64u"]);
            trials.push(trial(format!("{name} recipient {index}"), move |folder| {
                let key = write(folder, "key", &key);
                let call = ["jwe", "decrypt", "--key", &key, "--alg", alg];
                let call = match *alg {
                    "RSA1_5" => {
                        let option = "requires --allow rsa1_5";
                        ends(
                            folder,
                            &[&call[..], &["-"]].concat(),
                            token.as_bytes(),
                            2,
                            option,
                        );
                        [&call[..], &["--allow", "rsa1_5", "-"]].concat()
                    }
                    _ => [&call[..], &["-"]].concat(),
                };
                assert_eq!(succeeds(folder, &call, token.as_bytes()), plaintext);
                let call = [&["jwe", "decrypt", "--json"], &call[2..]].concat();
                let verdict: Value =
                    serde_json::from_slice(&succeeds(folder, &call, token.as_bytes())).unwrap();
                assert_eq!(verdict["recipient_index"], index);
                assert_eq!(verdict["alg"], *alg);
                assert_eq!(decode(&verdict["plaintext"]), plaintext);
            }));
        }
    }
    trials
}

/// Returns the keys and algorithms of a vector, in the order of its signatures or recipients.
fn pairs(input: &Value) -> Vec<(Value, String)> {
    let (keys, algs) = (&input["key"], &input["alg"]);
    match (keys.as_array(), algs.as_array()) {
        (Some(keys), Some(algs)) => {
            let names = algs.iter().map(|alg| alg.as_str().unwrap().to_owned());
            keys.iter().cloned().zip(names).collect()
        }
        _ => vec![(keys.clone(), algs.as_str().unwrap().to_owned())],
    }
}

fn rfc7520_signed() -> Vec<Trial> {
    let mut trials = Vec::new();
    for file in [
        "4_1.rsa_v15_signature",
        "4_2.rsa-pss_signature",
        "4_3.ecdsa_signature",
        "4_4.hmac-sha2_integrity_protection",
        "4_5.signature_with_detached_content",
        "4_6.protecting_specific_header_fields",
        "4_7.protecting_content_only",
        "4_8.multiple_signatures",
    ] {
        let vector = vector_json(&format!("rfc7520/{file}.json"));
        for form in ["compact", "json", "json_flat"] {
            let Some(token) = vector["output"].get(form).map(text) else {
                continue;
            };
            for (index, (key, alg)) in pairs(&vector["input"]).into_iter().enumerate() {
                let token = token.clone();
                let payload = vector["input"]["payload"].as_str().unwrap().to_owned();
                trials.push(trial(
                    format!("RFC7520 {file} {form} {index}"),
                    move |folder| {
                        let kid = key["kid"].clone();
                        let key = public(folder, "key", &key, &alg);
                        fs::write(folder.join("payload"), &payload).unwrap();
                        let verify = ["jws", "verify", "--key", &key, "--alg", &alg];
                        let detached: &[&str] = if file.contains("detached") {
                            &["--detached", "@payload"]
                        } else {
                            &[]
                        };
                        if !detached.is_empty() {
                            let call = [&verify[..], &["-"]].concat();
                            ends(folder, &call, token.as_bytes(), 1, "rejected: ");
                        }
                        let allow: &[&str] = match (file, index) {
                            ("4_7.protecting_content_only", _) | ("4_8.multiple_signatures", 1) => {
                                let call = [&verify[..], &["-"]].concat();
                                ends(folder, &call, token.as_bytes(), 1, "rejected: ");
                                &["--allow", "unprotected-alg"]
                            }
                            _ => &[],
                        };
                        let verify = [&verify[..], allow].concat();
                        let call = [&verify[..], detached, &["-"]].concat();
                        assert_eq!(
                            succeeds(folder, &call, token.as_bytes()),
                            payload.as_bytes()
                        );
                        let call = [&verify[..], detached, &["--json", "-"]].concat();
                        let verdict: Value =
                            serde_json::from_slice(&succeeds(folder, &call, token.as_bytes()))
                                .unwrap();
                        assert_eq!(verdict["signature_index"], index);
                        assert_eq!(verdict["alg"], alg);
                        // The second signature of 4.8 has no kid.
                        if index != 1 {
                            assert_eq!(verdict["kid"], kid);
                        }
                    },
                ));
            }
        }
    }
    for file in [
        "4_1.rsa_v15_signature",
        "4_4.hmac-sha2_integrity_protection",
    ] {
        trials.push(trial(format!("RFC7520 {file} made again"), move |folder| {
            let vector = vector_json(&format!("rfc7520/{file}.json"));
            let (key, alg) = pairs(&vector["input"]).remove(0);
            let key = write(folder, "key", &key);
            let payload = vector["input"]["payload"].as_str().unwrap();
            for (form, said) in [
                ("compact", "compact"),
                ("flattened", "json_flat"),
                ("general", "json"),
            ] {
                let sign = [
                    "jws",
                    "sign",
                    "--key",
                    &key,
                    "--alg",
                    &alg,
                    "--serialization",
                    form,
                    "-",
                ];
                let token = succeeds(folder, &sign, payload.as_bytes());
                let token = String::from_utf8(token).unwrap();
                let token: Value = match form {
                    "compact" => token.trim().into(),
                    _ => serde_json::from_str(&token).unwrap(),
                };
                assert_eq!(token, vector["output"][said], "{form}");
            }
        }));
    }
    trials
}

fn rfc7520_encrypted() -> Vec<Trial> {
    let mut trials = Vec::new();
    for file in [
        "5_1.key_encryption_using_rsa_v15_and_aes-hmac-sha2",
        "5_2.key_encryption_using_rsa-oaep_with_aes-gcm",
        "5_3.key_wrap_using_pbes2-aes-keywrap_with-aes-cbc-hmac-sha2",
        "5_4.key_agreement_with_key_wrapping_using_ecdh-es_and_aes-keywrap_with_aes-gcm",
        "5_5.key_agreement_using_ecdh-es_with_aes-cbc-hmac-sha2",
        "5_6.direct_encryption_using_aes-gcm",
        "5_7.key_wrap_using_aes-gcm_keywrap_with_aes-cbc-hmac-sha2",
        "5_8.key_wrap_using_aes-keywrap_with_aes-gcm",
        "5_9.compressed_content",
        "5_10.including_additional_authentication_data",
        "5_11.protecting_specific_header_fields",
        "5_12.protecting_content_only",
        "5_13.encrypting_to_multiple_recipients",
        "curve25519_ecdh-es",
    ] {
        let vector = vector_json(&format!("rfc7520-jwe/{file}.json"));
        for form in ["compact", "json", "json_flat"] {
            let Some(token) = vector["output"].get(form).map(text) else {
                continue;
            };
            for (index, (key, alg)) in pairs(&vector["input"]).into_iter().enumerate() {
                let (token, input) = (token.clone(), vector["input"].clone());
                trials.push(trial(
                    format!("RFC7520 {file} {form} {index}"),
                    move |folder| {
                        decrypt(folder, &input, &key, &alg, index, &token);
                    },
                ));
            }
        }
    }
    trials
}

fn decrypt(folder: &Path, input: &Value, key: &Value, alg: &str, index: usize, token: &str) {
    let mut call = vec!["jwe", "decrypt"];
    match input.get("pwd") {
        Some(password) => {
            fs::write(folder.join("password"), password.as_str().unwrap()).unwrap();
            call.extend(["--password-file", "password"]);
        }
        None => {
            write(folder, "key", key);
            call.extend(["--key", "key"]);
        }
    }
    call.extend(["--alg", alg]);
    let shut = |call: &[&str], code, said: &str| {
        ends(
            folder,
            &[call, &["-"]].concat(),
            token.as_bytes(),
            code,
            said,
        );
    };
    if input.get("pwd").is_some() {
        shut(&call, 2, "--allow pbes2");
        call.extend(["--allow", "pbes2"]);
    }
    if alg == "RSA1_5" {
        shut(&call, 2, "--allow rsa1_5");
        call.extend(["--allow", "rsa1_5"]);
    }
    let is_unprotected =
        serde_json::from_str::<Value>(token).is_ok_and(|token| token.get("protected").is_none());
    if is_unprotected {
        shut(&call, 1, "--allow unprotected-alg");
        call.extend(["--allow", "unprotected-alg"]);
    }
    if input["zip"] == "DEF" {
        shut(&call, 1, "--allow zip");
        call.extend(["--allow", "zip"]);
    }
    call.extend(["--json", "-"]);
    let verdict: Value =
        serde_json::from_slice(&succeeds(folder, &call, token.as_bytes())).unwrap();
    let plaintext = input["plaintext"].as_str().unwrap().as_bytes();
    assert_eq!(decode(&verdict["plaintext"]), plaintext);
    assert_eq!(verdict["recipient_index"], index);
    assert_eq!(verdict["alg"], alg);
    // The file of 5.13 misspells enc in its input; its token is correct.
    match input["enc"].as_str() {
        Some("A128CBC-H256") => assert_eq!(verdict["enc"], "A128CBC-HS256"),
        _ => assert_eq!(verdict["enc"], input["enc"]),
    }
    if let Some(aad) = input["aad"].as_str() {
        assert_eq!(decode(&verdict["aad"]), aad.as_bytes());
    }
    call.retain(|argument| *argument != "--json");
    let output = jeton(folder, &call, token.as_bytes());
    assert_eq!(output.stdout, plaintext);
    // Each --allow prints a note.
    let allowed = call
        .iter()
        .filter(|argument| **argument == "--allow")
        .count();
    let diagnostics = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        diagnostics.matches("note: ").count(),
        allowed,
        "{diagnostics}"
    );
}

fn rfc7520_nested() -> Vec<Trial> {
    let vector = vector_json("rfc7520-jwe/6.nesting_signatures_and_encryption.json");
    vec![trial("RFC7520 6 nested".to_owned(), move |folder| {
        let author = public(folder, "author", &vector["sign"]["input"]["key"], "PS256");
        let reader = write(folder, "reader", &vector["encrypt"]["input"]["key"]);
        let token = vector["encrypt"]["output"]["compact"].as_str().unwrap();
        let verify = [
            "jwt",
            "verify",
            "--key",
            &author,
            "--alg",
            "PS256",
            "--at",
            "1300819379",
            "--issuer",
            "hobbiton.example",
        ];
        let call = [&verify[..], &["--decrypt-key", &reader, "-"]].concat();
        let claims: Value =
            serde_json::from_slice(&succeeds(folder, &call, token.as_bytes())).unwrap();
        assert_eq!(claims["iss"], "hobbiton.example");
        // Neither layer alone verifies.
        let signed = vector["sign"]["output"]["compact"].as_str().unwrap();
        ends(folder, &call, signed.as_bytes(), 1, "rejected: ");
        let call = [&verify[..], &["-"]].concat();
        ends(folder, &call, token.as_bytes(), 1, "--decrypt-key");
        let call = ["jwe", "decrypt", "--key", &reader, "-"];
        assert_eq!(succeeds(folder, &call, token.as_bytes()), signed.as_bytes());
    })]
}

fn rfc7797() -> Vec<Trial> {
    let file = vector_json("rfc7797/jws_rfc7797.json");
    let mut trials = Vec::new();
    for test in file["tests"].as_array().unwrap() {
        let (test, shared) = (test.clone(), file["payload"].clone());
        let name = test["name"].as_str().unwrap().to_owned();
        trials.push(trial(format!("RFC7797 {name}"), move |folder| {
            let payload = test.get("payload").unwrap_or(&shared).as_str().unwrap();
            let compact = test["compact"].as_str().unwrap();
            fs::write(folder.join("key"), vector("rfc7515/rfc7515_A.1.jwk")).unwrap();
            fs::write(folder.join("payload"), payload).unwrap();
            let detached = compact.contains("..");
            let verify = ["jws", "verify", "--key", "key", "--alg", "HS256"];
            let call = if detached {
                [&verify[..], &["--detached", "@payload", "-"]].concat()
            } else {
                [&verify[..], &["-"]].concat()
            };
            assert_eq!(
                succeeds(folder, &call, compact.as_bytes()),
                payload.as_bytes()
            );
            let flattened = test["flattened_json"].to_string();
            let call = [&verify[..], &["-"]].concat();
            assert_eq!(
                succeeds(folder, &call, flattened.as_bytes()),
                payload.as_bytes()
            );
            // jeton writes b64 only if it is false.
            if test["protected"]["b64"] == true {
                return;
            }
            let mut sign = vec!["jws", "sign", "--key", "key", "--alg", "HS256"];
            if test["protected"]["b64"] == false {
                sign.push("--b64-false");
            }
            if detached {
                sign.push("--detached");
            }
            sign.push("@payload");
            let token = String::from_utf8(succeeds(folder, &sign, b"")).unwrap();
            assert_eq!(token.trim_end(), compact);
        }));
    }
    trials
}
