//! Runs every command of docs/operating.md, in its order, on one service. What needs a package manager or systemd is
//! replaced by a small script that checks its arguments.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use jeton_testkit::{copy_program, free_port, write_program};

use crate::binary::succeeds;
use crate::data_folder::private;

/// Starts and stops the server and its backup as the units do.
const SYSTEMCTL: &str = r#"#!/bin/sh
set -eu
start() {
    runuser -u jeton -- jeton serve --config ETC/jeton.toml --check > /dev/null
    # A drop-in of the unit: limits and environment.
    runuser -u jeton -- $(cat ROOT/drop-in) jeton serve --config ETC/jeton.toml >> ROOT/log 2>&1 &
    echo $! > ROOT/pid
    scheme=http
    if grep -q '^\[tls\]' ETC/jeton.toml; then scheme=https; fi
    for attempt in $(seq 300); do
        if curl --insecure --fail --silent --output ROOT/answer $scheme://127.0.0.1:8420/readyz; then
            return 0
        fi
        sleep 0.1
    done
    cat ROOT/log >&2
    return 1
}
stop() {
    kill -TERM "$(cat ROOT/pid)"
    while kill -0 "$(cat ROOT/pid)" 2> /dev/null; do sleep 0.05; done
    rm ROOT/pid
}
verb=$1
shift
if [ "$verb $1" = "enable --now" ]; then
    verb=start
    shift
fi
for unit; do
    case "$verb $unit" in
        "start jeton") start ;;
        "stop jeton") stop ;;
        "restart jeton") stop; start ;;
        "status jeton") kill -0 "$(cat ROOT/pid)" ;;
        "reload jeton") runuser -u jeton -- jeton serve --config ETC/jeton.toml --check > /dev/null; kill -HUP "$(cat ROOT/pid)" ;;
        "start jeton-backup.timer") [ -f ROOT/units/jeton-backup.timer ] ;;
        "start jeton-backup.service")
            set -a
            . "$(sed -n 's/^EnvironmentFile=//p' ROOT/units/jeton-backup.service)"
            runuser -u jeton -- "$(sed -n 's/^ExecStart=//p' ROOT/units/jeton-backup.service)"
            ;;
        "reload nginx" | "start nginx") nginx ;;
        "stop nginx") nginx -s stop ;;
        "reload prometheus") [ -f ROOT/prometheus/prometheus.yml ] ;;
        *) exit 1 ;;
    esac
done
"#;

/// The user and the group `jeton`, if root runs the test: then files have owners. Otherwise the user of the test owns
/// everything.
const USER: &str = "4321";

/// Other programs. Those about users check their arguments, and do what they say if they can.
const PROGRAMS: [(&str, &str); 5] = [
    ("dpkg", "[ \"$1\" = -i ]\n[ -f \"$2\" ]\n"),
    (
        "chown",
        "more=\nif [ \"$1\" = --recursive ]; then more=$1; shift; fi\n\
         owner=$1\nshift\nfor file; do [ -e \"$file\" ]; done\n\
         case $owner in prometheus:prometheus) exit ;; jeton:jeton) ;; *) exit 1 ;; esac\n\
         [ \"$(id -u)\" != 0 ] || command -p chown $more USER:USER \"$@\"\n",
    ),
    (
        "runuser",
        "[ \"$1 $2 $3\" = \"-u jeton --\" ]\nshift 3\nexport HOME=/nonexistent\n\
         [ \"$(id -u)\" != 0 ] || set -- setpriv --reuid USER --regid USER --clear-groups -- \"$@\"\n\
         exec \"$@\"\n",
    ),
    // The user of the service can read the tokens.
    (
        "softhsm2-util",
        "command -p softhsm2-util \"$@\"\n\
         [ \"$(id -u)\" != 0 ] || command -p chown --recursive USER:USER ROOT/tokens\n",
    ),
    (
        "journalctl",
        "[ \"$1 $2\" = \"--unit jeton\" ]\ncat ROOT/log\n",
    ),
];

/// The environment variable with the path of Prometheus' own program for rules.
pub(crate) const PROMTOOL: &str = "JETON_PROMTOOL";

/// Without it, only the arguments are checked.
const NO_PROMTOOL: &str = "#!/bin/sh\nset -eu\n[ \"$1 $2\" = \"check config\" ]\n[ -f \"$3\" ]\n";

