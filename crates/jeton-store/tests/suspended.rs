//! Tests that ages count the time during which the machine is suspended. `Instant` does not count it.
//!
//! A process with one thread may enter another time namespace. In this test's namespace the boot-time clock
//! is an hour ahead and the monotonic clock is not: a process on a suspended machine sees the same.
//! `unshare` of util-linux creates the namespace and needs root. Where it fails, the test says so and
//! passes.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::process::ExitCode;

const NAME: &str = "moment_after_a_suspension_has_counted_it";

fn main() -> ExitCode {
    // Handles the arguments that `cargo test` passes to every test program.
    if std::env::args().any(|argument| argument == "--list") {
        println!("{NAME}: test");
        return ExitCode::SUCCESS;
    }
    #[cfg(target_os = "linux")]
    linux::run();
    #[cfg(not(target_os = "linux"))]
    println!("{NAME}: skipped: there are time namespaces on Linux only");
    ExitCode::SUCCESS
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io::{BufRead, BufReader};
    use std::os::fd::AsFd;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use jeton_store::Moment;
    use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

    const SUSPENDED: Duration = Duration::from_secs(3600);

    pub(super) fn run() {
        match suspended() {
            Err(reason) => println!("{}: skipped: {reason}", super::NAME),
            Ok((moment, instant)) => {
                println!(
                    "suspended for {SUSPENDED:?}: Moment says {moment:?}, Instant {instant:?}"
                );
                assert!(
                    instant < SUSPENDED,
                    "the machine was not suspended: Instant has counted it"
                );
                assert!(
                    moment >= SUSPENDED,
                    "{moment:?} passed while the machine was suspended for {SUSPENDED:?}"
                );
                assert!(moment < 2 * SUSPENDED, "{moment:?} passed");
            }
        }
    }

    /// Returns the elapsed time of both clocks, or why the test cannot run here.
    fn suspended() -> Result<(Duration, Duration), String> {
        let seconds = SUSPENDED.as_secs().to_string();
        let inside = Command::new("unshare")
            .args(["--time", "--boottime", &seconds, "--fork"])
            // Its process id. It then waits until the parent ends.
            .args(["sh", "-c", "echo $$; read -r _"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut inside = inside.map_err(|error| format!("unshare: {error}"))?;
        let mut number = String::new();
        let output = inside.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut number).unwrap();
        if number.is_empty() {
            let output = inside.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(said.trim().to_owned());
        }
        let space = File::open(format!("/proc/{}/ns/time", number.trim()));
        let space = space.map_err(|error| format!("its namespace: {error}"))?;
        let (moment, instant) = (Moment::now(), Instant::now());
        let entered = move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Time));
        let passed = (moment.elapsed(), instant.elapsed());
        drop(inside.stdin.take());
        inside.wait().unwrap();
        entered.map_err(|error| format!("setns: {error}"))?;
        Ok(passed)
    }
}
