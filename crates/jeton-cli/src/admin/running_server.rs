//! The server that uses a data folder, and the command for it.

use std::fs;
use std::path::Path;

use jeton_server::ADMIN_URL_FILE;

use super::typed;

/// The longest URL in the file of a server.
const URL_BYTES: u64 = 1024;

/// The URL that the server of this folder has written, if it runs.
pub(super) fn url_of(folder: &Path) -> Option<String> {
    let file = folder.join(ADMIN_URL_FILE);
    let is_short = fs::metadata(&file).is_ok_and(|about| about.len() <= URL_BYTES);
    let text = fs::read_to_string(file).ok().filter(|_| is_short)?;
    let url = text.trim();
    let is_url = url.starts_with("http://") || url.starts_with("https://");
    let is_plain = !url.contains(|c: char| c.is_control() || c.is_whitespace());
    (is_url && is_plain).then(|| url.to_owned())
}

/// The typed call with `--server`, without the options that only a folder needs.
pub(super) fn command_for(url: &str) -> String {
    const ONLY_FOR_FOLDERS: [&str; 4] = [
        "--lock-timeout",
        "--key-encryption-key",
        "--actor",
        "--old-key",
    ];
    typed::command_with(&typed::arguments(), &ONLY_FOR_FOLDERS, ["--server", url])
}
