//! A folder as people treat it: opened twice, copied half, damaged, filled up, written by a newer
//! version.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use jeton_store::{
    Condition, Error, Key, Outcome, Prefix, RedbStore, Revision, StorageBackend, Store, Txn,
    block_on,
};

fn key(name: &str) -> Key {
    Key::of(["t", name]).unwrap()
}

fn put(store: &RedbStore, name: &str) -> Result<Outcome, Error> {
    block_on(store.commit(Txn::new().put(key(name), "value")))
}

fn count(store: &RedbStore) -> Result<usize, Error> {
    let mut pages = block_on(store.scan(&Prefix::all()))?;
    let mut count = 0;
    while let Some(page) = block_on(pages.next())? {
        count += page.len();
    }
    Ok(count)
}

/// A folder with a store of some hundred entries, closed.
fn filled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = RedbStore::open(folder.path()).unwrap();
    for batch in 0..8 {
        let txn = (0..60).fold(Txn::new(), |txn, i| {
            txn.put(key(&format!("{batch}-{i}")), vec![b'v'; 100])
        });
        block_on(store.commit(txn)).unwrap();
    }
    folder
}

fn file(folder: &Path) -> std::path::PathBuf {
    folder.join("store.redb")
}

#[test]
fn what_is_written_is_there_when_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("deep/er");
    let revision = {
        let store = RedbStore::open(&data).unwrap();
        let Outcome::Committed(revision) = put(&store, "a").unwrap() else {
            panic!("nothing contends")
        };
        revision
    };
    let store = RedbStore::open(&data).unwrap();
    assert_eq!(count(&store).unwrap(), 1);
    let again = Txn::new()
        .when(key("a"), Condition::Unchanged(revision))
        .put(key("a"), "b");
    assert!(matches!(
        block_on(store.commit(again)).unwrap(),
        Outcome::Committed(next) if next > revision
    ));
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    drop(RedbStore::open(&data).unwrap());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&file(&data)), 0o600);
}

#[test]
fn a_second_one_on_the_same_folder_is_refused_and_the_first_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let first = RedbStore::open(folder.path()).unwrap();
    assert_eq!(RedbStore::open(folder.path()).unwrap_err(), Error::InUse);
    put(&first, "a").unwrap();
    // A watch and a scan that are still held do not hold the folder.
    let watch = block_on(first.watch(&Prefix::all(), Revision::START)).unwrap();
    drop(first);
    let second = RedbStore::open(folder.path()).unwrap();
    assert_eq!(count(&second).unwrap(), 1);
    drop(watch);
}

#[test]
fn what_is_no_store_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["", "not a store", &"x".repeat(100_000)] {
        fs::write(file(folder.path()), text).unwrap();
        let refused = RedbStore::open(folder.path()).unwrap_err();
        assert!(
            matches!(refused, Error::NotAStore | Error::Damaged(_)),
            "{refused}"
        );
        assert_eq!(fs::read_to_string(file(folder.path())).unwrap(), text);
    }
    let other = tempfile::tempdir().unwrap();
    let database = redb::Database::create(file(other.path())).unwrap();
    let write = database.begin_write().unwrap();
    let table = redb::TableDefinition::<u64, u64>::new("of somebody else");
    write.open_table(table).unwrap();
    write.commit().unwrap();
    drop(database);
    assert_eq!(RedbStore::open(other.path()).unwrap_err(), Error::NotAStore);
}

#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let folder = filled();
    let set = |format: u64| {
        let database = redb::Database::open(file(folder.path())).unwrap();
        let write = database.begin_write().unwrap();
        let meta = redb::TableDefinition::<&str, u64>::new("meta");
        write
            .open_table(meta)
            .unwrap()
            .insert("format", format)
            .unwrap();
        write.commit().unwrap();
    };
    set(2);
    let refused = RedbStore::open(folder.path()).unwrap_err();
    assert_eq!(refused, Error::Newer { found: 2, known: 1 });
    assert!(
        refused
            .to_string()
            .contains("use the version that wrote it"),
        "{refused}"
    );
    set(1);
    assert_eq!(
        count(&RedbStore::open(folder.path()).unwrap()).unwrap(),
        480
    );
}

#[test]
fn a_store_that_was_half_made_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("store.redb.new"), [0; 4096]).unwrap();
    let store = RedbStore::open(folder.path()).unwrap();
    put(&store, "a").unwrap();
}

