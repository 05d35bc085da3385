//! `--claims FILE|-|JSON|NAME`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use jeton_lab_model::claims::{ClaimsSets, MAX_CLAIMS_BYTES, OwnClaims, TOO_LONG};
use jeton_lab_model::nearest;

/// The claims that `--claims` selects.
#[derive(Debug)]
pub(super) enum Chosen {
    /// A claims set of the lab, by name.
    Set(String),
    /// The user's own claims.
    Own(OwnClaims),
}

/// Reads the argument: a JSON object, the name of a claims set, a file or `-`.
///
/// # Errors
/// A message with the source of the claims and the reason.
pub(super) fn read(argument: &OsStr) -> Result<Chosen, String> {
    let text = argument.to_str().unwrap_or_default();
    let (name, json) = match text {
        "-" => ("standard input".to_owned(), limited(io::stdin().lock())),
        text if text.trim_start().starts_with(['{', '[', '"']) => {
            ("--claims".to_owned(), Ok(Some(text.as_bytes().to_vec())))
        }
        text if is_set(text) => return Ok(Chosen::Set(text.to_owned())),
        _ => (argument.display().to_string(), file(Path::new(argument))),
    };
    let json = json.map_err(|e| unreadable(&name, &e))?;
    let json = json.ok_or_else(|| format!("{name}: {TOO_LONG}"))?;
    let now_s = jiff::Timestamp::now().as_second();
    let own = OwnClaims::read(&json, now_s).map_err(|e| format!("{name}: {e}"))?;
    Ok(Chosen::Own(own))
}

fn is_set(name: &str) -> bool {
    // The set of the user's own claims is excluded here: it has no claims yet.
    ClaimsSets::issued_at(0, None).named(name).is_some()
}

/// Reads the file; returns `None` if it is larger than the lab accepts.
fn file(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if metadata.len() > MAX_CLAIMS_BYTES as u64 {
        return Ok(None);
    }
    limited(file)
}

fn limited(from: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(MAX_CLAIMS_BYTES as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok((bytes.len() <= MAX_CLAIMS_BYTES).then_some(bytes))
}

fn unreadable(name: &str, error: &io::Error) -> String {
    let sets = ClaimsSets::names();
    let closest = nearest(name, sets.iter().map(String::as_str));
    if error.kind() == io::ErrorKind::NotFound {
        format!("--claims {name}: no such file or claims set{closest}")
    } else {
        format!("cannot read {name}: {error}")
    }
}
