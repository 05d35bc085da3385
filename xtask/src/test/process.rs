//! Processes: their CPU time, and what is left of them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::process::{Child, ExitStatus};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process};

/// How often a process is asked whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long a program may take to stop after it was asked to.
const FAREWELL: Duration = Duration::from_secs(10);

/// Held while a process is waited for: the CPU time of all that ended rises by that of one.
static ENDING: Mutex<()> = Mutex::new(());

/// Waits until the process ends, and returns the CPU time, too, of it and of all that it waited for.
pub(super) fn wait(child: &mut Child) -> io::Result<(ExitStatus, Duration)> {
    loop {
        let one = ENDING.lock();
        let before = cpu_of_ended();
        if let Some(status) = child.try_wait()? {
            return Ok((status, cpu_of_ended().saturating_sub(before)));
        }
        drop(one);
        thread::sleep(LOOK_EVERY);
    }
}

/// A child of this process that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) pid: u32,
    pub(super) has_succeeded: bool,
    pub(super) cpu: Duration,
}

/// Takes the next child that has ended, an orphan that was adopted among them: one that nobody waits for would look, to
/// the program that ended it, as if it still ran. No other function of this process may wait for its children.
pub(super) fn next_ended() -> Option<Ended> {
    let before = cpu_of_ended();
    let (pid, status) = rustix::process::wait(WaitOptions::NOHANG).ok()??;
    Some(Ended {
        pid: pid.as_raw_nonzero().get().unsigned_abs(),
        has_succeeded: status.exit_status() == Some(0),
        cpu: cpu_of_ended().saturating_sub(before),
    })
}

/// The CPU time of all processes that this one started or adopted and that have ended.
pub(super) fn cpu_of_ended() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    cpu_in(&stat).unwrap_or_default()
}

/// Of a line of /proc: the fields `cutime` and `cstime`, in hundredths of a second.
fn cpu_in(stat: &str) -> Option<Duration> {
    let mut fields = after_name(stat)?.skip(13);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks()? + ticks()?)))
}

/// The fields after the name of the program, which is in parentheses and may have spaces.
fn after_name(stat: &str) -> Option<impl Iterator<Item = &str>> {
    let (_, rest) = stat.rsplit_once(") ")?;
    Some(rest.split(' '))
}

/// From now on, programs whose parents ended are children of this process, so that [`end_all`] finds them.
pub(super) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // Without it, only programs that left their parents stay.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Ends every process that this one or its children started, and returns the names of those that ran.
pub(super) fn end_all() -> Vec<String> {
    let begun = Instant::now();
    let first = descendants();
    while begun.elapsed() < FAREWELL {
        while next_ended().is_some() {}
        let running = descendants();
        if running.is_empty() {
            break;
        }
        let signal = if begun.elapsed() < FAREWELL / 2 {
            Signal::TERM
        } else {
            Signal::KILL
        };
        for (pid, _) in running {
            let _ = kill_process(pid, signal);
        }
        thread::sleep(2 * LOOK_EVERY);
    }
    first.into_iter().map(|(_, name)| name).collect()
}

/// The processes below this one that run, with their names.
fn descendants() -> Vec<(Pid, String)> {
    let mut parents: BTreeMap<i32, (i32, String)> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let number = entry.file_name().to_string_lossy().parse::<i32>();
        let stat = fs::read_to_string(entry.path().join("stat"));
        if let (Ok(number), Ok(stat)) = (number, stat)
            && let Some((parent, name)) = parent_and_name(&stat)
        {
            parents.insert(number, (parent, name));
        }
    }
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let is_below = |mut number: i32| {
        while let Some((parent, _)) = parents.get(&number) {
            if *parent == own {
                return true;
            }
            number = *parent;
        }
        false
    };
    let below = parents.iter().filter(|(number, _)| is_below(**number));
    below
        .filter_map(|(number, (_, name))| Some((Pid::from_raw(*number)?, name.clone())))
        .collect()
}

/// Of a process that runs: one that has ended and was not waited for has the state Z.
fn parent_and_name(stat: &str) -> Option<(i32, String)> {
    let (_, name) = stat.split_once(" (")?;
    let (name, _) = name.rsplit_once(") ")?;
    let mut fields = after_name(stat)?;
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (state != "Z").then(|| (parent, name.to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::command::Workspace;

    #[test]
    fn fields_are_read_behind_any_name() {
        let stat = "7 (a) b) S 1 1 1 0 -1 4194304 9 9 0 0 5 6 250 50 20 0 1 0 77 8 9";
        assert_eq!(cpu_in(stat), Some(Duration::from_secs(3)));
        assert_eq!(cpu_in("7 (a"), None);
        assert_eq!(parent_and_name(stat), Some((1, "a) b".into())));
        assert_eq!(parent_and_name(&stat.replace(" S ", " Z ")), None);
    }

    #[test]
    fn program_below_a_program_is_found() {
        let mut sh = Workspace::here().command("sh");
        let mut child = sh.args(["-c", "sleep 601; true"]).spawn().unwrap();
        let found = |wanted: &str| {
            let all = descendants();
            all.into_iter().find(|(_, name)| name == wanted)
        };
        let (sleep, _) = loop {
            if let Some(sleep) = found("sleep") {
                break sleep;
            }
            thread::sleep(LOOK_EVERY);
        };
        kill_process(sleep, Signal::KILL).unwrap();
        let (status, _) = wait(&mut child).unwrap();
        assert!(status.success());
        assert!(found("sleep").is_none());
    }
}
