//! Studies of jeton: comparisons and long checks that run now and then.
//!
//! `cargo xtask STUDY` builds this crate and passes the options on. `cargo xtask --help` explains them.
//!
//! Exit codes: 0 done, 1 a check failed, 2 the call was wrong or a tool is missing.

mod cluster_cost;
mod cross_check;
mod loaders;
mod origin;
mod pairs;
mod service_cost;
mod soak;
mod verdict;

use std::process::ExitCode;

use xtask::STUDIES;
use xtask::command::{Error, Workspace};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((study, options)) => run(&Workspace::here(), study, options),
        None => run(&Workspace::here(), "", &[]),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            eprintln!("xtask: {stop}");
            stop.exit_code()
        }
    }
}

fn run(workspace: &Workspace, study: &str, options: &[String]) -> Result<(), Error> {
    match study {
        "agreement" => cross_check::run(workspace, &cross_check::Plan::parse(options)?),
        "cluster-cost" => cluster_cost::run(workspace, &pairs::Plan::parse(study, options)?),
        "loaders" => loaders::run(workspace, &pairs::Plan::parse(study, options)?),
        "service-cost" => service_cost::run(workspace, &pairs::Plan::parse(study, options)?),
        "service-instructions" => {
            service_cost::instructions::run(workspace, &service_cost::instructions::parse(options)?)
        }
        "token-endpoint-cost" => {
            service_cost::token_endpoint::run(workspace, &pairs::Plan::parse(study, options)?)
        }
        "soak" => soak::run(workspace, &soak::Plan::parse(options)?),
        _ => Err(Error::Usage(format!(
            "unknown study `{study}`; expected one of: {}",
            STUDIES.join(", ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_that_xtask_passes_on_is_known() {
        let workspace = Workspace::here();
        for study in STUDIES {
            let stop = run(&workspace, study, &["--no-such-option".to_owned()]);
            let why = stop.map_err(|stop| stop.to_string());
            assert!(
                why.as_ref().is_err_and(|why| why.contains(study)),
                "{why:?}"
            );
        }
        assert!(matches!(run(&workspace, "", &[]), Err(Error::Usage(_))));
    }
}