#[test]
fn a_store_moves_into_a_folder_that_has_none_and_nowhere_else() {
    let (from, other) = (filled(), filled());
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("new");
    assert!(!RedbStore::is_in(&to).unwrap());
    let open = RedbStore::open(from.path()).unwrap();
    assert_eq!(
        RedbStore::move_in(from.path(), &to).unwrap_err(),
        Error::InUse
    );
    drop(open);
    RedbStore::move_in(from.path(), &to).unwrap();
    assert!(RedbStore::is_in(&to).unwrap() && !RedbStore::is_in(from.path()).unwrap());
    assert_eq!(
        RedbStore::move_in(other.path(), &to).unwrap_err(),
        Error::AlreadyThere
    );
    let store = RedbStore::open(&to).unwrap();
    assert_eq!(count(&store).unwrap(), 480);
    let bytes = block_on(store.status()).unwrap().bytes;
    assert_eq!(bytes, Some(fs::metadata(file(&to)).unwrap().len()));
}

#[test]
fn a_file_that_was_cut_short_is_refused() {
    let folder = filled();
    let whole = fs::read(file(folder.path())).unwrap();
    for part in [0, 1, 100, 4096, whole.len() / 2, whole.len() - 4096] {
        fs::write(file(folder.path()), &whole[..part]).unwrap();
        let found = RedbStore::open(folder.path()).and_then(|store| count(&store));
        assert!(
            matches!(
                found,
                Err(Error::Damaged(_) | Error::NotAStore | Error::Io(..))
            ),
            "{part} of {} bytes: {found:?}",
            whole.len()
        );
    }
}

/// Whatever is damaged, nobody reads a value that was not written: it is an error or it does not
/// matter. And nothing panics through.
#[test]
fn a_damaged_page_is_an_error_and_never_another_value() {
    let folder = filled();
    let whole = fs::read(file(folder.path())).unwrap();
    let mut found = 0;
    for damage in 0..150_usize {
        let at = damage * 7919 * 13 % whole.len();
        let mut damaged = whole.clone();
        for byte in &mut damaged[at..(at + 16).min(whole.len())] {
            *byte ^= 0x5a;
        }
        if damaged == whole {
            continue;
        }
        fs::write(file(folder.path()), &damaged).unwrap();
        let looked = RedbStore::open(folder.path()).and_then(|store| {
            let mut pages = block_on(store.scan(&Prefix::all()))?;
            let mut entries = 0;
            while let Some(page) = block_on(pages.next())? {
                entries += page.len();
                assert!(page.iter().all(|entry| entry.value == [b'v'; 100]));
            }
            assert_eq!(entries, 480, "damage at {at} hid something");
            Ok(())
        });
        let verified = RedbStore::verify(folder.path());
        found += usize::from(looked.is_err() || verified.is_err());
    }
    assert!(found > 5, "only {found} damages were seen");
}

#[test]
fn a_sound_store_is_verified() {
    assert_eq!(RedbStore::verify(filled().path()), Ok(()));
    let nothing = tempfile::tempdir().unwrap();
    assert_eq!(RedbStore::verify(nothing.path()), Err(Error::NotAStore));
}

/// A file that cannot grow beyond what there is room for.
#[derive(Debug)]
struct Small {
    inner: redb::backends::InMemoryBackend,
    room: Arc<AtomicU64>,
    flush_fails: Arc<AtomicBool>,
}

impl StorageBackend for Small {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.inner.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if len > self.room.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.inner.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        if self.flush_fails.load(Ordering::Relaxed) {
            return Err(io::Error::other("the disk did not answer"));
        }
        self.inner.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if offset + data.len() as u64 > self.room.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.inner.write(offset, data)
    }
}

fn small() -> (RedbStore, Arc<AtomicU64>) {
    let room = Arc::new(AtomicU64::new(u64::MAX));
    let small = Small {
        inner: redb::backends::InMemoryBackend::new(),
        room: room.clone(),
        flush_fails: Arc::default(),
    };
    (RedbStore::open_on(small).unwrap(), room)
}

/// Writes until it is refused, and says how many there were before and why no more.
fn fill(store: &RedbStore) -> (usize, Error) {
    for acknowledged in 0..1000 {
        let txn = Txn::new().put(key(&format!("{acknowledged}")), vec![1; 100_000]);
        if let Err(error) = block_on(store.commit(txn)) {
            return (acknowledged, error);
        }
    }
    panic!("the disk never got full")
}

