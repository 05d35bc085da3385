//! A folder with exported segments. A file has a line about its segment, and the entries as stored, one on a line. The
//! hashes of the entries protect all of it: the first line has the last one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::entry::{AuditEntry, AuditHead, Walk, entry_key};
use super::export::{AuditPart, AuditPositions, missing, other_store};
use crate::error::{Error, Result};

/// The version of the files that this code writes.
const VERSION: u64 = 1;

const EXTENSION: &str = ".jsonl";

/// The first line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Segment {
    jeton_audit: u64,
    /// The name of the store.
    pub(super) store: String,
    pub(super) chain: String,
    /// The entry before the first one.
    pub(super) before: AuditHead,
    pub(super) last: AuditHead,
    /// The times of the first and of the last entry.
    pub(super) began: i64,
    ended: i64,
}

impl Segment {
    /// Describes these lines, which must follow `before`.
    fn of(
        store: &str,
        chain: &str,
        before: AuditHead,
        lines: &[Vec<u8>],
    ) -> Result<(Segment, Vec<AuditEntry>)> {
        let mut walk = Walk::after(chain, before.clone());
        let mut entries = Vec::with_capacity(lines.len());
        for line in lines {
            let key = entry_key(chain, walk.last.number.saturating_add(1))?;
            entries.push(walk.step(&key, line)?);
        }
        let segment = Segment {
            jeton_audit: VERSION,
            store: store.to_owned(),
            chain: chain.to_owned(),
            before,
            last: walk.last,
            began: entries.first().map_or(0, |entry| entry.at),
            ended: entries.last().map_or(0, |entry| entry.at),
        };
        Ok((segment, entries))
    }

    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        let first = self.before.number.saturating_add(1);
        folder.join(format!("{}-{first:020}{EXTENSION}", self.chain))
    }

    /// Reads the first line of a file.
    fn about(path: &Path) -> Result<(Segment, BufReader<File>)> {
        let unreadable = |error: io::Error| unusable(path, "read", &error);
        let mut input = BufReader::new(File::open(path).map_err(unreadable)?);
        let mut line = Vec::new();
        input.read_until(b'\n', &mut line).map_err(unreadable)?;
        let text: Option<serde_json::Value> = serde_json::from_slice(&line).ok();
        let version = (text.as_ref()).and_then(|text| text.get("jeton_audit")?.as_u64());
        if version.is_some_and(|version| version > VERSION) {
            return Err(damaged(
                path,
                "was written by a newer version of jeton: use that version",
            ));
        }
        let segment = text.and_then(|text| serde_json::from_value::<Segment>(text).ok());
        let segment = segment.filter(|segment| segment.before.number < segment.last.number);
        let segment = segment.ok_or_else(|| damaged(path, "is not an exported segment"))?;
        Ok((segment, input))
    }

    /// Reads the whole file, and checks every entry.
    pub(super) fn read(&self, folder: &Path) -> Result<Vec<AuditEntry>> {
        let path = self.path(folder);
        let (_, input) = Segment::about(&path)?;
        let lines: io::Result<Vec<Vec<u8>>> = input.split(b'\n').collect();
        let lines = lines.map_err(|error| unusable(&path, "read", &error))?;
        if (lines.len() as u64) < self.last.number - self.before.number {
            return Err(damaged(&path, "is incomplete: delete it, and export again"));
        }
        match Segment::of(&self.store, &self.chain, self.before.clone(), &lines) {
            Ok((segment, entries)) if segment == *self => Ok(entries),
            _ => Err(damaged(&path, "was changed: replace it with a copy")),
        }
    }

    /// Writes a file under another name, renames it, and reads it back. Everything is on the disk afterwards.
    fn write(&self, folder: &Path, lines: &[Vec<u8>]) -> Result<()> {
        let path = self.path(folder);
        let mut text = serde_json::to_vec(self).expect("texts and numbers can be written");
        text.push(b'\n');
        for line in lines {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        let unfinished = path.with_extension("new");
        let write = || -> io::Result<()> {
            // Left by a killed process.
            let _ = fs::remove_file(&unfinished);
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(&unfinished)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&unfinished, &path)?;
            flush(folder)
        };
        write().map_err(|error| unusable(&path, "written", &error))?;
        self.read(folder).map(drop)
    }
}

/// A folder with exported segments of one store. Other programs must not change it meanwhile.
#[derive(Debug)]
pub struct AuditFolder {
    path: PathBuf,
    files: BTreeMap<String, Vec<Segment>>,
    /// The segment that is being exported: its store, its chain, the entry before it, and its entries.
    part: Option<(String, String, AuditHead, Vec<Vec<u8>>)>,
}

