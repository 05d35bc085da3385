//! `--seconds` and `--corpus`: differential fuzzing of all libraries, and replay of a corpus.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use jeton_lab_conformance::attack::{self, CorpusEntry, Fuzzed, Options};
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::Driver;
use jeton_lab_model::result::OutDir;

use super::super::destination::written;
use super::super::progress::Progress;
use super::FOUND;

/// Replays the cases of a corpus. Exits with 1 if a recorded version now decides differently.
pub(super) fn replay(
    corpus: &Path,
    drivers: &[Driver],
    options: &Options,
    stop: &Stop,
) -> Result<ExitCode, String> {
    let cases = attack::read_corpus(corpus)?;
    if cases.is_empty() {
        return Err(if corpus.exists() {
            format!("--corpus {}: the file has no cases", corpus.display())
        } else {
            format!("--corpus {}: no such file", corpus.display())
        });
    }
    let mut progress = Progress::begin();
    let replayed = attack::replay(&cases, drivers, options, stop, &mut |event| {
        progress.tell_attack(&event);
    })?;
    progress.end();
    for line in &replayed.otherwise {
        anstream::eprintln!("{line}");
    }
    let mut stdout = anstream::stdout().lock();
    written(writeln!(
        stdout,
        "{} cases replayed, {} verdicts of recorded versions, {} changed",
        replayed.cases,
        replayed.verdicts,
        replayed.otherwise.len()
    ))?;
    Ok(if replayed.otherwise.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(FOUND)
    })
}

/// Fuzzes for the given time, and keeps one input of each class. Exits with 1 if jeton accepted a changed
/// token.
pub(super) fn fuzz(
    time: Duration,
    corpus: Option<&Path>,
    drivers: &[Driver],
    out: &OutDir,
    options: &Options,
    stop: &Stop,
) -> Result<ExitCode, String> {
    if let Some(corpus) = corpus {
        // Report an unusable corpus before spending the time.
        attack::read_corpus(corpus)?;
    }
    let mut progress = Progress::begin();
    progress.say(&format!(
        "fuzzing for {} s, seed {}",
        time.as_secs(),
        options.seed
    ));
    let fuzzed = attack::fuzz(drivers, options, time, stop, &mut |event| {
        progress.tell_attack(&event);
    })?;
    progress.end();
    let text = serde_json::to_vec_pretty(&fuzzed.cases).map_err(|e| e.to_string())?;
    let file = out.write("disagreements.json", &text)?;
    let added = match corpus {
        Some(corpus) => Some((corpus, attack::add_to_corpus(corpus, &fuzzed.cases)?)),
        None => None,
    };
    let mut stdout = anstream::stdout().lock();
    written(write!(stdout, "{}", told(&fuzzed)))?;
    if let Some((corpus, added)) = added {
        written(writeln!(
            stdout,
            "{added} cases added to {}",
            corpus.display()
        ))?;
    }
    written(writeln!(stdout, "{}", file.display()))?;
    let wrong = fuzzed.cases.iter().any(CorpusEntry::is_jeton_wrong);
    Ok(if wrong {
        ExitCode::from(FOUND)
    } else {
        ExitCode::SUCCESS
    })
}

fn told(fuzzed: &Fuzzed) -> String {
    let count = |of: fn(&CorpusEntry) -> bool| fuzzed.cases.iter().filter(|c| of(c)).count();
    format!(
        "{} libraries: {}\n\
         {} changed tokens, {} tokens with unusual claims, {} changed keys\n\
         {} disagreements, in {} classes\n\
         jeton accepted a changed token in {} classes; only jeton accepted in {}, only jeton rejected in {}\n",
        fuzzed.drivers.len(),
        fuzzed.drivers.join(", "),
        fuzzed.tokens,
        fuzzed.claims,
        fuzzed.keys,
        fuzzed.disagreements,
        fuzzed.cases.len(),
        count(CorpusEntry::is_jeton_wrong),
        count(CorpusEntry::is_taken_by_jeton_alone),
        count(CorpusEntry::is_refused_by_jeton_alone),
    )
}
