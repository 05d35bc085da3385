//! The command that repeats what was done, as a shell takes it.

use std::ffi::OsStr;

use crate::shell::quoted;

/// This process's own command, with the seed that it was not given.
pub(super) fn repeated(seed: Option<u64>) -> String {
    let mut command = String::from("jeton");
    let mut say = |word: &OsStr| {
        command.push(' ');
        command.push_str(&quoted(&word.to_string_lossy()));
    };
    for word in std::env::args_os().skip(1) {
        say(&word);
    }
    if let Some(seed) = seed {
        say(OsStr::new("--seed"));
        say(OsStr::new(&seed.to_string()));
    }
    command
}
