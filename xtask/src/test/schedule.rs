//! Runs steps side by side, each as a process of its own whose output goes to a file.
//!
//! A core that has nothing to do while a step waits takes the next one. A process makes the CPU time of a step known, and
//! what it leaves running can be ended.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, IsTerminal as _, PipeReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::process::{self, Ended};
use super::step::{Load, Step};
use crate::command::{self, Error, Workspace};
use crate::counted::{NEWS, counted, sample_in, skip_in};
use crate::tally::Tally;

/// The news of a step that has built what steps after it use, and goes on.
pub(super) const HAS_BUILT: &str = "everything is built";

/// How often the steps are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// After so long without news, what runs is said.
const QUIET_MAX: Duration = Duration::from_secs(20);

/// How much of a failed step's output is shown; the file has all.
const SHOWN_LINES: usize = 400;

/// How a step came out.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) name: &'static str,
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
    pub(super) tally: Tally,
    pub(super) skipped: Vec<String>,
    pub(super) left_out: Vec<String>,
    pub(super) has_passed: bool,
}

/// How the steps run.
pub(super) struct Plan<'a> {
    pub(super) steps: Vec<&'static Step>,
    /// What each step's process is told beside its name.
    pub(super) arguments: Vec<String>,
    /// Whether steps start after one has failed.
    pub(super) keep_going: bool,
    pub(super) workspace: &'a Workspace,
}

/// What a step has said so far.
#[derive(Default)]
struct Said {
    tally: Tally,
    skipped: Vec<String>,
    left_out: Vec<String>,
    has_built: bool,
    last_line: String,
}

struct Running {
    step: &'static Step,
    pid: u32,
    begun: Instant,
    log: PathBuf,
    said: Arc<Mutex<Said>>,
    reading: thread::JoinHandle<()>,
}

impl Plan<'_> {
    /// Runs the steps. Those that did not run are not in the results.
    ///
    /// # Errors
    /// If a step cannot be started, or a signal asked to stop.
    pub(super) fn run(&self) -> Result<Vec<Finished>, Error> {
        process::adopt_orphans();
        let stopped = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopped);
        ctrlc::set_handler(move || stop.store(true, Ordering::Relaxed))
            .map_err(|error| Error::Usage(format!("signals cannot be caught: {error}")))?;
        let outcome = self.run_until(&stopped);
        let left = process::end_all();
        if !left.is_empty() && outcome.is_ok() {
            eprintln!("note: ended what steps left running: {}", left.join(", "));
        }
        outcome
    }

    fn run_until(&self, stopped: &AtomicBool) -> Result<Vec<Finished>, Error> {
        let mut waiting = self.steps.clone();
        let mut running: Vec<Running> = Vec::new();
        let mut results: Vec<Finished> = Vec::new();
        let mut is_built = false;
        let mut last_news = Instant::now();
        let count = waiting.len();
        loop {
            if stopped.load(Ordering::Relaxed) {
                return Err(Error::Failed("stopped by a signal".into()));
            }
            let may_start = self.keep_going || results.iter().all(|result| result.has_passed);
            while let Some(index) = may_start.then(|| next(&waiting, &running)).flatten() {
                let step = waiting.remove(index);
                eprintln!(
                    "== {} of {count}: {}: {}",
                    count - waiting.len(),
                    step.name,
                    step.what
                );
                running.push(self.start(step, count == 1, is_built)?);
                last_news = Instant::now();
            }
            if running.is_empty() {
                return Ok(results);
            }
            thread::sleep(LOOK_EVERY);
            let has_built = |step: &Running| step.said.lock().is_ok_and(|said| said.has_built);
            is_built |= running.iter().any(has_built);
            while let Some(ended) = process::next_ended() {
                let step = running.iter().position(|step| step.pid == ended.pid);
                if let Some(index) = step {
                    let step = running.remove(index);
                    results.push(finish(step, ended, count == 1));
                    last_news = Instant::now();
                }
            }
            if last_news.elapsed() > QUIET_MAX && count > 1 {
                say_what_runs(&running);
                last_news = Instant::now();
            }
        }
    }

    /// Starts a step. Its output goes to a file, its news to the terminal, and all of it if it is the only step.
    fn start(&self, step: &'static Step, is_alone: bool, is_built: bool) -> Result<Running, Error> {
        let cannot = |error: std::io::Error| Error::Usage(format!("{}: {error}", step.name));
        let folder = self.workspace.target().join("test-output");
        fs::create_dir_all(&folder).map_err(cannot)?;
        let log = folder.join(format!("{}.log", step.name));
        let file = File::create(&log).map_err(cannot)?;
        let (output, input) = std::io::pipe().map_err(cannot)?;
        let mut command = self.workspace.command(own_program().map_err(cannot)?);
        command
            .args(["test", "--step", step.name])
            .args(&self.arguments);
        command.stdin(Stdio::null());
        if is_built {
            command.env(command::BUILT, "1");
        }
        if is_alone && std::io::stderr().is_terminal() {
            command.env("CARGO_TERM_COLOR", "always");
        }
        command.stderr(input.try_clone().map_err(cannot)?);
        command.stdout(input);
        let pid = command.spawn().map_err(cannot)?.id();
        let said = Arc::<Mutex<Said>>::default();
        let reading = thread::spawn({
            let said = Arc::clone(&said);
            move || read(output, file, step.name, is_alone, &said)
        });
        Ok(Running {
            step,
            pid,
            begun: Instant::now(),
            log,
            said,
            reading,
        })
    }
}

