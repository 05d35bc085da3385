//! Counts what test programs of every language say about their tests.

use std::fmt;
use std::ops::AddAssign;

use serde_json::Value;

/// How many tests passed, failed and did not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    pub(crate) const PASSED: Self = Self {
        passed: 1,
        failed: 0,
        skipped: 0,
    };

    /// Reads what `fmt` writes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(", ");
        let mut number = |name: &str| {
            let (count, what) = parts.next()?.split_once(' ')?;
            (what == name).then(|| count.parse().ok())?
        };
        let tally = Self {
            passed: number("passed")?,
            failed: number("failed")?,
            skipped: number("skipped")?,
        };
        parts.next().is_none().then_some(tally)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            skipped,
        } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// How a test program reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Rust's `test result: ok. 3 passed; 0 failed; 1 ignored; …`, one for each program.
    Libtest,
    /// `go test -json`, an event a line.
    Go,
    /// `node --test` with the reporter `tap`: `# pass 3`.
    Node,
    /// `3 passed, 1 skipped in 0.12s`.
    Pytest,
    /// `Ran 3 tests in 0.1s` and `OK (skipped=1)`.
    Unittest,
    /// Maven's `Tests run: 3, Failures: 0, Errors: 0, Skipped: 1`, one for each class.
    Surefire,
    /// `3 tests passed, 0 failed`, which the tests of the Java drivers and of the C interface print.
    Sentence,
}

/// Reads the output of a program line by line.
#[derive(Debug)]
pub(crate) struct Reader {
    format: Format,
    tally: Tally,
    ran: u64,
}

impl Reader {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            format,
            tally: Tally::default(),
            ran: 0,
        }
    }

    /// Counts a line, and returns whether people want to see it: the events of Go are for programs.
    pub(crate) fn line(&mut self, line: &str) -> bool {
        let line = line.trim_end();
        let tally = &mut self.tally;
        match self.format {
            Format::Libtest => {
                if let Some(rest) = line.strip_prefix("test result: ") {
                    tally.passed += before(rest, " passed").unwrap_or(0);
                    tally.failed += before(rest, " failed").unwrap_or(0);
                    tally.skipped += before(rest, " ignored").unwrap_or(0);
                }
            }
            Format::Go => return self.go_event(line),
            Format::Node => {
                let number = |name: &str| -> u64 {
                    let text = line.strip_prefix(name);
                    text.and_then(|text| text.parse().ok()).unwrap_or(0)
                };
                tally.passed += number("# pass ");
                tally.failed += number("# fail ") + number("# cancelled ");
                tally.skipped += number("# skipped ") + number("# todo ");
            }
            Format::Pytest => {
                // `===== 3 failed, 5 passed in 0.12s =====`, or without the frame.
                if let Some((counts, _)) = line.rsplit_once(" in ")
                    && line.trim_end_matches([' ', '=']).ends_with(['s', ')'])
                {
                    tally.passed += before(counts, " passed").unwrap_or(0);
                    for bad in [" failed", " error", " errors"] {
                        let counts = format!("{counts},");
                        tally.failed += before(&counts, &format!("{bad},")).unwrap_or(0);
                    }
                    for none in [" skipped", " xfailed", " deselected"] {
                        tally.skipped += before(counts, none).unwrap_or(0);
                    }
                }
            }
            Format::Unittest => {
                if let Some(rest) = line.strip_prefix("Ran ") {
                    self.ran = before(rest, " test").unwrap_or(0);
                } else if line.starts_with("OK") || line.starts_with("FAILED (") {
                    let after = |name: &str| -> u64 {
                        let text = line.split_once(name).map_or("", |(_, text)| text);
                        let digits = text.split(|c: char| !c.is_ascii_digit()).next();
                        digits.and_then(|text| text.parse().ok()).unwrap_or(0)
                    };
                    let bad = after("failures=") + after("errors=");
                    let skipped = after("skipped=");
                    tally.failed += bad;
                    tally.skipped += skipped;
                    tally.passed += self.ran.saturating_sub(bad + skipped);
                    self.ran = 0;
                }
            }
            Format::Surefire => {
                // The line of a class, and not the sum at the end, which names none.
                if let (Some((_, counts)), true) =
                    (line.split_once("Tests run: "), line.contains(" -- in "))
                {
                    let number = |name: &str| -> u64 {
                        let text = counts.split_once(name).map_or("", |(_, text)| text);
                        text.split(',').next().map_or(0, leading_number)
                    };
                    let bad = number("Failures: ") + number("Errors: ");
                    let skipped = number("Skipped: ");
                    tally.failed += bad;
                    tally.skipped += skipped;
                    tally.passed += leading_number(counts).saturating_sub(bad + skipped);
                }
            }
            Format::Sentence => {
                if let Some(passed) = before(line, " tests passed, ") {
                    tally.passed += passed;
                    tally.failed += before(line, " failed").unwrap_or(0);
                }
            }
        }
        true
    }

    /// A test, or one of its cases, that ended; the output of a package; or a line of the compiler.
    fn go_event(&mut self, line: &str) -> bool {
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            return true;
        };
        if event["Test"].is_string() {
            match event["Action"].as_str() {
                Some("pass") => self.tally.passed += 1,
                Some("fail") => self.tally.failed += 1,
                Some("skip") => self.tally.skipped += 1,
                _ => {}
            }
        }
        false
    }

    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }
}

