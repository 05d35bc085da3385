//! Reads text files of limited length.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Reads a whole file.
///
/// # Errors
///
/// Why the file cannot be read, or that it has more than `bytes_max` bytes.
pub fn read(path: &Path, bytes_max: u64) -> Result<String, String> {
    let mut text = String::new();
    let file = File::open(path).map_err(|error| format!("cannot read the file: {error}"))?;
    let length = file.take(bytes_max + 1).read_to_string(&mut text);
    match length {
        Err(error) => Err(format!("cannot read the file: {error}")),
        Ok(length) if length as u64 > bytes_max => {
            Err(format!("file too long, maximum {bytes_max} bytes"))
        }
        Ok(_) => Ok(text),
    }
}
