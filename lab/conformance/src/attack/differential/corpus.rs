//! The corpus of disagreements: a file with one case per line, which later runs replay.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::change::Changed;
use super::panel::{Panel, Question};
use crate::attack::fixtures::Stage;
use crate::attack::session::Stopped;
use jeton_lab_model::protocol::Keys;
use jeton_lab_model::result::{RUNTIME_MARK, write_whole};

/// The maximum number of cases in a corpus: one of each class.
pub const CASES_MAX: usize = 500;

/// The maximum size of a corpus file, in bytes.
const CORPUS_BYTES_MAX: u64 = 16 << 20;

/// One class of disagreement with its smallest example, complete enough to be judged again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorpusEntry {
    /// The format.
    pub format: String,
    /// The algorithm; empty for PASETO.
    pub alg: String,
    /// The content encryption; empty unless it is a JWE.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub enc: String,
    /// What was changed.
    pub changed: Changed,
    /// The kinds of change, in order.
    pub changes: Vec<String>,
    /// The token.
    pub token: String,
    /// The keys of the verifiers, made for the run that found the case.
    pub keys: Keys,
    /// The drivers and versions that accept the token.
    pub accepted: Vec<String>,
    /// The drivers and versions that reject it.
    pub refused: Vec<String>,
    /// Whether jeton is the only one with its answer.
    #[serde(default)]
    pub jeton_alone: bool,
}

/// The result of a replay.
#[derive(Debug, Clone, Default)]
pub struct Replayed {
    /// The number of replayed cases.
    pub cases: usize,
    /// The number of verdicts for versions that the corpus contains.
    pub verdicts: usize,
    /// The verdicts that changed, one sentence each.
    pub otherwise: Vec<String>,
}

impl CorpusEntry {
    /// Returns the class of the case. Only one case of each class is kept.
    pub(super) fn class(&self) -> String {
        let (changed, changes) = (self.changed.name(), self.changes.join("+"));
        let who = self.accepted.join(",");
        format!("{}:{}:{changed}:{changes}:{who}", self.format, self.alg)
    }

    /// Returns whether jeton is certainly wrong: it accepted an input that every driver must
    /// reject.
    #[must_use]
    pub fn is_jeton_wrong(&self) -> bool {
        self.changed == Changed::Token && self.is_taken_by_jeton()
    }

    /// Returns whether only jeton accepts it, and every other driver rejects it.
    #[must_use]
    pub fn is_taken_by_jeton_alone(&self) -> bool {
        self.jeton_alone && self.is_taken_by_jeton()
    }

    /// Returns whether only jeton rejects it, and every other driver accepts it.
    #[must_use]
    pub fn is_refused_by_jeton_alone(&self) -> bool {
        self.jeton_alone && !self.is_taken_by_jeton()
    }

    fn is_taken_by_jeton(&self) -> bool {
        self.accepted.iter().any(|who| is_jeton(who))
    }
}

/// Returns whether a driver, with or without its version and runtime, is this project's own, in any language.
pub(super) fn is_jeton(who: &str) -> bool {
    let driver = who.split([' ', RUNTIME_MARK]).next().unwrap_or_default();
    driver.ends_with("/jeton")
}

/// Reads a corpus. A missing file is an empty corpus.
///
/// # Errors
///
/// A sentence, if the file cannot be read or a line is not a case.
pub fn read_corpus(path: &Path) -> Result<Vec<CorpusEntry>, String> {
    let at_path = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(at_path(&error)),
    };
    // The reported length is not trusted: a device has none and does not end.
    let mut text = String::new();
    let read = file.take(CORPUS_BYTES_MAX + 1).read_to_string(&mut text);
    if read.map_err(|e| at_path(&e))? as u64 > CORPUS_BYTES_MAX {
        let most = CORPUS_BYTES_MAX >> 20;
        return Err(at_path(&format!("not a corpus: larger than {most} MiB")));
    }
    let lines = text.lines().enumerate().filter(|(_, l)| !l.is_empty());
    lines
        .map(|(i, line)| {
            serde_json::from_str(line).map_err(|e| at_path(&format!("line {}: {e}", i + 1)))
        })
        .collect()
}

/// Adds cases of new classes to the corpus. Returns how many were added.
///
/// # Errors
///
/// A sentence, if the file cannot be read or written; it is then unchanged.
pub fn add_to_corpus(path: &Path, found: &[CorpusEntry]) -> Result<usize, String> {
    let mut all = read_corpus(path)?;
    let mut known: BTreeSet<String> = all.iter().map(CorpusEntry::class).collect();
    let before = all.len();
    for case in found {
        if all.len() < CASES_MAX && known.insert(case.class()) {
            all.push(case.clone());
        }
    }
    let added = all.len() - before;
    if added > 0 {
        let mut text = String::new();
        for case in &all {
            text.push_str(&serde_json::to_string(case).map_err(|e| e.to_string())?);
            text.push('\n');
        }
        write_whole(path, text.as_bytes()).map_err(|e| e.to_string())?;
    }
    Ok(added)
}

