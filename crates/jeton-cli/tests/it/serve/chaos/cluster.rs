//! Three members of an etcd and three servers on it, or more, each on a host of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use jeton_client::{Client, Connection};
use jeton_testkit::{Etcd, EtcdHost, until, until_some};
use tempfile::TempDir;

use super::super::etcd::{Authority, has_started, write_key};
use super::network::Network;
use super::proxy::{self, Delay};
use crate::serving::Serving;

/// `freshness_seconds` of the servers.
pub(super) const FRESHNESS: Duration = Duration::from_secs(8);

/// Members, and nodes unless a test wants more.
pub(super) const EACH: usize = 3;

/// The member whose data is on a small disk.
pub(super) const SMALL_DISK: usize = 1;

/// The node that reads its time from a file, if libfaketime is installed.
pub(super) const OWN_CLOCK: usize = 1;

/// The node that reaches every member through a proxy with a delay. The same is true of the other members and
/// the last one.
pub(super) const DELAYED: usize = 2;

/// Two write-ahead logs of 64 MiB and the data.
const DISK: &str = "size=200m";

const LIBFAKETIME: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
];

/// The environment variable with the path of an older `jeton`.
const OLDER: &str = "JETON_OLDER";

/// What a node runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Program {
    /// The `jeton` of this tree.
    #[default]
    Whole,
    /// It is without some protections, or plays another version: assignments of the environment.
    With(&'static str),
    /// The `jeton` at this path.
    Of(String),
}

impl Program {
    /// The older version of the environment, if it names one.
    pub(super) fn of_environment() -> Option<Program> {
        std::env::var(OLDER).ok().map(Program::Of)
    }

    /// An older version: that of the environment, or this one if it tells the others that it reads older records only.
    pub(super) fn older() -> Program {
        Program::of_environment().unwrap_or(Program::With("JETON_TEST_READS=2"))
    }

    /// Returns the words before the command that runs the `jeton` of this tree.
    pub(super) fn words(&self) -> Vec<String> {
        match self {
            Program::Whole => Vec::new(),
            Program::With(assigned) => {
                let words = std::iter::once("env").chain(assigned.split(' '));
                words.map(str::to_owned).collect()
            }
            Program::Of(path) => {
                let other = format!("shift; exec '{path}' \"$@\"");
                ["sh", "-c", &other, "sh"].map(str::to_owned).to_vec()
            }
        }
    }
}

pub(super) struct Cluster {
    // In the order in which they end.
    nodes: Vec<Mutex<Option<Serving>>>,
    programs: Vec<Mutex<Program>>,
    etcd: Mutex<Etcd>,
    disk: PathBuf,
    pub(super) network: Network,
    pub(super) delay: Delay,
    folder: TempDir,
}

impl Cluster {
    /// Starts it, with more lines at the start of the configuration.
    pub(super) fn start(settings: &str) -> Cluster {
        Cluster::with_nodes(EACH, settings)
    }

    /// Starts it with so many servers.
    pub(super) fn with_nodes(nodes: usize, settings: &str) -> Cluster {
        Cluster::running(nodes, &Program::Whole, settings)
    }

    /// Starts it with so many servers that run this program.
    pub(super) fn running(nodes: usize, program: &Program, settings: &str) -> Cluster {
        let folder = tempfile::tempdir().unwrap();
        let network = Network::of(EACH + nodes);
        let delay = Delay::default();
        configure(folder.path(), settings);
        for member in 0..EACH {
            let from = format!("127.0.0.1:{}", proxied(member));
            let to = format!("{}:2379", network.address(member));
            proxy::start(&network, EACH + DELAYED, from, to, delay.clone());
        }
        let [behind, itself] =
            [2381, 2380].map(|port| format!("{}:{port}", network.address(DELAYED)));
        proxy::start(&network, DELAYED, behind, itself, delay.clone());
        let data = folder.path().join("etcd");
        let disk = data.join(format!("member{SMALL_DISK}"));
        fs::create_dir_all(&disk).unwrap();
        let mount = ["-t", "tmpfs", "-o", DISK, "tmpfs"];
        let mounted = Command::new("mount").args(mount).arg(&disk).status();
        assert!(mounted.unwrap().success());
        let etcd = start_etcd(&network, folder.path(), &data);
        let cluster = Cluster {
            nodes: (0..nodes).map(|_| Mutex::new(None)).collect(),
            programs: (0..nodes).map(|_| Mutex::new(program.clone())).collect(),
            etcd: Mutex::new(etcd),
            disk,
            network,
            delay,
            folder,
        };
        // A server fails at once if its etcd does not answer yet.
        for node in 0..nodes {
            until_some("a server starts", || cluster.start_node(node).then_some(()));
        }
        cluster.all_are_ready();
        cluster
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Runs `jeton admin` on the store, on the host of the first node. Returns whether it succeeded, and what it says.
    pub(super) fn admin(&self, words: &[&str]) -> (bool, String) {
        let mut program = self.network.program(Cluster::host(0));
        program.extend([env!("CARGO_BIN_EXE_jeton"), "admin"].map(str::to_owned));
        let store = self.etcd().url("/tokens");
        let done = Command::new(&program[0])
            .args(&program[1..])
            .args(words)
            .args(["--config", "jeton.toml", "--store", &store])
            .current_dir(self.folder())
            .output()
            .unwrap();
        let said = [done.stdout, done.stderr].concat();
        (done.status.success(), String::from_utf8(said).unwrap())
    }

    pub(super) fn etcd(&self) -> MutexGuard<'_, Etcd> {
        self.etcd.lock().unwrap()
    }

