//! Runs a server for a test. The tests of `jeton-lab` use this file, too.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The time limit for what a server does on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A server that is killed at the end of the test, and its log.
pub(crate) struct Serving {
    child: Child,
    said: Arc<Mutex<String>>,
    /// Reads the log until its end.
    reader: Option<JoinHandle<()>>,
}

impl Serving {
    pub(crate) fn start(folder: &Path, args: &[&str]) -> Serving {
        Serving::start_by(&[], folder, args)
    }

    /// Starts the server with a wrapper program, which receives the whole command.
    pub(crate) fn start_by(program: &[&str], folder: &Path, args: &[&str]) -> Serving {
        let jeton = jeton_testkit::program("jeton");
        let jeton = jeton.to_str().unwrap();
        let words = [program, &[jeton, "serve"], args].concat();
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .current_dir(folder)
            .env_remove("JETON_KEY_ENCRYPTION_KEY")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let pipe = child.stderr.take().unwrap();
        let heard = said.clone();
        let reader = thread::spawn(move || {
            for line in BufReader::new(pipe).lines() {
                let line = line.unwrap_or_default();
                heard.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        Serving {
            child,
            said,
            reader: Some(reader),
        }
    }

    pub(crate) fn any_port(folder: &Path, more: &[&str]) -> Serving {
        let ports = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
        Serving::start(folder, &[&ports, more].concat())
    }

    #[allow(dead_code, reason = "used under load")]
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// Waits until the log contains this text.
    pub(crate) fn wait_for(&self, words: &str) -> String {
        self.wait_for_after(0, words)
    }

    /// Waits until the log contains this text after this position.
    pub(crate) fn wait_for_after(&self, bytes: usize, words: &str) -> String {
        let begun = Instant::now();
        loop {
            let said = self.said()[bytes..].to_owned();
            if said.contains(words) {
                return said;
            }
            assert!(begun.elapsed() < TIMEOUT, "{said}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the address of the data listener.
    pub(crate) fn address(&self) -> String {
        self.listener("gRPC and HTTP")
    }

    /// Returns the address of the admin listener.
    pub(crate) fn admin_address(&self) -> String {
        self.listener("administration")
    }

    fn listener(&self, name: &str) -> String {
        // The line after both addresses has been printed by then.
        let said = self.wait_for("\ndata  ");
        let line = said.lines().find(|line| line.starts_with(name)).unwrap();
        let url = line.split_whitespace().find(|word| word.contains("://"));
        url.unwrap().to_owned()
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(status.success());
    }

    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                if let Some(reader) = self.reader.take() {
                    reader.join().unwrap();
                }
                return (status.code(), self.said());
            }
            assert!(begun.elapsed() < TIMEOUT, "{}", self.said());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
