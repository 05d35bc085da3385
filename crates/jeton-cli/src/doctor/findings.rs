//! The findings, grouped by subject.

use std::fmt::Write as _;

use serde::Serialize;

use super::key_check::KeyCheck;
use crate::escape;

/// The findings about one subject.
#[derive(Debug, Serialize)]
pub(super) struct Section {
    /// `clock`, `keys` or `token`.
    about: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    findings: Vec<Finding>,
    /// For a rejected token: one of [`jeton::error::codes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// For a token: what was removed around it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    input_notes: Vec<String>,
    /// For a token: the result of each key.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keys: Vec<KeyCheck>,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Good,
    Wrong,
    Undetermined,
}

#[derive(Debug, Serialize)]
struct Finding {
    state: State,
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Section {
    pub(super) fn new(about: &'static str) -> Section {
        Section {
            about,
            name: None,
            findings: Vec::new(),
            code: None,
            input_notes: Vec::new(),
            keys: Vec::new(),
        }
    }

    pub(super) fn named(about: &'static str, name: &str) -> Section {
        Section {
            name: Some(name.to_owned()),
            ..Section::new(about)
        }
    }

    pub(super) fn good(&mut self, what: impl Into<String>) {
        self.add(State::Good, what.into(), None);
    }

    pub(super) fn wrong(&mut self, what: impl Into<String>, advice: &str) {
        self.add(State::Wrong, what.into(), Some(advice));
    }

    pub(super) fn undetermined(&mut self, what: impl Into<String>, advice: &str) {
        self.add(State::Undetermined, what.into(), Some(advice));
    }

    fn add(&mut self, state: State, what: String, advice: Option<&str>) {
        let advice = advice.filter(|advice| !advice.is_empty());
        self.findings.push(Finding {
            state,
            what,
            advice: advice.map(str::to_owned),
        });
    }

    /// Returns whether there is a finding with this text.
    pub(super) fn has(&self, what: &str) -> bool {
        self.findings.iter().any(|finding| finding.what == what)
    }

    /// Removes the findings with this text.
    pub(super) fn remove(&mut self, what: &str) {
        self.findings.retain(|finding| finding.what != what);
    }

    /// Sets the code of the rejection of a token.
    pub(super) fn set_code(&mut self, code: Option<&'static str>) {
        self.code = code;
    }

    /// Sets what was removed around a token, and adds it to the findings.
    pub(super) fn set_input_notes(&mut self, notes: Vec<String>) {
        for note in &notes {
            let advice = "other verifiers accept only the token itself";
            self.undetermined(note.clone(), advice);
        }
        self.input_notes = notes;
    }

    /// Sets the results of the keys of a token.
    pub(super) fn set_key_checks(&mut self, keys: Vec<KeyCheck>) {
        self.keys = keys;
    }

    /// Returns the results of the keys.
    pub(super) fn key_checks(&self) -> &[KeyCheck] {
        &self.keys
    }

    /// Appends the findings of another section about the same subject.
    pub(super) fn and(mut self, other: Section) -> Section {
        self.findings.extend(other.findings);
        self
    }

    /// Turns errors into warnings, because the command accepts the token.
    pub(super) fn downgrade_errors(&mut self) {
        for finding in &mut self.findings {
            if finding.state == State::Wrong {
                finding.state = State::Undetermined;
            }
        }
    }

    /// Returns the number of errors.
    pub(super) fn error_count(&self) -> usize {
        let wrong = |finding: &&Finding| finding.state == State::Wrong;
        self.findings.iter().filter(wrong).count()
    }

    /// Formats the findings as text.
    pub(super) fn to_text(&self) -> String {
        let mut out = match &self.name {
            Some(name) => format!("{} {}\n", self.about, escape::line(name)),
            None => format!("{}\n", self.about),
        };
        for finding in &self.findings {
            let mark = match finding.state {
                State::Good => ' ',
                State::Wrong => '!',
                State::Undetermined => '?',
            };
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{mark} {}", escape::line(&finding.what));
            if let Some(advice) = &finding.advice {
                let _ = writeln!(out, "    {}", escape::line(advice));
            }
        }
        out
    }
}
