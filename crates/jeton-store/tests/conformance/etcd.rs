//! A real etcd, one for each case, in a folder of its own.

use std::fs::File;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jeton_store::{EtcdAccess, EtcdAddress, EtcdStore, Revision, Store, block_on};
use tempfile::TempDir;

use crate::{Failed, Power, Subject};

/// How long an etcd may take to come up, on a machine that has much else to do.
const COMING_UP: Duration = Duration::from_secs(60);

pub fn etcd() -> Box<dyn Subject> {
    let server = Server::start(TempDir::new().unwrap(), [free_port(), free_port()]);
    let store = server.open().unwrap_or_else(|Failed(what)| panic!("{what}"));
    Box::new(OnServer { server, store })
}

struct OnServer {
    server: Server,
    store: Arc<EtcdStore>,
}

impl Subject for OnServer {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// The server is killed, and so is nothing that it has told the kernel: what it acknowledges without
    /// a flush would survive this.
    fn cut_power(&mut self) -> Result<Power, Failed> {
        self.server.restart();
        self.store = self.server.open()?;
        Ok(Power::Back)
    }

    fn compact(&self) {
        let newest = block_on(self.store.status()).unwrap().revision;
        let before = Revision::from_number(newest.number());
        block_on(self.store.compact(before)).unwrap();
    }

    fn cuts(&self) -> u64 {
        3
    }
}

struct Server {
    folder: TempDir,
    ports: [u16; 2],
    child: Child,
}

impl Server {
    fn start(folder: TempDir, ports: [u16; 2]) -> Server {
        let child = spawn(&folder, ports);
        Server {
            folder,
            ports,
            child,
        }
    }

    fn restart(&mut self) {
        self.kill();
        self.child = spawn(&self.folder, self.ports);
    }

    fn open(&self) -> Result<Arc<EtcdStore>, Failed> {
        let address = format!("etcd://127.0.0.1:{}/conformance", self.ports[0]);
        let address = EtcdAddress::parse(&address)?;
        let begun = Instant::now();
        loop {
            match EtcdStore::open(&address, EtcdAccess::default()) {
                Ok(store) => return Ok(Arc::new(store)),
                Err(error) if begun.elapsed() > COMING_UP => return Err(error.into()),
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(folder: &TempDir, [clients, peers]: [u16; 2]) -> Child {
    let program: PathBuf = std::env::var_os("JETON_ETCD").unwrap().into();
    let clients = format!("http://127.0.0.1:{clients}");
    let peers = format!("http://127.0.0.1:{peers}");
    let log = File::options()
        .create(true)
        .append(true)
        .open(folder.path().join("log"))
        .unwrap();
    Command::new(program)
        .args(["--name", "one", "--data-dir"])
        .arg(folder.path().join("data"))
        .args(["--listen-client-urls", &clients])
        .args(["--advertise-client-urls", &clients])
        .args(["--listen-peer-urls", &peers])
        .args(["--initial-advertise-peer-urls", &peers])
        .args(["--initial-cluster", &format!("one={peers}")])
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap()
}

/// Nobody else's at this moment, and not the same twice in a row.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
