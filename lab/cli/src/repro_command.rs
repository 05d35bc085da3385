//! Builds the shell command that repeats a run.

use std::ffi::OsStr;

use crate::shell::quoted;

/// Returns this process's command line, and adds `--seed` if the user did not pass one.
pub(super) fn repro_command(seed: Option<u64>) -> String {
    let mut command = String::from("jeton-lab");
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
