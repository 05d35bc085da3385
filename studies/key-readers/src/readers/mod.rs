//! The libraries that read the keys, and what they say.

mod jeton_reader;
mod josekit_reader;
mod openssl_reader;
mod process;
mod rust_crypto;

pub use jeton_reader::{JetonAnswer, Rejected, read as read_by_jeton};
pub use process::Process;

use crate::signed::Signed;

/// Which reader of jeton is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Pem,
    Der,
    Jwk,
}

impl Format {
    pub const ALL: [Format; 3] = [Format::Pem, Format::Der, Format::Jwk];

    pub fn name(self) -> &'static str {
        match self {
            Format::Pem => "pem",
            Format::Der => "der",
            Format::Jwk => "jwk",
        }
    }
}

/// What a library says about an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It read this key.
    Key(String),
    /// It read a key that it does not show. It says whether the signature of the original key is valid, if it was
    /// asked.
    Verifies(Option<bool>),
    /// It does not have this key type.
    Unknown,
    Rejected(String),
}

impl Answer {
    pub fn accepts(&self) -> bool {
        matches!(self, Answer::Key(_) | Answer::Verifies(_))
    }

    /// Reads a line of a helper process: `public KEY`, `rejected WHY`, `unknown`.
    fn from_line(line: &str) -> Answer {
        match line.split_once(' ') {
            None if line == "unknown" => Answer::Unknown,
            Some(("public" | "private" | "secret", key)) => Answer::Key(canonical(key)),
            Some(("rejected", why)) => Answer::Rejected(why.to_owned()),
            _ => Answer::Rejected(format!("no answer: {line}")),
        }
    }
}

/// The exponent of an RSA key without zeros in front.
fn canonical(key: &str) -> String {
    match key.split(' ').collect::<Vec<_>>()[..] {
        ["RSA", n, e] => rsa(n, e),
        _ => key.to_owned(),
    }
}

/// A public key as text: all readers write it so.
fn rsa(n: &str, e: &str) -> String {
    let bare = |text: &str| text.trim_start_matches('0').to_lowercase();
    format!("RSA {} {}", bare(n), bare(e))
}

fn ec(curve: &str, coordinates: &[u8]) -> String {
    format!("EC {curve} {}", hex(coordinates))
}

fn octets(kind: &str, bytes: &[u8]) -> String {
    format!("{kind} {}", hex(bytes))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The other libraries of a format, by name.
pub struct Others {
    format: Format,
    /// Helper processes, each with its name.
    processes: Vec<(&'static str, Process)>,
}

impl Others {
    /// Starts the helper processes. A runtime that is missing is an error.
    pub fn start(format: Format) -> Result<Others, String> {
        let mut processes = vec![(
            match format {
                Format::Jwk => "go-jose",
                _ => "Go crypto/x509",
            },
            Process::go()?,
        )];
        if format == Format::Jwk {
            processes.push(("jose for Node", Process::node()?));
        }
        Ok(Others { format, processes })
    }

    pub fn names(&self) -> Vec<&'static str> {
        let own: &[&str] = match self.format {
            Format::Jwk => &["josekit"],
            _ => &["OpenSSL", "RustCrypto"],
        };
        let helpers = self.processes.iter().map(|(name, _)| *name);
        own.iter().copied().chain(helpers).collect()
    }

    /// Asks every library about every input. The answers are in the order of the names.
    pub fn ask(&mut self, inputs: &[(&[u8], Option<&Signed>)]) -> Result<Vec<Vec<Answer>>, String> {
        for (_, process) in &mut self.processes {
            process.send(self.format, inputs.iter().map(|(input, _)| *input))?;
        }
        let mut all: Vec<Vec<Answer>> = (inputs.iter())
            .map(|(input, signed)| match self.format {
                Format::Jwk => vec![josekit_reader::read(input, *signed)],
                format => vec![
                    openssl_reader::read(format, input),
                    std::panic::catch_unwind(|| rust_crypto::read(format, input))
                        .unwrap_or(Answer::Rejected("panic".into())),
                ],
            })
            .collect();
        for (_, process) in &mut self.processes {
            for (line, answers) in process.answers(inputs.len())?.iter().zip(&mut all) {
                answers.push(Answer::from_line(line));
            }
        }
        for ((input, _), answers) in inputs.iter().zip(&mut all) {
            if is_ml_dsa(self.format, input) {
                answers.fill(Answer::Unknown);
            }
        }
        Ok(all)
    }
}

/// Whether the input names ML-DSA, which none of the other libraries has.
fn is_ml_dsa(format: Format, input: &[u8]) -> bool {
    /// The first bytes of the object identifiers, and their base64 in a key of each half.
    const OID: &[u8] = b"\x60\x86\x48\x01\x65\x03\x04\x03";
    let has = |part: &[u8], input: &[u8]| input.windows(part.len()).any(|other| other == part);
    match format {
        Format::Jwk => has(b"AKP", input),
        Format::Der => has(OID, input),
        Format::Pem => {
            let body: Vec<u8> = input
                .iter()
                .copied()
                .filter(u8::is_ascii_alphanumeric)
                .collect();
            has(b"ghkgBZQMEA", &body) || has(b"hkgBZQMEA", &body) || has(b"YIZIAWUDBAM", &body)
        }
    }
}
