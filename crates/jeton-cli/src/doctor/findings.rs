//! The findings, grouped by subject.
//!
//! Each cause is one finding. What follows from it, for example that the command rejects the token, is listed under it
//! and is not counted.

use std::fmt::{Display, Write as _};

use jeton_terminal::width::wrapped;
use serde::Serialize;

use super::key_check::KeyCheck;
use crate::escape;

/// The findings about one subject.
#[derive(Debug, Serialize)]
pub(super) struct Section {
    /// `clock`, `keys`, `token`, `trust` or `client`.
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
    /// What follows from it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    consequences: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
    /// The ends of the messages with which the command rejects the token because of it.
    #[serde(skip)]
    explains: Vec<String>,
}

impl Finding {
    fn explains(&self, message: &str) -> bool {
        let mut ends = self.explains.iter();
        ends.any(|end| message.ends_with(end.as_str()))
    }
}

/// Explains every message: after this finding, the command checks nothing else.
pub(super) const EVERYTHING: &str = "";

/// The advice about text that was removed around a token.
const REMOVED_ADVICE: &str = "other verifiers accept only the token itself";

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

    /// Adds an error. The command rejects the token because of it with a message that ends with `message`.
    pub(super) fn wrong_for(
        &mut self,
        message: impl Display,
        what: impl Into<String>,
        advice: &str,
    ) {
        self.wrong(what, advice);
        self.explaining(message);
    }

    /// The last finding is also the reason for this message of the command.
    pub(super) fn explaining(&mut self, message: impl Display) {
        if let Some(finding) = self.findings.last_mut() {
            finding.explains.push(message.to_string());
        }
    }

    /// Returns whether a finding is the reason for this message of the command.
    pub(super) fn explains(&self, message: impl Display) -> bool {
        let message = message.to_string();
        self.findings
            .iter()
            .any(|finding| finding.explains(&message))
    }

    /// Lists the result of the command under the finding that is the reason for it, and returns whether there is one.
    /// The finding becomes an error.
    pub(super) fn list_result(&mut self, result: &str, message: &str, hint: Option<&str>) -> bool {
        let reason = self.findings.iter_mut().find(|one| one.explains(message));
        let Some(finding) = reason else {
            return false;
        };
        let mut ends = finding.explains.iter();
        let is_repeated = ends.any(|end| {
            !end.is_empty()
                && message.ends_with(end.as_str())
                && finding.what.ends_with(end.as_str())
        });
        finding.consequences.push(if is_repeated {
            result.to_owned()
        } else {
            format!("{result}: {message}")
        });
        if finding.advice.is_none() {
            finding.advice = hint.map(str::to_owned);
        }
        finding.state = State::Wrong;
        true
    }

    /// Lists a consequence under the first error, and returns whether there is one.
    pub(super) fn list_under_first_error(&mut self, consequence: String) -> bool {
        let mut errors = self.findings.iter_mut();
        match errors.find(|finding| finding.state == State::Wrong) {
            Some(finding) => {
                finding.consequences.push(consequence);
                true
            }
            None => false,
        }
    }

    /// Lists a consequence under the finding with this text, and returns whether there is one.
    pub(super) fn list_under(&mut self, what: &str, consequence: String) -> bool {
        match self
            .findings
            .iter_mut()
            .find(|finding| finding.what == what)
        {
            Some(finding) => {
                finding.consequences.push(consequence);
                true
            }
            None => false,
        }
    }

    /// Lists a consequence under the last finding.
    pub(super) fn list_under_last(&mut self, consequence: String) {
        if let Some(finding) = self.findings.last_mut() {
            finding.consequences.push(consequence);
        }
    }

    /// Replaces the finding with this text by an error with the same cause, of which more is known now.
    pub(super) fn replace(
        &mut self,
        known: &str,
        message: impl Display,
        what: String,
        advice: &str,
    ) {
        match self
            .findings
            .iter_mut()
            .find(|finding| finding.what == known)
        {
            Some(finding) => {
                finding.what = what;
                finding.advice = Some(advice.to_owned());
                finding.state = State::Wrong;
                finding.explains.push(message.to_string());
            }
            None => self.wrong_for(message, what, advice),
        }
    }

    fn add(&mut self, state: State, what: String, advice: Option<&str>) {
        let advice = advice.filter(|advice| !advice.is_empty());
        self.findings.push(Finding {
            state,
            what,
            consequences: Vec::new(),
            advice: advice.map(str::to_owned),
            explains: Vec::new(),
        });
    }

    /// Sets the code of the rejection of a token.
    pub(super) fn set_code(&mut self, code: Option<&'static str>) {
        self.code = code;
    }

    /// Sets what was removed around a token. The text output shows it as warnings.
    pub(super) fn set_input_notes(&mut self, notes: Vec<String>) {
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

    /// Returns whether the findings are about this subject.
    pub(super) fn is(&self, about: &str) -> bool {
        self.about == about
    }

    /// Returns whether there are only results that nothing could be compared with.
    pub(super) fn is_undetermined(&self) -> bool {
        let mut findings = self.findings.iter();
        findings.all(|finding| finding.state == State::Undetermined)
    }

    /// Returns the number of errors.
    pub(super) fn error_count(&self) -> usize {
        let wrong = |finding: &&Finding| finding.state == State::Wrong;
        self.findings.iter().filter(wrong).count()
    }

    /// Formats the findings as text, wrapped for a terminal of this width.
    pub(super) fn to_text(&self, columns: Option<usize>) -> String {
        let mut out = match &self.name {
            Some(name) => format!("{} {}\n", self.about, escape::line(name)),
            None => format!("{}\n", self.about),
        };
        for note in &self.input_notes {
            push(&mut out, "? ", note, columns);
            push(&mut out, "    ", REMOVED_ADVICE, columns);
        }
        for finding in &self.findings {
            let mark = match finding.state {
                State::Good => "  ",
                State::Wrong => "! ",
                State::Undetermined => "? ",
            };
            push(&mut out, mark, &finding.what, columns);
            for consequence in &finding.consequences {
                push(&mut out, "    so: ", consequence, columns);
            }
            if let Some(advice) = &finding.advice {
                push(&mut out, "    ", advice, columns);
            }
        }
        out
    }
}

/// Appends a text behind its mark. Further lines are indented as far.
fn push(out: &mut String, mark: &str, text: &str, columns: Option<usize>) {
    let text = escape::line(text);
    let lines = match columns {
        Some(columns) => wrapped(&text, columns.saturating_sub(mark.len())),
        None => vec![text],
    };
    for (index, line) in lines.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = match index {
            0 => writeln!(out, "{mark}{line}"),
            _ => writeln!(out, "{:1$}{line}", "", mark.len()),
        };
    }
}
