//! `cargo xtask instructions`: what parsing, JSON, base64 and assembly cost, counted by callgrind
//! and compared with the bounds in `crates/jeton/benches/instructions.rs`.
//!
//! Instructions do not depend on what else the machine does, so a bound can be close: a change that
//! costs a twentieth more is seen on the day it is made. What they do not show is time; the lab
//! measures that.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::aws_lc;
use crate::command::{
    Error, Workspace, on_path, output, run as run_command, without_optimised_test_dependencies,
};

/// Code in these belongs to a primitive and is not counted. Callgrind emulates a processor without the newest
/// instructions, so these are not the primitives that run in earnest.
const PRIMITIVES: &[&str] = &[
    "aws_lc_",
    "_aesni_",
    "__ecp_nistz256_",
    "ecp_nistz256_",
    "Lbignum_",
    "sha2::",
    "<sha2::",
    "blake2b_simd::",
    "chacha20::",
    "<chacha20::",
    "curve25519_dalek::",
    "<curve25519_dalek::",
    "<&curve25519_dalek::",
];

/// Whether valgrind is at hand.
pub(crate) fn is_possible() -> bool {
    on_path("valgrind").is_some()
}

/// Counts every case, prints it beside its bound, and fails if one is beyond.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    if !is_possible() {
        return Err(Error::Usage(
            "valgrind is not installed: run `cargo xtask setup`".into(),
        ));
    }
    let program = build(workspace)?;
    let listed = output(workspace.command(&program).arg("--list"))?;
    let bounds = read_bounds(&listed)?;
    let alike = read_alike(&listed)?;
    let dumps = dumps(workspace, &program)?;
    let counts = by_case(&dumps);
    let mut wrong = differences(&alike, &least_by_case(&dumps));
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
                "{name}: {count} instructions are far below the bound of {bound}: lower it"
            ));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Error::Failed(format!(
        "{}\n       the bounds stand in crates/jeton/benches/instructions.rs",
        wrong.join("\n       ")
    )))
}

fn build(workspace: &Workspace) -> Result<PathBuf, Error> {
    let mut build = workspace.cargo(&["build", "--profile", "dist", "--locked", "-p", "jeton"]);
    build.args(["--bench", "instructions", "--message-format", "json"]);
    build.arg("--quiet");
    build.args(without_optimised_test_dependencies("dist"));
    let messages = output(build.envs(aws_lc::compiled(workspace)))?;
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "instructions")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .ok_or_else(|| Error::Failed("cargo built no bench `instructions`".into()))
}

fn read_bounds(listed: &str) -> Result<Vec<(String, u64)>, Error> {
    let read = |line: &str| {
        let (name, most) = line.split_once(' ')?;
        Some((name.to_owned(), most.parse().ok()?))
    };
    let bounds = listed.lines().filter(|line| !line.contains('~'));
    let bounds: Option<Vec<_>> = bounds.map(read).collect();
    bounds
        .filter(|bounds| !bounds.is_empty())
        .ok_or_else(|| Error::Failed("the bench lists no cases".into()))
}

/// The cases that must cost the same, and how far apart they may lie.
fn read_alike(listed: &str) -> Result<Vec<(String, u64)>, Error> {
    let read = |line: &str| {
        let (name, apart) = line.split_once(" ~")?;
        Some((name.to_owned(), apart.parse().ok()?))
    };
    let alike = listed.lines().filter(|line| line.contains('~'));
    let alike: Option<Vec<_>> = alike.map(read).collect();
    alike.ok_or_else(|| Error::Failed("the bench's list of what must be alike is not one".into()))
}

/// Prints what each of them costs, and says which of them does not cost what the first does.
fn differences(alike: &[(String, u64)], counts: &BTreeMap<String, u64>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut first = None;
    for (name, apart) in alike {
        let Some(count) = counts.get(name) else {
            wrong.push(format!("{name} was not seen by callgrind"));
            continue;
        };
        eprintln!("  {name:<24}{count:>9} instructions with the primitives'");
        let (first_name, first_count) = *first.get_or_insert((name, count));
        if count.abs_diff(*first_count) > *apart {
            wrong.push(format!(
                "{name}: {count} instructions, and {first_name} {first_count}: more than {apart} apart"
            ));
        }
    }
    wrong
}

