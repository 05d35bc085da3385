//! Opens, creates and checks the folder of a store.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use redb::backends::FileBackend;
use redb::{Builder, Database, ReadableDatabase, ReadableTable, TableError};

use super::medium::Medium;
use super::read;
use super::tables::{
    CHECKSUMS, COUNT, ENTRIES, FORMAT, FORMAT_NUMBER, HISTORY, META, NEWEST, OLDEST, error, guarded,
};
use crate::changes;
use crate::error::{Error, Result};
use crate::key::Prefix;
use crate::limits;
use crate::pending::block_on;
use crate::private::{check_folder, open_private};
use crate::revision::Revision;

const STORE: &str = "store.redb";
/// Name of an unfinished store. It is renamed when it is complete, so a killed process leaves no partial
/// store.
const UNFINISHED: &str = "store.redb.new";
const LOCK: &str = "lock";

/// Returns the path of the store.
pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join(STORE)
}

pub(super) fn open(folder: &Path) -> Result<(File, Medium, Database)> {
    make_folder(folder)?;
    let lock = lock(folder)?;
    let path = file(folder);
    // A dangling link exists too, and is rejected below.
    if !path.try_exists()? && !path.is_symlink() {
        make(folder)?;
    }
    let file = open_private(&path, OpenOptions::new().read(true).write(true))?;
    // An empty file is damaged, not new.
    if file.metadata()?.len() == 0 {
        return Err(Error::Damaged("the file is empty".to_owned()));
    }
    let medium = Medium::new(FileBackend::new(file).map_err(error)?);
    let database = open_medium(&medium)?;
    Ok((lock, medium, database))
}

/// Opens an existing database.
pub(super) fn open_medium(medium: &Medium) -> Result<Database> {
    guarded(|| {
        let database = builder().create_with_backend(medium.clone());
        let database = database.map_err(|e| not_new(error(e)))?;
        check_format(&database)?;
        Ok(database)
    })
}

/// Opens the database, and creates it on empty storage.
pub(super) fn open_on(medium: &Medium) -> Result<Database> {
    guarded(|| {
        let database = builder()
            .create_with_backend(medium.clone())
            .map_err(error)?;
        if is_empty(&database)? {
            write_format(&database)?;
        }
        check_format(&database)?;
        Ok(database)
    })
}

/// Moves a store in. The lock makes other processes that create a store there wait.
pub(super) fn move_in(from: &Path, folder: &Path) -> Result<()> {
    make_folder(folder)?;
    let _there = lock(folder)?;
    let _here = lock(from)?;
    if file(folder).try_exists()? {
        return Err(Error::AlreadyThere);
    }
    fs::rename(file(from), file(folder))?;
    sync(folder)
}

pub(super) fn verify(folder: &Path) -> Result<()> {
    if !file(folder).try_exists()? {
        return Err(Error::NotAStore);
    }
    let (_lock, _medium, mut database) = open(folder)?;
    guarded(|| {
        if !database.check_integrity().map_err(error)? {
            return Err(Error::Damaged("pages had to be repaired".to_owned()));
        }
        let read = database.begin_read().map_err(error)?;
        let mut pages = read::scan(&database, &Prefix::all())?;
        while let Some(_page) = block_on(pages.next())? {}
        for record in read
            .open_table(HISTORY)
            .map_err(error)?
            .iter()
            .map_err(error)?
        {
            let (revision, record) = record.map_err(error)?;
            changes::events(Revision::from_number(revision.value()), record.value())?;
        }
        Ok(())
    })
}

fn builder() -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(limits::CACHE_BYTES);
    builder
}

fn make_folder(folder: &Path) -> Result<()> {
    let mut maker = DirBuilder::new();
    maker.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut maker, 0o700);
    maker.create(folder)?;
    // Checked before anything in it is opened or created.
    check_folder(folder)
}

fn lock(folder: &Path) -> Result<File> {
    let file = open_private(&folder.join(LOCK), private().create(true).truncate(false))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::InUse),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Creates an empty store under another name and renames it once it is on the disk.
fn make(folder: &Path) -> Result<()> {
    let unfinished = folder.join(UNFINISHED);
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let made = make_at(&unfinished, folder);
    if made.is_err() {
        // It would use the space that a full disk needs.
        let _ = fs::remove_file(&unfinished);
    }
    made
}

fn make_at(unfinished: &Path, folder: &Path) -> Result<()> {
    let new = open_private(unfinished, private().create_new(true))?;
    let database = builder().create_file(new).map_err(error)?;
    write_format(&database)?;
    drop(database);
    fs::rename(unfinished, file(folder))?;
    sync(folder)
}

/// Flushes the folder, so that the name of the file is durable too.
fn sync(folder: &Path) -> Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    Ok(())
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn write_format(database: &Database) -> Result<()> {
    let write = database.begin_write().map_err(error)?;
    write.open_table(ENTRIES).map_err(error)?;
    write.open_table(HISTORY).map_err(error)?;
    {
        let mut meta = write.open_table(META).map_err(error)?;
        for (name, number) in [
            (FORMAT, FORMAT_NUMBER),
            (NEWEST, 0),
            (OLDEST, 0),
            (COUNT, 0),
            (CHECKSUMS, 0),
        ] {
            meta.insert(name, number).map_err(error)?;
        }
    }
    write.commit().map_err(error)
}

fn is_empty(database: &Database) -> Result<bool> {
    let read = database.begin_read().map_err(error)?;
    let tables = read.list_tables().map_err(error)?;
    Ok(tables.count() == 0)
}

fn check_format(database: &Database) -> Result<()> {
    let read = database.begin_read().map_err(error)?;
    let meta = match read.open_table(META) {
        Ok(meta) => meta,
        Err(TableError::TableDoesNotExist(_)) => return Err(Error::NotAStore),
        Err(other) => return Err(error(other)),
    };
    let found = meta
        .get(FORMAT)
        .map_err(error)?
        .ok_or(Error::NotAStore)?
        .value();
    match found {
        FORMAT_NUMBER => Ok(()),
        // A migration goes here with the second format.
        0 => Err(Error::NotAStore),
        _ => Err(Error::Newer {
            found,
            known: FORMAT_NUMBER,
        }),
    }
}

/// An existing file that redb takes for new has lost its contents.
fn not_new(error: Error) -> Error {
    match error {
        Error::Io(io::ErrorKind::InvalidData, _) => Error::Damaged("the file is empty".to_owned()),
        other => other,
    }
}
