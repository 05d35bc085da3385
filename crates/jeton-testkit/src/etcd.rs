//! An etcd cluster for tests: one member, or several that elect a leader.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::free_port;

/// The environment variable with the path of etcd. Tests that need etcd are ignored without it.
pub const VARIABLE: &str = "JETON_ETCD";

/// etcd members on the loopback address, each with its data and log in a folder. Dropping this kills all
/// members, including paused ones.
///
/// Members are not ready when `start` returns, so the caller must wait until they respond.
#[derive(Debug)]
pub struct Etcd {
    program: PathBuf,
    folder: PathBuf,
    arguments: Vec<String>,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    host: Host,
    clients: u16,
    peers: u16,
    process: Option<Child>,
}

/// Where a member runs.
#[derive(Debug, Clone)]
pub struct Host {
    /// Its IP address.
    pub address: String,
    /// The program that starts the member, with its arguments. Empty: none.
    pub program: Vec<String>,
    /// The port that the other members connect to, if it is not the member's own: that of a proxy.
    pub peers_through: Option<u16>,
}

/// The ports of members at addresses of their own.
const CLIENTS: u16 = 2379;
const PEERS: u16 = 2380;

impl Member {
    /// Members at free ports of the loopback address, not started.
    fn on_loopback(members: usize) -> Vec<Member> {
        let member = |_| Member {
            host: Host {
                address: "127.0.0.1".to_owned(),
                program: Vec::new(),
                peers_through: None,
            },
            clients: free_port(),
            peers: free_port(),
            process: None,
        };
        (0..members).map(member).collect()
    }
}

/// The etcd of [`VARIABLE`].
fn program() -> io::Result<PathBuf> {
    let program = std::env::var_os(VARIABLE).ok_or(io::ErrorKind::NotFound)?;
    Ok(program.into())
}

impl Etcd {
    /// Whether etcd is available.
    pub fn is_here() -> bool {
        std::env::var_os(VARIABLE).is_some()
    }

    /// Starts this number of members. `folder` must exist and be empty.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] without [`VARIABLE`], or the error of the system.
    pub fn start(folder: &Path, members: usize) -> io::Result<Etcd> {
        Etcd::start_with(folder, members, &[])
    }

