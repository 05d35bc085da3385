//! A real etcd for as long as a test: one member, or several that elect a leader.

use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The variable that says where the program is. Tests that need it are ignored without.
pub const VARIABLE: &str = "JETON_ETCD";

/// Members on this machine's loopback, each with its data and its log in a folder. They are killed when
/// this is dropped, also those that are paused.
///
/// Whoever calls must wait until they answer: they are not ready when they have started.
#[derive(Debug)]
pub struct Etcd {
    program: PathBuf,
    folder: PathBuf,
    arguments: Vec<String>,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    clients: u16,
    peers: u16,
    process: Option<Child>,
}

impl Etcd {
    /// Whether there is a program to start.
    pub fn is_here() -> bool {
        std::env::var_os(VARIABLE).is_some()
    }

    /// Starts that many members. `folder` must be there, and empty.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] without [`VARIABLE`], or what the system says.
    pub fn start(folder: &Path, members: usize) -> io::Result<Etcd> {
        Etcd::start_with(folder, members, &[])
    }

    /// The same with further arguments for each member. With a `--cert-file` among them clients are served
    /// over TLS, and members speak to each other without it all the same.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Etcd::start). Who does not like its arguments ends, and its log says why.
    pub fn start_with(folder: &Path, members: usize, arguments: &[&str]) -> io::Result<Etcd> {
        let program = std::env::var_os(VARIABLE).ok_or(io::ErrorKind::NotFound)?;
        let ports = (0..members)
            .map(|_| Ok((free_port()?, free_port()?)))
            .collect::<io::Result<Vec<_>>>()?;
        let members = ports.into_iter().map(|(clients, peers)| Member {
            clients,
            peers,
            process: None,
        });
        let mut etcd = Etcd {
            program: program.into(),
            folder: folder.to_owned(),
            arguments: arguments.iter().map(|&one| one.to_owned()).collect(),
            members: members.collect(),
        };
        for member in 0..etcd.members.len() {
            etcd.start_member(member)?;
        }
        Ok(etcd)
    }

    /// Where it is, as `jeton serve --store` takes it.
    pub fn url(&self, root: &str) -> String {
        let hosts: Vec<String> = (self.members.iter())
            .map(|member| format!("127.0.0.1:{}", member.clients))
            .collect();
        let scheme = if self.is_over_tls() { "etcds" } else { "etcd" };
        format!("{scheme}://{}{root}", hosts.join(","))
    }

    /// Where that member is for other clients, such as those of its JSON gateway.
    pub fn member_url(&self, member: usize) -> String {
        let scheme = if self.is_over_tls() { "https" } else { "http" };
        format!("{scheme}://127.0.0.1:{}", self.members[member].clients)
    }

    /// Starts a member that is not there, on the data that it left.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn start_member(&mut self, member: usize) -> io::Result<()> {
        let peers = |member: &Member| format!("http://127.0.0.1:{}", member.peers);
        let cluster: Vec<String> = (self.members.iter().enumerate())
            .map(|(number, member)| format!("member{number}={}", peers(member)))
            .collect();
        let this = &self.members[member];
        let clients = self.member_url(member);
        let name = format!("member{member}");
        let log = self.folder.join(format!("{name}.log"));
        let log = File::options().create(true).append(true).open(log)?;
        let process = Command::new(&self.program)
            .args(["--name", &name])
            .arg("--data-dir")
            .arg(self.folder.join(&name))
            .args(["--listen-client-urls", &clients])
            .args(["--advertise-client-urls", &clients])
            .args(["--listen-peer-urls", &peers(this)])
            .args(["--initial-advertise-peer-urls", &peers(this)])
            .args(["--initial-cluster", &cluster.join(",")])
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        self.members[member].process = Some(process);
        Ok(())
    }

    /// Kills a member, in the middle of whatever it does.
    pub fn kill_member(&mut self, member: usize) {
        if let Some(mut process) = self.members[member].process.take() {
            // Who has ended by itself need not be killed.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Stops a member where it is: its connections stay, and nobody answers on them.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] if it is not there, or what the system says.
    pub fn pause_member(&self, member: usize) -> io::Result<()> {
        self.signal(member, "-STOP")
    }

    /// Lets a member that was paused go on.
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

/// Nobody's at this moment.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
