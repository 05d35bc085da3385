//! Three members of an etcd and twenty servers on it, while networks, processes, a disk and a clock fail.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use xtask::command::{Error, Workspace};
use xtask::etcd;

use super::Plan;
use super::log::Log;

const TEST: &str = "chaos_long_history_is_linearizable";
/// Servers on the etcd.
const SERVERS: &str = "20";

pub(super) fn run(workspace: &Workspace, plan: &Plan, log: &mut Log) -> Result<(), Error> {
    if let Some(missing) = etcd::missing_for_chaos(workspace) {
        return Err(Error::Usage(format!("chaos: {missing}")));
    }
    eprintln!(
        "== soak: faults of an etcd and its servers, {} minutes",
        plan.minutes
    );
    let binary = etcd::build(workspace)?;
    let program = etcd::test(workspace, &binary, "it");
    let mut test = etcd::chaos(workspace, program, &binary, TEST)?;
    test.env("JETON_CHAOS_MINUTES", plan.minutes.to_string());
    test.env("JETON_CHAOS_SERVERS", SERVERS);
    let said = shown(&mut test);
    let body = match &said {
        Ok(said) => format!("```\n{}\n```", said.trim()),
        Err(stop) => format!("Failed: {stop}"),
    };
    log.section("Faults of an etcd and its servers", &body);
    said.map(drop)
}

/// Runs a test, prints each line as soon as it is there, and returns all lines.
fn shown(test: &mut std::process::Command) -> Result<String, Error> {
    let failed = |error| Error::Failed(format!("{TEST}: {error}"));
    let mut child = test.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut said = String::new();
    for line in child
        .stdout
        .take()
        .into_iter()
        .flat_map(|pipe| BufReader::new(pipe).lines())
    {
        let line = line.map_err(failed)?;
        println!("{line}");
        said.push_str(&line);
        said.push('\n');
    }
    match child.wait().map_err(failed)? {
        status if status.success() && said.contains("violations of the freshness bound: 0") => {
            Ok(said)
        }
        status => Err(Error::Failed(format!(
            "{status}\n\n```\n{}\n```",
            said.trim()
        ))),
    }
}
