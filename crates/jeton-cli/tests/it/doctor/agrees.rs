//! Checks that `jeton doctor` reports an error if and only if the command for the token rejects it.
//!
//! The commands are `jwt verify`, `paseto verify`, `paseto decrypt`, and `jwe decrypt` if there is only a decryption
//! key. The inputs are `vectors/inputs`, tokens and keys of every kind, the vectors of RFCs and of Wycheproof, attacks,
//! tokens that libraries treat differently, randomly changed tokens, and random claims with random policies.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use base64_simd::URL_SAFE_NO_PAD;
use jeton::danger::RawHeaderSigner;
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};
use jeton::paseto::{TokenContext, v4};
use jeton_testkit::{is_sampled, is_whole};
use serde_json::Value;

use crate::binary::{jeton, vector, vector_json};

/// Of so many calls, one is made, unless the tests run whole. No list below makes a multiple of it for each token, so that
/// every key and option has its turn.
const ONE_IN: usize = 11;

/// A folder for both commands, and the number of calls and of accepted tokens.
struct Bench {
    folder: tempfile::TempDir,
    accepted: Cell<usize>,
    all: Cell<usize>,
}

/// The option that names the key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum With {
    /// `--key`, which is `--key` of the command.
    Keys,
    /// Only `--decrypt-key`, which is `--key` of `jwe decrypt`.
    DecryptionKey,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            folder: tempfile::tempdir().unwrap(),
            accepted: Cell::new(0),
            all: Cell::new(0),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Asserts that both agree.
    #[track_caller]
    fn agree(&self, with: With, key: &Path, token: &[u8], options: &[&str]) {
        let index = self.all.get();
        self.all.set(index + 1);
        if !is_sampled(index, ONE_IN) {
            return;
        }
        self.write("token", token);
        let key = key.to_str().unwrap();
        let (command, options) = match with {
            With::DecryptionKey => (["jwe", "decrypt"], options.to_vec()),
            With::Keys => of_verb(token, options),
        };
        let doctor_key = match with {
            With::DecryptionKey => "--decrypt-key",
            With::Keys => "--key",
        };
        let doctor_options: Vec<&str> = options
            .iter()
            .map(|option| match (with, *option) {
                (With::DecryptionKey, "--alg") => "--decrypt-alg",
                (_, option) => option,
            })
            .collect();
        let verify = [&command[..], &["--key", key], &options, &["@token"]].concat();
        let doctor = [
            &["doctor", doctor_key, key],
            &doctor_options[..],
            &["@token"],
        ]
        .concat();
        let [(verified, why), (examined, found)] = [&verify, &doctor].map(|call| {
            let output = jeton(self.folder.path(), call, b"");
            let said = [output.stdout, output.stderr].concat();
            let code = output.status.code().unwrap();
            assert!((0..=2).contains(&code), "{call:?} ended with {code}");
            (code == 0, String::from_utf8_lossy(&said).into_owned())
        });
        // The doctor finds the token in pasted text. The command takes it exactly, and names the one that finds it.
        if !verified && why.contains("this command takes a token exactly") {
            let find = [&["verify", "--key", key], &options[..], &["@token"]].concat();
            if examined && with == With::Keys {
                let finds = jeton(self.folder.path(), &find, b"").status.success();
                assert!(finds, "{find:?}");
            }
            return;
        }
        assert_eq!(
            verified,
            examined,
            "{verify:?}:\n{why}\n{doctor:?}:\n{found}\nthe token: {}",
            String::from_utf8_lossy(token)
        );
        self.accepted
            .set(self.accepted.get() + usize::from(verified));
    }

    /// Asserts that enough tokens were accepted and rejected. A sample may have none.
    #[track_caller]
    fn saw(&self, all: usize, accepted: usize) {
        let (seen, taken) = (self.all.get(), self.accepted.get());
        let accepted = if is_whole() { accepted } else { 0 };
        assert!(
            seen >= all && taken >= accepted && seen - taken >= accepted,
            "{seen} seen, {taken} accepted"
        );
    }
}

