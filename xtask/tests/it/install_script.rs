//! `deploy/install.sh`, with a release of small scripts: it installs from a folder and from an address, and each thing
//! that can be wrong has its line and leaves nothing behind.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/install.sh");
const ARCHIVES: [&str; 2] = [
    "jeton-0.1.0-linux-x64.tar.gz",
    "jeton-lab-0.1.0-linux-x64.tar.gz",
];

/// A release and a folder to install to, on a machine that says it is Linux on x86_64.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        machine.sh(
            "mkdir bin release
             printf '#!/bin/sh\\n[ \"$1\" = -s ] && echo ${SYSTEM:-Linux} || echo ${MACHINE:-x86_64}\\n' > bin/uname
             chmod +x bin/uname
             for name in jeton jeton-lab; do
                 folder=$name-0.1.0-linux-x64
                 mkdir $folder
                 printf '#!/bin/sh\\necho '$name' 0.1.0\\n' > $folder/$name
                 chmod +x $folder/$name
                 tar -czf release/$folder.tar.gz $folder
             done",
        );
        machine.write_sums();
        // Another user of this machine reads and fails to write here.
        machine.sh("chmod -R go+rX .");
        machine
    }

    fn write_sums(&self) {
        self.sh("cd release && sha256sum *.tar.gz > SHA256SUMS");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn sh(&self, script: &str) {
        let script = format!("set -e\n{script}");
        let output = self.command("sh").args(["-c", &script]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// A command that finds this machine's `uname` first.
    fn command(&self, program: &str) -> Command {
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(program);
        command.current_dir(self.0.path());
        command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        command
    }

    fn install(&self, arguments: &[&str]) -> Output {
        let mut sh = self.command("sh");
        sh.arg(SCRIPT).args(arguments);
        sh.output().unwrap()
    }

    /// What the installed program says of its version.
    fn version(&self, program: &str) -> String {
        let program = self.path("home/bin").join(program);
        let output = Command::new(program).arg("--version").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn is_untouched(&self) -> bool {
        let count = |folder: &str| fs::read_dir(self.path(folder)).map_or(0, Iterator::count);
        count("home/bin") == 0 && count("home/lib/jeton") == 0
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The two lines of an installation that failed.
fn assert_stopped(output: &Output, error: &str, hint: &str) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let lines: Vec<&str> = said.lines().rev().take(2).collect();
    let expected = lines.len() == 2 && lines[1].starts_with("error: ") && lines[1].contains(error);
    assert!(expected, "expected `{error}`:\n{said}");
    assert!(
        lines[0].starts_with("hint: ") && lines[0].contains(hint),
        "expected `{hint}`:\n{said}"
    );
}

#[test]
fn folder_is_installed_and_installed_again() {
    let machine = Machine::new();
    for _ in 0..2 {
        let output = machine.install(&["release", "--prefix", "home"]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(machine.version("jeton"), "jeton 0.1.0\n");
        assert_eq!(machine.version("jeton-lab"), "jeton-lab 0.1.0\n");
    }
    let folders = fs::read_dir(machine.path("home/lib/jeton")).unwrap();
    assert_eq!(folders.count(), 2, "the temporary folder is removed");
}

#[test]
fn one_program_is_installed_by_its_name() {
    let machine = Machine::new();
    fs::remove_file(machine.path("release").join(ARCHIVES[1])).unwrap();
    let output = machine.install(&["release", "--prefix", "home", "jeton"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!machine.path("home/bin/jeton-lab").exists());
}

/// Dotfiles are often kept elsewhere, with a link from the home folder.
#[test]
fn bin_that_is_a_link_gets_programs_that_start() {
    let machine = Machine::new();
    machine.sh("mkdir -p home dotfiles/bin && ln -s ../dotfiles/bin home/bin");
    let output = machine.install(&["release", "--prefix", "home"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(machine.version("jeton"), "jeton 0.1.0\n");
}

#[test]
fn folder_in_place_of_a_program_is_named() {
    let machine = Machine::new();
    machine.sh("mkdir -p home/bin/jeton-lab");
    let output = machine.install(&["release", "--prefix", "home"]);
    assert_stopped(&output, "home/bin/jeton-lab is a folder", "--prefix DIR");
    assert!(!machine.path("home/bin/jeton").exists());
}

#[test]
fn path_of_a_relative_prefix_is_shown_whole() {
    let machine = Machine::new();
    let output = machine.install(&["release", "--prefix", "home"]);
    let bin = fs::canonicalize(machine.path("home/bin")).unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let line = format!("export PATH=\"{}:$PATH\"", bin.display());
    assert!(said.contains(&line), "{said}");
}

/// Otherwise the programs would be installed in `/bin` or `/.local`. There is no release, so that this test never does it.
#[test]
fn prefix_that_is_empty_is_refused() {
    let machine = Machine::new();
    let output = machine.install(&["none", "--prefix", ""]);
    assert_stopped(&output, "--prefix needs a folder", "sh install.sh FROM");
    for home in [None, Some("")] {
        let mut sh = machine.command("sh");
        sh.args([SCRIPT, "none"]).env_remove("HOME");
        sh.envs(home.map(|home| ("HOME", home)));
        assert_stopped(&sh.output().unwrap(), "HOME is not set", "--prefix DIR");
    }
}

#[test]
fn redirect_from_https_to_http_is_not_followed() {
    let machine = Machine::new();
    machine.sh(
        "printf '#!/bin/sh\\necho \"$@\" > asked\\nexit 22\\n' > bin/curl && chmod +x bin/curl",
    );
    let output = machine.install(&["https://id.example/release", "--prefix", "home"]);
    assert_stopped(&output, "has no SHA256SUMS", "has SHA256SUMS");
    let asked = fs::read_to_string(machine.path("asked")).unwrap();
    assert!(asked.contains("--proto =https,https "), "{asked}");
}

/// With it, anyone on the network could replace the programs and their checksums.
#[test]
fn wget_that_accepts_any_certificate_is_not_used() {
    let machine = Machine::new();
    machine.sh(
        "mkdir tools
         for tool in sh sed head cut sha256sum tar gzip mktemp rm mkdir cp mv ln grep cat; do
             ln -s $(command -v $tool) tools
         done
         printf '#!/bin/sh\\necho note: TLS certificate validation not implemented >&2\\n' > bin/wget
         printf 'cp release/${3##*/} ${2#*=}\\n' >> bin/wget
         chmod +x bin/wget",
    );
    let path = format!(
        "{}:{}",
        machine.path("bin").display(),
        machine.path("tools").display()
    );
    let mut sh = machine.command("/bin/sh");
    sh.args([SCRIPT, "https://id.example/release", "--prefix", "home"])
        .env("PATH", path);
    assert_stopped(
        &sh.output().unwrap(),
        "this wget does not verify the certificate",
        "install curl",
    );
    assert!(machine.is_untouched());
}

#[test]
fn wrong_call_shows_the_usage() {
    let machine = Machine::new();
    for call in [
        &[][..],
        &["--prefix"],
        &["--force", "release"],
        &["release", "other"],
        &["jeton", "release"],
    ] {
        assert_stopped(&machine.install(call), "", "sh install.sh FROM");
    }
    let ftp = machine.install(&["ftp://127.0.0.1/release"]);
    assert_stopped(
        &ftp,
        "expected a folder or an https address",
        "name their folder",
    );
}

#[test]
fn platform_without_programs_is_named() {
    let machine = Machine::new();
    for (system, processor) in [("Darwin", "arm64"), ("Linux", "riscv64")] {
        let mut sh = machine.command("sh");
        sh.env("SYSTEM", system).env("MACHINE", processor);
        let output = sh.args([SCRIPT, "release", "--prefix", "home"]).output();
        let error = format!("no programs for {system} {processor}");
        assert_stopped(&output.unwrap(), &error, "cargo install");
    }
    assert!(machine.is_untouched());
}

#[test]
fn release_that_is_incomplete_or_changed_installs_nothing() {
    // The second archive is wrong: the first is not installed either.
    let name = ARCHIVES[1];
    let cases = [
        (
            "rm SHA256SUMS",
            "release has no SHA256SUMS",
            "has SHA256SUMS",
        ),
        ("rm NAME", "release has no NAME", "download it too"),
        (
            "sed -i /NAME/d SHA256SUMS",
            "lists no jeton-lab for linux-x64",
            "cargo install",
        ),
        (
            "echo more >> NAME",
            "NAME: SHA-256 is",
            "download the release again",
        ),
        (
            "truncate -s 100 NAME && sha256sum *.gz > SHA256SUMS",
            "NAME is damaged",
            "another copy",
        ),
        (
            "echo text | gzip > NAME && sha256sum *.gz > SHA256SUMS",
            "NAME is damaged",
            "another copy",
        ),
    ];
    for (change, error, hint) in cases {
        let machine = Machine::new();
        machine.sh(&format!("cd release && {}", change.replace("NAME", name)));
        let output = machine.install(&["release", "--prefix", "home"]);
        assert_stopped(&output, &error.replace("NAME", name), hint);
        assert!(machine.is_untouched(), "{change}");
    }
}

#[test]
fn prefix_that_cannot_be_written_is_named() {
    let machine = Machine::new();
    machine.sh("mkdir home && chmod 755 home && chmod 755 . ");
    let is_root = machine.command("id").arg("-u").output().unwrap().stdout == b"0\n";
    let mut sh = if is_root {
        // Root may write everywhere.
        let mut other = machine.command("setpriv");
        other.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh"]);
        other
    } else {
        machine.sh("chmod 555 home");
        machine.command("sh")
    };
    let script = machine.path("install.sh");
    fs::copy(SCRIPT, &script).unwrap();
    sh.arg(&script).args(["release", "--prefix", "home"]);
    let output = sh.output().unwrap();
    assert_stopped(&output, "cannot write to home", "--prefix DIR");
}

#[test]
fn prefix_without_programs_is_named() {
    let machine = Machine::new();
    fs::create_dir(machine.path("home")).unwrap();
    // A mount that only this process sees.
    let mount =
        format!("mount -t tmpfs -o noexec none home && exec sh {SCRIPT} release --prefix home");
    let mut unshare = machine.command("unshare");
    unshare.args(["--mount", "--map-root-user", "sh", "-c", &mount]);
    let output = unshare.output().unwrap();
    assert_stopped(
        &output,
        "jeton does not start in home (mounted noexec?)",
        "--prefix DIR",
    );
}

#[test]
fn script_cut_off_in_a_pipe_installs_nothing() {
    let machine = Machine::new();
    let script = fs::read(SCRIPT).unwrap();
    let last = script.len() - "main \"$@\"\n".len();
    let cuts = (0..last).step_by(211).chain(last..script.len() - 1);
    for cut in cuts {
        let mut sh = machine.command("sh");
        sh.args(["-s", "--", "release", "--prefix", "home"]);
        sh.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = sh.stderr(Stdio::null()).spawn().unwrap();
        // The shell may end before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(&script[..cut]);
        child.wait().unwrap();
        assert!(machine.is_untouched(), "cut after {cut} bytes");
    }
}

/// Serves the files of a folder. Each file that `cut` names ends early.
fn serve(folder: PathBuf, cut: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = BufReader::new(&stream).lines();
            let first = request.next().unwrap().unwrap();
            while request.next().unwrap().is_ok_and(|line| !line.is_empty()) {}
            let name = first
                .split(' ')
                .nth(1)
                .unwrap()
                .trim_start_matches('/')
                .to_owned();
            let Ok(bytes) = fs::read(folder.join(&name)) else {
                let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
                continue;
            };
            let sent = if name == cut {
                bytes.len() / 2
            } else {
                bytes.len()
            };
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                bytes.len()
            );
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&bytes[..sent]);
        }
    });
    address
}

#[test]
fn address_is_installed_and_a_cut_download_is_not() {
    let machine = Machine::new();
    let cut = serve(machine.path("release"), ARCHIVES[1]);
    let output = machine.install(&[&cut, "--prefix", "home"]);
    assert_stopped(&output, "was not downloaded completely", "download it too");
    assert!(machine.is_untouched());
    let whole = serve(machine.path("release"), "");
    let output = machine.install(&[&format!("{whole}none"), "--prefix", "home"]);
    assert_stopped(&output, "has no SHA256SUMS", "has SHA256SUMS");
    let output = machine.install(&[&whole, "--prefix", "home"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(machine.version("jeton-lab"), "jeton-lab 0.1.0\n");
}

#[test]
fn script_is_executable() {
    assert!(Command::new(Path::new(SCRIPT)).output().is_ok());
}
