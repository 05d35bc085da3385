//! A real etcd server for each case, in its own folder.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use jeton_store::{
    Error, EtcdAccess, EtcdAddress, EtcdStore, Key, Outcome, Prefix, Problem, Revision, Store, Txn,
    block_on,
};
use jeton_testkit::Etcd;
use tempfile::TempDir;

use crate::{Failed, Power, Subject, ensure};

/// Start timeout of etcd on a busy machine.
const COMING_UP: Duration = Duration::from_secs(60);

pub fn etcd() -> Box<dyn Subject> {
    let folder = TempDir::new().unwrap();
    let server = Etcd::start(folder.path(), 1).unwrap();
    let store = open(&server).unwrap_or_else(|Failed(what)| panic!("{what}"));
    Box::new(OnServer {
        server,
        store,
        before: Mutex::new(Revision::START),
        _folder: folder,
    })
}

struct OnServer {
    server: Etcd,
    store: Arc<EtcdStore>,
    /// The newest revision at the last compaction.
    before: Mutex<Revision>,
    _folder: TempDir,
}

impl Subject for OnServer {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// Kills the server. The kernel still has unflushed data, so this does not detect an acknowledgement
    /// before the flush: `power_cut` does.
    fn cut_power(&mut self) -> Result<Power, Failed> {
        self.server.kill_member(0);
        self.server.start_member(0).unwrap();
        self.store = open(&self.server)?;
        Ok(Power::Back)
    }

    fn compact(&self) {
        let newest = block_on(self.store.status()).unwrap().revision;
        block_on(self.store.compact(newest)).unwrap();
    }

    /// The newest revision of the last call: a watch has begun since then.
    fn forget_a_part(&self) {
        let newest = block_on(self.store.status()).unwrap().revision;
        let before = std::mem::replace(&mut *self.before.lock().unwrap(), newest);
        block_on(self.store.compact(before)).unwrap();
    }

    fn cuts(&self) -> u64 {
        3
    }
}

/// An address that leads to another etcd: nothing of it is read, written or reported.
pub fn other_cluster_is_refused() -> Result<(), Failed> {
    let folder = TempDir::new().unwrap();
    let mut server = Etcd::start(folder.path(), 1).unwrap();
    let store = open(&server)?;
    let key = Key::of(["k", "a"])?;
    let put = || Txn::new().put(key.clone(), b"1");
    let prefix = Prefix::of(["k"])?;
    let Outcome::Committed(before) = block_on(store.commit(put()))? else {
        return Err(Failed("nothing to conflict with".into()));
    };
    let mut watch = block_on(store.watch(&prefix, before))?;
    server.start_other_cluster("other").unwrap();
    // Through another connection, until it has more revisions than the first one had.
    let other = open(&server)?;
    for _ in 0..5 {
        block_on(other.commit(put()))?;
    }
    let newest = block_on(other.status())?.revision;
    let is_refused = |error: &Error| *error == Error::OtherStore;
    let begun = Instant::now();
    loop {
        match block_on(store.read(std::slice::from_ref(&key))) {
            Err(error) if is_refused(&error) => break,
            Ok(read) => return Err(Failed(format!("read of another cluster: {read:?}"))),
            // The connection is lost for a moment.
            Err(Error::Io(..)) if begun.elapsed() < COMING_UP => {}
            Err(error) => return Err(Failed(format!("the read: {error}"))),
        }
    }
    let committed = block_on(store.commit(put()));
    if !committed.as_ref().is_err_and(is_refused) {
        return Err(Failed(format!("the commit: {committed:?}")));
    }
    if block_on(other.read(std::slice::from_ref(&key)))?.revision != newest {
        return Err(Failed(
            "the refused commit changed the other cluster".into(),
        ));
    }
    let pages = block_on(store.scan(&prefix)).map(|_| ());
    if !pages.as_ref().is_err_and(is_refused) {
        return Err(Failed(format!("the scan: {pages:?}")));
    }
    loop {
        match block_on(watch.next()) {
            // Without as many revisions, the other cluster is recognised by that.
            Err(Error::OtherStore | Error::Invalid(Problem::FutureRevision)) => return Ok(()),
            Err(Error::Io(..)) if begun.elapsed() < COMING_UP => {}
            Ok(update) if update.revision <= before && update.events.is_empty() => {}
            ended => return Err(Failed(format!("the watch: {ended:?}"))),
        }
    }
}

