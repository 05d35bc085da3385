//! The real etcd, as tools/etcd pins it: jeton-store's suite passes on it, a node that is killed on it forgets
//! nothing, and several servers on it are one service, also while their network and their members fail. The runbooks of
//! the alerts are followed, with the rule engine of Prometheus.

use super::{Outcome, programs, tests_in};
use crate::command::{Error, Workspace, run as run_command};
use crate::counted::{self, count};
use crate::etcd::{build, chaos, missing, missing_for_chaos};
use crate::setup::unpacked::PROMTOOL;
use crate::tally::{Format, Tally};

/// Builds it, and runs the tests that start it.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    if let Some(missing) = missing() {
        return Ok(Outcome::Skipped(format!("{missing} is not installed")));
    }
    let etcd = build(workspace)?;
    let mut suite = programs::command(workspace, "crates/jeton-store", "conformance")?;
    suite.arg("etcd::").env("JETON_ETCD", &etcd);
    counted::run("the store's suite on etcd", Format::Libtest, &mut suite)?;
    let mut kill = programs::command(workspace, "crates/jeton-issuer", "kill")?;
    run_command(
        kill.env("JETON_KILL_STORE", "etcd")
            .env("JETON_ETCD", &etcd),
    )?;
    count("kill on etcd", Tally::PASSED);
    let mut servers = programs::command(workspace, "crates/jeton-issuer", "servers")?;
    run_command(
        servers
            .env("JETON_SERVERS_STORE", "etcd")
            .env("JETON_ETCD", &etcd),
    )?;
    count("servers on one etcd", Tally::PASSED);
    for store in ["redb", "etcd"] {
        let mut records = programs::command(workspace, "crates/jeton-issuer", "records")?;
        records
            .env("JETON_RECORDS", "10000,100000")
            .env("JETON_RECORDS_STORE", store);
        run_command(records.env("JETON_ETCD", &etcd))?;
        count("many records", Tally::PASSED);
    }
    let Some(promtool) = PROMTOOL.find(workspace) else {
        let why = "promtool is not installed: run `cargo xtask setup`";
        return Ok(Outcome::Skipped(why.into()));
    };
    let both = [("JETON_ETCD", &*etcd), ("JETON_PROMTOOL", &*promtool)];
    for file in ["serve/etcd.rs", "runbooks.rs"] {
        let file = format!("crates/jeton-cli/tests/it/{file}");
        tests_in(workspace, &file, &both)?;
    }
    if let Some(missing) = missing_for_chaos(workspace) {
        return Ok(Outcome::Skipped(format!(
            "the tests with network namespaces: {missing}"
        )));
    }
    let servers = programs::command(workspace, "crates/jeton-cli", "it")?;
    let mut chaos = chaos(workspace, servers, &etcd, "")?;
    counted::run("chaos", Format::Libtest, &mut chaos)?;
    Ok(Outcome::Passed)
}