/// Waits until the store finds out that it can write.
fn wait_until_writable(store: &RedbStore) {
    let begun = std::time::Instant::now();
    while let Err(error) = block_on(store.check_writable()) {
        assert!(begun.elapsed() < PATIENCE, "{error}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// How long something may take that is awaited, on a machine that has much else to do.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

#[test]
fn full_disk_is_read_and_not_written_until_there_is_room() {
    let (store, room) = small();
    put(&store, "first").unwrap();
    let mut watch = block_on(store.watch(&Prefix::all(), Revision::START)).unwrap();
    block_on(watch.next()).unwrap();
    room.store(2 * 1024 * 1024, Ordering::Relaxed);
    let (acknowledged, refused) = fill(&store);
    assert_eq!(refused, Error::Full);
    assert!(refused.is_outcome_unknown());
    // Refused, but what was acknowledged can be read, and a watch goes on.
    assert_eq!(put(&store, "later").unwrap_err(), Error::Full);
    assert_eq!(block_on(store.check_writable()), Err(Error::Full));
    assert_eq!(count(&store).unwrap(), 1 + acknowledged);
    let read = block_on(store.read(&[key("first"), key("later")])).unwrap();
    assert!(read.entries[0].is_some() && read.entries[1].is_none());
    for _ in 0..acknowledged {
        assert!(!block_on(watch.next()).unwrap().events.is_empty());
    }

    room.store(u64::MAX, Ordering::Relaxed);
    wait_until_writable(&store);
    put(&store, "later").unwrap();
    assert_eq!(count(&store).unwrap(), 2 + acknowledged);
    let told = block_on(watch.next()).unwrap();
    assert_eq!(told.events.len(), 1);
}

#[test]
fn full_disk_with_a_little_room_again_is_not_called_writable() {
    let (store, room) = small();
    put(&store, "first").unwrap();
    room.store(2 * 1024 * 1024, Ordering::Relaxed);
    fill(&store);
    // Room for a page, but not for a transaction.
    room.fetch_add(64 * 1024, Ordering::Relaxed);
    std::thread::sleep(jeton_store::limits::WRITABLE_AGAIN_FIRST * 2);
    assert_eq!(block_on(store.check_writable()), Err(Error::Full));
    assert_eq!(put(&store, "later").unwrap_err(), Error::Full);
    room.store(u64::MAX, Ordering::Relaxed);
    wait_until_writable(&store);
    // And then it is, for the largest there is.
    let mut largest = Txn::new();
    for part in 0..3 {
        largest = largest.put(key(&format!("part-{part}")), vec![1; 256 * 1024]);
    }
    block_on(store.commit(largest)).unwrap();
}

/// Where a write in place needs room too, the file cannot even be opened.
#[test]
fn full_disk_without_room_for_anything_is_followed_and_recovers() {
    let (store, room) = small();
    put(&store, "first").unwrap();
    let mut watch = block_on(store.watch(&Prefix::all(), Revision::START)).unwrap();
    let told = block_on(watch.next()).unwrap();
    room.store(0, Ordering::Relaxed);
    assert_eq!(put(&store, "second").unwrap_err(), Error::Full);
    assert_eq!(count(&store).unwrap_err(), Error::Full);
    // Nothing is written, so nobody misses anything.
    let progress = block_on(watch.next()).unwrap();
    assert_eq!(
        (progress.revision, progress.events),
        (told.revision, Vec::new())
    );
    assert!(progress.as_of > told.as_of);
    room.store(u64::MAX, Ordering::Relaxed);
    wait_until_writable(&store);
    put(&store, "third").unwrap();
    assert_eq!(count(&store).unwrap(), 2);
    assert_eq!(block_on(watch.next()).unwrap().events.len(), 1);
}

/// The file may show what is not on the disk then.
#[test]
fn failed_flush_refuses_writes_until_it_is_opened_anew() {
    let flush_fails = Arc::new(AtomicBool::new(false));
    let store = RedbStore::open_on(Small {
        inner: redb::backends::InMemoryBackend::new(),
        room: Arc::new(AtomicU64::new(u64::MAX)),
        flush_fails: flush_fails.clone(),
    })
    .unwrap();
    put(&store, "first").unwrap();
    flush_fails.store(true, Ordering::Relaxed);
    assert!(matches!(put(&store, "second").unwrap_err(), Error::Io(..)));
    flush_fails.store(false, Ordering::Relaxed);
    std::thread::sleep(jeton_store::limits::WRITABLE_AGAIN_FIRST * 2);
    assert_eq!(block_on(store.check_writable()), Err(Error::Failed));
    assert_eq!(put(&store, "third").unwrap_err(), Error::Failed);
    // What was flushed before is still read.
    let read = block_on(store.read(&[key("first"), key("second")])).unwrap();
    assert!(read.entries[0].is_some() && read.entries[1].is_none());
}

#[cfg(unix)]
mod others {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use jeton_store::{Exposed, Exposure};

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// How, and that it is said in a remedy which names the path.
    fn refused(folder: &Path, path: &Path) -> Exposure {
        let opened = RedbStore::open(folder).map(drop);
        assert_eq!(RedbStore::verify(folder).map(drop), opened);
        let Err(Error::Unsafe(Exposed { path: named, how })) = &opened else {
            panic!("{opened:?}")
        };
        assert_eq!(named, path);
        let remedy = Exposed {
            path: named.clone(),
            how: *how,
        }
        .remedy();
        assert!(remedy.contains(&path.display().to_string()), "{remedy}");
        *how
    }

    #[test]
    fn folder_that_others_can_write_is_refused() {
        let folder = filled();
        for mode in [0o720, 0o770, 0o702, 0o777, 0o1777, 0o2775] {
            set_mode(folder.path(), mode);
            assert_eq!(refused(folder.path(), folder.path()), Exposure::Mode(mode));
        }
        // Reading is not writing: what must be secret is encrypted or has its own mode.
        for mode in [0o700, 0o750, 0o755] {
            set_mode(folder.path(), mode);
            assert_eq!(count(&RedbStore::open(folder.path()).unwrap()), Ok(480));
        }
    }

    #[test]
    fn folder_that_can_be_replaced_by_everybody_is_refused() {
        let outer = tempfile::tempdir().unwrap();
        let parent = outer.path().join("parent");
        let folder = parent.join("data");
        drop(RedbStore::open(&folder).unwrap());
        set_mode(&parent, 0o777);
        assert_eq!(refused(&folder, &parent), Exposure::Parent(0o777));
        // As /tmp is, and as the parent is where every user has a group.
        for mode in [0o1777, 0o775] {
            set_mode(&parent, mode);
            drop(RedbStore::open(&folder).unwrap());
        }
        // Through a link: the link can be replaced, too.
        let elsewhere = outer.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        symlink(&folder, elsewhere.join("link")).unwrap();
        drop(RedbStore::open(&elsewhere.join("link")).unwrap());
        set_mode(&elsewhere, 0o777);
        assert_eq!(
            refused(&elsewhere.join("link"), &elsewhere),
            Exposure::Parent(0o777)
        );
    }

    #[test]
    fn file_that_others_can_write_is_refused() {
        for name in ["store.redb", "lock"] {
            let folder = filled();
            let path = folder.path().join(name);
            for mode in [0o620, 0o602, 0o666] {
                set_mode(&path, mode);
                assert_eq!(refused(folder.path(), &path), Exposure::Mode(mode));
            }
            set_mode(&path, 0o600);
            assert_eq!(count(&RedbStore::open(folder.path()).unwrap()), Ok(480));
        }
    }

    /// Root only: nobody else can give a file away.
    #[test]
    fn folder_and_file_of_another_user_are_refused() {
        let folder = filled();
        for path in [folder.path().to_owned(), file(folder.path())] {
            if std::os::unix::fs::chown(&path, Some(12345), None).is_err() {
                eprintln!("not checked: this user cannot give files away (it takes root)");
                return;
            }
            assert!(matches!(
                refused(folder.path(), &path),
                Exposure::Owner { owner: 12345, .. }
            ));
            std::os::unix::fs::chown(&path, Some(0), None).unwrap();
        }
        assert_eq!(count(&RedbStore::open(folder.path()).unwrap()), Ok(480));
    }

    #[test]
    fn link_in_the_folder_is_not_followed() {
        for name in ["lock", "store.redb"] {
            let folder = filled();
            let outside = tempfile::tempdir().unwrap();
            let target = outside.path().join("target");
            let path = folder.path().join(name);
            // To a file that is there, and to one that would be made.
            fs::rename(&path, &target).unwrap();
            symlink(&target, &path).unwrap();
            assert_eq!(refused(folder.path(), &path), Exposure::Link);
            fs::remove_file(&path).unwrap();
            symlink(outside.path().join("new"), &path).unwrap();
            let opened = RedbStore::open(folder.path()).map(drop);
            assert!(
                matches!(&opened, Err(Error::Unsafe(exposed)) if exposed.how == Exposure::Link),
                "{opened:?}"
            );
            assert!(!outside.path().join("new").exists(), "{name}");
        }
    }
}