    /// Starts this number of members of the etcd that is built at `program`. `folder` must exist and be empty.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn start_built(program: &Path, folder: &Path, members: usize) -> io::Result<Etcd> {
        let members = Member::on_loopback(members);
        Etcd::start_members(program.to_owned(), folder, members, &[])
    }

    /// Starts members with further arguments. With `--cert-file`, clients use TLS; the members still communicate
    /// without it.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Etcd::start). A member with invalid arguments exits, and its log contains the cause.
    pub fn start_with(folder: &Path, members: usize, arguments: &[&str]) -> io::Result<Etcd> {
        let members = Member::on_loopback(members);
        Etcd::start_members(program()?, folder, members, arguments)
    }

    /// Starts a member on each of these hosts.
    ///
    /// # Errors
    ///
    /// Those of [`start_with`](Etcd::start_with).
    pub fn start_on(folder: &Path, hosts: Vec<Host>, arguments: &[&str]) -> io::Result<Etcd> {
        let member = |host| Member {
            host,
            clients: CLIENTS,
            peers: PEERS,
            process: None,
        };
        let members = hosts.into_iter().map(member).collect();
        Etcd::start_members(program()?, folder, members, arguments)
    }

    fn start_members(
        program: PathBuf,
        folder: &Path,
        members: Vec<Member>,
        arguments: &[&str],
    ) -> io::Result<Etcd> {
        let mut etcd = Etcd {
            program,
            folder: folder.to_owned(),
            arguments: arguments.iter().map(|&one| one.to_owned()).collect(),
            members,
        };
        for member in 0..etcd.members.len() {
            etcd.start_member(member)?;
        }
        Ok(etcd)
    }

    /// Returns the address for `jeton serve --store`.
    pub fn url(&self, root: &str) -> String {
        let hosts: Vec<String> = (self.members.iter())
            .map(|member| format!("{}:{}", member.host.address, member.clients))
            .collect();
        let scheme = if self.is_over_tls() { "etcds" } else { "etcd" };
        format!("{scheme}://{}{root}", hosts.join(","))
    }

    /// Returns the address of a member for other clients, for example of its JSON gateway.
    pub fn member_url(&self, member: usize) -> String {
        let scheme = if self.is_over_tls() { "https" } else { "http" };
        let member = &self.members[member];
        format!("{scheme}://{}:{}", member.host.address, member.clients)
    }

    /// Starts a stopped member with its existing data.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn start_member(&mut self, member: usize) -> io::Result<()> {
        let peers = |member: &Member, port| format!("http://{}:{port}", member.host.address);
        let seen = |member: &Member| {
            let port = member.host.peers_through.unwrap_or(member.peers);
            peers(member, port)
        };
        let cluster: Vec<String> = (self.members.iter().enumerate())
            .map(|(number, member)| format!("member{number}={}", seen(member)))
            .collect();
        let this = &self.members[member];
        let clients = self.member_url(member);
        let name = format!("member{member}");
        let log = self.folder.join(format!("{name}.log"));
        let log = File::options().create(true).append(true).open(log)?;
        let mut command = match this.host.program.split_first() {
            Some((program, arguments)) => {
                let mut command = Command::new(program);
                command.args(arguments).arg(&self.program);
                command
            }
            None => Command::new(&self.program),
        };
        let process = command
            .args(["--name", &name])
            .arg("--data-dir")
            .arg(self.folder.join(&name))
            .args(["--listen-client-urls", &clients])
            .args(["--advertise-client-urls", &clients])
            .args(["--listen-peer-urls", &peers(this, this.peers)])
            .args(["--initial-advertise-peer-urls", &seen(this)])
            .args(["--initial-cluster", &cluster.join(",")])
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        self.members[member].process = Some(process);
        Ok(())
    }

    /// Returns whether the process of a member has exited by itself.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn has_exited(&mut self, member: usize) -> io::Result<bool> {
        match &mut self.members[member].process {
            Some(process) => Ok(process.try_wait()?.is_some()),
            None => Ok(false),
        }
    }

    /// Kills a member.
    pub fn kill_member(&mut self, member: usize) {
        if let Some(mut process) = self.members[member].process.take() {
            // The process may have exited already.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Kills all members, and starts another cluster without data at their addresses. `token` must differ from that of
    /// the cluster before: etcd computes the id of a cluster from it and from the addresses.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn start_other_cluster(&mut self, token: &str) -> io::Result<()> {
        for member in 0..self.members.len() {
            self.kill_member(member);
            fs::remove_dir_all(self.folder.join(format!("member{member}")))?;
        }
        self.arguments
            .push(format!("--initial-cluster-token={token}"));
        for member in 0..self.members.len() {
            self.start_member(member)?;
        }
        Ok(())
    }

    /// Pauses a member: its connections stay open, but it does not respond.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] if the member is stopped, or the error of the system.
    pub fn pause_member(&self, member: usize) -> io::Result<()> {
        self.signal(member, "-STOP")
    }

    /// Resumes a paused member.
    ///
    /// # Errors
    ///
    /// Those of [`pause_member`](Etcd::pause_member).
    pub fn resume_member(&self, member: usize) -> io::Result<()> {
        self.signal(member, "-CONT")
    }

    fn signal(&self, member: usize, name: &str) -> io::Result<()> {
        let process = self.members[member].process.as_ref();
        let process = process.ok_or(io::ErrorKind::NotFound)?.id().to_string();
        match Command::new("kill").args([name, &process]).status()? {
            status if status.success() => Ok(()),
            status => Err(io::Error::other(format!("kill {name}: {status}"))),
        }
    }

    fn is_over_tls(&self) -> bool {
        let is_certificate = |one: &String| one.split('=').next() == Some("--cert-file");
        self.arguments.iter().any(is_certificate)
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        for member in 0..self.members.len() {
            self.kill_member(member);
        }
    }
}
