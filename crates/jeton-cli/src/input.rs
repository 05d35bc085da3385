//! What is read: files and standard input, each to a limit.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use jeton::Limits;
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::redact::{self, Redacted};

/// Most that is read from a file or standard input, bytes. What is longer is refused, not cut off.
const INPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What to do with a key that was pasted.
const INTO_A_FILE: &str = "write it to a file that only you can read and give that file's name";

/// Enough for the text of one key.
const KEY_ROOM_BYTES: usize = jeton::limits::KEY_BYTES;

/// How long a token may be.
#[derive(Debug, Args)]
pub(crate) struct TokenSize {
    /// Take tokens of at most so many bytes [default: 2097152]
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<usize>,
}

impl TokenSize {
    pub(crate) fn limits(&self) -> Limits {
        let limits = Limits::default();
        Limits {
            token_bytes: self.max_bytes.unwrap_or(limits.token_bytes),
            ..limits
        }
    }

    /// Refuses a token that is longer, where no verifier does.
    pub(crate) fn check(&self, bytes: usize) -> Outcome {
        match self.limits().token_bytes {
            limit if bytes > limit => Err(Failure::rejected(too_many(bytes, limit))
                .hint("to take longer ones: --max-bytes BYTES")),
            _ => Ok(()),
        }
    }
}

/// What is wrong with a token that is too long.
pub(crate) fn too_many(bytes: usize, limit: usize) -> String {
    format!("the token has {bytes} bytes, and at most {limit} are taken")
}

/// `NAME=TEXT`
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl FromStr for Member {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Member, &'static str> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Member {
                name: name.to_owned(),
                value: value.to_owned(),
            }),
            _ => Err("a name and its text, with = between"),
        }
    }
}

/// Exactly the bytes of a file that was named with `@`.
pub(crate) fn file_bytes(path: &Path) -> Outcome<Zeroizing<Vec<u8>>> {
    file(path, INPUT_BYTES_MAX).map_err(|unread| {
        unread.failure(
            path,
            "without @ it is the text itself; @ is for a file's name",
        )
    })
}

/// Exactly the bytes of standard input.
pub(crate) fn stdin_bytes() -> Outcome<Zeroizing<Vec<u8>>> {
    stdin(INPUT_BYTES_MAX)
}

/// The bytes of a key file, which is not empty; `-` is standard input.
pub(crate) fn key_bytes(path: &Path, bytes_max: usize) -> Outcome<Zeroizing<Vec<u8>>> {
    let bytes = match path == Path::new("-") {
        true => stdin(bytes_max as u64)?,
        false => named_bytes(path, bytes_max)?,
    };
    match bytes.is_empty() {
        true => Err(Failure::error(format!("{} is empty", name_of(path)))),
        false => Ok(bytes),
    }
}

fn named_bytes(path: &Path, bytes_max: usize) -> Outcome<Zeroizing<Vec<u8>>> {
    file(path, bytes_max as u64).map_err(|unread| {
        let instead = format!("{INTO_A_FILE}, or give - and send it to standard input");
        let failure = unread.failure(path, &instead);
        let name = redact::name_of(path);
        match name.strip_prefix('@') {
            Some(bare) => failure.hint(format!("here a file is named without @: {bare}")),
            None => failure,
        }
    })
}

/// The password in a file: its one line, without the end of it; `-` is standard input. The file's name is
/// never repeated: it may be the password.
pub(crate) fn password(path: &Path, bytes_max: usize) -> Outcome<Zeroizing<String>> {
    let line_end_bytes = 2;
    let bytes_max = (bytes_max + line_end_bytes) as u64;
    let bytes = match path == Path::new("-") {
        true => stdin(bytes_max)?,
        false => file(path, bytes_max).map_err(|unread| match unread {
            Unread::Error(error) => {
                Failure::error(format!("cannot read the password's file: {error}"))
                    .hint("the name of a file is wanted, whose one line is the password")
            }
            Unread::TooLong(bytes_max) => too_long("the password's file", bytes_max),
        })?,
    };
    match std::str::from_utf8(without_line_end(&bytes)) {
        Ok("") => Err(Failure::error("the password's file is empty")),
        Ok(line) if !line.contains('\n') => Ok(Zeroizing::new(line.to_owned())),
        // What cannot be typed where a password is asked for is a key, or another file.
        _ => Err(Failure::error("the password's file: not one line of text")),
    }
}

/// Refuses what is pasted in the place of a file's name, where the file is read elsewhere.
pub(crate) fn must_be_a_name(path: &Path) -> Outcome {
    match Redacted::of(&path.to_string_lossy()) {
        Some(redacted) if !path.exists() => Err(not_a_name(redacted).hint(INTO_A_FILE)),
        _ => Ok(()),
    }
}

fn not_a_name(redacted: Redacted) -> Failure {
    Failure::error(format!(
        "{redacted} was given where the name of a file is wanted"
    ))
}

/// How a key file is called in messages.
pub(crate) fn name_of(path: &Path) -> String {
    if path == Path::new("-") {
        return "standard input".to_owned();
    }
    redact::name_of(path)
}

/// Why a file could not be read.
enum Unread {
    Error(io::Error),
    /// It is longer than so many bytes.
    TooLong(u64),
}

impl Unread {
    /// What is said of it; if its name is what should stand in a file, what to do instead.
    fn failure(self, path: &Path, instead: &str) -> Failure {
        match (self, Redacted::of(&path.to_string_lossy())) {
            (Unread::Error(_), Some(redacted)) => not_a_name(redacted).hint(instead),
            (Unread::Error(error), None) => {
                Failure::error(format!("cannot read {}: {error}", redact::name_of(path)))
            }
            (Unread::TooLong(bytes_max), _) => too_long(&redact::name_of(path), bytes_max),
        }
    }
}

fn file(path: &Path, bytes_max: u64) -> Result<Zeroizing<Vec<u8>>, Unread> {
    let opened = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(io::Error::from(ErrorKind::IsADirectory)),
        false => Ok(file),
    });
    let bytes = opened.and_then(|file| limited(file, bytes_max));
    bytes
        .map_err(Unread::Error)?
        .ok_or(Unread::TooLong(bytes_max))
}

fn stdin(bytes_max: u64) -> Outcome<Zeroizing<Vec<u8>>> {
    static READ: AtomicBool = AtomicBool::new(false);
    if READ.swap(true, Ordering::Relaxed) {
        return Err(Failure::error(
            "standard input can be read once, and two arguments name it",
        ));
    }
    let bytes = limited(io::stdin().lock(), bytes_max)
        .map_err(|error| Failure::error(format!("cannot read standard input: {error}")))?;
    bytes.ok_or_else(|| too_long("standard input", bytes_max))
}

/// Everything, or `None` if that is more than the limit.
fn limited(from: impl Read, bytes_max: u64) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    // Room for any key, so that its text is not moved while it is read: what is moved is not wiped.
    let mut bytes = Zeroizing::new(Vec::with_capacity(KEY_ROOM_BYTES));
    from.take(bytes_max + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= bytes_max).then_some(bytes))
}

fn too_long(name: &str, bytes_max: u64) -> Failure {
    let limit = match bytes_max >> 20 {
        0 => format!("{} KiB", bytes_max >> 10),
        mebibytes => format!("{mebibytes} MiB"),
    };
    Failure::error(format!(
        "{name}: longer than {limit}, the most that is read"
    ))
}

/// Without the end of its one line: that belongs to the file, not to what stands in it.
pub(crate) fn without_line_end(bytes: &[u8]) -> &[u8] {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    line.strip_suffix(b"\r").unwrap_or(line)
}
