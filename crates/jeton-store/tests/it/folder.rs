//! Tests of a store folder: opened twice, partly copied, damaged, full, written by a newer version.

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

/// A closed store with some hundred entries.
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
fn store_reopened_keeps_entries() {
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
fn store_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    drop(RedbStore::open(&data).unwrap());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&file(&data)), 0o600);
}

#[test]
fn folder_opened_twice_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let first = RedbStore::open(folder.path()).unwrap();
    assert_eq!(RedbStore::open(folder.path()).unwrap_err(), Error::InUse);
    put(&first, "a").unwrap();
    // An open watch or scan does not keep the folder locked.
    let watch = block_on(first.watch(&Prefix::all(), Revision::START)).unwrap();
    drop(first);
    let second = RedbStore::open(folder.path()).unwrap();
    assert_eq!(count(&second).unwrap(), 1);
    drop(watch);
}

#[test]
fn open_foreign_file_fails_and_keeps_it() {
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
fn open_newer_format_fails_and_keeps_it() {
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
fn unfinished_store_is_created_again() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("store.redb.new"), [0; 4096]).unwrap();
    let store = RedbStore::open(folder.path()).unwrap();
    put(&store, "a").unwrap();
}

#[test]
fn move_in_replaces_no_store() {
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
fn truncated_file_is_damaged() {
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

/// Damage is an error or has no effect. It never causes another value or a panic.
#[test]
fn damaged_page_is_an_error() {
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
fn verify_intact_store_succeeds() {
    assert_eq!(RedbStore::verify(filled().path()), Ok(()));
    let nothing = tempfile::tempdir().unwrap();
    assert_eq!(RedbStore::verify(nothing.path()), Err(Error::NotAStore));
}

/// A file that cannot grow beyond the free space.
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

/// Writes until a commit fails. Returns how many succeeded and the error.
fn fill(store: &RedbStore) -> (usize, Error) {
    for acknowledged in 0..1000 {
        let txn = Txn::new().put(key(&format!("{acknowledged}")), vec![1; 100_000]);
        if let Err(error) = block_on(store.commit(txn)) {
            return (acknowledged, error);
        }
    }
    panic!("the disk never got full")
}

/// Waits until the store can write again.
fn wait_until_writable(store: &RedbStore) {
    let begun = std::time::Instant::now();
    while let Err(error) = block_on(store.check_writable()) {
        assert!(begun.elapsed() < TIMEOUT, "{error}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// Generous timeout for a busy machine.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(60);

#[test]
fn full_disk_reads_and_rejects_writes() {
    let (store, room) = small();
    put(&store, "first").unwrap();
    let mut watch = block_on(store.watch(&Prefix::all(), Revision::START)).unwrap();
    block_on(watch.next()).unwrap();
    room.store(2 * 1024 * 1024, Ordering::Relaxed);
    let (acknowledged, refused) = fill(&store);
    assert_eq!(refused, Error::Full);
    assert!(refused.is_outcome_unknown());
    // Commits fail, but acknowledged data can be read and a watch continues.
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
    let reported = block_on(watch.next()).unwrap();
    assert_eq!(reported.events.len(), 1);
}

#[test]
fn full_disk_with_little_space_is_not_writable() {
    let (store, room) = small();
    put(&store, "first").unwrap();
    room.store(2 * 1024 * 1024, Ordering::Relaxed);
    fill(&store);
    // Space for a page, but not for a transaction.
    room.fetch_add(64 * 1024, Ordering::Relaxed);
    std::thread::sleep(jeton_store::limits::WRITABLE_AGAIN_FIRST * 2);
    assert_eq!(block_on(store.check_writable()), Err(Error::Full));
    assert_eq!(put(&store, "later").unwrap_err(), Error::Full);
    room.store(u64::MAX, Ordering::Relaxed);
    wait_until_writable(&store);
    // Then there is space for the largest transaction.
    let mut largest = Txn::new();
    for part in 0..3 {
        largest = largest.put(key(&format!("part-{part}")), vec![1; 256 * 1024]);
    }
    block_on(store.commit(largest)).unwrap();
}

/// On file systems where overwriting needs space, the file cannot be opened.
#[test]
fn full_disk_without_space_is_watched_and_recovers() {
    let (store, room) = small();
    put(&store, "first").unwrap();
    let mut watch = block_on(store.watch(&Prefix::all(), Revision::START)).unwrap();
    let reported = block_on(watch.next()).unwrap();
    room.store(0, Ordering::Relaxed);
    assert_eq!(put(&store, "second").unwrap_err(), Error::Full);
    assert_eq!(count(&store).unwrap_err(), Error::Full);
    // Nothing is written, so a follower misses nothing.
    let progress = block_on(watch.next()).unwrap();
    assert_eq!(
        (progress.revision, progress.events),
        (reported.revision, Vec::new())
    );
    assert!(progress.as_of > reported.as_of);
    room.store(u64::MAX, Ordering::Relaxed);
    wait_until_writable(&store);
    put(&store, "third").unwrap();
    assert_eq!(count(&store).unwrap(), 2);
    assert_eq!(block_on(watch.next()).unwrap().events.len(), 1);
}

/// The file may then show data that is not on the disk.
#[test]
fn failed_flush_rejects_writes_until_reopened() {
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
    // Flushed data can still be read.
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

    /// Returns the exposure, after checking that its remedy names the path.
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
    fn folder_writable_by_others_is_rejected() {
        let folder = filled();
        for mode in [0o720, 0o770, 0o702, 0o777, 0o1777, 0o2775] {
            set_mode(folder.path(), mode);
            assert_eq!(refused(folder.path(), folder.path()), Exposure::Mode(mode));
        }
        // Reading is allowed: secrets are encrypted or have their own mode.
        for mode in [0o700, 0o750, 0o755] {
            set_mode(folder.path(), mode);
            assert_eq!(count(&RedbStore::open(folder.path()).unwrap()), Ok(480));
        }
    }

    #[test]
    fn folder_replaceable_by_others_is_rejected() {
        let outer = tempfile::tempdir().unwrap();
        let parent = outer.path().join("parent");
        let folder = parent.join("data");
        drop(RedbStore::open(&folder).unwrap());
        set_mode(&parent, 0o777);
        assert_eq!(refused(&folder, &parent), Exposure::Parent(0o777));
        // Like /tmp, and like a parent where every user has a group.
        for mode in [0o1777, 0o775] {
            set_mode(&parent, mode);
            drop(RedbStore::open(&folder).unwrap());
        }
        // A link can be replaced too.
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
    fn file_writable_by_others_is_rejected() {
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

    /// Needs root to change the owner of a file.
    #[test]
    fn folder_and_file_of_other_user_are_rejected() {
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
    fn link_in_folder_is_rejected() {
        for name in ["lock", "store.redb"] {
            let folder = filled();
            let outside = tempfile::tempdir().unwrap();
            let target = outside.path().join("target");
            let path = folder.path().join(name);
            // A link to an existing file, and to a missing one.
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
