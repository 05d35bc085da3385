//! Reads result files; every command that takes a result uses this module.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::Deserialize;

use super::error::{RESULT_BYTES_MAX, cut_short, no_result, unreadable};
use super::{RunResult, SCHEMA, check};

/// The size limit of one part of a file, such as a row, in bytes; a row with a thousand rounds takes 20
/// KB. A row that does not begin with its suite is kept as a tree of values, which takes a hundred
/// times its text.
const PART_BYTES_MAX: usize = 1 << 20;

/// The first bytes of a gzip file (RFC 1952, section 2.3.1); no JSON begins with them.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads a result file, compressed with gzip or not, and checks types, ranges and the consistency of
/// its figures.
///
/// # Errors
/// What is wrong, with the place and the reason (`rows[3].status: …`).
///
/// # Examples
/// ```no_run
/// let result = jeton_lab_model::result::read("jeton-lab/results.json".as_ref())?;
/// println!("{} rows", result.rows.measured.len());
/// # Ok::<(), String>(())
/// ```
pub fn read(path: &Path) -> Result<RunResult, String> {
    let file = File::open(path).map_err(|e| unreadable(path, e))?;
    read_from(path, file)
}

/// Reads a result from a reader such as standard input; `path` is its name in errors.
///
/// # Errors
/// As [`read`].
pub fn read_from(path: &Path, from: impl Read) -> Result<RunResult, String> {
    let result = read_measured_from(path, from)?;
    check::derived(&result).map_err(|why| no_result(path, why))?;
    Ok(result)
}

/// Reads a result file as [`read`] does, and checks only what was measured. Medians, verdicts and other
/// derived figures may be wrong: compute them again before use.
///
/// # Errors
/// As [`read`].
pub fn read_measured(path: &Path) -> Result<RunResult, String> {
    let file = File::open(path).map_err(|e| unreadable(path, e))?;
    read_measured_from(path, file)
}

/// Reads a result from a reader, as [`read_measured`] does.
///
/// # Errors
/// As [`read`].
pub fn read_measured_from(path: &Path, from: impl Read) -> Result<RunResult, String> {
    let bytes = bytes(path, from)?;
    let no_result = |why: String| no_result(path, why);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(cut_short(path));
    }
    // Reject an array here: serde also reads structs from arrays.
    if bytes.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
        return Err(no_result("not a JSON object".into()));
    }
    // Check the schema version first: another version explains all later errors.
    let version: Version = parse(path, &bytes)?;
    match version.schema {
        Some(schema) if schema == u64::from(SCHEMA) => {}
        Some(schema) => {
            let path = path.display();
            return Err(format!(
                "{path} has schema {schema}, this jeton reads {SCHEMA}; read it with the version that wrote it"
            ));
        }
        None => return Err(no_result("member `schema` is missing".into())),
    }
    if let Some(length) = longest_part(&bytes).filter(|length| *length > PART_BYTES_MAX) {
        return Err(no_result(format!(
            "a part has {length} bytes; the limit is {PART_BYTES_MAX}"
        )));
    }
    let result: RunResult = parse(path, &bytes)?;
    check::measured(&result).map_err(no_result)?;
    Ok(result)
}

/// Returns the length of the longest object or list within the members of an object.
fn longest_part(json: &[u8]) -> Option<usize> {
    let (mut depth, mut begun, mut longest) = (0_u64, 0, None);
    let (mut in_string, mut is_escaped) = (false, false);
    for (at, byte) in json.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                if depth == 2 {
                    begun = at;
                }
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 2 {
                    longest = longest.max(Some(at + 1 - begun));
                }
            }
            _ => {}
        }
    }
    longest
}

#[derive(Deserialize)]
struct Version {
    schema: Option<u64>,
}

fn bytes(path: &Path, from: impl Read) -> Result<Vec<u8>, String> {
    let bytes = limited(path, from)?.map_err(|e| unreadable(path, e))?;
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    // The stated unpacked length is not trusted: the limit applies while unpacking.
    limited(path, MultiGzDecoder::new(bytes.as_slice()))?.map_err(|e| match e.kind() {
        ErrorKind::UnexpectedEof => cut_short(path),
        _ => no_result(path, format!("invalid gzip data: {e}")),
    })
}

/// Reads everything, if it is within the limit.
fn limited(path: &Path, from: impl Read) -> Result<io::Result<Vec<u8>>, String> {
    let mut bytes = Vec::new();
    let read = from.take(RESULT_BYTES_MAX + 1).read_to_end(&mut bytes);
    if bytes.len() as u64 > RESULT_BYTES_MAX {
        let (path, limit) = (path.display(), RESULT_BYTES_MAX / 1_000_000);
        return Err(format!(
            "{path}: larger than {limit} MB, the limit for result files"
        ));
    }
    Ok(read.map(|_| bytes))
}

fn parse<T: for<'de> Deserialize<'de>>(path: &Path, bytes: &[u8]) -> Result<T, String> {
    let json = &mut serde_json::Deserializer::from_slice(bytes);
    let refused = |e: &serde_json::Error, said: String| {
        if e.is_eof() {
            return cut_short(path);
        }
        no_result(path, said)
    };
    let value =
        serde_path_to_error::deserialize(&mut *json).map_err(|e| refused(e.inner(), placed(&e)))?;
    json.end().map_err(|e| refused(&e, e.to_string()))?;
    Ok(value)
}

/// Formats an error with its place. An error that begins with the end of its place is appended to it.
pub(super) fn placed(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let (place, said) = (error.path().to_string(), error.inner().to_string());
    match place.as_str() {
        "." => said,
        place if said.starts_with('.') => format!("{place}{said}"),
        place => format!("{place}: {said}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_part_includes_lists_and_members() {
        assert_eq!(longest_part(br#"{"a":1,"b":"[[{"}"#), None);
        assert_eq!(longest_part(br#"{"rows":[{"a":"]}\"]"},[]]}"#), Some(13));
        assert_eq!(longest_part(br#"{"a":{"b":[1,[2]]},"c":[]}"#), Some(7));
    }
}
