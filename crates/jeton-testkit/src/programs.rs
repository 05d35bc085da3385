//! Runs the programs of the workspace, as a user would.

use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

/// The environment variable with the folder of the programs to test, an absolute path: those of a release build, for
/// example.
const PROGRAMS: &str = "JETON_PROGRAMS";

/// Returns a program that is built beside the test, or one of `JETON_PROGRAMS`.
///
/// # Panics
///
/// If it is missing. Cargo builds the programs of the tested package; those of other packages are built with the
/// workspace.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let own = env::current_exe().expect("the test has a path");
    // target/PROFILE/deps/TEST
    let own = own.ancestors().nth(2).expect("the test is in a folder");
    let folder = env::var_os(PROGRAMS).map_or_else(|| own.to_owned(), PathBuf::from);
    let program = folder.join(format!("{name}{}", env::consts::EXE_SUFFIX));
    assert!(
        program.is_file(),
        "{name} is not built: cargo build --workspace"
    );
    program
}

/// Writes an executable script.
///
/// Another process writes it: a descriptor that this one has open for writing is inherited by what another test starts
/// at that moment, and a file that is open for writing cannot be executed ("text file busy").
///
/// # Panics
///
/// If the file cannot be written.
#[cfg(unix)]
pub fn write_program(file: &Path, script: &str) {
    let folder = file.parent().expect("a program is in a folder");
    let output = run(
        Path::new("install"),
        folder,
        &["-m", "755", "/dev/stdin", &file.to_string_lossy()],
        script.as_bytes(),
    );
    assert!(output.status.success(), "{output:?}");
}

/// Copies a program, by another process as in [`write_program`].
///
/// # Panics
///
/// If the file cannot be written.
#[cfg(unix)]
pub fn copy_program(from: &Path, to: &Path) {
    let folder = to.parent().expect("a program is in a folder");
    let output = run(
        Path::new("install"),
        folder,
        &["-m", "755", &from.to_string_lossy(), &to.to_string_lossy()],
        b"",
    );
    assert!(output.status.success(), "{output:?}");
}

/// Runs a program in a folder, with this standard input.
///
/// # Panics
///
/// If the program cannot be started.
#[must_use]
pub fn run(program: &Path, folder: &Path, args: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(program)
        .args(args)
        .current_dir(folder)
        // The contexts of the person who runs the tests name other servers.
        .env(
            "XDG_CONFIG_HOME",
            std::env::temp_dir().join("no-configuration"),
        )
        .env_remove("JETON_CLIENT_FILE")
        .env_remove("JETON_CONTEXT")
        .env_remove("JETON_SERVER")
        .env_remove("JETON_ADMIN_SERVER")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut pipe = child.stdin.take().expect("standard input is a pipe");
    let stdin = stdin.to_vec();
    // A child that does not read its input closes the pipe.
    let writer = thread::spawn(move || drop(pipe.write_all(&stdin)));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the input is written");
    output
}
