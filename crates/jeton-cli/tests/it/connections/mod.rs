//! Which server a command calls, with which credentials, and what it says if it cannot.

mod client_file;
mod problems;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rcgen::SanType;

use crate::binary;
use crate::serve::tls::Authority;
use crate::serving::Serving;

/// What a command has printed.
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Said {
    #[track_caller]
    fn succeeds(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self.out
    }

    /// Asserts an error with each of these texts; returns standard error.
    #[track_caller]
    fn fails(self, with: &[&str]) -> String {
        assert_eq!(self.code, Some(2), "{}", self.err);
        for text in with {
            assert!(self.err.contains(text), "{text}: {}", self.err);
        }
        self.err
    }
}

/// Two servers. The issuer of the first, which has TLS and clients, is `https://one.example`; that of the second, which
/// has neither, is `https://two.example`.
struct Servers {
    folder: tempfile::TempDir,
    one: Serving,
    two: Serving,
}

/// The options for the first server.
const CREDENTIALS: [&str; 6] = [
    "--ca",
    "ca.pem",
    "--client-certificate",
    "operator.pem",
    "--client-key",
    "operator.key",
];

fn name(name: &str) -> Vec<SanType> {
    vec![SanType::DnsName(name.try_into().unwrap())]
}

fn issuer(iss: &str) -> String {
    format!(
        "[[issuer]]\niss = '{iss}'\nprofiles = [{{name = 'access', alg = 'ES256', lifetime_seconds = 900, \
         audiences = ['api']}}]\n"
    )
}

