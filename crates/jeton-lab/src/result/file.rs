//! The result file on disk: written whole or not at all, read with a sentence for what is wrong.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{RunResult, SCHEMA};

/// What can be wrong with a result file or its folder.
#[derive(Debug)]
pub enum FileError {
    /// The folder cannot be made or written.
    Unwritable(PathBuf, io::Error),
    /// The file cannot be read.
    Unreadable(PathBuf, io::Error),
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
            Self::Unreadable(path, e) => write!(f, "cannot read {}: {e}", path.display()),
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

    /// Writes one file, whole or not at all, and returns its path.
    ///
    /// # Errors
    /// [`FileError::Unwritable`]; what was there before is still there then.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, FileError> {
        let path = self.0.join(name);
        let draft = self.0.join(format!(".{name}-{}", std::process::id()));
        let written = File::create(&draft)
            .and_then(|mut f| f.write_all(content).and_then(|()| f.sync_all()))
            .and_then(|()| fs::rename(&draft, &path));
        match written {
            Ok(()) => Ok(path),
            Err(e) => {
                let _ = fs::remove_file(&draft);
                Err(FileError::Unwritable(path, e))
            }
        }
    }

    /// Writes `results.json`, and returns its path.
    ///
    /// # Errors
    /// [`FileError::Unwritable`].
    pub fn write_result(&self, result: &RunResult) -> Result<PathBuf, FileError> {
        let path = self.0.join("results.json");
        let mut json =
            serde_json::to_vec_pretty(result).map_err(|e| FileError::Unwritable(path, e.into()))?;
        json.push(b'\n');
        self.write("results.json", &json)
    }
}

/// Reads a result file.
///
/// # Errors
/// [`FileError`], apart from [`FileError::Unwritable`].
pub fn read(path: &Path) -> Result<RunResult, FileError> {
    let bytes = fs::read(path).map_err(|e| FileError::Unreadable(path.to_owned(), e))?;
    let refused = |e: serde_json::Error| {
        if e.is_eof() {
            FileError::CutShort(path.to_owned())
        } else {
            FileError::NoResult(path.to_owned(), e.to_string())
        }
    };
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(refused)?;
    match value.get("schema").and_then(serde_json::Value::as_u64) {
        Some(schema) if schema == u64::from(SCHEMA) => {}
        Some(schema) => return Err(FileError::Schema(path.to_owned(), schema)),
        None => {
            return Err(FileError::NoResult(
                path.to_owned(),
                "it has no `schema`".into(),
            ));
        }
    }
    serde_json::from_value(value).map_err(refused)
}
