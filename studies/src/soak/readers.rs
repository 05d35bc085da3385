//! The readers of PEM, DER and JWK against those of other libraries, on keys that were changed.

use std::process::{Child, Stdio};

use xtask::command::{Error, Workspace, run as run_command};

use super::Plan;
use super::log::Log;

/// The crate that changes the keys. It stands alone: it links OpenSSL, RustCrypto and josekit.
const FOLDER: &str = "studies/key-readers";

const FORMATS: [&str; 3] = ["pem", "der", "jwk"];

/// The seed of the changes. A case is repeated by it and its number.
const SEED: &str = "1";

pub(super) fn run(workspace: &Workspace, plan: &Plan, log: &mut Log) -> Result<(), Error> {
    let seconds = (plan.minutes * 60 / FORMATS.len() as u64).to_string();
    eprintln!("== soak: readers of PEM, DER and JWK at once, {seconds} s each");
    let folder = workspace.path(FOLDER);
    let target = workspace.path("target");
    let mut build = workspace.cargo(&["build", "--locked", "--quiet"]);
    run_command(build.current_dir(&folder).env("CARGO_TARGET_DIR", &target))?;
    let program = target.join("debug/jeton-key-readers");
    let mut running = Vec::new();
    for format in FORMATS {
        let mut command = workspace.command(&program);
        command.args([format, "--seconds", &seconds, "--seed", SEED]);
        let child = command.stdout(Stdio::piped()).spawn();
        let child =
            child.map_err(|error| Error::Usage(format!("key-readers {format}: {error}")))?;
        running.push((format, child));
    }
    log.section(
        "Readers of keys",
        "Each input is a key that was changed. All libraries read it.\n\
         `docs/reference/key-readers.md` has the reasons. A case is repeated by its number:\n\n\
         ```console\n\
         $ cargo run --manifest-path studies/key-readers/Cargo.toml -- pem --case 1000\n\
         ```",
    );
    let outcomes: Vec<Result<(), Error>> = (running.into_iter())
        .map(|(format, child)| finished(format, child, log))
        .collect();
    outcomes.into_iter().collect()
}

fn finished(format: &str, child: Child, log: &mut Log) -> Result<(), Error> {
    let done = child.wait_with_output();
    let done = done.map_err(|error| Error::Usage(format!("key-readers {format}: {error}")))?;
    let said = String::from_utf8_lossy(&done.stdout);
    log.section(
        &format!("Readers of {}", format.to_uppercase()),
        said.trim(),
    );
    match done.status.code() {
        Some(0) => Ok(()),
        Some(1) => Err(Error::Failed(format!(
            "the reader of {format} has findings"
        ))),
        _ => Err(Error::Failed(format!(
            "key-readers {format} did not run to its end"
        ))),
    }
}
