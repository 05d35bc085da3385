//! Tests that a node killed during concurrent revocations loses none that it acknowledged.
//!
//! The test starts itself again as the victim. The victim revokes from several threads and writes each
//! acknowledged id to a pipe, which outlives it. `JETON_KILLS` sets the number of kills (default 50). A
//! control acknowledges before the commit, and the test must detect its loss. A kill does not affect the
//! page cache: the power cuts in the conformance suite of jeton-store test flushing.
//!
//! With `JETON_KILL_STORE=etcd` the store is an etcd server, which is also killed in every fifth round.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use jeton::{FixedClock, Timestamp};
use jeton_issuer::{
    IssuerSettings, KeyEncryptionKey, Node, Options, RevocationIndex, Revoke, token_hash,
    verify_audit,
};
use jeton_store::{EtcdAccess, EtcdAddress, EtcdStore, Key, Prefix, RedbStore, Store, block_on};
use jeton_testkit::Etcd;
use tempfile::TempDir;

const ISS: &str = "https://id.example";
const EXPIRES_AT: i64 = 4_000_000_000;
const THREADS: usize = 8;
/// After more kills the store takes longer to read than to write.
const KILLS_PER_STORE: usize = 50;
/// Starting etcd takes a second.
const KILLS_PER_ETCD_KILL: usize = 5;
const PLACE: &str = "JETON_KILL_PLACE";
const EARLY: &str = "JETON_KILL_EARLY";
const STORE: &str = "JETON_KILL_STORE";

fn main() -> ExitCode {
    if let Ok(place) = std::env::var(PLACE) {
        revoke_until_killed(&place, std::env::var_os(EARLY).is_some());
        return ExitCode::SUCCESS;
    }
    // Handles the arguments that `cargo test` passes to every test program.
    if std::env::args().any(|argument| argument == "--list") {
        println!("no_acknowledged_revocation_is_forgotten: test");
        return ExitCode::SUCCESS;
    }
    let kills = std::env::var("JETON_KILLS").ok();
    let kills: usize = kills.map_or(50, |text| text.parse().expect("JETON_KILLS is a number"));
    let started = Instant::now();
    let sound = kill_often(kills, false);
    println!(
        "{kills} kills in {:.0} s: {} revocations acknowledged, {} forgotten; {} audit entries verified",
        started.elapsed().as_secs_f64(),
        sound.acknowledged,
        sound.forgotten,
        sound.audit_entries
    );
    // The control stops at the first detected loss.
    let control = kill_often(50, true);
    println!(
        "control: {} of {} forgotten",
        control.forgotten, control.acknowledged
    );
    assert!(
        sound.acknowledged >= kills,
        "hardly anything was acknowledged before a kill"
    );
    assert_eq!(
        sound.forgotten, 0,
        "acknowledged revocations were forgotten"
    );
    assert!(
        control.forgotten > 0,
        "who acknowledges too early was not caught"
    );
    ExitCode::SUCCESS
}

#[derive(Default)]
struct Count {
    acknowledged: usize,
    forgotten: usize,
    /// Entries of all verified chains.
    audit_entries: u64,
}

/// The store of the victim, and its server if there is one.
struct Victims {
    /// A folder, or the address of etcd.
    place: String,
    etcd: Option<Etcd>,
    _folder: TempDir,
}

impl Victims {
    fn new() -> Victims {
        let folder = tempfile::tempdir().unwrap();
        let is_etcd = std::env::var(STORE).is_ok_and(|store| store == "etcd");
        let etcd = is_etcd.then(|| Etcd::start(folder.path(), 1).unwrap());
        let place = match &etcd {
            Some(etcd) => etcd.url("/kill"),
            None => folder.path().to_str().unwrap().to_owned(),
        };
        Victims {
            place,
            etcd,
            _folder: folder,
        }
    }

    fn kill_server(&mut self) {
        if let Some(etcd) = &mut self.etcd {
            etcd.kill_member(0);
        }
    }

    fn start_server(&mut self) {
        if let Some(etcd) = &mut self.etcd {
            etcd.start_member(0).unwrap();
        }
    }
}

/// Kills repeatedly on one store, so that each start reads what the last kill left.
fn kill_often(kills: usize, early: bool) -> Count {
    let mut count = Count::default();
    let mut left = kills;
    while left > 0 && count.forgotten == 0 {
        let here = left.min(KILLS_PER_STORE);
        left -= here;
        kill_on_one_store(here, early, &mut count);
    }
    count
}

fn kill_on_one_store(kills: usize, early: bool, count: &mut Count) {
    let mut victims = Victims::new();
    make_issuer(&victims.place);
    let mut acknowledged = Vec::new();
    for kill in 0..kills {
        let new = kill_once(&mut victims, early, kill);
        count.acknowledged += new.len();
        acknowledged.extend(new);
        let (stored, entries) = stored(&victims.place);
        let minute = u32::try_from(EXPIRES_AT / 60).unwrap();
        let forgotten = |id: &&String| !stored.contains(minute, token_hash(ISS, id));
        count.forgotten += acknowledged.iter().filter(forgotten).count();
        count.audit_entries += entries;
        if count.forgotten > 0 {
            break;
        }
    }
}

