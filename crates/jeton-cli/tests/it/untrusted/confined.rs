//! Runs the program that is tested with a memory limit. The tests of `jeton-lab` use this file, too.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::PROGRAM;

/// Address space of a command, KiB. A quarter of it is the binary, its libraries and a stack; the default limit is 2 MiB
/// for a token and 64 MiB for a file.
pub(crate) const MEMORY_KIB: u64 = 512 * 1024;

/// A command that takes longer hangs.
const TIMEOUT: Duration = Duration::from_secs(180);

/// The result of a call.
pub(crate) struct Ended {
    pub(crate) code: i32,
    #[allow(dead_code, reason = "not read by the tests of `jeton-lab`")]
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// Runs the program within [`MEMORY_KIB`]. It must end with one of its exit codes, and not by a signal (out of memory) or a
/// panic.
#[track_caller]
pub(crate) fn confined(folder: &Path, args: &[&str], stdin: Stdio) -> Ended {
    confined_to(MEMORY_KIB, folder, args, stdin)
}

#[track_caller]
pub(crate) fn confined_to(kib: u64, folder: &Path, args: &[&str], stdin: Stdio) -> Ended {
    // Output goes to files, because it may exceed a pipe buffer.
    let [stdout, stderr] = [(); 2].map(|()| tempfile::tempfile().unwrap());
    let file = |file: &File| Stdio::from(file.try_clone().unwrap());
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -v \"$1\" && shift && exec \"$@\"", "sh"])
        .arg(kib.to_string())
        .arg(jeton_testkit::program(PROGRAM))
        .args(args)
        .current_dir(folder)
        .env_remove("JETON_KEY_ENCRYPTION_KEY")
        .stdin(stdin)
        .stdout(file(&stdout))
        .stderr(file(&stderr))
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > TIMEOUT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{args:?}: did not end");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let stderr = String::from_utf8_lossy(&all(stderr)).into_owned();
    let said: String = stderr.chars().take(2000).collect();
    assert_eq!(status.signal(), None, "{args:?}: {said}");
    let code = status.code().unwrap();
    assert!((0..=2).contains(&code), "{args:?}: {code}: {said}");
    Ended {
        code,
        stdout: all(stdout),
        stderr,
    }
}

fn all(mut file: File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}
