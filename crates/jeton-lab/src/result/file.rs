//! Files on disk: written whole or not at all, and what can be wrong with them.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{RESULT_BYTES_MAX, RunResult, SCHEMA, read};

/// What a result's file is called in its folder.
const RESULT: &str = "results.json";
/// And its page.
pub const PAGE: &str = "report.html";

/// What can be wrong with a result file or its folder.
#[derive(Debug)]
pub enum FileError {
    /// The folder cannot be made or written.
    Unwritable(PathBuf, io::Error),
    /// One file cannot be written.
    FileUnwritable(PathBuf, io::Error),
    /// The file cannot be read.
    Unreadable(PathBuf, io::Error),
    /// It has more bytes than [`RESULT_BYTES_MAX`](super::RESULT_BYTES_MAX).
    TooLarge(PathBuf),
    /// It ends before its content does.
    CutShort(PathBuf),
    /// It is no JSON, or not a result.
    NoResult(PathBuf, String),
    /// It has another schema.
    Schema(PathBuf, u64),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unwritable(path, e) => write!(
                f,
                "cannot write to {}: {e}; name another folder with --out DIR",
                path.display()
            ),
            Self::FileUnwritable(path, e) => write!(f, "cannot write {}: {e}", path.display()),
            Self::Unreadable(path, e) => write!(f, "cannot read {}: {e}", path.display()),
            Self::TooLarge(path) => write!(
                f,
                "{} has more than {} MB, which no result of the lab has",
                path.display(),
                RESULT_BYTES_MAX / 1_000_000
            ),
            Self::CutShort(path) => write!(
                f,
                "{} is cut short: its end is missing; run the lab again",
                path.display()
            ),
            Self::NoResult(path, why) => {
                write!(f, "{} is not a result of the lab: {why}", path.display())
            }
            Self::Schema(path, found) => {
                let advice = if *found > u64::from(SCHEMA) {
                    "a newer jeton wrote it, read it with that one"
                } else {
                    "an older jeton wrote it, measure again"
                };
                write!(
                    f,
                    "{} has schema {found}, this jeton reads {SCHEMA}: {advice}",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for FileError {}

/// The folder that a run leaves its files in, known to be writable.
#[derive(Debug, Clone)]
pub struct OutDir(PathBuf);

impl OutDir {
    /// Makes the folder if it is not there, and proves that it can be written, so that a run of
    /// minutes is not lost at its end.
    ///
    /// # Errors
    /// [`FileError::Unwritable`].
    pub fn create(path: &Path) -> Result<Self, FileError> {
        let unwritable = |e| FileError::Unwritable(path.to_owned(), e);
        fs::create_dir_all(path).map_err(unwritable)?;
        let probe = path.join(format!(".jeton-{}", std::process::id()));
        let proof = File::create(&probe).and_then(|mut f| f.write_all(b"writable"));
        let _ = fs::remove_file(&probe);
        proof.map_err(unwritable)?;
        Ok(Self(path.to_owned()))
    }

    /// A folder of its own among the system's temporary files, for what the chosen one has no room for.
    ///
    /// # Errors
    /// [`FileError::Unwritable`].
    pub fn temporary() -> Result<Self, FileError> {
        let now = jiff::Timestamp::now().as_microsecond();
        let path = std::env::temp_dir().join(format!("jeton-lab-{}-{now}", std::process::id()));
        // One that is there already is somebody else's.
        match fs::create_dir(&path) {
            Ok(()) => Ok(Self(path)),
            Err(e) => Err(FileError::Unwritable(path, e)),
        }
    }

    /// Makes room for the result of a command: where `results.json` is another verb's (attacks, where a
    /// run is to be written), it and its page are renamed, and the new path of the result is returned. So
    /// is what cannot be read as a result. One of the same verb stays, to be replaced.
    ///
    /// # Errors
    /// [`FileError::FileUnwritable`]; nothing was renamed then, or the page alone was not.
    pub fn make_room(&self, command: &str) -> Result<Option<PathBuf>, FileError> {
        let path = self.0.join(RESULT);
        let Ok(metadata) = path.metadata() else {
            return Ok(None);
        };
        let before = read(&path).ok();
        let made_by = before.as_ref().and_then(|result| verb(&result.command));
        if !metadata.is_file() || (made_by.is_some() && made_by == verb(command)) {
            return Ok(None);
        }
        let written = metadata.modified().ok();
        let written = written.and_then(|at| jiff::Timestamp::try_from(at).ok());
        let written = written.unwrap_or_default().strftime("%Y%m%dT%H%M%SZ");
        let whose = match made_by {
            Some(verb) => format!("of-{verb}"),
            None => "unread".to_owned(),
        };
        let aside = self.0.join(format!("results-{whose}-{written}.json"));
        fs::rename(&path, &aside).map_err(|e| FileError::FileUnwritable(aside.clone(), e))?;
        let page = self.0.join(PAGE);
        if page.is_file() {
            let aside = self.0.join(format!("report-{whose}-{written}.html"));
            fs::rename(&page, &aside).map_err(|e| FileError::FileUnwritable(aside, e))?;
        }
        Ok(Some(aside))
    }

    /// Writes one file, whole or not at all, and returns its path.
    ///
    /// # Errors
    /// [`FileError::FileUnwritable`]; what was there before is still there then.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, FileError> {
        let path = self.0.join(name);
        write_whole(&path, content)?;
        Ok(path)
    }

    /// Writes `results.json`, and returns its path.
    ///
    /// # Errors
    /// [`FileError::FileUnwritable`].
    pub fn write_result(&self, result: &RunResult) -> Result<PathBuf, FileError> {
        self.write(RESULT, &to_bytes(result))
    }
}

/// The verb of a command of the lab: `run` of `jeton lab run --quick`.
fn verb(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace().skip_while(|word| *word != "lab");
    let verb = words.nth(1)?;
    verb.bytes().all(|b| b.is_ascii_lowercase()).then_some(verb)
}

/// A result as its file holds it.
#[must_use]
pub fn to_bytes(result: &RunResult) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(result)
        .expect("a result's maps have text for keys, so it is always JSON");
    json.push(b'\n');
    json
}

/// The same, packed by gzip and without the blanks: a fifth of it, and [`read`](super::read) takes
/// it as it is.
#[must_use]
pub fn to_packed_bytes(result: &RunResult) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut packer, result)
        .expect("a result's maps have text for keys, so it is always JSON, and memory takes it");
    packer.finish().expect("memory takes what is written to it")
}

/// Writes a file whole or not at all: a reader sees what was there before, or all of the new. What
/// is no file (a pipe, a device) is written to as it is.
///
/// # Errors
/// [`FileError::FileUnwritable`]; what was there before is still there then.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let unwritable = |e| FileError::FileUnwritable(path.to_owned(), e);
    // Behind a link, the file itself is replaced and the link stays.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if target.metadata().is_ok_and(|m| !m.is_file()) {
        return fs::write(&target, content).map_err(unwritable);
    }
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let draft = target.with_file_name(format!(".{name}-{}", std::process::id()));
    let written = File::create(&draft)
        .and_then(|mut f| f.write_all(content).and_then(|()| f.sync_all()))
        .and_then(|()| fs::rename(&draft, &target));
    written.map_err(|e| {
        let _ = fs::remove_file(&draft);
        unwritable(e)
    })
}
