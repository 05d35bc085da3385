//! `jeton lab` runs the program `jeton-lab`, or says how to get it.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use jeton_testkit::{copy_program, program, write_program};

use crate::PROGRAM;

/// Copies `jeton` to a folder without `jeton-lab`.
fn alone(folder: &Path) -> PathBuf {
    let copy = folder.join(PROGRAM);
    copy_program(&program(PROGRAM), &copy);
    copy
}

fn run(jeton: &Path, path: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(jeton);
    command.args(args).env("PATH", path).output().unwrap()
}

fn write_lab(folder: &Path) {
    write_program(
        &folder.join("jeton-lab"),
        "#!/bin/sh\necho \"$@\"\nexit 7\n",
    );
}

#[test]
fn lab_that_is_missing_is_one_error_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let jeton = alone(folder.path());
    for args in [&["lab"][..], &["lab", "--help"], &["lab", "run", "--quick"]] {
        let output = run(&jeton, folder.path(), args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[0], "error: the program jeton-lab is not installed");
        assert!(lines.len() == 2 && lines[1].starts_with("hint: "), "{said}");
    }
}

#[test]
fn lab_beside_or_on_path_gets_all_arguments() {
    for is_beside in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        let jeton = alone(folder.path());
        let place = if is_beside { &folder } else { &other };
        write_lab(place.path());
        let output = run(
            &jeton,
            other.path(),
            &["lab", "run", "--quick", "-h", "--", "a"],
        );
        assert_eq!(output.status.code(), Some(7));
        assert_eq!(
            String::from_utf8(output.stdout).unwrap(),
            "run --quick -h -- a\n"
        );
    }
}