/// This program. A step may build it again and replace its file, which Linux starts nevertheless by this link.
fn own_program() -> std::io::Result<PathBuf> {
    let link = Path::new("/proc/self/exe");
    if link.exists() {
        Ok(link.to_owned())
    } else {
        std::env::current_exe()
    }
}

/// The first step that may start: not one that compiles beside another, which would wait for it, and no more that compute
/// than there are cores.
fn next(waiting: &[&'static Step], running: &[Running]) -> Option<usize> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let with = |load: Load| {
        let steps = running.iter().filter(|running| running.step.load == load);
        steps.count()
    };
    let has_core = with(Load::Compiles) + with(Load::Computes) < cores;
    let is_free = |load: Load| match load {
        Load::Compiles => has_core && with(Load::Compiles) == 0,
        Load::Computes => has_core,
        Load::Waits => with(Load::Waits) == 0,
    };
    let is_awaited = |name: &&str| {
        let has_built = |running: &Running| running.said.lock().is_ok_and(|said| said.has_built);
        waiting.iter().any(|step| step.name == *name)
            || (running.iter()).any(|running| running.step.name == *name && !has_built(running))
    };
    let may_start = |step: &&Step| is_free(step.load) && !step.after.iter().any(is_awaited);
    waiting.iter().position(may_start)
}

/// Reads what a step writes, until no program has its output open any more.
fn read(output: PipeReader, mut file: File, name: &str, is_alone: bool, said: &Mutex<Said>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    while output
        .read_until(b'\n', &mut line)
        .is_ok_and(|read| read > 0)
    {
        let _ = file.write_all(&line);
        let text = String::from_utf8_lossy(&line);
        // What another program wrote last may have reset its colours, without the end of a line.
        let news = text.trim_start_matches("\u{1b}[0m").trim_end();
        let news = news.strip_prefix(NEWS);
        if is_alone {
            eprint!("{text}");
        } else if let Some(news) =
            news.filter(|news| *news != HAS_BUILT && sample_in(news).is_none())
        {
            eprintln!("   {name}: {news}");
        }
        if let Ok(mut said) = said.lock() {
            if let Some(news) = news {
                said.hear(news);
            } else if !text.trim().is_empty() {
                said.last_line = text.trim().chars().take(100).collect();
            }
        }
        line.clear();
    }
}

impl Said {
    fn hear(&mut self, news: &str) {
        if let Some(tally) = counted(news) {
            self.tally += tally;
        } else if let Some(why) = skip_in(news) {
            self.skipped.push(why.to_owned());
        } else if let Some(what) = sample_in(news) {
            self.left_out.push(what.to_owned());
        }
        self.has_built |= news == HAS_BUILT;
    }
}

fn finish(step: Running, ended: Ended, is_alone: bool) -> Finished {
    let Ended {
        has_succeeded: has_passed,
        cpu,
        ..
    } = ended;
    let wall = step.begun.elapsed();
    // A program that it left running has the pipe open, and would be waited for.
    let begun = Instant::now();
    while !step.reading.is_finished() && begun.elapsed() < Duration::from_secs(5) {
        thread::sleep(LOOK_EVERY);
    }
    let said = step
        .said
        .lock()
        .map(|mut said| std::mem::take(&mut *said))
        .unwrap_or_default();
    let name = step.step.name;
    let mut tally = said.tally;
    // A step without tests of its own is one check.
    if !has_passed && tally.failed == 0 {
        tally.failed = 1;
    } else if tally == Tally::default() {
        if said.skipped.is_empty() {
            tally.passed = 1
        } else {
            tally.skipped = 1
        }
    }
    let (wall_seconds, cpu_seconds) = (wall.as_secs_f64(), cpu.as_secs_f64());
    let outcome = if has_passed { "done" } else { "FAILED" };
    if !has_passed && !is_alone {
        show_end(name, &step.log);
    }
    eprintln!(
        "== {name}: {outcome} in {wall_seconds:.1} s, {cpu_seconds:.1} s of CPU time: {tally}"
    );
    Finished {
        name,
        wall,
        cpu,
        tally,
        skipped: said.skipped,
        left_out: said.left_out,
        has_passed,
    }
}

/// The end of a failed step's output.
fn show_end(name: &str, log: &Path) {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(SHOWN_LINES);
    eprintln!(
        "---- {name}: the last {} of {} lines of {} ----",
        lines.len() - from,
        lines.len(),
        log.display()
    );
    for line in &lines[from..] {
        eprintln!("{line}");
    }
    eprintln!("---- end of {name} ----");
}

fn say_what_runs(running: &[Running]) {
    for running in running {
        let seconds = running.begun.elapsed().as_secs();
        let last = running
            .said
            .lock()
            .map(|said| said.last_line.clone())
            .unwrap_or_default();
        eprintln!("   {}: {seconds} s so far: {last}", running.step.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_of_a_step_are_added_up() {
        let mut said = Said::default();
        for news in [
            "crates/a it: 3 passed, 0 failed, 1 skipped",
            "crates/b it: 4 passed, 1 failed, 0 skipped",
            "skipped: go is not installed",
            "sampled: doctor: 10 of 300 tokens",
            HAS_BUILT,
        ] {
            said.hear(news);
        }
        assert_eq!(said.tally.to_string(), "7 passed, 1 failed, 1 skipped");
        assert_eq!(said.skipped, ["go is not installed"]);
        assert_eq!(said.left_out, ["doctor: 10 of 300 tokens"]);
        assert!(said.has_built);
    }
}
