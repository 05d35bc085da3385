//! Reads files and standard input up to a limit.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::redact::{self, Redacted};

/// The largest input, bytes. A longer one is an error and is not truncated.
pub const INPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Whether an argument has read standard input.
static STDIN_READ: AtomicBool = AtomicBool::new(false);

/// The hint for a pasted key.
const INTO_A_FILE: &str =
    "write it to a file that only you can read, and pass the name of the file";

/// The capacity for the text of one key, bytes.
const KEY_CAPACITY_BYTES: usize = jeton::limits::KEY_BYTES;

/// `NAME=VALUE`
#[derive(Debug, Clone)]
pub struct Member {
    /// What is before the first `=`. Not empty.
    pub name: String,
    /// What follows it.
    pub value: String,
}

impl FromStr for Member {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Member, &'static str> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Member {
                name: name.to_owned(),
                value: value.to_owned(),
            }),
            Some(_) => Err("the name before `=` is missing"),
            None => Err("`=` is missing"),
        }
    }
}

/// Reads exactly the bytes of an `@FILE` argument.
pub fn file_bytes(path: &Path, bytes_max: u64) -> Outcome<Zeroizing<Vec<u8>>> {
    file(path, bytes_max).map_err(|read_failure| {
        read_failure.failure(
            path,
            "`@` is followed by a file name; to pass text, remove the `@`",
        )
    })
}

/// Reads exactly the bytes of standard input.
pub fn stdin_bytes(bytes_max: u64) -> Outcome<Zeroizing<Vec<u8>>> {
    stdin(bytes_max)
}

/// Reads standard input for an argument that was not passed, unless it is a terminal, empty or read already.
pub fn piped_bytes(bytes_max: u64) -> Outcome<Zeroizing<Vec<u8>>> {
    let missing = || {
        Failure::error("no token").hint("pass it as text, as @FILE, or pipe it to standard input")
    };
    if io::stdin().is_terminal() || STDIN_READ.load(Ordering::Relaxed) {
        return Err(missing());
    }
    let bytes = stdin(bytes_max)?;
    if bytes.is_empty() {
        Err(missing())
    } else {
        Ok(bytes)
    }
}

/// Reads a key file, which must not be empty; `-` is standard input.
pub fn key_bytes(path: &Path, bytes_max: usize) -> Outcome<Zeroizing<Vec<u8>>> {
    let bytes = if path == Path::new("-") {
        stdin(bytes_max as u64)?
    } else {
        named_bytes(path, bytes_max)?
    };
    if bytes.is_empty() {
        Err(Failure::error(format!("{} is empty", name_of(path))))
    } else {
        Ok(bytes)
    }
}

fn named_bytes(path: &Path, bytes_max: usize) -> Outcome<Zeroizing<Vec<u8>>> {
    file(path, bytes_max as u64).map_err(|read_failure| {
        let instead = format!("{INTO_A_FILE}; or pass `-` and pipe it to standard input");
        let failure = read_failure.failure(path, &instead);
        let name = redact::name_of(path);
        match name.strip_prefix('@') {
            Some(bare) => {
                failure.hint(format!("this option takes a file name without @: `{bare}`"))
            }
            None => failure,
        }
    })
}

/// Reads the one line of a password file, without its line break; `-` is standard input.
pub fn password(path: &Path, bytes_max: usize) -> Outcome<Zeroizing<String>> {
    let line_end_bytes = 2;
    let hint = "pass the name of a file that contains the password on one line";
    let bytes = unnamed_bytes(path, "the password file", hint, bytes_max + line_end_bytes)?;
    match std::str::from_utf8(without_line_end(&bytes)) {
        Ok("") => Err(Failure::error("the password file is empty")),
        Ok(line) if !line.contains('\n') => Ok(Zeroizing::new(line.to_owned())),
        // A password is typed on one line: this is a key or some other file.
        _ => Err(Failure::error("the password file: not one line of text")),
    }
}

/// Reads the file of an HMAC secret; `-` is standard input.
pub fn secret(path: &Path, bytes_max: usize) -> Outcome<Zeroizing<Vec<u8>>> {
    let hint = "pass the name of a file that contains the secret, not the secret";
    let bytes = unnamed_bytes(path, "the secret file", hint, bytes_max)?;
    if bytes.is_empty() {
        Err(Failure::error("the secret file is empty"))
    } else {
        Ok(bytes)
    }
}

