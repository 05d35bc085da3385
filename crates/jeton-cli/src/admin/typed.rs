//! The command that was typed, with other options.

use crate::shell::quoted;

/// Returns the typed call.
pub(super) fn arguments() -> Vec<String> {
    std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// Returns the call as a command, without the `removed` options and their values, and with the `added` option before
/// the names that follow `--`.
pub(super) fn command_with(arguments: &[String], removed: &[&str], added: [&str; 2]) -> String {
    let mut words = vec!["jeton".to_owned()];
    let mut rest = arguments.iter();
    let mut names = Vec::new();
    while let Some(word) = rest.next() {
        if word == "--" {
            names = std::iter::once(word).chain(rest.by_ref()).collect();
            break;
        }
        let name = word.split('=').next().unwrap_or_default();
        match removed.contains(&name) {
            true if word.contains('=') => {}
            true => drop(rest.next()),
            false => words.push(quoted(word)),
        }
    }
    words.extend(added.map(quoted));
    words.extend(names.into_iter().map(|word| quoted(word)));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::command_with;

    #[test]
    fn command_has_the_added_option_before_names() {
        let call = |words: &str| {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let removed = ["--lock-timeout", "--actor"];
            command_with(&words, &removed, ["--server", "http://127.0.0.1:1"])
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