    /// The number of the host of a node.
    pub(super) fn host(node: usize) -> usize {
        EACH + node
    }

    /// Starts a server, and returns whether it has started.
    pub(super) fn start_node(&self, node: usize) -> bool {
        let store = match node {
            DELAYED => {
                let hosts: Vec<String> = (0..EACH)
                    .map(|member| format!("127.0.0.1:{}", proxied(member)))
                    .collect();
                format!("etcds://{}/tokens", hosts.join(","))
            }
            _ => self.etcd().url("/tokens"),
        };
        let mut program = self.network.program(Cluster::host(node));
        if let Some(library) = libfaketime().filter(|_| node == OWN_CLOCK) {
            program.extend(
                [
                    "env",
                    "FAKETIME_DONT_FAKE_MONOTONIC=1",
                    "FAKETIME_CACHE_DURATION=1",
                ]
                .map(str::to_owned),
            );
            program.push(format!(
                "FAKETIME_TIMESTAMP_FILE={}",
                self.clock_file().display()
            ));
            program.push(format!("LD_PRELOAD={library}"));
        }
        program.extend(self.programs[node].lock().unwrap().words());
        let program: Vec<&str> = program.iter().map(String::as_str).collect();
        let args = ["--config", "jeton.toml", "--store", &store];
        let ports = [
            "--listen",
            "127.0.0.1:8420",
            "--admin-listen",
            "127.0.0.1:8421",
        ];
        let server = Serving::start_by(&program, self.folder(), &[&args[..], &ports].concat());
        let has_started = has_started(&server);
        *self.node(node) = has_started.then_some(server);
        has_started
    }

    /// Stops a server as an operator does, and starts this program in its place.
    pub(super) fn replace_node(&self, node: usize, program: Program) {
        let server = self.node(node).take().unwrap();
        server.signal("-TERM");
        let (code, said) = server.end();
        assert_eq!(code, Some(0), "{said}");
        *self.programs[node].lock().unwrap() = program;
        until_some("the other server starts", || {
            self.start_node(node).then_some(())
        });
    }

