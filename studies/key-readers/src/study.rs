//! Asks all libraries about changed keys, compares what they say, and counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use base64_simd::STANDARD;

use crate::case::{self, Case};
use crate::readers::{Answer, Format, JetonAnswer, Others, read_by_jeton};
use crate::reasons::{self, Reason};
use crate::seeds::{self, Seed};
use crate::signed::Signed;

/// How many inputs go to the helper processes at once.
const BATCH: u64 = 64;

/// The most classes of each kind that are kept, so that the memory is bounded.
const CLASSES: usize = 4000;

/// When a run ends.
#[derive(Clone, Copy)]
pub struct Limits {
    pub time: Duration,
    pub cases: u64,
}

/// How jeton's answer compares with the others'.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Findings.
    Panic,
    AnotherKey,
    JetonDisagreesWithItself,
    RejectsWhatAllAccept,
    /// Not findings.
    DocumentedReason,
    RejectsWhatSomeAccept,
    AcceptsWhatAllReject,
    AcceptsWhatSomeReject,
    Same,
}

impl Verdict {
    pub fn is_finding(self) -> bool {
        self <= Verdict::RejectsWhatAllAccept
    }

    fn title(self) -> &'static str {
        match self {
            Verdict::Panic => "jeton panics",
            Verdict::AnotherKey => "jeton reads another key",
            Verdict::JetonDisagreesWithItself => "`AnyKey` and the reader of the format disagree",
            Verdict::RejectsWhatAllAccept => {
                "jeton rejects what all others accept, without a reason"
            }
            Verdict::DocumentedReason => {
                "jeton rejects what all others accept, for a documented reason"
            }
            Verdict::RejectsWhatSomeAccept => "jeton rejects what some others accept",
            Verdict::AcceptsWhatAllReject => "jeton accepts what all others reject",
            Verdict::AcceptsWhatSomeReject => "jeton accepts what some others reject",
            Verdict::Same => "the same",
        }
    }
}

/// Inputs that are judged alike, for one cause.
pub struct Class {
    pub count: u64,
    pub first: u64,
    pub seed: String,
    /// The shortest input.
    pub input: Vec<u8>,
}

/// What a run found.
pub struct Outcome {
    format: Format,
    seed: u64,
    names: Vec<&'static str>,
    seeds: usize,
    cases: u64,
    seconds: u64,
    /// jeton accepts or rejects; all others accept, some, or none.
    table: [[u64; 3]; 2],
    /// How many inputs each of the others accepted.
    accepted: Vec<u64>,
    classes: BTreeMap<(Verdict, String), Class>,
    counts: BTreeMap<Verdict, u64>,
}

/// Runs until a limit is reached.
pub fn run(format: Format, seed: u64, limits: Limits) -> Result<Outcome, String> {
    let seeds = seeds::all(format);
    let mut others = Others::start(format)?;
    let started = Instant::now();
    let mut outcome = Outcome {
        format,
        seed,
        accepted: vec![0; others.names().len()],
        names: others.names(),
        seeds: seeds.len(),
        cases: 0,
        seconds: 0,
        table: [[0; 3]; 2],
        classes: BTreeMap::new(),
        counts: BTreeMap::new(),
    };
    while outcome.cases < limits.cases && started.elapsed() < limits.time {
        let end = (outcome.cases + BATCH).min(limits.cases);
        let cases: Vec<Case<'_>> = (outcome.cases..end)
            .map(|number| case::make(format, &seeds, seed, number))
            .collect();
        let inputs: Vec<(&[u8], Option<&Signed>)> = (cases.iter())
            .map(|case| (case.input.as_slice(), case.seed.signed.as_ref()))
            .collect();
        let answers = others.ask(&inputs)?;
        for (case, answers) in cases.iter().zip(&answers) {
            outcome.add(case, answers);
        }
        outcome.cases = end;
    }
    outcome.seconds = started.elapsed().as_secs();
    Ok(outcome)
}

