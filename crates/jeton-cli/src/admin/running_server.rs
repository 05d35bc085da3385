//! The server that uses a data folder, and the command for it.

use std::fs;
use std::path::Path;

use jeton_server::ADMIN_URL_FILE;

use crate::shell::quoted;

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

/// The call with `--server`, without the options that only a folder needs.
pub(super) fn command_for(arguments: &[String], url: &str) -> String {
    const ONLY_FOR_FOLDERS: [&str; 4] = [
        "--lock-timeout",
        "--key-encryption-key",
        "--actor",
        "--old-key",
    ];
    let mut words = vec!["jeton".to_owned()];
    let mut rest = arguments.iter();
    let mut names = Vec::new();
    while let Some(word) = rest.next() {
        if word == "--" {
            names = std::iter::once(word).chain(rest.by_ref()).collect();
            break;
        }
        let name = word.split('=').next().unwrap_or_default();
        match ONLY_FOR_FOLDERS.contains(&name) {
            true if word.contains('=') => {}
            true => drop(rest.next()),
            false => words.push(quoted(word)),
        }
    }
    words.push(format!("--server {}", quoted(url)));
    words.extend(names.into_iter().map(|word| quoted(word)));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::command_for;

    #[test]
    fn command_for_server_has_no_options_of_a_folder() {
        let call = |words: &str| {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            command_for(&words, "http://127.0.0.1:1")
        };
        assert_eq!(
            call("admin key rotate i --lock-timeout 1m --actor=me --data d"),
            "jeton admin key rotate i --data d --server http://127.0.0.1:1"
        );
        assert_eq!(
            call("admin revoke subject i -- -a --actor"),
            "jeton admin revoke subject i --server http://127.0.0.1:1 -- -a --actor"
        );
    }
}