fn kill_once(victims: &mut Victims, early: bool, kill: usize) -> Vec<String> {
    let mut victim = Command::new(std::env::current_exe().unwrap());
    victim.env(PLACE, &victims.place).stdout(Stdio::piped());
    if early {
        victim.env(EARLY, "1");
    }
    let mut victim = victim.spawn().unwrap();
    let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    // During the next revocations, after a varying number, at a varying moment between two flushes.
    let mut acknowledged: Vec<String> = Vec::new();
    for line in lines.by_ref().take(kill % 40) {
        acknowledged.extend(id_of(line.unwrap()));
    }
    thread::sleep(Duration::from_micros((kill as u64 * 7919) % 5000));
    let with_server = kill % KILLS_PER_ETCD_KILL == KILLS_PER_ETCD_KILL - 1;
    if with_server {
        victims.kill_server();
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    if with_server {
        victims.start_server();
    }
    acknowledged.extend(lines.map_while(Result::ok).filter_map(id_of));
    acknowledged
}

/// An incomplete last line was not acknowledged.
fn id_of(line: String) -> Option<String> {
    line.strip_suffix('.').map(str::to_owned)
}

fn open(place: &str) -> Arc<dyn Store> {
    let begun = Instant::now();
    loop {
        match try_to_open(place) {
            Ok(store) => return store,
            // A dropped node releases its store a moment later, and etcd takes time to start.
            Err(jeton_store::Error::InUse | jeton_store::Error::Io(..))
                if begun.elapsed() < Duration::from_secs(60) =>
            {
                thread::sleep(Duration::from_millis(1));
            }
            Err(error) => panic!("the store after a kill: {error}"),
        }
    }
}

fn try_to_open(place: &str) -> jeton_store::Result<Arc<dyn Store>> {
    let is_etcd = place.starts_with("etcd://");
    if is_etcd {
        let address = EtcdAddress::parse(place)?;
        return Ok(Arc::new(EtcdStore::open(&address, EtcdAccess::default())?));
    }
    Ok(Arc::new(RedbStore::open(Path::new(place))?))
}

fn start(store: Arc<dyn Store>) -> Node {
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    let now = Timestamp::from_unix_seconds(EXPIRES_AT - 3600).unwrap();
    Node::start(store, Options::new(kek), Arc::new(FixedClock(now))).unwrap()
}

fn make_issuer(place: &str) {
    let node = start(open(place));
    let settings = format!(
        r#"{{"iss":"{ISS}","profiles":[{{"name":"p","alg":"EdDSA","lifetime_seconds":900,"audiences":["a"]}}]}}"#
    );
    node.create_issuer("setup", IssuerSettings::from_json(&settings).unwrap())
        .unwrap();
}

/// Reads everything after a restart: this detects a damaged store and verifies the audit chain.
fn stored(place: &str) -> (RevocationIndex, u64) {
    let store = open(place);
    let entries = block_on(verify_audit(&*store)).expect("the audit chain holds after a kill");
    let mut index = RevocationIndex::default();
    let mut pages = block_on(store.scan(&Prefix::all())).unwrap();
    while let Some(page) = block_on(pages.next()).unwrap() {
        for entry in page {
            let parts: Vec<String> = Key::parts(&entry.key).collect();
            if let [kind, _, minute, hash] = parts.as_slice()
                && kind == "r"
            {
                let hash = u128::from_str_radix(hash, 16).unwrap();
                index.insert(minute.parse().unwrap(), &mut [hash]);
            }
        }
    }
    (index, entries)
}

fn revoke_until_killed(place: &str, early: bool) {
    let node = start(open(place));
    let out = Mutex::new(std::io::stdout());
    let say = |line: &str| {
        let mut out = out.lock().unwrap();
        out.write_all(line.as_bytes()).unwrap();
        out.flush().unwrap();
    };
    say("ready\n");
    let process = std::process::id();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (node, say) = (&node, &say);
            scope.spawn(move || {
                // Bounded, so that a victim without its parent ends.
                for step in 0..20_000 {
                    let id = format!("{process}-{thread}-{step}");
                    let answer = node.revoke("me", ISS, Revoke::token(&id, EXPIRES_AT));
                    if early {
                        say(&format!("{id}.\n"));
                        let _ = block_on(answer);
                    } else {
                        // Its store was killed first: nothing was acknowledged.
                        if block_on(answer).is_err() {
                            return;
                        }
                        say(&format!("{id}.\n"));
                    }
                }
            });
        }
    });
}