/// Runs the bench under callgrind, which writes a file each time a case begins, and one at the end.
fn dumps(workspace: &Workspace, program: &Path) -> Result<Vec<String>, Error> {
    let folder = workspace.target().join("callgrind");
    let cannot = |error: std::io::Error| Error::Usage(format!("{}: {error}", folder.display()));
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(cannot)?;
    }
    fs::create_dir_all(&folder).map_err(cannot)?;
    let mut valgrind = workspace.command("valgrind");
    valgrind
        .args(["-q", "--tool=callgrind", "--compress-strings=no"])
        .arg("--dump-before=instructions::case_*")
        .arg(format!(
            "--callgrind-out-file={}/out",
            folder.to_string_lossy()
        ))
        .arg(program)
        .stdout(Stdio::null());
    run_command(&mut valgrind)?;
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .map_err(cannot)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    // `out.1`, `out.2` and so on; the one of the end is `out`.
    files.sort_by_key(|path| {
        let number = path
            .extension()
            .and_then(|text| text.to_str()?.parse().ok());
        number.unwrap_or(u32::MAX)
    });
    let mut dumps = Vec::new();
    for file in files {
        let dump = fs::read(&file).map_err(cannot)?;
        dumps.push(String::from_utf8_lossy(&dump).into_owned());
    }
    Ok(dumps)
}

/// A dump has what ran since the previous dump. A case's second call
/// replaces its first.
fn by_case(dumps: &[String]) -> BTreeMap<String, u64> {
    let begun = dumps.iter().map(|dump| case_begun(dump));
    let counts = dumps.iter().skip(1).map(|dump| outside_primitives(dump));
    begun
        .zip(counts)
        .filter_map(|(case, count)| Some((case?.to_owned(), count)))
        .collect()
}

/// The same with all that ran, of the cheapest call.
fn least_by_case(dumps: &[String]) -> BTreeMap<String, u64> {
    let begun = dumps.iter().map(|dump| case_begun(dump));
    let counts = dumps.iter().skip(1).map(|dump| whole(dump));
    let mut least = BTreeMap::new();
    for (case, count) in begun.zip(counts) {
        if let (Some(case), Some(count)) = (case, count) {
            let least = least.entry(case.to_owned()).or_insert(count);
            *least = count.min(*least);
        }
    }
    least
}

fn whole(dump: &str) -> Option<u64> {
    let mut lines = dump.lines();
    lines.find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok())
}

/// The case that began when this dump was written.
fn case_begun(dump: &str) -> Option<&str> {
    let trigger = dump
        .lines()
        .find_map(|line| line.strip_prefix("desc: Trigger: --dump-before="))?;
    let case = trigger.split_once("case_")?.1;
    let end = case.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    Some(&case[..end.unwrap_or(case.len())])
}

fn outside_primitives(dump: &str) -> u64 {
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
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump(begun: &str, hashing: u64, writing: u64) -> String {
        format!(
            "version: 1\ndesc: Trigger: {begun}\nevents: Ir\n\n\
             fl=x.rs\nfn=instructions::case_jwt_issue\n3 10\n\
             cfn=sha2::sha256::compress\ncalls=2 7\n4 {hashing}\n+2 5\n\
             fn=sha2::sha256::compress\n7 {hashing}\n\
             fn=jeton::claims::write\n* {writing}\ntotals: {hashing}\n"
        )
    }

    #[test]
    fn dump_belongs_to_the_case_before_it() {
        let before = |case: &str| format!("--dump-before=instructions::case_{case}");
        let dumps = [
            dump(&before("jwt_issue"), 1, 1),
            dump(&before("jwt_issue"), 5000, 900),
            dump(&before("jwk_set"), 5000, 100),
            dump("Program termination", 0, 7),
        ];
        // The second call's count, without what the primitive took.
        let expected = [("jwk_set".into(), 22), ("jwt_issue".into(), 115)];
        assert_eq!(by_case(&dumps), expected.into());
    }

    #[test]
    fn cheapest_call_counts_with_its_primitives() {
        let before = |case: &str| format!("--dump-before=instructions::case_{case}");
        let dumps = [
            dump(&before("right"), 1, 1),
            dump(&before("right"), 5000, 900),
            dump(&before("wrong"), 4000, 100),
            dump("Program termination", 4200, 7),
        ];
        let least = least_by_case(&dumps);
        assert_eq!(
            least,
            [("right".into(), 4000), ("wrong".into(), 4200)].into()
        );
        let alike = |apart: u64| read_alike(&format!("a 10\nright ~{apart}\nwrong ~{apart}\n"));
        assert_eq!(
            differences(&alike(200).unwrap_or_default(), &least),
            [""; 0]
        );
        assert_eq!(
            differences(&alike(199).unwrap_or_default(), &least).len(),
            1
        );
        let unseen = [("right".into(), 10), ("unseen".into(), 10)];
        assert_eq!(
            differences(&unseen, &least),
            ["unseen was not seen by callgrind"]
        );
        assert!(read_alike("a ~b\n").is_err());
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