/// Judges every case again. Versions that a case does not list are ignored. A changed verdict is asked for
/// again in a new process, where no earlier case can have an effect.
pub(super) fn replay(
    cases: &[CorpusEntry],
    panel: &mut Panel<'_>,
    stages: &[&Stage],
) -> Result<Replayed, Stopped> {
    let mut replayed = Replayed::default();
    for (i, case) in cases.iter().enumerate() {
        let stage = stages
            .iter()
            .find(|s| s.format.name() == case.format && s.alg == case.alg && s.enc == case.enc);
        let Some(stage) = stage else { continue };
        replayed.cases += 1;
        let question = Question {
            stage,
            changed: case.changed,
            keys: &case.keys,
            token: &case.token,
        };
        let mut changed = Vec::new();
        for (who, accepts) in panel.ask(&question)? {
            let did = match (case.accepted.contains(&who), case.refused.contains(&who)) {
                (true, _) => true,
                (_, true) => false,
                (false, false) => continue,
            };
            replayed.verdicts += 1;
            if did != accepts {
                changed.push(who);
            }
        }
        if changed.is_empty() {
            continue;
        }
        for (who, accepts) in panel.ask_anew(&question, &changed)? {
            let did = case.accepted.contains(&who);
            if did != accepts {
                replayed.otherwise.push(format!(
                    "case {} ({} {}, {} {}): {who} {} it before and now {} it",
                    i + 1,
                    case.format,
                    case.alg,
                    case.changed.name(),
                    case.changes.join("+"),
                    if did { "accepted" } else { "rejected" },
                    if accepts { "accepts" } else { "rejects" },
                ));
            }
        }
    }
    Ok(replayed)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::*;

    fn case(accepted: &str) -> CorpusEntry {
        CorpusEntry {
            format: "jwt".into(),
            alg: "HS256".into(),
            enc: String::new(),
            changed: Changed::Token,
            changes: vec!["Insert".into()],
            token: "e30.e30.AA".into(),
            keys: Keys::default(),
            accepted: vec![accepted.into()],
            refused: Vec::new(),
            jeton_alone: false,
        }
    }

    #[test]
    fn corpus_keeps_one_case_of_each_class() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cases.jsonl");
        assert_eq!(read_corpus(&path).unwrap(), Vec::new());
        let (one, other) = (case("go/jwx 3.3.0"), case("rust/jeton 0.1.0"));
        assert_eq!(add_to_corpus(&path, &[one.clone(), one.clone()]), Ok(1));
        assert_eq!(add_to_corpus(&path, &[one.clone(), other.clone()]), Ok(1));
        assert_eq!(read_corpus(&path).unwrap(), [one, other]);
    }

    #[test]
    fn case_rejected_only_by_jeton_needs_one_other_driver() {
        let mut two = CorpusEntry {
            jeton_alone: true,
            refused: vec!["rust/jeton 0.1.0".into()],
            ..case("python/pyseto 1.10.0")
        };
        assert!(two.is_refused_by_jeton_alone() && !two.is_taken_by_jeton_alone());
        std::mem::swap(&mut two.accepted, &mut two.refused);
        assert!(two.is_taken_by_jeton_alone() && !two.is_refused_by_jeton_alone());
        two.jeton_alone = false;
        assert!(!two.is_taken_by_jeton_alone() && !two.is_refused_by_jeton_alone());
    }

    #[test]
    fn jeton_accepting_a_changed_token_is_wrong() {
        for driver in ["rust/jeton", "node/jeton@26.1.0", "python/jeton"] {
            assert!(
                case(&format!("{driver} 0.1.0")).is_jeton_wrong(),
                "{driver}"
            );
        }
        assert!(!case("go/jwx 3.3.0").is_jeton_wrong());
        let authentic = CorpusEntry {
            changed: Changed::Claims,
            ..case("rust/jeton 0.1.0")
        };
        assert!(!authentic.is_jeton_wrong());
    }

    #[test]
    fn invalid_line_is_named_and_file_is_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cases.jsonl");
        fs::write(&path, "{}\n").unwrap();
        let told = read_corpus(&path).unwrap_err();
        assert!(
            told.contains("cases.jsonl: line 1: missing field"),
            "{told}"
        );
        assert!(add_to_corpus(&path, &[case("go/jwx 3.3.0")]).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}\n");
    }
}
