//! Hosts that share a bridge: network namespaces, and faults of their links.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Which packets of a host are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Both,
    /// It sends, and receives nothing.
    In,
    /// It receives, and sends nothing.
    Out,
}

/// Hosts with the addresses 10.77.0.11, 10.77.0.12 and so on. Dropping this deletes them.
pub(super) struct Network {
    name: String,
    hosts: usize,
}

static NETWORKS: AtomicU32 = AtomicU32::new(0);

impl Network {
    pub(super) fn of(hosts: usize) -> Network {
        let number = NETWORKS.fetch_add(1, Ordering::Relaxed);
        let name = format!("jeton-{}-{number}", std::process::id());
        let network = Network { name, hosts };
        let hub = network.hub();
        ip(&["netns", "add", &hub]);
        ip(&["-n", &hub, "link", "add", "br0", "type", "bridge"]);
        ip(&["-n", &hub, "link", "set", "br0", "up"]);
        for host in 0..hosts {
            let space = network.space(host);
            ip(&["netns", "add", &space]);
            let port = format!("v{host}");
            let address = format!("{}/24", network.address(host));
            let setup = format!(
                "link set lo up\nlink add eth0 type veth peer name {port} netns {hub}\n\
                 addr add {address} dev eth0\nlink set eth0 up\n"
            );
            fed(&["ip", "-n", &space, "-batch", "-"], &setup);
            ip(&["-n", &hub, "link", "set", &port, "master", "br0", "up"]);
        }
        network
    }

    fn hub(&self) -> String {
        format!("{}-hub", self.name)
    }

    fn space(&self, host: usize) -> String {
        format!("{}-{host}", self.name)
    }

    pub(super) fn address(&self, host: usize) -> String {
        let [a, b, c, d] = Network::octets(host);
        format!("{a}.{b}.{c}.{d}")
    }

    pub(super) fn octets(host: usize) -> [u8; 4] {
        [10, 77, 0, u8::try_from(host).unwrap() + 11]
    }

    /// The words that start a program on that host.
    pub(super) fn program(&self, host: usize) -> Vec<String> {
        let words = ["ip", "netns", "exec", &self.space(host)];
        words.map(str::to_owned).to_vec()
    }

    /// Runs a program on that host to its end.
    pub(super) fn run(&self, host: usize, words: &[&str]) -> Output {
        let program = self.program(host);
        let mut command = Command::new(&program[0]);
        command.args(&program[1..]).args(words).output().unwrap()
    }

    /// Starts a thread on that host: its sockets and those of the threads that it starts are there.
    pub(super) fn spawn<R: Send + 'static>(
        &self,
        host: usize,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> JoinHandle<R> {
        let space = File::open(format!("/run/netns/{}", self.space(host))).unwrap();
        thread::spawn(move || {
            move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            work()
        })
    }

    /// Drops all packets of a host, or those from and to the named ones.
    pub(super) fn cut(&self, host: usize, direction: Direction, peers: &[usize]) {
        self.lose(host, direction, peers, 100);
    }

    /// Drops this share of the packets of a host.
    pub(super) fn lose(&self, host: usize, direction: Direction, peers: &[usize], percent: u32) {
        let addresses: Vec<String> = peers.iter().map(|&peer| self.address(peer)).collect();
        let named = |side: &str| {
            if addresses.is_empty() {
                String::new()
            } else {
                format!("ip {side} {{ {} }} ", addresses.join(", "))
            }
        };
        let chance = match percent {
            100 => String::new(),
            _ => format!("numgen random mod 100 < {percent} "),
        };
        let rule = |side: &str, link: &str, is_on: bool| {
            if is_on {
                format!("{link} \"eth0\" {}{chance}counter drop", named(side))
            } else {
                String::new()
            }
        };
        let incoming = rule("saddr", "iifname", direction != Direction::Out);
        let outgoing = rule("daddr", "oifname", direction != Direction::In);
        let rules = format!(
            "flush ruleset\ntable inet fault {{\n\
             chain incoming {{\ntype filter hook input priority 0\n{incoming}\n}}\n\
             chain outgoing {{\ntype filter hook output priority 0\n{outgoing}\n}}\n}}\n"
        );
        self.nft(host, &rules);
    }

    /// Removes the faults of a host.
    pub(super) fn heal(&self, host: usize) {
        self.nft(host, "flush ruleset\n");
    }

    /// Returns how many packets the faults of a host have dropped.
    pub(super) fn dropped(&self, host: usize) -> u64 {
        let listed = self.run(host, &["nft", "list", "ruleset"]).stdout;
        let listed = String::from_utf8(listed).unwrap();
        let counts = listed.split("counter packets ").skip(1);
        counts
            .filter_map(|rest| rest.split(' ').next()?.parse::<u64>().ok())
            .sum()
    }

    fn nft(&self, host: usize, rules: &str) {
        let space = self.space(host);
        fed(&["ip", "netns", "exec", &space, "nft", "-f", "-"], rules);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let spaces = (0..self.hosts).map(|host| self.space(host));
        for space in spaces.chain([self.hub()]) {
            let _ = Command::new("ip").args(["netns", "del", &space]).status();
        }
    }
}

fn ip(args: &[&str]) {
    fed(&[&["ip"], args].concat(), "");
}

fn fed(words: &[&str], input: &str) {
    let mut child = Command::new(words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(input.as_bytes()).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?} {input}: {said}");
}
