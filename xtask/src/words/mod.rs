//! `cargo xtask words`: rejects words that only this project would use, and long sentences.
//!
//! `xtask/words.toml` lists the patterns. All files that git knows are searched. The average length of a
//! sentence is counted over the pages that users and contributors read.

mod prose;

use regex::Regex;
use serde::Deserialize;

use crate::command::{Error, Workspace, output};

const RULES: &str = "xtask/words.toml";

/// Pages whose sentences are counted, besides those in `docs/`.
const PAGES: [&str; 4] = [
    "README.md",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
];

/// The contents of `xtask/words.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    /// Limit of the average over all pages.
    average_words_per_sentence: f64,
    /// Files and folders that are not searched. A leading `*` matches the end of a path.
    skip: Vec<String>,
    pattern: Vec<PatternText>,
}

/// One pattern as it is written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternText {
    /// The regular expression to reject. Letters match in either case.
    find: String,
    /// What to write instead.
    say: String,
    /// A match inside a match of one of these is accepted.
    #[serde(default)]
    unless: Vec<String>,
    /// Files and folders that are not searched for this pattern.
    #[serde(default)]
    except: Vec<String>,
}

/// One compiled pattern.
struct Pattern {
    find: Regex,
    say: String,
    unless: Vec<Regex>,
    except: Vec<String>,
}

impl Pattern {
    fn compile(text: PatternText) -> Result<Self, Error> {
        Ok(Self {
            find: regex(&text.find)?,
            say: text.say,
            unless: (text.unless.iter().map(|unless| regex(unless))).collect::<Result<_, _>>()?,
            except: text.except,
        })
    }

    /// The first rejected text of `line`.
    fn rejected<'l>(&self, line: &'l str) -> Option<&'l str> {
        let accepted = |start: usize, end: usize| {
            (self.unless.iter())
                .flat_map(|unless| unless.find_iter(line))
                .any(|inside| inside.start() <= start && end <= inside.end())
        };
        (self.find.find_iter(line))
            .find(|found| !accepted(found.start(), found.end()))
            .map(|found| found.as_str())
    }
}

fn regex(pattern: &str) -> Result<Regex, Error> {
    Regex::new(&format!("(?i){pattern}")).map_err(|error| Error::Usage(format!("{RULES}: {error}")))
}

/// Checks every file and prints every rejected line.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    let text = std::fs::read_to_string(workspace.path(RULES))
        .map_err(|error| Error::Usage(format!("{RULES}: {error}")))?;
    let rules: Rules =
        toml::from_str(&text).map_err(|error| Error::Usage(format!("{RULES}: {error}")))?;
    let patterns = (rules.pattern.into_iter())
        .map(Pattern::compile)
        .collect::<Result<Vec<_>, _>>()?;

    let mut rejected = 0_usize;
    let mut files = 0_usize;
    let mut total = prose::Count::default();
    for path in tracked(workspace)? {
        if covers(&rules.skip, &path) {
            continue;
        }
        // A file that is not text has no words; one that was deleted is not committed yet.
        let Ok(text) = std::fs::read_to_string(workspace.path(&path)) else {
            continue;
        };
        files += 1;
        for (line, what) in rejected_lines(&patterns, &path, &text) {
            println!("{path}:{line}: {what}");
            rejected += 1;
        }
        if is_page(&path) {
            let count = prose::Count::of(&text);
            if count.sentences > 0 {
                eprintln!("{:5.1} words a sentence: {path}", count.average());
            }
            total += count;
        }
    }

    let limit = rules.average_words_per_sentence;
    eprintln!(
        "words: {files} files; {:.1} words a sentence over {} sentences, at most {limit:.1}",
        total.average(),
        total.sentences,
    );
    if rejected > 0 {
        return Err(Error::Failed(format!(
            "words: {rejected} lines have words to replace, see above; {RULES} lists them"
        )));
    }
    if total.average() > limit {
        return Err(Error::Failed(format!(
            "words: sentences have {:.1} words on average, at most {limit:.1}: shorten those of the pages with the \
             highest averages",
            total.average()
        )));
    }
    Ok(())
}

/// Line numbers, from 1, with the rejected text and its replacement.
fn rejected_lines(patterns: &[Pattern], path: &str, text: &str) -> Vec<(usize, String)> {
    let patterns: Vec<&Pattern> = (patterns.iter())
        .filter(|pattern| !covers(&pattern.except, path))
        .collect();
    let mut rejected = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for pattern in &patterns {
            if let Some(found) = pattern.rejected(line) {
                rejected.push((index + 1, format!("`{found}`: {}", pattern.say)));
            }
        }
    }
    rejected
}

/// Whether one of `entries` names `path`: as a file, as a folder above it, or by its end.
fn covers(entries: &[String], path: &str) -> bool {
    entries.iter().any(|entry| match entry.strip_prefix('*') {
        Some(end) => path.ends_with(end),
        None if entry.ends_with('/') => path.starts_with(entry),
        None => path == entry || path.ends_with(&format!("/{entry}")),
    })
}

fn is_page(path: &str) -> bool {
    PAGES.contains(&path) || (path.starts_with("docs/") && path.ends_with(".md"))
}

/// The files of the checkout that git knows, sorted.
fn tracked(workspace: &Workspace) -> Result<Vec<String>, Error> {
    let listed = output(workspace.command("git").args(["ls-files", "-z"]))?;
    Ok(listed
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn pattern(find: &str, unless: &[&str], except: &[&str]) -> Pattern {
        Pattern::compile(PatternText {
            find: find.into(),
            say: "another word".into(),
            unless: unless.iter().map(|&text| text.into()).collect(),
            except: except.iter().map(|&text| text.into()).collect(),
        })
        .unwrap()
    }

    #[test]
    fn rejected_word_is_found_in_text_and_in_a_name() {
        let patterns = [pattern(r"\bblur", &[], &[])];
        let lines = rejected_lines(&patterns, "a.rs", "one\nBlurs of two\nlet blur = 1;");
        let numbers: Vec<usize> = lines.iter().map(|(line, _)| *line).collect();
        assert_eq!(numbers, [2, 3]);
        assert_eq!(lines[0].1, "`Blur`: another word");
    }

    #[test]
    fn accepted_phrase_hides_only_what_is_inside_it() {
        let pattern = pattern("blur", &["\"blur\""], &[]);
        assert_eq!(pattern.rejected("name = \"blur\""), None);
        assert_eq!(pattern.rejected("name = \"blur\", blur"), Some("blur"));
    }

    #[test]
    fn exception_holds_for_a_file_a_folder_and_an_ending() {
        let patterns = [pattern("blur", &[], &["model/", "b.rs", "*.md"])];
        for accepted in ["model/a.rs", "b.rs", "x/b.rs", "docs/a.md"] {
            assert!(
                rejected_lines(&patterns, accepted, "blur").is_empty(),
                "{accepted}"
            );
        }
        assert_eq!(rejected_lines(&patterns, "a.rs", "blur").len(), 1);
        assert_eq!(rejected_lines(&patterns, "ab.rs", "blur").len(), 1);
    }

    #[test]
    fn pattern_that_is_no_regular_expression_is_a_usage_error() {
        assert!(matches!(regex("("), Err(Error::Usage(_))));
    }
}
