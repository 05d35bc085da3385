//! The help, completions and manual pages contain every command.

use std::collections::BTreeSet;
use std::fs;

use crate::binary::{keys, succeeds};

#[test]
fn completions_contain_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = String::from_utf8(succeeds(&keys(), &["completions", shell], b"")).unwrap();
        for word in ["attack", "servers", "baseline"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn man_writes_a_page_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    succeeds(folder.path(), &["man", "--out", "man1"], b"");
    let pages: BTreeSet<String> = fs::read_dir(folder.path().join("man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in ["jeton-lab.1", "jeton-lab-run.1", "jeton-lab-load-merge.1"] {
        assert!(pages.contains(name), "{name} is missing: {pages:?}");
    }
}
