//! A helper process that reads keys with a library of another language.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use base64_simd::STANDARD;

use super::Format;

pub struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// crypto/x509 and go-jose. Go builds the program first.
    pub fn go() -> Result<Process, String> {
        let folder = folder("go");
        // Several formats and tests run at once, and each builds its own.
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("key-readers-{}-{number}", std::process::id());
        let program = std::env::temp_dir().join(name);
        let mut build = Command::new("go");
        let built = build
            .args(["build", "-o"])
            .arg(&program)
            .arg(".")
            .current_dir(folder);
        let status = built
            .status()
            .map_err(|error| format!("go did not start: {error}"))?;
        if !status.success() {
            return Err("`go build` failed".into());
        }
        let started = Self::start(&mut Command::new(&program));
        // The running process keeps it.
        let _ = std::fs::remove_file(&program);
        started
    }

    /// jose for Node. npm installs it first.
    pub fn node() -> Result<Process, String> {
        let folder = folder("node");
        if !folder.join("node_modules/jose").is_dir() {
            let mut install = Command::new("npm");
            install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
            let status = install.current_dir(&folder).stdout(Stdio::null()).status();
            let status = status.map_err(|error| format!("npm did not start: {error}"))?;
            if !status.success() {
                return Err("`npm ci` failed".into());
            }
        }
        Self::start(Command::new("node").arg("main.js").current_dir(folder))
    }

    fn start(command: &mut Command) -> Result<Process, String> {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped
            .spawn()
            .map_err(|error| format!("{command:?}: {error}"))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or("the process has no pipes")?;
        let output = BufReader::new(output);
        Ok(Process {
            child,
            input,
            output,
        })
    }

    pub fn send<'i>(
        &mut self,
        format: Format,
        inputs: impl Iterator<Item = &'i [u8]>,
    ) -> Result<(), String> {
        let mut text = String::new();
        for input in inputs {
            text.push_str(format.name());
            text.push(' ');
            text.push_str(&STANDARD.encode_to_string(input));
            text.push('\n');
        }
        text.push('\n');
        let sent = self
            .input
            .write_all(text.as_bytes())
            .and_then(|()| self.input.flush());
        sent.map_err(|error| format!("a helper process ended: {error}"))
    }

    pub fn answers(&mut self, count: usize) -> Result<Vec<String>, String> {
        let mut lines = Vec::with_capacity(count);
        for _ in 0..count {
            let mut line = String::new();
            match self.output.read_line(&mut line) {
                Ok(1..) => lines.push(line.trim_end().to_owned()),
                _ => return Err("a helper process ended".into()),
            }
        }
        Ok(lines)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}