/// Reads a file whose name errors never repeat: the caller may have passed the content itself.
fn unnamed_bytes(
    path: &Path,
    what: &str,
    hint: &str,
    bytes_max: usize,
) -> Outcome<Zeroizing<Vec<u8>>> {
    let bytes_max = bytes_max as u64;
    if path == Path::new("-") {
        return stdin(bytes_max);
    }
    file(path, bytes_max).map_err(|read_failure| match read_failure {
        ReadFailure::Error(error) => {
            Failure::error(format!("cannot read {what}: {error}")).hint(hint)
        }
        ReadFailure::TooLong(bytes_max) => too_long(what, bytes_max),
    })
}

/// Fails if a key or a token was pasted in place of a file name that is opened elsewhere.
pub fn must_be_a_name(path: &Path) -> Outcome {
    match Redacted::of(&path.to_string_lossy()) {
        Some(redacted) if !path.exists() => Err(not_a_name(redacted).hint(INTO_A_FILE)),
        _ => Ok(()),
    }
}

fn not_a_name(redacted: Redacted) -> Failure {
    Failure::error(format!("expected the name of a file, got {redacted}"))
}

/// Returns the name of a key file for messages.
pub fn name_of(path: &Path) -> String {
    if path == Path::new("-") {
        return "standard input".to_owned();
    }
    redact::name_of(path)
}

/// Why a file could not be read.
enum ReadFailure {
    Error(io::Error),
    /// The input is longer than this many bytes.
    TooLong(u64),
}

impl ReadFailure {
    /// Returns the failure. If the name looks like a key or a token, `instead` is its hint.
    fn failure(self, path: &Path, instead: &str) -> Failure {
        match (self, Redacted::of(&path.to_string_lossy())) {
            (ReadFailure::Error(_), Some(redacted)) => not_a_name(redacted).hint(instead),
            (ReadFailure::Error(error), None) => {
                Failure::error(format!("cannot read {}: {error}", redact::name_of(path)))
            }
            (ReadFailure::TooLong(bytes_max), _) => too_long(&redact::name_of(path), bytes_max),
        }
    }
}

fn file(path: &Path, bytes_max: u64) -> Result<Zeroizing<Vec<u8>>, ReadFailure> {
    let opened = File::open(path).and_then(|file| {
        if file.metadata()?.is_dir() {
            Err(io::Error::from(ErrorKind::IsADirectory))
        } else {
            Ok(file)
        }
    });
    let bytes = opened.and_then(|file| limited(file, bytes_max));
    bytes
        .map_err(ReadFailure::Error)?
        .ok_or(ReadFailure::TooLong(bytes_max))
}

fn stdin(bytes_max: u64) -> Outcome<Zeroizing<Vec<u8>>> {
    if STDIN_READ.swap(true, Ordering::Relaxed) {
        return Err(Failure::error(
            "two arguments read standard input; it can be read once",
        ));
    }
    let bytes = limited(io::stdin().lock(), bytes_max)
        .map_err(|error| Failure::error(format!("cannot read standard input: {error}")))?;
    bytes.ok_or_else(|| too_long("standard input", bytes_max))
}

/// Reads everything, or returns `None` if that is more than the limit.
fn limited(from: impl Read, bytes_max: u64) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    // Reserve space for any key: a reallocation would leave a copy of its text that is not wiped.
    let mut bytes = Zeroizing::new(Vec::with_capacity(KEY_CAPACITY_BYTES));
    from.take(bytes_max + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= bytes_max).then_some(bytes))
}

fn too_long(name: &str, bytes_max: u64) -> Failure {
    let limit = match bytes_max >> 20 {
        0 => format!("{} KiB", bytes_max >> 10),
        mebibytes => format!("{mebibytes} MiB"),
    };
    Failure::too_long(format!("{name}: too long, the limit is {limit}"))
}

/// Removes one line break at the end.
pub fn without_line_end(bytes: &[u8]) -> &[u8] {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    line.strip_suffix(b"\r").unwrap_or(line)
}