/// Returns the command for a token and its supported options.
fn of_verb<'o>(token: &[u8], options: &[&'o str]) -> ([&'static str; 2], Vec<&'o str>) {
    let command = match token {
        [b'v', b'1'..=b'4', b'.', b'l', ..] => ["paseto", "decrypt"],
        [b'v', b'1'..=b'4', b'.', ..] => ["paseto", "verify"],
        _ => return (["jwt", "verify"], options.to_vec()),
    };
    // A PASETO command has neither --alg nor --typ.
    let pairs = options.chunks(2);
    let has = |pair: &&[&str]| !["--alg", "--typ"].contains(&pair[0]);
    (command, pairs.filter(has).flatten().copied().collect())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

#[test]
fn doctor_agrees_with_verify_over_all_cases() {
    const AT: [&str; 2] = ["--at", "1795656378"];
    const OPTIONS: [&[&str]; 7] = [
        &[],
        &["--typ", "at+jwt"],
        &["--issuer", "https://id.example", "--audience", "api"],
        &["--audience", "other"],
        &["--alg", "RS256"],
        &["--alg", "RS256", "--allow", "no-expiry"],
        &["--at", "1995656378", "--leeway", "1s"],
    ];
    let is_key = |path: &PathBuf| {
        let extension = path.extension().and_then(|name| name.to_str());
        ["pem", "json", "jwk", "paserk", "txt", "b64"].contains(&extension.unwrap_or_default())
    };
    let bench = Bench::new();
    let folders = files(&tests().join("../../../vectors/inputs"));
    for folder in folders.iter().filter(|path| path.is_dir()) {
        let (keys, tokens): (Vec<_>, Vec<_>) = files(folder).into_iter().partition(is_key);
        for token in &tokens {
            let token = fs::read(token).unwrap();
            for key in &keys {
                for options in OPTIONS {
                    let options = if options.contains(&"--at") {
                        options.to_vec()
                    } else {
                        [&AT[..], options].concat()
                    };
                    bench.agree(With::Keys, key, &token, &options);
                }
            }
        }
    }
    bench.saw(400, 15);
}

#[test]
fn inspect_agrees_with_verify_over_all_cases() {
    let at = "1795656378";
    let is_accepted = |folder: &Path, call: &[&str]| {
        let output = jeton(folder, call, b"");
        output.status.code() == Some(0)
    };
    let (mut all, mut accepted) = (0, 0);
    for (folder, key, token, options) in [
        ("aws-alb", "pub.pem", "@alb", &[][..]),
        ("crit-and-b64", "p.pem", "@b64true", &[]),
        ("crit-and-b64", "p.jwk", "@ob", &[]),
        ("ec-points", "compub.pem", "@tok", &[]),
        ("entra-keycloak", "entra.json", "@tok", &["--alg", "RS256"]),
        ("entra-keycloak", "keycloak.json", "@tok", &[]),
        (
            "entra-keycloak",
            "keycloak.json",
            "@tok",
            &["--issuer", "x"],
        ),
        ("leading-zero", "short.json", "@t1", &[]),
        ("long-header", "p.pem", "@t5", &[]),
        ("long-kid", "jwks.json", "@rsa.tok", &[]),
        (
            "long-kid",
            "jwks.json",
            "@rsa.tok",
            &["--max-kid-bytes", "100"],
        ),
        ("many-keys", "nine.json", "@nokid", &[]),
        (
            "many-keys",
            "nine.json",
            "@nokid",
            &["--max-keys-tried", "9"],
        ),
        ("many-keys", "many.json", "@kid", &[]),
        ("typ-full", "p.pem", "@full", &[]),
        ("typ-full", "p.pem", "@full", &["--typ", "at+jwt"]),
        (
            "typ-full",
            "p.pem",
            "@full",
            &["--typ", "at+jwt", "--at", "1995656378"],
        ),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../vectors/inputs")
            .join(folder);
        let at = if options.contains(&"--at") {
            &[][..]
        } else {
            &["--at", at]
        };
        let rest = [&["--key", key], at, options, &[token]].concat();
        let verified = is_accepted(&folder, &[&["jwt", "verify"], &rest[..]].concat());
        let inspected = is_accepted(&folder, &[&["inspect"], &rest[..]].concat());
        assert_eq!(verified, inspected, "{rest:?}");
        all += 1;
        accepted += usize::from(verified);
    }
    assert!(accepted >= 6 && all - accepted >= 6, "{accepted} of {all}");
}

#[test]
fn doctor_agrees_with_verify_over_all_tokens_and_keys() {
    const AT: [&str; 2] = ["--at", "1800000500"];
    let bench = Bench::new();
    let folder = tests();
    let key = |name: &str| folder.join("keys").join(name);
    for token in files(&folder.join("tokens")) {
        let token = fs::read(token).unwrap();
        for name in [
            "es256.pub.jwk",
            "es256.jwk",
            "eddsa.pub.jwk",
            "hs256.jwk",
            "rsa.pub.pem",
            "jwks.json",
            "jwks-skipped.json",
            "k4.public",
            "k4.local",
            "x25519.pub.pem",
            "not-a-key",
        ] {
            bench.agree(With::Keys, &key(name), &token, &AT);
        }
        let options = [&AT[..], &["--typ", "at+jwt", "--allow", "no-expiry"]].concat();
        bench.agree(With::Keys, &key("es256.pub.jwk"), &token, &options);
        let options = [&AT[..], &["--alg", "RS256"]].concat();
        bench.agree(With::Keys, &key("rsa.pub.pem"), &token, &options);
        for name in [
            "ecdh.jwk",
            "a128kw.jwk",
            "a256gcm.jwk",
            "jwks-enc.json",
            "hs256.jwk",
        ] {
            bench.agree(With::DecryptionKey, &key(name), &token, &[]);
        }
    }
    bench.saw(600, 10);
}

#[test]
fn doctor_agrees_with_verify_over_vectors_and_attacks() {
    let bench = Bench::new();
    let lenient = ["--at", "1300819379", "--allow", "no-expiry"];
    for name in ["json_web_signature_test.json", "json_web_crypto_test.json"] {
        let all = vector_json(&format!("wycheproof/{name}"));
        for group in all["testGroups"].as_array().unwrap() {
            let key = [&group["public"], &group["private"]];
            let Some(key) = key.into_iter().find(|key| !key.is_null()) else {
                continue;
            };
            let key = bench.write("key", key.to_string().as_bytes());
            for test in group["tests"].as_array().unwrap() {
                let token = [&test["jws"], &test["jwe"]];
                let token = token.into_iter().find_map(Value::as_str);
                if let Some(token) = token {
                    bench.agree(With::Keys, &key, token.as_bytes(), &lenient);
                }
            }
        }
    }
    for (name, key) in [
        ("A.1", "A.1"),
        ("A.2", "A.2"),
        ("A.3", "A.3"),
        ("A.5", "A.1"),
    ] {
        let token = vector(&format!("rfc7515/rfc7515_{name}.jwsc"));
        let mut key: Value = vector_json(&format!("rfc7515/rfc7515_{key}.jwk"));
        // Verifiers have the public key.
        for member in ["d", "p", "q", "dp", "dq", "qi"] {
            key.as_object_mut().unwrap().remove(member);
        }
        let key = bench.write("key", key.to_string().as_bytes());
        for alg in ["HS256", "RS256", "ES256"] {
            let options = [&lenient[..], &["--alg", alg]].concat();
            bench.agree(With::Keys, &key, token.trim().as_bytes(), &options);
        }
    }
    for attack in vector_json("attack-tokens/literal.json")["tests"]
        .as_array()
        .unwrap()
    {
        let key = bench.write("key", attack["key"].to_string().as_bytes());
        let token = match attack["input"].as_str() {
            Some(compact) => compact.to_owned(),
            None => attack["input"].to_string(),
        };
        let token = token.as_bytes();
        bench.agree(With::Keys, &key, token, &lenient);
        bench.agree(With::DecryptionKey, &key, token, &["--allow", "pbes2"]);
    }
    bench.saw(500, 3);
}

#[test]
fn doctor_agrees_with_verify_over_disputed_tokens() {
    let bench = Bench::new();
    let lenient = ["--at", "1795207000", "--allow", "no-expiry"];
    for case in vector("disagreements/cases.jsonl").lines().step_by(2) {
        let case: Value = serde_json::from_str(case).unwrap();
        let keys = &case["keys"];
        let token = case["token"].as_str().unwrap().as_bytes();
        let alg = case["alg"].as_str().unwrap();
        let text = |key: &Value| match key.as_str() {
            Some(paserk) => paserk.to_owned(),
            None => key.to_string(),
        };
        let format = case["format"].as_str().unwrap();
        let key = match format {
            "jwt" | "jwe" => [&keys["public"], &keys["private"]],
            _ => [&keys["paserk"], &keys["public"]],
        };
        let key = key.into_iter().find(|key| !key.is_null()).unwrap();
        let key = bench.write("key", text(key).as_bytes());
        match format {
            "jwe" => {
                let private = bench.write("private", text(&keys["private"]).as_bytes());
                bench.agree(With::DecryptionKey, &private, token, &["--alg", alg]);
                bench.agree(With::DecryptionKey, &private, token, &[]);
                bench.agree(With::Keys, &key, token, &lenient)
            }
            "jwt" => bench.agree(
                With::Keys,
                &key,
                token,
                &[&lenient[..], &["--alg", alg]].concat(),
            ),
            _ => bench.agree(With::Keys, &key, token, &lenient),
        };
    }
    bench.saw(300, 10);
}

/// A deterministic random number generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn choose<'c, T>(&mut self, all: &'c [T]) -> &'c T {
        &all[self.roll(all.len())]
    }
}