impl AuditFolder {
    /// Opens the folder, and creates it if it is missing. Does not read the entries.
    ///
    /// # Errors
    ///
    /// [`Error::AuditExport`] if it cannot be read or created; for a file of another store than the others, and if one
    /// is missing between others.
    pub fn open(path: &Path) -> Result<AuditFolder> {
        if !path.is_dir() {
            let created = fs::create_dir(path).and_then(|()| {
                let parent = path.canonicalize()?.parent().map(Path::to_owned);
                parent.map_or(Ok(()), |parent| flush(&parent))
            });
            created.map_err(|error| unusable(path, "created", &error))?;
        }
        Ok(AuditFolder {
            files: list(path)?,
            path: path.to_owned(),
            part: None,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn segments(&self) -> &BTreeMap<String, Vec<Segment>> {
        &self.files
    }

    /// The store of its files. Empty if it has no files.
    pub(super) fn store(&self) -> &str {
        let first = self.files.values().flatten().next();
        first.map_or("", |segment| &segment.store)
    }

    pub(super) fn ends_of_all(&self) -> BTreeMap<String, AuditHead> {
        let last = |segments: &Vec<Segment>| Some(segments.last()?.last.clone());
        let chains = self.files.iter();
        chains
            .filter_map(|(chain, segments)| Some((chain.clone(), last(segments)?)))
            .collect()
    }

    /// Returns the last entries that it has of the chains in a store, which has these bases.
    ///
    /// # Errors
    ///
    /// [`Error::AuditExport`] if the files are of another store.
    pub fn ends(&self, bases: &AuditPositions) -> Result<AuditPositions> {
        let store = self.store().to_owned();
        if !store.is_empty() && store != bases.store {
            return Err(other_store());
        }
        let mut chains = self.ends_of_all();
        chains.retain(|chain, _| bases.chains.contains_key(chain));
        Ok(AuditPositions { store, chains })
    }

    /// Writes a part of an export. After [`AuditPart::End`] the segment is on the disk, and was read back.
    ///
    /// # Errors
    ///
    /// [`Error::AuditExport`], and [`Error::Audit`] for an entry that does not match the one before.
    pub fn write(&mut self, part: AuditPart) -> Result<()> {
        match (part, self.part.take()) {
            (
                AuditPart::Begin {
                    store,
                    chain,
                    before,
                },
                None,
                // The chain is a part of a file's name.
            ) if chain.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                self.part = Some((store, chain, before, Vec::new()));
            }
            (AuditPart::Entry(line), Some(mut part)) => {
                part.3.push(line);
                self.part = Some(part);
            }
            (AuditPart::End, Some((store, chain, before, lines))) if !lines.is_empty() => {
                let (segment, _) = Segment::of(&store, &chain, before, &lines)?;
                segment.write(&self.path, &lines)?;
                self.files.entry(chain).or_default().push(segment);
            }
            _ => {
                return Err(Error::AuditExport(
                    "an unexpected part: export again".to_owned(),
                ));
            }
        }
        Ok(())
    }

    /// Returns the numbers of segments and of their entries.
    pub fn count(&self) -> (u64, u64) {
        let entries = |segment: &Segment| segment.last.number - segment.before.number;
        let all = self.files.values().flatten();
        all.fold((0, 0), |(count, sum), segment| {
            (count + 1, sum + entries(segment))
        })
    }

    /// Reads every file. Returns the number of entries.
    ///
    /// # Errors
    ///
    /// [`Error::AuditExport`] for a file that is incomplete or was changed.
    pub fn verify(&self) -> Result<u64> {
        let mut all = self.files.values().flatten();
        all.try_for_each(|segment| segment.read(&self.path).map(drop))?;
        Ok(self.count().1)
    }

    /// Returns the ends of what a store with these bases may drop: everything but the newest segments. Reads their
    /// files.
    ///
    /// # Errors
    ///
    /// As [`verify`](AuditFolder::verify).
    pub fn droppable(&self, bases: &AuditPositions, keep: usize) -> Result<AuditPositions> {
        let is_here = |segment: &Segment| {
            let base = bases.chains.get(&segment.chain);
            base.is_some_and(|base| segment.last.number > base.number)
        };
        let all = self.files.values().flatten();
        let mut all: Vec<&Segment> = all.filter(|segment| is_here(segment)).collect();
        all.sort_by_key(|segment| (segment.ended, segment.last.number));
        let kept = all.iter().rev().take(keep);
        let kept: BTreeSet<PathBuf> = kept.map(|segment| segment.path(&self.path)).collect();
        let mut chains = BTreeMap::new();
        for (chain, segments) in &self.files {
            let here = segments.iter().filter(|segment| is_here(segment));
            for segment in here.take_while(|segment| !kept.contains(&segment.path(&self.path))) {
                segment.read(&self.path)?;
                chains.insert(chain.clone(), segment.last.clone());
            }
        }
        Ok(AuditPositions {
            store: self.store().to_owned(),
            chains,
        })
    }
}

/// Returns the segments in a folder by their chains, in order.
fn list(folder: &Path) -> Result<BTreeMap<String, Vec<Segment>>> {
    let mut found: BTreeMap<String, Vec<Segment>> = BTreeMap::new();
    let unreadable = |error| unusable(folder, "read", &error);
    let mut store: Option<String> = None;
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if !path.to_string_lossy().ends_with(EXTENSION) {
            continue;
        }
        let (segment, _) = Segment::about(&path)?;
        if *store.get_or_insert_with(|| segment.store.clone()) != segment.store {
            return Err(damaged(
                &path,
                "is of another store than other files in its folder",
            ));
        }
        if segment.path(folder) != path {
            return Err(damaged(&path, "was renamed, or its first line was changed"));
        }
        found
            .entry(segment.chain.clone())
            .or_default()
            .push(segment);
    }
    for (chain, segments) in &mut found {
        segments.sort_by_key(|segment| segment.before.number);
        for pair in segments.windows(2) {
            let (last, before) = (&pair[0].last, &pair[1].before);
            if last.number < before.number {
                return Err(missing(chain, last.number + 1, before.number));
            }
            if last != before {
                let path = pair[1].path(folder);
                return Err(damaged(&path, "does not follow the segment before it"));
            }
        }
    }
    Ok(found)
}

/// Makes the names in a folder durable.
fn flush(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    Ok(())
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::AuditExport(format!("{} {what}", path.display()))
}

fn unusable(path: &Path, verb: &str, error: &io::Error) -> Error {
    Error::AuditExport(format!("{} cannot be {verb}: {error}", path.display()))
}
