//! The key-encryption key from a command, for a key management service: the command asks it, and prints the key.

use std::io::{Read as _, Result as IoResult};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use jeton_issuer::{Error as IssuerError, KeyEncryptionKey};
use zeroize::Zeroizing;

use crate::error::Result;

/// How long the command may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest output, bytes: the digits and white space.
const OUTPUT_BYTES: usize = 256;

/// Runs a command without a shell, and reads the key from its standard output: 64 hexadecimal digits. Its standard error
/// is that of the server.
///
/// # Errors
///
/// [`Error::Issuer`](crate::Error::Issuer) if it cannot be started, fails, takes longer than 30 s, or prints something
/// else. No error repeats the output.
pub fn key_from_command(command: &[String]) -> Result<KeyEncryptionKey> {
    key_within(command, TIMEOUT)
}

fn key_within(command: &[String], timeout: Duration) -> Result<KeyEncryptionKey> {
    let program = command.first().map_or("", String::as_str);
    let failed = |what: String| IssuerError::KeyEncryptionKey(format!("{program} {what}"));
    let started = Instant::now();
    let spawned = Command::new(program)
        .args(&command[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = spawned.map_err(|error| failed(format!("cannot be started: {error}")))?;
    let (output, status) = finish(&mut child, started + timeout)
        .map_err(|error| failed(format!("cannot be read: {error}")))?
        .ok_or_else(|| failed(format!("did not end within {} s", timeout.as_secs())))?;
    // A command that still prints has been ended by the closed pipe.
    let is_too_long = output.len() > OUTPUT_BYTES;
    if !status.success() && !is_too_long {
        return Err(failed(format!("ended with {status}; see its messages above")).into());
    }
    let bytes = output.len();
    let key = std::str::from_utf8(&output).ok();
    let key = key.and_then(|text| KeyEncryptionKey::from_hex(text).ok());
    key.ok_or_else(|| {
        let printed = if is_too_long {
            format!("more than {OUTPUT_BYTES}")
        } else {
            bytes.to_string()
        };
        failed(format!(
            "printed {printed} bytes that are no key: expected 64 hexadecimal digits"
        ))
        .into()
    })
}

/// Reads the output, and waits for the end. `None`: it took too long, and was killed.
fn finish(child: &mut Child, until: Instant) -> IoResult<Option<(Zeroizing<Vec<u8>>, ExitStatus)>> {
    let (sender, read) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            // Preallocated, so that reading does not leave copies.
            let mut output = Zeroizing::new(Vec::with_capacity(2 * OUTPUT_BYTES));
            let all = stdout
                .take(OUTPUT_BYTES as u64 + 1)
                .read_to_end(&mut output);
            let _ = sender.send(all.map(|_| output));
        });
    }
    let left = || until.saturating_duration_since(Instant::now());
    let output = match read.recv_timeout(left()) {
        Ok(output) => output?,
        Err(_) => {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(None);
        }
    };
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some((output, status)));
        }
        if left().is_zero() {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns what is wrong with a command, without running it.
pub(crate) fn problem(command: &[String]) -> Option<&'static str> {
    let program = Path::new(command.first()?);
    if !program.is_absolute() {
        // A search of PATH could find another program.
        return Some("must begin with the absolute path of a program");
    }
    (!program.is_file()).then_some("begins with a program that does not exist")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn shell(script: &str) -> Vec<String> {
        ["/bin/sh", "-c", script].map(str::to_owned).to_vec()
    }

    #[test]
    fn key_of_a_command_is_read_and_its_output_is_not_repeated() {
        let digits = "0a".repeat(32);
        let key = key_from_command(&shell(&format!("echo {digits}"))).unwrap();
        assert_eq!(key.id(), KeyEncryptionKey::from_hex(&digits).unwrap().id());
        for (script, said) in [
            (
                format!("echo {digits}; exit 3"),
                "ended with exit status: 3",
            ),
            (
                format!("echo x{digits}"),
                "printed 66 bytes that are no key",
            ),
            ("exit 0".to_owned(), "printed 0 bytes that are no key"),
            (format!("yes {digits}"), "printed more than 256 bytes"),
        ] {
            let error = key_from_command(&shell(&script)).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
            assert!(!error.contains(&digits), "{error}");
        }
        let missing = key_from_command(&["/no/such/program".to_owned()]);
        let error = missing.unwrap_err().to_string();
        assert!(error.contains("cannot be started"), "{error}");
    }

    #[test]
    fn command_that_does_not_end_is_killed() {
        for script in ["exec sleep 3600", "exec >&-; exec sleep 3600"] {
            let error = key_within(&shell(script), Duration::from_secs(1)).unwrap_err();
            let error = error.to_string();
            assert!(error.contains("did not end within 1 s"), "{error}");
        }
    }

    #[test]
    fn command_must_be_an_absolute_path() {
        assert_eq!(problem(&[]), None);
        assert_eq!(problem(&shell("")), None);
        assert!(problem(&["sh".to_owned()]).is_some());
        assert!(problem(&["/no/such/program".to_owned()]).is_some());
    }
}
