//! A follower on a machine that is suspended: time passes that `Instant` does not count.
//!
//! A process with one thread may enter another time namespace. In the namespace of this test, CLOCK_BOOTTIME is
//! an hour ahead and CLOCK_MONOTONIC is unchanged. That is what a process sees after its machine was suspended
//! for an hour. `unshare` of util-linux creates the namespace and requires root. Where that fails, the test
//! prints the reason and passes.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "it/fake_server.rs"]
mod fake_server;

use std::process::ExitCode;

const NAME: &str = "follower_age_includes_suspension";

fn main() -> ExitCode {
    // `cargo test -- --list` lists the tests of every test program.
    if std::env::args().any(|argument| argument == "--list") {
        println!("{NAME}: test");
        return ExitCode::SUCCESS;
    }
    #[cfg(target_os = "linux")]
    linux::run();
    #[cfg(not(target_os = "linux"))]
    println!("{NAME}: skipped: time namespaces exist on Linux only");
    ExitCode::SUCCESS
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io::{BufRead, BufReader};
    use std::os::fd::AsFd;
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    use jeton_proto::v1::RevocationUpdate;
    use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

    use crate::fake_server::{block_on, follow};

    const SUSPENDED: Duration = Duration::from_secs(3600);

    pub(super) fn run() {
        block_on(async {
            let update = RevocationUpdate {
                age_ms: Some(0),
                clock_ms: Some(0),
                ..RevocationUpdate::default()
            };
            let (_tell, follower) = follow(update).await;
            assert!(follower.age() < SUSPENDED);
            match suspend() {
                Err(reason) => println!("{}: skipped: {reason}", super::NAME),
                Ok(()) => {
                    let age = follower.age();
                    println!("suspended for {SUSPENDED:?}: the follower's age is {age:?}");
                    assert!(age >= SUSPENDED, "{age:?}");
                }
            }
        });
    }

    /// Moves this process into the namespace, or returns why that is not possible.
    fn suspend() -> Result<(), String> {
        let (mut inside, number) = namespace()?;
        let space = File::open(format!("/proc/{number}/ns/time"));
        let space = space.map_err(|error| format!("its namespace: {error}"))?;
        let entered = move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Time));
        drop(inside.stdin.take());
        inside.wait().unwrap();
        entered.map_err(|error| format!("setns: {error}"))
    }

    /// Starts a process in the namespace, and returns it with its process id.
    fn namespace() -> Result<(Child, String), String> {
        let seconds = SUSPENDED.as_secs().to_string();
        let inside = Command::new("unshare")
            .args(["--time", "--boottime", &seconds, "--fork"])
            .args(["sh", "-c", "echo $$; read -r _"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut inside = inside.map_err(|error| format!("unshare: {error}"))?;
        let mut number = String::new();
        let output = inside.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut number).unwrap();
        match number.trim() {
            "" => {
                let output = inside.wait_with_output().unwrap();
                Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
            }
            number => Ok((inside, number.to_owned())),
        }
    }
}