pub(crate) fn manual() -> String {
    page("operating.md")
}

/// A page of the documentation.
pub(crate) fn page(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    fs::read_to_string(docs.join(name)).unwrap()
}

/// The manual without the chapters that need another build. `cargo xtask test` runs all of it.
fn for_this_build(manual: &str) -> String {
    if cfg!(feature = "pkcs11") {
        return manual.to_owned();
    }
    let (before, rest) = manual.split_once("\n## Keys in an HSM\n").unwrap();
    let (_, after) = rest.split_once("\n## ").unwrap();
    format!("{before}\n## {after}")
}

/// The code blocks, with their languages.
pub(crate) fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (line.trim().strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, text))) => {
                text.push_str(line.strip_prefix("   ").unwrap_or(line));
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none());
    blocks
}

/// A machine with the package installed.
pub(crate) struct Machine {
    folder: tempfile::TempDir,
    ports: [u16; 2],
    /// The address of the etcd, if there is one.
    pub(crate) etcd: Option<String>,
    /// Further texts of a page, and what they are on this machine.
    pub(crate) places: Vec<(&'static str, String)>,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        let machine = Machine {
            folder: tempfile::tempdir().unwrap(),
            ports: [free_port(), free_port()],
            etcd: None,
            places: Vec::new(),
        };
        for folder in ["bin", "etc", "lib", "backups", "work", "tokens", "home"] {
            fs::create_dir(machine.path(folder)).unwrap();
        }
        let jeton = Path::new(env!("CARGO_BIN_EXE_jeton"));
        let is_root = rustix::process::geteuid().is_root();
        if is_root {
            // Another user may not reach the original.
            copy_program(jeton, &machine.path("bin/jeton"));
        } else {
            symlink(jeton, machine.path("bin/jeton")).unwrap();
        }
        machine.program("systemctl", SYSTEMCTL);
        for (name, text) in PROGRAMS {
            machine.program(name, &format!("#!/bin/sh\nset -eu\n{text}"));
        }
        match std::env::var_os(PROMTOOL) {
            Some(program) => symlink(program, machine.path("bin/promtool")).unwrap(),
            None => machine.program("promtool", NO_PROMTOOL),
        }
        fs::write(machine.path("drop-in"), "").unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let config = fs::read_to_string(root.join("deploy/jeton.toml")).unwrap();
        let ports = "listen = \"127.0.0.1:8420\"\nadmin_listen = \"127.0.0.1:8421\"\n";
        let config = machine.placed(&format!("{ports}{config}"));
        fs::write(machine.path("etc/jeton.toml"), config).unwrap();
        let softhsm = machine.placed("directories.tokendir = ROOT/tokens\n");
        fs::write(machine.path("softhsm2.conf"), softhsm).unwrap();
        private(&machine.path("etc/key-encryption-key"), &"5".repeat(64));
        // The folder of a release.
        let package = "jeton_0.1.0_amd64.deb";
        machine.run(&format!(
            "echo > {package}; sha256sum {package} > SHA256SUMS"
        ));
        if is_root {
            // As the package does it.
            machine.run(
                "chmod 0755 ROOT\nchown jeton:jeton /etc/jeton/key-encryption-key /var/lib/jeton ROOT/tokens\n\
                 chmod 0700 /var/lib/jeton\nchmod 0750 ETC\ncommand -p chown root:USER ETC",
            );
        }
        machine
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The address of the data listener.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.ports[0])
    }

    /// Writes a program that the pages run.
    pub(crate) fn program(&self, name: &str, script: &str) {
        write_program(&self.path("bin").join(name), &self.placed(script));
    }

    /// A text with the folders and ports of this machine.
    pub(crate) fn placed(&self, text: &str) -> String {
        let root = self.folder.path().display().to_string();
        let named = "etcd://127.0.0.1:2379/jeton";
        let places = self.places.iter();
        let text = places.fold(text.to_owned(), |text, (name, place)| {
            text.replace(name, place)
        });
        text.replace(named, self.etcd.as_deref().unwrap_or(named))
            .replace("/etc/jeton", "ETC")
            .replace("ETC", &format!("{root}/etc"))
            .replace("ROOT", &root)
            .replace("USER", USER)
            .replace("/var/lib/jeton", &format!("{root}/lib"))
            .replace("/var/backups/jeton", &format!("{root}/backups"))
            .replace("127.0.0.1:8420", &self.address())
            .replace("127.0.0.1:8421", &format!("127.0.0.1:{}", self.ports[1]))
    }

    /// Sets what starts the server: a program and its arguments.
    pub(crate) fn drop_in(&self, program: &str) {
        fs::write(self.path("drop-in"), program).unwrap();
    }

    pub(crate) fn process(&self) -> i32 {
        let pid = fs::read_to_string(self.path("pid")).unwrap();
        pid.trim().parse().unwrap()
    }

    #[track_caller]
    pub(crate) fn run(&self, block: &str) -> String {
        let path = std::env::var("PATH").unwrap();
        let output = Command::new("sh")
            .args(["-euc", &self.placed(block)])
            .current_dir(self.path("work"))
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("HOME", self.path("home"))
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("JETON_KEY_ENCRYPTION_KEY")
            .env("SOFTHSM2_CONF", self.path("softhsm2.conf"))
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = text(&output.stderr);
        assert!(output.status.success(), "{block}\n{said}");
        text(&output.stdout)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Ok(pid) = fs::read_to_string(self.path("pid")) {
            let _ = Command::new("kill").args(["-KILL", pid.trim()]).status();
        }
    }
}