/// The number right before this word.
fn before(text: &str, word: &str) -> Option<u64> {
    let (start, _) = text.split_once(word)?;
    let digits = start.rfind(|c: char| !c.is_ascii_digit());
    start[digits.map_or(0, |at| at + 1)..].parse().ok()
}

fn leading_number(text: &str) -> u64 {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text[..end.unwrap_or(text.len())].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: Format, text: &str) -> String {
        let mut reader = Reader::new(format);
        for line in text.lines() {
            reader.line(line);
        }
        reader.tally().to_string()
    }

    #[test]
    fn every_format_is_counted() {
        for (format, text, expected) in [
            (
                Format::Libtest,
                "test a ... ok\ntest result: FAILED. 12 passed; 1 failed; 3 ignored; 0 measured; 9 filtered out; \
                 finished in 0.1s\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
                "13 passed, 1 failed, 3 skipped",
            ),
            (
                Format::Go,
                "{\"Action\":\"pass\",\"Test\":\"TestA\"}\n{\"Action\":\"skip\",\"Test\":\"TestB\"}\n\
                 {\"Action\":\"fail\",\"Test\":\"TestC/case\"}\n{\"Action\":\"pass\",\"Package\":\"p\"}\nno JSON",
                "1 passed, 1 failed, 1 skipped",
            ),
            (
                Format::Node,
                "ok 1 - a\n# tests 6\n# pass 3\n# fail 1\n# cancelled 0\n# skipped 2\n# todo 0",
                "3 passed, 1 failed, 2 skipped",
            ),
            (
                Format::Pytest,
                "..F [ 90%]\n1 failed, 245 passed, 2 skipped in 12.34s\n",
                "245 passed, 1 failed, 2 skipped",
            ),
            (
                Format::Pytest,
                "===== 2 errors, 5 passed, 1 xfailed in 61.01s (0:01:01) =====",
                "5 passed, 2 failed, 1 skipped",
            ),
            (
                Format::Unittest,
                "Ran 9 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=3)\nRan 1 test in 0s\nOK",
                "4 passed, 3 failed, 3 skipped",
            ),
            (
                Format::Surefire,
                "[INFO] Tests run: 7, Failures: 1, Errors: 1, Skipped: 2, Time elapsed: 0.1 s -- in io.jeton.CasesTest\n\
                 [INFO] Tests run: 7, Failures: 1, Errors: 1, Skipped: 2",
                "3 passed, 2 failed, 2 skipped",
            ),
            (
                Format::Sentence,
                "JoseDriver: 21 tests passed, 1 failed\n321 tests passed, 0 failed",
                "342 passed, 1 failed, 0 skipped",
            ),
        ] {
            assert_eq!(read(format, text), expected, "{format:?}");
        }
    }

    #[test]
    fn written_tally_is_read_again() {
        let tally = Tally {
            passed: 3,
            failed: 0,
            skipped: 12,
        };
        assert_eq!(Tally::parse(&tally.to_string()), Some(tally));
        for wrong in [
            "",
            "3 passed",
            "3 passed, 0 failed, 1 skipped, x",
            "a passed, 0 failed, 0 skipped",
        ] {
            assert_eq!(Tally::parse(wrong), None, "{wrong:?}");
        }
    }
}