/// Changes a token at random.
fn changed(token: &str, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = token.as_bytes().to_vec();
    let parts: Vec<&str> = token.split('.').collect();
    let at = dice.roll(bytes.len());
    match dice.roll(10) {
        0 => bytes[at] ^= 1 << dice.roll(8),
        1 => bytes.insert(at, *dice.choose(b" .=-_+/\n\"A\0\xc3")),
        2 => {
            bytes.remove(at);
        }
        3 => bytes.truncate(at),
        4 => {
            let added: [&[u8]; 6] = [b"=", b"\n", b"\r\n", b"\n\n", b"~", b".x"];
            bytes.extend_from_slice(added[dice.roll(added.len())]);
        }
        5 => bytes = [&b" Bearer \""[..at % 9], &bytes].concat(),
        6 => {
            let mut parts = parts;
            let (from, to) = (dice.roll(parts.len()), dice.roll(parts.len()));
            parts[to] = parts[from];
            bytes = parts.join(".").into_bytes();
        }
        7 => {
            let mut parts = parts;
            let part = dice.roll(parts.len());
            parts.remove(part);
            bytes = parts.join(".").into_bytes();
        }
        8 => {
            let header = dice.choose(&[
                r#"{"alg":"none"}"#,
                r#"{"alg":"nOnE"}"#,
                r#"{"alg":"HS256","kid":7}"#,
                r#"{"alg":"ES256","alg":"HS256"}"#,
                r#"{"alg":"HS256","crit":["exp"],"exp":1}"#,
                r#"{"alg":"HS256","b64":false,"crit":["b64"]}"#,
                r#"{"alg":"HS256","jwk":{"kty":"oct","k":"AA"}}"#,
                r#"{"typ":"JWT"}"#,
                "[]",
                "not JSON",
            ]);
            let rest = token.split_once('.').map_or("", |(_, rest)| rest);
            bytes = format!("{}.{rest}", URL_SAFE_NO_PAD.encode_to_string(header)).into_bytes();
        }
        _ => {
            bytes = token
                .replace('.', ["%2E", "=.", "..", "\n.", "=="][dice.roll(5)])
                .into_bytes()
        }
    }
    bytes
}