#[test]
fn every_command_of_the_manual_works() {
    let machine = Machine::new();
    let mut commands = 0;
    for (language, block) in blocks(&for_this_build(&manual())) {
        match language.as_str() {
            "sh" => drop(machine.run(&block)),
            // Read by a test of jeton-server.
            "toml" => continue,
            other => panic!("unknown language {other:?}"),
        }
        commands += block.lines().filter(|line| !line.is_empty()).count();
    }
    assert!(commands > 40, "{commands}");
    // The manual did what it says.
    let on = "--config /etc/jeton/jeton.toml --server http://127.0.0.1:8421";
    let audit = machine.run(&format!("jeton admin audit {on}"));
    for act in ["key.rotate", "key.compromised", "key.reseal", "revoke"] {
        assert!(audit.contains(act), "{act}: {audit}");
    }
}

/// The chapter of the manual with this heading.
pub(crate) fn chapter(manual: &str, heading: &str) -> String {
    let (_, rest) = manual.split_once(&format!("\n## {heading}\n")).unwrap();
    rest.split("\n## ").next().unwrap().to_owned()
}

/// The issuer of the complete example has two algorithms, so that two keys sign.
#[test]
fn compromised_key_commands_work_on_the_complete_example() {
    let machine = Machine::new();
    let example = page("service.md");
    let example = chapter(&example, "Beyond one machine");
    let (_, issuer) = example.split_once("\n[[issuer]]").unwrap();
    let (issuer, _) = issuer.split_once("\n```").unwrap();
    machine.run(&format!(
        "cat >> /etc/jeton/jeton.toml <<'EOF'\n[[issuer]]{issuer}\nEOF\nsystemctl start jeton"
    ));
    let list = "jeton admin key list https://id.example --config /etc/jeton/jeton.toml \
                --server http://127.0.0.1:8421";
    let ids = |alg: &str| {
        let listed = machine.run(list);
        let of_alg = listed.lines().filter(|line| line.contains(alg));
        let ids = of_alg.map(|line| line.split(' ').next().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    let before = (ids(" ES256 "), ids(" v4.public "));
    assert_eq!((before.0.len(), before.1.len()), (1, 1));
    for (_, block) in blocks(&chapter(&manual(), "A compromised key")) {
        machine.run(&block);
    }
    assert_eq!(ids(" v4.public "), before.1);
    let after = ids(" ES256 ");
    assert_eq!(after.len(), 1, "{after:?}");
    assert_ne!(after, before.0);
}

/// Commands in the text exist.
#[test]
fn commands_in_the_text_exist() {
    let page = manual();
    let mut found = 0;
    let prose = page.split("```").step_by(2);
    for code in prose.flat_map(|text| text.split('`').skip(1).step_by(2)) {
        let Some(words) = code.strip_prefix("jeton ") else {
            continue;
        };
        let is_verb = |word: &&str| {
            word.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        };
        let mut words: Vec<&str> = words.split(' ').take_while(is_verb).collect();
        words.retain(|word| !word.starts_with("--"));
        succeeds(Path::new("."), &[&words[..], &["--help"]].concat(), b"");
        found += 1;
    }
    assert!(found > 5, "{found}");
}