/// A store that is being filled is opened by nothing else, until it is finished.
pub fn unfinished_store_is_refused() -> Result<(), Failed> {
    let folder = TempDir::new().unwrap();
    let server = Etcd::start(folder.path(), 1).unwrap();
    drop(open(&server)?);
    let address = EtcdAddress::parse(&server.url("/new"))?;
    let find = || EtcdStore::find(&address, EtcdAccess::default()).map(drop);
    let fill = |source| EtcdStore::fill(&address, EtcdAccess::default(), source);
    let look = |source| EtcdStore::look(&address, EtcdAccess::default(), source);
    let begin = || EtcdStore::open(&address, EtcdAccess::default()).map(drop);
    // Finding creates nothing.
    for _ in 0..2 {
        ensure!(
            find() == Err(Error::NoStore("/new".to_owned())),
            "found: {:?}",
            find()
        );
        ensure!(look("a") == Ok(false), "looked: {:?}", look("a"));
    }
    let filled = fill("a")?;
    ensure!(look("a") == Ok(true), "looked: {:?}", look("a"));
    let key = Key::of(["k", "a"])?;
    block_on(filled.commit(Txn::new().put(key.clone(), b"1")))?;
    for (name, opened) in [("find", find()), ("open", begin())] {
        ensure!(opened == Err(Error::Unfinished), "{name}: {opened:?}");
    }
    let other = fill("b").map(drop);
    ensure!(other == Err(Error::OtherSource), "other: {other:?}");
    let looked = look("b");
    ensure!(looked == Err(Error::OtherSource), "looked: {looked:?}");
    let continued = fill("a")?;
    let end = || Txn::new().put(key.clone(), b"2");
    let by_other = block_on(continued.finish("b", end()))?;
    ensure!(matches!(by_other, Outcome::Conflict(_)), "{by_other:?}");
    ensure!(find() == Err(Error::Unfinished), "finished by another");
    let ended = block_on(continued.finish("a", end()))?;
    ensure!(matches!(ended, Outcome::Committed(_)), "{ended:?}");
    // The other process that fills it changes nothing of a store that servers may use.
    for late in [end(), Txn::new().delete(key.clone())] {
        let late = block_on(filled.commit(late))?;
        ensure!(matches!(late, Outcome::Conflict(_)), "late: {late:?}");
    }
    let twice = block_on(filled.finish("a", end()))?;
    ensure!(matches!(twice, Outcome::Conflict(_)), "{twice:?}");
    begin()?;
    let store = EtcdStore::find(&address, EtcdAccess::default())?;
    let read = block_on(store.read(&[key]))?;
    ensure!(
        read.entries[0]
            .as_ref()
            .is_some_and(|entry| entry.value == b"2"),
        "{read:?}"
    );
    let again = fill("a").map(drop);
    ensure!(again == Err(Error::AlreadyThere), "again: {again:?}");
    let looked = look("a");
    ensure!(looked == Err(Error::AlreadyThere), "looked: {looked:?}");
    // The marks of a store at `/a/b` are under `/a`.
    let below = EtcdAddress::parse(&server.url("/a/b"))?;
    drop(EtcdStore::open(&below, EtcdAccess::default())?);
    let above = EtcdAddress::parse(&server.url("/a"))?;
    let foreign = EtcdStore::fill(&above, EtcdAccess::default(), "a").map(drop);
    ensure!(foreign == Err(Error::NotAStore), "foreign: {foreign:?}");
    let looked = EtcdStore::look(&above, EtcdAccess::default(), "a");
    ensure!(looked == Err(Error::NotAStore), "looked: {looked:?}");
    // Nor is a store made inside the root of another one, complete or not.
    for outer in ["/new", "/part"] {
        let at = |root: String| EtcdAddress::parse(&server.url(&root));
        if outer == "/part" {
            drop(EtcdStore::fill(
                &at(outer.to_owned())?,
                EtcdAccess::default(),
                "a",
            )?);
        }
        for root in [format!("{outer}/b"), format!("{outer}/b/c")] {
            let inner = at(root)?;
            let filled = EtcdStore::fill(&inner, EtcdAccess::default(), "a").map(drop);
            ensure!(filled == Err(Error::NotAStore), "fill {inner}: {filled:?}");
            let opened = EtcdStore::open(&inner, EtcdAccess::default()).map(drop);
            ensure!(opened == Err(Error::NotAStore), "open {inner}: {opened:?}");
        }
        // Beside it, it is.
        let beside = at(format!("{outer}-2"))?;
        drop(EtcdStore::open(&beside, EtcdAccess::default())?);
    }
    Ok(())
}

fn open(server: &Etcd) -> Result<Arc<EtcdStore>, Failed> {
    let address = EtcdAddress::parse(&server.url("/conformance"))?;
    let begun = Instant::now();
    loop {
        match EtcdStore::open(&address, EtcdAccess::default()) {
            Ok(store) => return Ok(Arc::new(store)),
            Err(error) if begun.elapsed() > COMING_UP => return Err(error.into()),
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}
