//! Result files on disk: written atomically, with their errors.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::RunResult;
use super::error::{file_unwritable, unwritable};
use super::reading::read;

/// The name of the result file.
const RESULT: &str = "results.json";
/// The name of the HTML page.
pub const PAGE: &str = "report.html";

/// The output folder of a run, checked to be writable.
#[derive(Debug, Clone)]
pub struct OutDir(PathBuf);

impl OutDir {
    /// Creates the folder if needed and checks that it is writable, so that a long run is not lost at
    /// its end.
    ///
    /// # Errors
    /// If the folder cannot be created or written.
    pub fn create(path: &Path) -> Result<Self, String> {
        let unwritable = |e| unwritable(path, e);
        fs::create_dir_all(path).map_err(unwritable)?;
        let probe = path.join(format!(".jeton-{}", std::process::id()));
        let proof = File::create(&probe).and_then(|mut f| f.write_all(b"writable"));
        let _ = fs::remove_file(&probe);
        proof.map_err(unwritable)?;
        Ok(Self(path.to_owned()))
    }

    /// Creates a temporary folder, used if the chosen folder has no space.
    ///
    /// # Errors
    /// If the folder cannot be created or written.
    pub fn temporary() -> Result<Self, String> {
        let now = jiff::Timestamp::now().as_microsecond();
        let path = std::env::temp_dir().join(format!("jeton-lab-{}-{now}", std::process::id()));
        // A folder that already exists belongs to someone else.
        match fs::create_dir(&path) {
            Ok(()) => Ok(Self(path)),
            Err(e) => Err(unwritable(&path, e)),
        }
    }

    /// Makes room for the result of a command. If `results.json` belongs to another lab command, or
    /// cannot be read, it and its page are renamed, and the new path of the result is returned. A
    /// result of the same command stays and will be replaced.
    ///
    /// # Errors
    /// If a file cannot be renamed; then nothing was renamed, or only the result.
    pub fn make_room(&self, command: &str) -> Result<Option<PathBuf>, String> {
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
        fs::rename(&path, &aside).map_err(|e| file_unwritable(&aside, e))?;
        let page = self.0.join(PAGE);
        if page.is_file() {
            let aside = self.0.join(format!("report-{whose}-{written}.html"));
            fs::rename(&page, &aside).map_err(|e| file_unwritable(&aside, e))?;
        }
        Ok(Some(aside))
    }

    /// Writes one file atomically, and returns its path.
    ///
    /// # Errors
    /// If the file cannot be written; the previous file is then unchanged.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, String> {
        let path = self.0.join(name);
        write_whole(&path, content)?;
        Ok(path)
    }

    /// Writes `results.json`, and returns its path.
    ///
    /// # Errors
    /// As [`OutDir::write`].
    pub fn write_result(&self, result: &RunResult) -> Result<PathBuf, String> {
        self.write(RESULT, &to_bytes(result))
    }
}

/// Returns the lab command: `run` of `jeton-lab run --quick`.
fn verb(command: &str) -> Option<&str> {
    let verb = command
        .strip_prefix("jeton-lab ")?
        .split_whitespace()
        .next()?;
    verb.bytes().all(|b| b.is_ascii_lowercase()).then_some(verb)
}

/// Serialises a result as its file contains it.
#[must_use]
pub fn to_text(result: &RunResult) -> String {
    serde_json::to_string_pretty(result).expect("the keys of all maps are strings") + "\n"
}

/// The same, as bytes.
#[must_use]
pub fn to_bytes(result: &RunResult) -> Vec<u8> {
    to_text(result).into_bytes()
}

/// Serialises a result compactly and compresses it with gzip, to a fifth of the size;
/// [`read`](super::read) reads it directly.
#[must_use]
pub fn to_packed_bytes(result: &RunResult) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut packer, result)
        .expect("the keys of all maps are strings, and writing to memory cannot fail");
    packer.finish().expect("writing to memory cannot fail")
}

/// Writes a file atomically: a reader sees the old content or all of the new. A pipe or device is
/// written directly.
///
/// # Errors
/// If the file cannot be written; the previous file is then unchanged.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), String> {
    let unwritable = |e| file_unwritable(path, e);
    // For a link, the target file is replaced and the link stays.
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