/// Prints one case and what each library says about it.
pub fn show(format: Format, seed: u64, number: u64) -> Result<(), String> {
    let seeds = seeds::all(format);
    let case = case::make(format, &seeds, seed, number);
    println!("{}: {}", case.seed.name, case.changes.join(", "));
    show_input(format, &case.input, Some(case.seed))
}

pub fn show_input(format: Format, input: &[u8], seed: Option<&Seed>) -> Result<(), String> {
    match std::str::from_utf8(input) {
        Ok(text) => println!("{text}"),
        Err(_) => println!("{}", STANDARD.encode_to_string(input)),
    }
    let mut others = Others::start(format)?;
    let signed = seed.and_then(|seed| seed.signed.as_ref());
    let jeton = read_by_jeton(format, input);
    println!("jeton: {jeton:?}");
    let rejected = jeton.read.as_ref().err();
    if let Some(reason) = rejected.and_then(|rejected| reasons::of(format, input, rejected)) {
        println!("  {}: {}", reason.what, reason.why);
    }
    let names = others.names();
    for (name, answer) in names.iter().zip(&others.ask(&[(input, signed)])?[0]) {
        println!("{name}: {answer:?}");
    }
    Ok(())
}

/// How the answers compare, and the cause that a class is made of.
pub fn judge(
    format: Format,
    case: &Case<'_>,
    jeton: &JetonAnswer,
    others: &[Answer],
) -> (Verdict, String) {
    let known: Vec<&Answer> = others
        .iter()
        .filter(|one| **one != Answer::Unknown)
        .collect();
    let accepting = known.iter().filter(|one| one.accepts()).count();
    let changes = || match case.changes.is_empty() {
        true => format!("unchanged: {}", case.seed.name),
        false => case.changes.join(", "),
    };
    let key = match &jeton.read {
        Ok(key) => key,
        Err(rejected) => {
            let cause = format!("{} {}", rejected.code, rejected.member);
            let cause = cause.trim_end();
            if accepting == known.len() && accepting > 1 && agree(&known) {
                return match reasons::of(format, &case.input, rejected) {
                    Some(Reason { id, .. }) => (Verdict::DocumentedReason, (*id).to_owned()),
                    None => (
                        Verdict::RejectsWhatAllAccept,
                        format!("{cause}: {}", changes()),
                    ),
                };
            }
            return match accepting {
                0 => (Verdict::Same, String::new()),
                _ => (Verdict::RejectsWhatSomeAccept, cause.to_owned()),
            };
        }
    };
    let is_other = |answer: &&&Answer| match answer {
        Answer::Key(other) => other != key,
        Answer::Verifies(Some(is_valid)) => {
            let signed = case.seed.signed.as_ref();
            signed.is_some_and(|signed| *is_valid != (signed.key == *key))
        }
        _ => false,
    };
    if known.iter().find(is_other).is_some() {
        return (Verdict::AnotherKey, changes());
    }
    if let Some(why) = &jeton.disagreement {
        let why: String = why.chars().take(80).collect();
        return (Verdict::JetonDisagreesWithItself, why);
    }
    match (accepting, known.len()) {
        (_, 0) => (Verdict::Same, String::new()),
        (0, _) => (Verdict::AcceptsWhatAllReject, changes()),
        (some, all) if some < all => (Verdict::AcceptsWhatSomeReject, changes()),
        _ => (Verdict::Same, String::new()),
    }
}

/// Whether the libraries that show a key show the same.
fn agree(answers: &[&Answer]) -> bool {
    let mut keys = answers.iter().filter_map(|answer| match answer {
        Answer::Key(key) => Some(key),
        _ => None,
    });
    let first = keys.next();
    keys.all(|key| Some(key) == first)
}