impl Servers {
    fn start() -> Servers {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let authority = Authority::new(&at.join("ca.pem"));
        authority.certify(at, 4096);
        authority.issue(at, "operator", name("operator.example"), 4096);
        authority.issue(at, "stranger", name("stranger.example"), 4096);
        let one = format!(
            "[tls]\ncertificate = 'server.pem'\nkey = 'server.key'\nclient_ca = 'ca.pem'\n\
             [[client]]\nname = 'operator'\ncertificate_name = 'operator.example'\n\
             may = ['issue', 'verify', 'revoke', 'admin']\nissuers = ['*']\n{}",
            issuer("https://one.example")
        );
        fs::write(at.join("one.toml"), format!("data = 'one'\n{one}")).unwrap();
        let two = format!("data = 'two'\n{}", issuer("https://two.example"));
        fs::write(at.join("two.toml"), two).unwrap();
        let servers = Servers {
            one: Serving::any_port(at, &["--config", "one.toml"]),
            two: Serving::any_port(at, &["--config", "two.toml"]),
            folder,
        };
        servers.one.wait_for(" INFO ready");
        servers.two.wait_for(" INFO ready");
        servers
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The client file of these tests.
    fn client_file(&self) -> PathBuf {
        self.path().join("configuration/jeton/client.toml")
    }

    /// Writes the client file with a context for each server, and more.
    fn write(&self, more: &str) {
        let file = self.client_file();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = format!(
            "{more}\n[context.one]\nserver = '{}'\nadmin_server = '{}'\nca = '../../ca.pem'\n\
             client_certificate = '../../operator.pem'\nclient_key = '../../operator.key'\n\
             [context.two]\nserver = '{}'\nadmin_server = '{}'\ndata = '../../two'\n",
            self.one.address(),
            self.one.admin_address(),
            self.two.address(),
            self.two.admin_address()
        );
        crate::data_folder::private(&file, &text);
    }

    fn jeton(&self, variables: &[(&str, &str)], args: &[&str]) -> Said {
        jeton(self.path(), variables, args)
    }
}

/// Runs a command whose environment has only these variables of jeton.
fn jeton(folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jeton"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("JETON_") {
            command.env_remove(name);
        }
    }
    let output = command
        .args(args)
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", folder.join("configuration"))
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said {
        code: output.status.code(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

const ISSUERS: [&str; 3] = ["admin", "issuer", "list"];
const ISSUE: [&str; 4] = ["token", "issue", "--profile", "access"];

#[test]
fn server_is_of_option_then_environment_then_context() {
    let servers = Servers::start();
    servers.write("current = 'one'");
    let (one, two) = (servers.one.admin_address(), servers.two.admin_address());
    let (one, two) = (&*one, &*two);
    let data = (servers.one.address(), servers.two.address());
    let data = (&*data.0, &*data.1);
    let admin_token = servers.path().join("two/admin-token");
    let of_two = ("JETON_BEARER", admin_token.to_str().unwrap());
    let list = |variables: &[(&str, &str)], options: &[&str]| {
        let said = servers.jeton(variables, &[&ISSUERS[..], options].concat());
        said.succeeds().trim().replace(".example", "")
    };
    for (variables, options, expected) in [
        (&[][..], &[][..], "one"),
        (&[], &["--context", "two"], "two"),
        (&[("JETON_CONTEXT", "two")], &[], "two"),
        (&[("JETON_CONTEXT", "two")], &["--context", "one"], "one"),
        (&[("JETON_SERVER", two), of_two], &[], "two"),
        (&[("JETON_ADMIN_SERVER", two), of_two], &[], "two"),
        // The variable of the admin listener counts before that of both.
        (
            &[
                ("JETON_ADMIN_SERVER", two),
                ("JETON_SERVER", data.1),
                of_two,
            ],
            &[],
            "two",
        ),
        (&[("JETON_ADMIN_SERVER", two)], &["--server", one], "one"),
        (
            &[("JETON_CONTEXT", "one")],
            &["--server", two, "--data", "two"],
            "two",
        ),
        // An empty variable is not set.
        (&[("JETON_CONTEXT", "")], &[], "one"),
    ] {
        assert_eq!(
            list(variables, options),
            format!("https://{expected}"),
            "{variables:?} {options:?}"
        );
    }
    let issued = |variables: &[(&str, &str)], options: &[&str]| {
        let token = servers
            .jeton(variables, &[&ISSUE[..], options].concat())
            .succeeds();
        let inspected = servers.jeton(&[], &["inspect", token.trim()]);
        inspected.succeeds().contains("https://two.example")
    };
    assert!(!issued(&[], &[]));
    assert!(issued(&[], &["--context", "two"]));
    assert!(issued(&[("JETON_SERVER", data.1)], &[]));
    assert!(!issued(&[("JETON_SERVER", data.1)], &["--server", data.0]));

    // Options that name a store are options too: the folder is in use.
    let store = [&ISSUERS[..], &["--data", "two", "--lock-timeout", "0s"]].concat();
    servers
        .jeton(&[("JETON_CONTEXT", "one")], &store)
        .fails(&["another process has the store open"]);
    let actor = [&ISSUERS[..], &["--actor", "me"]].concat();
    servers.jeton(&[], &actor).fails(&[
        "--actor is for a store",
        "the context \"one\" names a server",
        "--data DIR",
    ]);
    let only = [&ISSUERS[..], &["--data", "two", "--ca", "ca.pem"]].concat();
    servers
        .jeton(&[], &only)
        .fails(&["--ca requires a server", "--server URL"]);
}

#[test]
fn environment_alone_names_server_and_credentials() {
    let servers = Servers::start();
    let (data, admin) = (servers.one.address(), servers.one.admin_address());
    let variables = [
        ("JETON_SERVER", &*data),
        ("JETON_ADMIN_SERVER", &*admin),
        ("JETON_CA", "ca.pem"),
        ("JETON_CLIENT_CERTIFICATE", "operator.pem"),
        ("JETON_CLIENT_KEY", "operator.key"),
    ];
    let issuers = servers.jeton(&variables, &ISSUERS).succeeds();
    assert_eq!(issuers, "https://one.example\n");
    servers.jeton(&variables, &ISSUE).succeeds();
    servers
        .jeton(&variables[..4], &ISSUE)
        .fails(&["JETON_CLIENT_CERTIFICATE requires JETON_CLIENT_KEY"]);
    let missing = [&variables[..2], &[("JETON_CA", "missing.pem")]].concat();
    servers.jeton(&missing, &ISSUE).fails(&["missing.pem"]);
    // Every call of the manual is shorter by these.
    servers.write("");
    let options = [&ISSUERS[..], &["--server", &admin], &CREDENTIALS].concat();
    assert_eq!(servers.jeton(&[], &options).succeeds(), issuers);
}

/// Every server that receives a bearer token can use it.
#[test]
fn bearer_token_of_a_context_is_not_sent_to_another_server() {
    let servers = Servers::start();
    fs::write(servers.path().join("secret"), "a-token-of-another-server").unwrap();
    servers.write("current = 'mine'\n[context.mine]\nadmin_server = 'https://mine.example'\nbearer = '../../secret'");
    let two = servers.two.admin_address();
    let call = [&ISSUERS[..], &["--server", &two]].concat();
    let said = servers
        .jeton(&[], &call)
        .fails(&["no admin token", "is not sent to another server"]);
    assert!(said.contains("add `--context mine`"), "{said}");
    let named = [&call[..], &["--context", "mine"]].concat();
    let said = servers.jeton(&[], &named).fails(&["no admin token"]);
    assert!(!said.contains("is not sent"), "{said}");
}

/// The guide's commands run as they are written, on a clean folder.
#[test]
fn administration_guide_commands_run() {
    let page = crate::operating::page("guide/administer.md");
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let binaries = Path::new(env!("CARGO_BIN_EXE_jeton")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let ports = [jeton_testkit::free_port(), jeton_testkit::free_port()];
    let placed = |text: &str| {
        text.replace(":8420", &format!(":{}", ports[0]))
            .replace(":8421", &format!(":{}", ports[1]))
    };
    let run = |block: &str| {
        let output = Command::new("sh")
            .args(["-euc", &placed(block)])
            .current_dir(at)
            .env("PATH", &path)
            .env("HOME", at)
            .env_remove("XDG_CONFIG_HOME")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{block}\n{said}");
        String::from_utf8(output.stdout).unwrap()
    };
    let mut server = None;
    let mut said = String::new();
    for (language, block) in crate::operating::blocks(&page) {
        match language.as_str() {
            "sh" => said.push_str(&run(&block)),
            // The server runs in another terminal.
            "" if block.trim() == "jeton serve --config jeton.toml" => {
                let listen = ports.map(|port| format!("127.0.0.1:{port}"));
                let args = [
                    "--config",
                    "jeton.toml",
                    "--listen",
                    &listen[0],
                    "--admin-listen",
                    &listen[1],
                ];
                let started = Serving::start(at, &args);
                started.wait_for(" INFO ready");
                server = Some(started);
            }
            // The client file that the page shows.
            "toml" => {
                crate::data_folder::private(&at.join("shown.toml"), &block);
                let shown = [("JETON_CLIENT_FILE", "shown.toml")];
                jeton(at, &shown, &["admin", "context", "list"]).succeeds();
            }
            other => panic!("unknown language {other:?}: {block}"),
        }
    }
    assert!(
        said.contains("ready") && said.contains("ES256  signing"),
        "{said}"
    );
    // The secret is nowhere else.
    let secret = fs::read_to_string(at.join("operator.secret")).unwrap();
    let log = server.unwrap().said();
    let config = fs::read_to_string(at.join("jeton.toml")).unwrap();
    for text in [&said, &log, &config] {
        assert!(!text.contains(secret.trim()), "{text}");
    }
}

/// A client with a secret administers with its own tokens only.
#[test]
fn entry_of_a_client_that_administers_is_valid_alone() {
    let folder = tempfile::tempdir().unwrap();
    let new = [
        "admin",
        "client",
        "new",
        "o",
        "--profile",
        "p",
        "-o",
        "o.secret",
    ];
    let admin = [&new[..], &["--may", "admin", "--may", "revoke"]].concat();
    let entry = String::from_utf8(binary::succeeds(folder.path(), &admin, b"")).unwrap();
    assert!(entry.contains("bearer_subject = \"o\""), "{entry}");
    assert!(
        entry.contains("may = [\"token\", \"admin\", \"revoke\"]"),
        "{entry}"
    );
    let metrics = [
        &new[..6],
        &["-o", "m.secret", "--may", "metrics", "--issuer", "i"],
    ]
    .concat();
    binary::ends(
        folder.path(),
        &metrics,
        b"",
        2,
        "the permission `metrics` requires \"*\"",
    );
    assert!(!folder.path().join("m.secret").exists());
    let plain = [&new[..6], &["-o", "n.secret", "--may", "verify"]].concat();
    let entry = String::from_utf8(binary::succeeds(folder.path(), &plain, b"")).unwrap();
    assert!(!entry.contains("bearer_subject"), "{entry}");
}
