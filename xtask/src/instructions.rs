//! `cargo xtask instructions`: what parsing, JSON, base64 and assembly cost, counted by callgrind
//! and held against the bounds in `crates/jeton/benches/instructions.rs`.
//!
//! Instructions do not depend on what else the machine does, so a bound can be close: a change that
//! costs a twentieth more is seen on the day it is made. What they do not show is time; the lab
//! measures that.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::command::{House, Stop, on_path, output, run as run_command};

/// What runs in these is a primitive's, and not counted. Callgrind's processor lacks the newest
/// instructions, so these are not the primitives that run in earnest.
const PRIMITIVES: &[&str] = &[
    "aws_lc_",
    "sha2::",
    "<sha2::",
    "blake2b_simd::",
    "chacha20::",
    "<chacha20::",
    "cpufeatures",
];

/// Whether valgrind is at hand.
pub(crate) fn is_possible() -> bool {
    on_path("valgrind").is_some()
}

/// Counts every case, prints it beside its bound, and fails if one is beyond.
pub(crate) fn run(house: &House) -> Result<(), Stop> {
    if !is_possible() {
        return Err(Stop::Misused(
            "valgrind is not installed: run `cargo xtask setup`".into(),
        ));
    }
    let program = build(house)?;
    let listed = output(house.command(&program).arg("--list"))?;
    let bounds = read_bounds(&listed)?;
    let counts = count(house, &program)?;
    let mut wrong = Vec::new();
    for (name, bound) in &bounds {
        let Some(count) = counts.get(name) else {
            wrong.push(format!("{name} was not seen by callgrind"));
            continue;
        };
        eprintln!("  {name:<24}{count:>9} instructions, at most {bound}");
        if count > bound {
            wrong.push(format!("{name}: {count} instructions, at most {bound}"));
        } else if count * 5 < bound * 4 {
            wrong.push(format!(
                "{name}: {count} instructions are far below its bound of {bound}: lower it"
            ));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Stop::Failed(format!(
        "{}\n       the bounds stand in crates/jeton/benches/instructions.rs",
        wrong.join("\n       ")
    )))
}

fn build(house: &House) -> Result<PathBuf, Stop> {
    let mut build = house.cargo(&["build", "--release", "--locked", "-p", "jeton"]);
    build.args(["--bench", "instructions", "--message-format", "json"]);
    build.arg("--quiet");
    let messages = output(&mut build)?;
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "instructions")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .ok_or_else(|| Stop::Failed("cargo built no bench `instructions`".into()))
}

fn read_bounds(listed: &str) -> Result<Vec<(String, u64)>, Stop> {
    let read = |line: &str| {
        let (name, most) = line.split_once(' ')?;
        Some((name.to_owned(), most.parse().ok()?))
    };
    let bounds: Option<Vec<_>> = listed.lines().map(read).collect();
    bounds
        .filter(|bounds| !bounds.is_empty())
        .ok_or_else(|| Stop::Failed("the bench lists no cases".into()))
}

/// Runs the bench under callgrind, which writes one file for each call of a case.
fn count(house: &House, program: &Path) -> Result<BTreeMap<String, u64>, Stop> {
    let folder = house.target().join("callgrind");
    let cannot = |error: std::io::Error| Stop::Misused(format!("{}: {error}", folder.display()));
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(cannot)?;
    }
    fs::create_dir_all(&folder).map_err(cannot)?;
    let mut valgrind = house.command("valgrind");
    valgrind
        .args(["-q", "--tool=callgrind", "--compress-strings=no"])
        .args(["--zero-before=*::case_*", "--dump-after=*::case_*"])
        .arg(format!(
            "--callgrind-out-file={}/out",
            folder.to_string_lossy()
        ))
        .arg(program)
        .stdout(Stdio::null());
    run_command(&mut valgrind)?;
    let mut counts = BTreeMap::new();
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .map_err(cannot)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    // `out.1` to `out.32`: by number, so that a case's second call replaces its first.
    files.sort_by_key(|path| {
        let number = path
            .extension()
            .and_then(|text| text.to_str()?.parse().ok());
        number.unwrap_or(u32::MAX)
    });
    for file in files {
        let dump = fs::read(&file).map_err(cannot)?;
        if let Some((case, count)) = read_dump(&String::from_utf8_lossy(&dump)) {
            counts.insert(case, count);
        }
    }
    Ok(counts)
}

/// The case whose call ended with this dump, and what ran in it outside the primitives.
fn read_dump(dump: &str) -> Option<(String, u64)> {
    let trigger = dump
        .lines()
        .find_map(|line| line.strip_prefix("desc: Trigger: --dump-after="))?;
    let case = trigger.split_once("case_")?.1;
    let end = case.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let case = &case[..end.unwrap_or(case.len())];
    let mut count = 0;
    let mut is_counted = true;
    let mut lines = dump.lines();
    while let Some(line) = lines.next() {
        if let Some(function) = line.strip_prefix("fn=") {
            is_counted = !PRIMITIVES.iter().any(|start| function.starts_with(start));
        } else if line.starts_with("calls=") {
            // The next line is what the call cost inside the called: counted there.
            lines.next();
        } else if is_counted
            && line.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '*'))
        {
            let cost = line
                .rsplit_once(' ')
                .and_then(|(_, cost)| cost.parse().ok());
            count += cost.unwrap_or(0_u64);
        }
    }
    Some((case.to_owned(), count))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "\
version: 1
desc: Trigger: --dump-after=instructions::case_jwt_issue
events: Ir

fl=x.rs
fn=instructions::case_jwt_issue
3 10
cfn=sha2::sha256::compress
calls=2 7
4 5000
+2 5
fn=sha2::sha256::compress
7 5000
fn=jeton::claims::write
* 100
totals: 5115
";

    #[test]
    fn what_a_primitive_costs_is_not_counted() {
        assert_eq!(read_dump(DUMP), Some(("jwt_issue".into(), 115)));
        assert_eq!(
            read_dump("desc: Trigger: Program termination\n3 10\n"),
            None
        );
    }

    #[test]
    fn bounds_are_read_or_refused() {
        let bounds = read_bounds("a 10\nb 20\n").unwrap_or_default();
        assert_eq!(bounds, [("a".into(), 10), ("b".into(), 20)]);
        for wrong in ["", "a", "a ten\n"] {
            assert!(read_bounds(wrong).is_err(), "{wrong:?}");
        }
    }
}
