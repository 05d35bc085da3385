//! `jeton serve` with keys in SoftHSM. Only a build with the feature `pkcs11` has these tests:
//! `cargo xtask test` runs them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::text;
use crate::binary::{jeton, succeeds};
use crate::data_folder::private;
use crate::serving::Serving;

const PIN: &str = "987654";
const ISS: &str = "https://hsm.example";

/// The paths on Debian, Fedora and similar systems.
const MODULES: [&str; 4] = [
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib64/softhsm/libsofthsm2.so",
    "/usr/lib64/libsofthsm2.so",
    "/usr/local/lib/softhsm/libsofthsm2.so",
];

/// A token of SoftHSM, and the folder of a server.
struct Hsm {
    folder: tempfile::TempDir,
    module: &'static str,
}

impl Hsm {
    fn new() -> Hsm {
        let mut modules = MODULES.into_iter();
        let module = modules.find(|module| Path::new(module).is_file());
        let hsm = Hsm {
            folder: tempfile::tempdir().unwrap(),
            module: module.expect("SoftHSM is installed (Debian: apt-get install softhsm2)"),
        };
        fs::create_dir(hsm.path("tokens")).unwrap();
        hsm.configure_module("");
        hsm.util(&[
            "--init-token",
            "--free",
            "--label",
            "t",
            "--so-pin",
            "12345678",
        ]);
        private(&hsm.path("pin"), &format!("{PIN}\n"));
        hsm
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn configure_module(&self, more: &str) {
        let tokens = self.path("tokens");
        let text = format!(
            "directories.tokendir = {}\nlog.level = ERROR\n{more}\n",
            tokens.display()
        );
        fs::write(self.path("softhsm2.conf"), text).unwrap();
    }

    fn util(&self, args: &[&str]) {
        let output = Command::new("softhsm2-util")
            .args(args)
            .args(["--pin", PIN])
            .env("SOFTHSM2_CONF", self.path("softhsm2.conf"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }

    /// Creates a key pair with this label.
    fn create(&self, alg: &str, label: &str) {
        let folder = self.folder.path();
        let key = succeeds(folder, &["key", "new", "--alg", alg], b"");
        let convert = ["key", "convert", "--to", "pem", "-"];
        let pem = succeeds(folder, &convert, &key);
        private(&self.path("key.pem"), &text(&pem));
        let file = self.path("key.pem").display().to_string();
        let id = label
            .bytes()
            .map(|b| format!("{b:02x}"))
            .collect::<String>();
        self.util(&[
            "--import", &file, "--token", "t", "--label", label, "--id", &id,
        ]);
        fs::remove_file(file).unwrap();
    }

    /// Writes a configuration whose profiles have these algorithms, each with the label of its key.
    fn configure(&self, keys: &[(&str, &str)], change: impl Fn(String) -> String) {
        let profile = |(alg, _): &(&str, &str)| {
            format!(
                "{{name = '{alg}', alg = '{alg}', lifetime_seconds = 900, audiences = ['api']}}, "
            )
        };
        let key = |(alg, label): &(&str, &str)| {
            format!("[[pkcs11.key]]\nissuer = '{ISS}'\nalg = '{alg}'\nlabel = '{label}'\n")
        };
        let config = format!(
            "data = 'data'\n[[issuer]]\niss = '{ISS}'\nprofiles = [{}{{name = 'own', alg = 'EdDSA', \
             lifetime_seconds = 900, audiences = ['api']}}]\n\
             [pkcs11]\nmodule = '{}'\ntoken = 't'\npin_file = 'pin'\n{}",
            keys.iter().map(profile).collect::<String>(),
            self.module,
            keys.iter().map(key).collect::<String>(),
        );
        fs::write(self.path("jeton.toml"), change(config)).unwrap();
    }

    fn check(&self) -> Output {
        Command::new(env!("CARGO_BIN_EXE_jeton"))
            .args(["serve", "--config", "jeton.toml", "--check"])
            .current_dir(self.folder.path())
            .env("SOFTHSM2_CONF", self.path("softhsm2.conf"))
            .output()
            .unwrap()
    }

    fn serve(&self) -> Serving {
        let conf = format!("SOFTHSM2_CONF={}", self.path("softhsm2.conf").display());
        let ports = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
        let args = [&["--config", "jeton.toml"][..], &ports].concat();
        Serving::start_by(&["env", &conf], self.folder.path(), &args)
    }

    fn issue(&self, server: &Serving, profile: &str) -> Result<String, String> {
        let address = server.address();
        let args = ["token", "issue", "--server", &address, "--profile", profile];
        let args = [&args[..], &["--subject", "alice"]].concat();
        let output = jeton(self.folder.path(), &args, b"");
        if output.status.success() {
            Ok(text(&output.stdout).trim().to_owned())
        } else {
            Err(text(&output.stderr))
        }
    }

    fn verifies(&self, server: &Serving, token: &str) -> bool {
        let address = server.address();
        let args = ["token", "verify", "--server", &address, "--audience", "api"];
        let args = [&args[..], &[token]].concat();
        jeton(self.folder.path(), &args, b"").status.success()
    }

    fn is_ready(&self, server: &Serving) -> bool {
        let url = format!("{}/readyz", server.address());
        let output = Command::new("curl")
            .args(["--fail", "--silent", &url])
            .output();
        output.unwrap().status.success()
    }
}

/// Waits for a condition that the server notices by itself.
fn soon(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn check_reports_what_the_hsm_cannot_do() {
    let hsm = Hsm::new();
    hsm.create("ES256", "ec");
    hsm.create("RS256", "other");
    hsm.create("RS256", "rsa");
    hsm.create("PS256", "pss");
    let same = |config: String| config;
    let keys = [("ES256", "ec"), ("RS256", "rsa"), ("PS384", "pss")];
    hsm.configure(&keys, same);
    let output = hsm.check();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let refused = |expected: &str| {
        let output = hsm.check();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{expected}: {said}");
        assert!(
            said.contains("`pkcs11`") && said.contains(expected),
            "{expected}: {said}"
        );
        assert!(!said.contains(PIN) && output.stdout.is_empty());
    };
    for (from, to, expected) in [
        (
            hsm.module,
            "/no/such/module.so",
            "cannot load the module /no/such/module.so",
        ),
        (hsm.module, "pin", "cannot load the module"),
        (
            "token = 't'",
            "token = 'u'",
            "no token has the label \"u\"; the module shows \"t\" in slot",
        ),
        (
            "token = 't'",
            "slot = 4711",
            "slot 4711 has no initialized token",
        ),
        (
            "pin_file = 'pin'",
            "pin_file = 'none'",
            "cannot read the PIN from",
        ),
        (
            "label = 'ec'",
            "label = 'el'",
            "no public key with the label \"el\"",
        ),
        (
            "label = 'ec'",
            "label = 'other'",
            "is an RSA key, and ES256 requires an EC key on P-256",
        ),
        (
            "alg = 'ES256'",
            "alg = 'ES384'",
            "is a key on P-256, and ES384 requires",
        ),
    ] {
        hsm.configure(&keys, |config| {
            assert!(config.contains(from), "{from}");
            config.replace(from, to)
        });
        refused(expected);
    }
    hsm.configure(&keys, same);
    hsm.configure_module("slots.mechanisms = CKM_SHA256_RSA_PKCS,CKM_SHA384_RSA_PKCS_PSS");
    refused("the token has no CKM_ECDSA, which ES256 requires");
    hsm.configure_module("");
    fs::set_permissions(hsm.path("pin"), Permissions::from_mode(0o644)).unwrap();
    refused("every user of this machine can read it");
    private(&hsm.path("pin"), "1234");
    let output = hsm.check();
    let said = text(&output.stderr);
    assert!(said.contains("is wrong: correct the file"), "{said}");
    private(&hsm.path("pin"), PIN);
    fs::rename(hsm.path("tokens"), hsm.path("away")).unwrap();
    let output = hsm.check();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    fs::rename(hsm.path("away"), hsm.path("tokens")).unwrap();
    assert!(hsm.check().status.success());
}

#[test]
fn server_signs_in_softhsm_and_outlives_its_loss() {
    let hsm = Hsm::new();
    let keys = [("ES256", "ec"), ("RS256", "rsa"), ("PS256", "pss")];
    hsm.create("ES256", "ec");
    hsm.create("RS256", "rsa");
    hsm.create("PS256", "pss");
    hsm.configure(&keys, |config| config);
    let server = hsm.serve();
    let mut tokens = Vec::new();
    for profile in ["ES256", "RS256", "PS256", "own"] {
        let token = hsm.issue(&server, profile).unwrap();
        assert!(hsm.verifies(&server, &token), "{profile}");
        tokens.push(token);
    }
    // Another program verifies with the published keys.
    let output = Command::new("curl")
        .args(["--fail", "--silent"])
        .arg(format!("{}/.well-known/jwks.json", server.address()))
        .output()
        .unwrap();
    let set: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(set["keys"].as_array().unwrap().len(), 4, "{set}");
    assert!(hsm.is_ready(&server));
    fs::rename(hsm.path("tokens"), hsm.path("away")).unwrap();
    let mut refused = String::new();
    soon("the loss is noticed", || {
        match hsm.issue(&server, "ES256") {
            Ok(_) => false,
            Err(why) => {
                refused = why;
                true
            }
        }
    });
    assert!(refused.contains("the HSM did not sign"), "{refused}");
    assert!(!hsm.is_ready(&server));
    for token in &tokens {
        assert!(hsm.verifies(&server, token));
    }
    assert!(hsm.issue(&server, "own").is_ok());
    fs::rename(hsm.path("away"), hsm.path("tokens")).unwrap();
    soon("ready again", || hsm.is_ready(&server));
    soon("issues again", || hsm.issue(&server, "ES256").is_ok());

    // A new label, named by a reload.
    hsm.create("ES256", "second");
    hsm.configure(&keys, |config| {
        config.replace("label = 'ec'", "label = 'second'")
    });
    server.signal("-HUP");
    soon("the new key is published", || {
        let args = [
            "admin",
            "key",
            "list",
            ISS,
            "--json",
            "--config",
            "jeton.toml",
        ];
        let admin = server.admin_address();
        let args = [&args[..], &["--server", &admin]].concat();
        let keys: Value = serde_json::from_slice(&succeeds(hsm.folder.path(), &args, b"")).unwrap();
        let keys = keys.as_array().unwrap().iter();
        let published = keys.filter(|key| key["state"] == "published");
        published.count() == 1
    });
    assert!(hsm.issue(&server, "ES256").is_ok());
    server.signal("-TERM");
    let (code, said) = server.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains(PIN) && !said.contains(&tokens[0]));
}

#[test]
fn server_without_its_hsm_starts_if_the_public_keys_are_known() {
    let hsm = Hsm::new();
    hsm.create("ES256", "ec");
    hsm.configure(&[("ES256", "ec")], |config| config);
    private(&hsm.path("pin"), "1234");
    // The issuer does not exist yet, so there is no key to publish.
    let (code, said) = hsm.serve().end();
    assert_ne!(code, Some(0));
    assert!(said.contains("is wrong: correct the file"), "{said}");
    private(&hsm.path("pin"), PIN);
    let server = hsm.serve();
    let token = hsm.issue(&server, "ES256").unwrap();
    server.signal("-TERM");
    server.end();
    // A wrong PIN is tried once. Otherwise the token would be locked in a few seconds.
    private(&hsm.path("pin"), "1234");
    let server = hsm.serve();
    assert!(hsm.verifies(&server, &token));
    let refused = hsm.issue(&server, "ES256").unwrap_err();
    assert!(refused.contains("is wrong: correct the file"), "{refused}");
    assert!(!hsm.is_ready(&server));
    private(&hsm.path("pin"), PIN);
    soon("ready", || hsm.is_ready(&server));
    assert!(hsm.issue(&server, "ES256").is_ok());
}
