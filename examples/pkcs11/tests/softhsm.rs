//! Tokens signed by SoftHSM are verified by jeton, jsonwebtoken, and golang-jwt (through the driver of the lab).

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::str::FromStr;

use jeton::key::VerifyingKey;
use jeton::{Policy, jwt::JwtVerifier};
use serde_json::{Value, json};

const ISSUER: &str = "https://id.example";
const AUDIENCE: &str = "api";

/// The paths on Debian, Fedora, Homebrew and similar systems.
const MODULES: [&str; 5] = [
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib64/softhsm/libsofthsm2.so",
    "/usr/lib64/libsofthsm2.so",
    "/usr/local/lib/softhsm/libsofthsm2.so",
    "/opt/homebrew/lib/softhsm/libsofthsm2.so",
];

/// The HSM token of one test, with one key pair.
struct Token {
    folder: tempfile::TempDir,
    module: PathBuf,
    alg: &'static str,
}

impl Token {
    fn new(alg: &'static str) -> Token {
        let module = MODULES
            .map(PathBuf::from)
            .into_iter()
            .find(|module| module.is_file())
            .expect("SoftHSM is installed (Debian: apt-get install softhsm2)");
        let folder = tempfile::tempdir().unwrap();
        let tokens = folder.path().join("tokens");
        fs::create_dir(&tokens).unwrap();
        let configuration = format!(
            "directories.tokendir = {}\nlog.level = ERROR\n",
            tokens.display()
        );
        fs::write(folder.path().join("softhsm2.conf"), configuration).unwrap();
        let token = Token {
            folder,
            module,
            alg,
        };
        let mut init = token.command("softhsm2-util");
        init.args(["--init-token", "--free", "--label", "test"]);
        init.args(["--so-pin", "12345678", "--pin", "1234"]);
        let output = init.output().unwrap();
        assert!(output.status.success(), "{}", printed(&output));
        token.output(&["new", "key", alg]);
        token
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("SOFTHSM2_CONF", self.folder.path().join("softhsm2.conf"))
            .env("PKCS11_MODULE", &self.module)
            .env("PKCS11_TOKEN", "test")
            .env("PKCS11_PIN", "1234");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(env!("CARGO_BIN_EXE_jeton-example-pkcs11"));
        command.args(arguments).output().unwrap()
    }

    /// Returns the output of the example.
    fn output(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", printed(&output));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn public(&self) -> String {
        self.output(&["public", "key", self.alg])
    }

    fn issue(&self) -> String {
        self.output(&["issue", "key", self.alg, ISSUER, AUDIENCE])
    }
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn everybody_verifies(alg: &'static str) {
    let token = Token::new(alg);
    let (public, tokens) = (token.public(), [token.issue(), token.issue()]);
    for jwt in &tokens {
        jeton_verifies(&public, jwt);
        jsonwebtoken_verifies(alg, &public, jwt);
    }
    golang_jwt_verifies(alg, &public, &tokens);
}

fn jeton_verifies(public: &str, token: &str) {
    let key = VerifyingKey::from_jwk(public).unwrap();
    let verifier = JwtVerifier::new(key, Policy::new(ISSUER, AUDIENCE));
    let verified = verifier.verify::<serde::de::IgnoredAny>(token).unwrap();
    assert_eq!(verified.key_id(), Some("key"));
}

fn jsonwebtoken_verifies(alg: &str, public: &str, token: &str) {
    let jwk = serde_json::from_str(public).unwrap();
    let key = jsonwebtoken::DecodingKey::from_jwk(&jwk).unwrap();
    let mut validation =
        jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::from_str(alg).unwrap());
    validation.set_issuer(&[ISSUER]);
    validation.set_audience(&[AUDIENCE]);
    let data = jsonwebtoken::decode::<Value>(token, &key, &validation).unwrap();
    assert_eq!(data.claims["iss"], ISSUER);
    assert!(jsonwebtoken::decode::<Value>(forged(token), &key, &validation).is_err());
}

/// The same token with one changed character in its signature.
fn forged(token: &str) -> String {
    let (signed, last) = token.split_at(token.len() - 20);
    let other = if last.starts_with('A') { 'B' } else { 'A' };
    format!("{signed}{other}{}", &last[1..])
}

/// Uses drivers/PROTOCOL.md. Without Go it is skipped with a message.
fn golang_jwt_verifies(alg: &str, public: &str, tokens: &[String]) {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drivers/go/golang-jwt");
    if Command::new("go").arg("version").output().is_err() {
        eprintln!("no go here: golang-jwt was not asked");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("driver");
    let build = Command::new("go")
        .args(["build", "-o"])
        .args([binary.as_os_str(), ".".as_ref()])
        .current_dir(driver)
        .output()
        .unwrap();
    assert!(build.status.success(), "{}", printed(&build));
    let mut process = Command::new(&binary)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = process.stdin.take().unwrap();
    let mut from = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut ask = |request: Value| -> Value {
        writeln!(to, "{request}").unwrap();
        let answer: Value = serde_json::from_str(&from.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["ok"], true, "{answer}");
        answer
    };
    ask(json!({"op": "hello", "protocol": 1}));
    let public: Value = serde_json::from_str(public).unwrap();
    ask(json!({
        "op": "prepare", "contract": "verify", "format": "jwt", "alg": alg, "enc": null,
        "key_handling": "prepared",
        "keys": {"private": null, "public": public, "paserk": null},
        "claims": {"name": "small", "values": [{"iss": ISSUER, "aud": AUDIENCE}]},
        "policy": {"issuer": ISSUER, "audience": AUDIENCE},
        "tokens": tokens,
    }));
    for token in tokens {
        let answer = ask(json!({"op": "verify", "token": token}));
        assert_eq!(answer["accepted"], true, "{answer}");
    }
    let forged = forged(&tokens[0]);
    let answer = ask(json!({"op": "verify", "token": forged}));
    assert_eq!(answer["accepted"], false, "{answer}");
    ask(json!({"op": "bye"}));
    assert!(process.wait().unwrap().success());
}

#[test]
fn rs256_token_verifies_with_other_libraries() {
    everybody_verifies("RS256");
}

#[test]
fn ps256_token_verifies_with_other_libraries() {
    everybody_verifies("PS256");
}

#[test]
fn es256_token_verifies_with_other_libraries() {
    everybody_verifies("ES256");
}

#[test]
fn signature_with_wrong_salt_length_is_an_error() {
    let token = Token::new("PS256");
    let right = token.run(&["issue", "key", "PS256", ISSUER, AUDIENCE, "32"]);
    assert!(right.status.success(), "{}", printed(&right));
    for salt_bytes in ["0", "20", "64"] {
        let output = token.run(&["issue", "key", "PS256", ISSUER, AUDIENCE, salt_bytes]);
        assert!(!output.status.success() && output.stdout.is_empty());
        assert!(
            printed(&output).contains("SIGNER_SIGNATURE_INVALID"),
            "{}",
            printed(&output)
        );
    }
}

#[test]
fn key_of_another_type_is_an_error() {
    let token = Token::new("ES256");
    let output = token.run(&["issue", "key", "RS256", ISSUER, AUDIENCE]);
    assert!(!output.status.success() && output.stdout.is_empty());
    let output = token.run(&["issue", "other", "ES256", ISSUER, AUDIENCE]);
    assert!(
        printed(&output).contains("no key has that label"),
        "{}",
        printed(&output)
    );
}
