//! The real etcd, as tools/etcd pins it: jeton-store's suite passes on it, a node that is killed on it forgets
//! nothing, and several servers on it are one service, also while their network and their members fail.

use super::{Outcome, tests_in};
use crate::command::{Error, Workspace, run as run_command};
use crate::etcd::{build, chaos, missing, missing_for_chaos, test};

/// Builds it, and runs the tests that start it.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    if let Some(missing) = missing() {
        return Ok(Outcome::Skipped(format!("{missing} is not installed")));
    }
    let etcd = build(workspace)?;
    run_command(test(workspace, &etcd, "conformance").arg("etcd::"))?;
    run_command(test(workspace, &etcd, "kill").env("JETON_KILL_STORE", "etcd"))?;
    let mut servers = tests_in(workspace, "crates/jeton-cli/tests/it/serve/etcd.rs")?;
    run_command(servers.env("JETON_ETCD", &etcd))?;
    if let Some(missing) = missing_for_chaos(workspace) {
        return Ok(Outcome::Skipped(format!(
            "the tests with network namespaces: {missing}"
        )));
    }
    run_command(&mut chaos(workspace, &etcd, "")?)?;
    Ok(Outcome::Passed)
}