#[test]
fn doctor_agrees_with_verify_over_randomly_changed_tokens() {
    let bench = Bench::new();
    let cases = tests().join("../../../vectors/inputs");
    let keys = tests().join("keys");
    let tokens = tests().join("tokens");
    let read = |path: PathBuf| fs::read_to_string(path).unwrap().trim().to_owned();
    let at = "1800000500";
    let case_at = "1795656378";
    let bases = [
        (keys.join("es256.pub.jwk"), read(tokens.join("es256")), at),
        (keys.join("hs256.jwk"), read(tokens.join("hs256")), at),
        (keys.join("jwks.json"), read(tokens.join("es256")), at),
        (keys.join("k4.public"), read(tokens.join("v4-s-2")), at),
        (keys.join("k4.local"), read(tokens.join("v4-e-5")), at),
        (
            cases.join("aws-alb/pub.pem"),
            read(cases.join("aws-alb/alb")),
            case_at,
        ),
        (
            cases.join("entra-keycloak/keycloak.json"),
            read(cases.join("entra-keycloak/tok")),
            case_at,
        ),
    ];
    let mut dice = Dice(0x6a65_746f_6e00_0001);
    for round in 0..60 {
        for (key, token, at) in &bases {
            let bytes = match round {
                0 => token.as_bytes().to_vec(),
                _ => changed(token, &mut dice),
            };
            bench.agree(With::Keys, key, &bytes, &["--at", at]);
        }
    }
    bench.saw(400, 4);
}