impl Outcome {
    fn add(&mut self, case: &Case<'_>, others: &[Answer]) {
        let jeton = catch_unwind(AssertUnwindSafe(|| read_by_jeton(self.format, &case.input)));
        let Ok(jeton) = jeton else {
            return self.count(case, Verdict::Panic, case.changes.join(", "));
        };
        for (count, answer) in self.accepted.iter_mut().zip(others) {
            *count += u64::from(answer.accepts());
        }
        let known = others.iter().filter(|one| **one != Answer::Unknown).count();
        let column = match others.iter().filter(|one| one.accepts()).count() {
            0 => 2,
            some if some < known => 1,
            _ => 0,
        };
        self.table[usize::from(jeton.read.is_err())][column] += 1;
        let (verdict, cause) = judge(self.format, case, &jeton, others);
        self.count(case, verdict, cause);
    }

    fn count(&mut self, case: &Case<'_>, verdict: Verdict, cause: String) {
        *self.counts.entry(verdict).or_default() += 1;
        if verdict == Verdict::Same {
            return;
        }
        let is_full = self.classes.len() >= CLASSES;
        if is_full && !self.classes.contains_key(&(verdict, cause.clone())) && !verdict.is_finding()
        {
            return;
        }
        let class = self
            .classes
            .entry((verdict, cause))
            .or_insert_with(|| Class {
                count: 0,
                first: case.number,
                seed: case.seed.name.clone(),
                input: case.input.clone(),
            });
        class.count += 1;
        if case.input.len() < class.input.len() {
            class.first = case.number;
            class.seed.clone_from(&case.seed.name);
            class.input.clone_from(&case.input);
        }
    }

    #[cfg(test)]
    pub fn classes(&self) -> impl Iterator<Item = (Verdict, &str, &Class)> {
        (self.classes.iter()).map(|((verdict, cause), class)| (*verdict, cause.as_str(), class))
    }

    pub fn findings(&self) -> u64 {
        (self.counts.iter())
            .filter(|(verdict, _)| verdict.is_finding())
            .map(|(_, count)| count)
            .sum()
    }

    #[cfg(test)]
    pub fn cases(&self) -> u64 {
        self.cases
    }

    /// The log of the run as Markdown.
    pub fn log(&self, most: usize) -> String {
        let mut text = format!(
            "{} inputs from {} keys, seed {}, {} s, {}; {} findings.\n\n",
            self.cases,
            self.seeds,
            self.seed,
            self.seconds,
            memory(),
            self.findings()
        );
        // Writing to a String cannot fail.
        let accepted: Vec<String> = (self.names.iter().zip(&self.accepted))
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let jeton: u64 = self.table[0].iter().sum();
        let _ = write!(
            text,
            "Accepted: jeton {jeton}, {}.\n\n\
             | | all others accept | some accept | none accepts |\n|---|---:|---:|---:|\n",
            accepted.join(", ")
        );
        for (row, word) in self.table.iter().zip(["accepts", "rejects"]) {
            let [all, some, none] = row;
            let _ = writeln!(text, "| jeton {word} | {all} | {some} | {none} |");
        }
        for (verdict, count) in &self.counts {
            if *verdict == Verdict::Same {
                continue;
            }
            let mut classes: Vec<(&String, &Class)> = (self.classes.iter())
                .filter(|((of, _), _)| of == verdict)
                .map(|((_, cause), class)| (cause, class))
                .collect();
            classes.sort_by_key(|(_, class)| std::cmp::Reverse(class.count));
            let number = classes.len();
            let shown = if verdict.is_finding() {
                number
            } else {
                number.min(most)
            };
            let _ = write!(
                text,
                "\n{}: {count} inputs in {number} classes, of which {shown} are shown.\n\n\
                 | cause | inputs | the shortest: case | of |\n|---|---:|---:|---|\n",
                verdict.title()
            );
            for (cause, class) in &classes[..shown] {
                let Class {
                    count, first, seed, ..
                } = class;
                let reason = reasons::ALL.iter().find(|reason| reason.id == *cause);
                let what = reason.map_or(cause.as_str(), |reason| reason.what);
                let _ = writeln!(text, "| {what} | {count} | {first} | {seed} |");
            }
        }
        text
    }
}

/// The most memory that this process had.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or("memory unknown".into(), |peak| {
        format!("at most {} of memory", peak.trim())
    })
}