    pub(super) fn node(&self, node: usize) -> MutexGuard<'_, Option<Serving>> {
        self.nodes[node].lock().unwrap()
    }

    pub(super) fn signal_node(&self, node: usize, name: &str) {
        self.node(node).as_ref().unwrap().signal(name);
    }

    pub(super) fn is_ready(&self, node: usize) -> bool {
        let call = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}"];
        let to = ["--max-time", "2", "http://127.0.0.1:8420/readyz"];
        let words = [&call[..], &to].concat();
        self.network.run(Cluster::host(node), &words).stdout == b"200"
    }

    /// Waits until every node is ready. Returns how long that took.
    pub(super) fn all_are_ready(&self) -> Duration {
        let begun = Instant::now();
        for node in 0..self.nodes() {
            until("the node is ready", || self.is_ready(node));
        }
        begun.elapsed()
    }

    /// The member that is the leader of the majority.
    pub(super) fn leader(&self) -> usize {
        let words = [
            "curl",
            "-s",
            "--max-time",
            "1",
            "http://127.0.0.1:2390/metrics",
        ];
        until_some("there is a leader", || {
            let is_leader = |member: &usize| {
                let said = self.network.run(*member, &words).stdout;
                String::from_utf8_lossy(&said).contains("\netcd_server_is_leader 1\n")
            };
            (0..EACH).find(is_leader)
        })
    }

    /// Fills the small disk. Returns the file to delete.
    pub(super) fn fill_disk(&self) -> PathBuf {
        let file = self.disk.join("filled");
        let to = format!("of={}", file.display());
        let filled = Command::new("dd")
            .args(["if=/dev/zero", &to, "bs=64k"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&filled.stderr).into_owned();
        assert!(said.contains("No space left"), "{said}");
        file
    }

    /// Copies the files of all members, which are killed for it.
    pub(super) fn copy_store(&self) {
        self.without_members(copy);
    }

    /// Kills all members, and starts them again with the copies.
    pub(super) fn restore_store(&self) {
        self.without_members(|data, kept| copy(kept, data));
    }

    /// Kills all members, does something with the folder of each and that of its copy, and starts them again.
    fn without_members(&self, act: impl Fn(&Path, &Path)) {
        let mut etcd = self.etcd();
        for member in 0..EACH {
            etcd.kill_member(member);
        }
        for member in 0..EACH {
            let name = format!("member{member}");
            let kept = self.folder().join("kept").join(&name);
            act(&self.folder().join("etcd").join(name), &kept);
        }
        for member in 0..EACH {
            etcd.start_member(member).unwrap();
        }
    }

    /// Sets the clock of one node so many seconds off.
    pub(super) fn set_clock(&self, seconds: i64) {
        fs::write(self.clock_file(), format!("{seconds:+}\n")).unwrap();
    }

    fn clock_file(&self) -> PathBuf {
        self.folder().join("clock")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in &self.nodes {
            node.lock().unwrap().take();
        }
        for member in 0..EACH {
            self.etcd().kill_member(member);
        }
        let _ = Command::new("umount").arg("-l").arg(&self.disk).status();
    }
}

/// Copies the data of a member from one folder to another. A small disk may be mounted at each.
fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to.join("member"));
    fs::create_dir_all(to).unwrap();
    let copied = Command::new("cp")
        .arg("-a")
        .args([&from.join("member"), to])
        .status();
    assert!(copied.unwrap().success());
}

/// The port of the proxy to a member.
fn proxied(member: usize) -> usize {
    2401 + member
}

pub(crate) fn libfaketime() -> Option<&'static str> {
    LIBFAKETIME
        .iter()
        .find(|path| Path::new(path).exists())
        .copied()
}

fn configure(folder: &Path, settings: &str) {
    let config = format!(
        "key_encryption_key_file = 'kek'\nfreshness_seconds = {}\n{settings}\n\
         [etcd]\nca = 'ours.pem'\n\n[[issuer]]\niss = '{}'\n\
         profiles = [{{ name = 'access', alg = 'ES256', lifetime_seconds = 3600, audiences = ['api'] }}]\n",
        FRESHNESS.as_secs(),
        super::super::etcd::ISSUER
    );
    fs::write(folder.join("jeton.toml"), config).unwrap();
    fs::write(folder.join("clock"), "+0\n").unwrap();
    write_key(folder, "kek", '7');
    let mut addresses: Vec<[u8; 4]> = (0..EACH).map(Network::octets).collect();
    addresses.push([127, 0, 0, 1]);
    Authority::new(folder, "ours").certify_etcd(folder, "etcd-server", &addresses);
}

fn start_etcd(network: &Network, folder: &Path, data: &Path) -> Etcd {
    let host = |member| EtcdHost {
        address: network.address(member),
        program: network.program(member),
        peers_through: (member == DELAYED).then_some(2381),
    };
    let at = |file: &str| folder.join(file).display().to_string();
    let (certificate, key) = (at("etcd-server.pem"), at("etcd-server.key"));
    let metrics = ["--listen-metrics-urls", "http://127.0.0.1:2390"];
    let tls = ["--cert-file", &certificate, "--key-file", &key];
    let arguments = [&metrics[..], &tls].concat();
    Etcd::start_on(data, (0..EACH).map(host).collect(), &arguments).unwrap()
}

/// Connects to the server of the host on which the thread runs.
pub(super) async fn connect(timeout: Duration) -> Client {
    let connection = Connection::to("http://127.0.0.1:8420").timeout(timeout);
    connection.connect().await.unwrap()
}