/// Random claims: valid, missing, or of another type.
fn claims(dice: &mut Dice, now: i64, format: &str) -> String {
    let times: Vec<String> = match format {
        "jwt" => [-86_400, -60, -1, 0, 1, 60, 86_400]
            .into_iter()
            .map(|offset| (now + offset).to_string())
            .chain(
                [
                    "1e3",
                    "1700000000.5",
                    "9e99",
                    "-1",
                    "null",
                    "\"soon\"",
                    "true",
                ]
                .map(String::from),
            )
            .collect(),
        _ => [-60, -1, 0, 1, 60, 86_400]
            .into_iter()
            .map(|offset| {
                let at = jiff::Timestamp::from_second(now + offset).unwrap();
                format!("\"{at}\"")
            })
            .chain(["1700000000", "\"soon\"", "null"].map(String::from))
            .collect(),
    };
    let texts = [
        "\"i\"",
        "\"a\"",
        "[\"a\",\"b\"]",
        "[]",
        "7",
        "null",
        "{}",
        "\"\"",
    ];
    let mut members: Vec<String> = Vec::new();
    if dice.roll(8) > 0 {
        // Most tokens are not expired.
        let far = times[if format == "jwt" { 6 } else { 5 }].clone();
        let exp = if dice.roll(3) > 0 {
            far
        } else {
            dice.choose(&times).clone()
        };
        members.push(format!("\"exp\":{exp}"));
    }
    for name in ["nbf", "iat"] {
        if dice.roll(5) == 0 {
            members.push(format!("\"{name}\":{}", dice.choose(&times)));
        }
    }
    for (name, right) in [("iss", "\"i\""), ("aud", "\"a\"")] {
        if dice.roll(5) > 0 {
            let value = if dice.roll(4) > 0 {
                right
            } else {
                dice.choose(&texts)
            };
            members.push(format!("\"{name}\":{value}"));
        }
    }
    for name in ["sub", "jti", "role"] {
        if dice.roll(9) == 0 {
            members.push(format!("\"{name}\":{}", dice.choose(&texts)));
        }
    }
    match dice.roll(24) {
        0 => members.push("\"x\":1,\"x\":2".to_owned()),
        1 => members.push(format!("\"deep\":{}1{}", "[".repeat(40), "]".repeat(40))),
        _ => {}
    }
    let text = format!("{{{}}}", members.join(","));
    match dice.roll(40) {
        0 => format!(" {text}\n"),
        1 => text[..text.len() - 1].to_owned(),
        2 => "[1]".to_owned(),
        _ => text,
    }
}

#[test]
fn doctor_agrees_with_verify_over_random_claims_and_policies() {
    let bench = Bench::new();
    let now = 1_800_000_000;
    let mac = MacKey::generate(MacAlg::HS256).unwrap();
    let private = SigningKey::generate(SigAlg::ES256).unwrap();
    let public = private.verifying_key().with_key_id("one").unwrap();
    let secret = v4::SecretKey::generate().unwrap();
    let local = v4::LocalKey::generate().unwrap();
    let set = format!(r#"{{"keys":[{},{{"kty":"new"}}]}}"#, public.to_jwk());
    let keys = [
        bench.write("mac", mac.to_jwk().as_bytes()),
        bench.write("set", set.as_bytes()),
        bench.write("public", secret.public_key().to_paserk().as_bytes()),
        bench.write("local", local.to_paserk().as_bytes()),
    ];
    let types = [
        "JWT",
        "jwt",
        "at+jwt",
        "application/at+jwt",
        "application/x/at+jwt",
        "",
        "é",
    ];
    let mut dice = Dice(0x6a65_746f_6e00_0002);
    for _ in 0..450 {
        let which = *dice.choose(&[0, 0, 1, 1, 2, 3]);
        let format = if which < 2 { "jwt" } else { "paseto" };
        let payload = claims(&mut dice, now, format);
        let typ = match dice.roll(3) {
            0 | 1 => String::new(),
            _ => format!(",\"typ\":\"{}\"", dice.choose(&types)),
        };
        let kid = dice.choose(&["", "", ",\"kid\":\"one\"", ",\"kid\":\"two\""]);
        let token = match which {
            0 => {
                let header = format!("{{\"alg\":\"HS256\"{typ}}}");
                RawHeaderSigner::new(&mac, &header)
                    .and_then(|header| header.sign(payload.as_bytes()))
            }
            1 => {
                let header = format!("{{\"alg\":\"ES256\"{typ}{kid}}}");
                let header = RawHeaderSigner::new(&private, &header);
                header.and_then(|header| header.sign(payload.as_bytes()))
            }
            2 => secret.sign(payload.as_bytes(), TokenContext::new()),
            _ => local.encrypt(payload.as_bytes(), TokenContext::new()),
        }
        .unwrap();
        let at = (now + *dice.choose(&[-61, -1, 0, 0, 0, 1, 59])).to_string();
        let mut options = vec!["--at", &at];
        for pair in [
            ["--issuer", "i"],
            ["--issuer", "i/"],
            ["--audience", "a"],
            ["--audience", "b"],
            ["--typ", "at+jwt"],
            ["--typ", "application/AT+JWT"],
            ["--leeway", "60s"],
            ["--allow", "no-expiry"],
        ] {
            if dice.roll(8) == 0 && !options.contains(&pair[0]) {
                options.extend(pair);
            }
        }
        bench.agree(With::Keys, &keys[which], token.as_bytes(), &options);
    }
    bench.saw(450, 40);
}
