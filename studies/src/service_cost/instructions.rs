//! `cargo xtask service-instructions`: counts the instructions of a server for `Issue` and `Verify`.
//!
//! The server runs under callgrind. Calls come one after another on one connection, and what its task does is counted:
//! HTTP/2, the transport, the call. Timers of the server are left out, because their share depends on how long the calls
//! take. Hash tables with random seeds vary a count by about 1 %. Valgrind emulates a processor without the newest
//! instructions: cryptography takes more instructions than in production.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jeton_client::{Client, Connection, IssueRequest, VerifyRequest};
use jeton_lab_stats::median::median;
use tokio::runtime::Runtime;
use xtask::command::{Error, Workspace, on_path, run as run_command};

use super::message::HS256_PROFILE;
use super::servers::Server;

/// The calls, each with the profile of the token.
const CALLS: [(&str, Do, &str); 4] = [
    ("Issue HS256", Do::Issue, HS256_PROFILE),
    ("Verify HS256", Do::Verify, HS256_PROFILE),
    ("Issue ES256", Do::Issue, "access"),
    ("Verify ES256", Do::Verify, "access"),
];
/// Counts of each call, and calls of each count. The median is used: on a busy machine, the server may move a call to a
/// task of its own, which is not counted.
const COUNTS: usize = 15;
const TIMES: u32 = 20;
/// The second program may take this much more than the first.
const MOST_MORE: f64 = 0.03;
/// How long a server may take to be ready.
const READY_LIMIT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy)]
enum Do {
    Issue,
    Verify,
}

/// Reads the programs: none, one or two.
pub(crate) fn parse(options: &[String]) -> Result<Vec<PathBuf>, Error> {
    if options.len() > 2 || options.iter().any(|option| option.starts_with('-')) {
        return Err(Error::Usage(
            "`service-instructions` has no options: name no program, one, or two to compare".into(),
        ));
    }
    Ok(options.iter().map(PathBuf::from).collect())
}

/// Counts each program, prints the counts, and fails if the second takes much more than the first.
pub(crate) fn run(workspace: &Workspace, programs: &[PathBuf]) -> Result<(), Error> {
    if on_path("callgrind_control").is_none() {
        return Err(Error::Usage(
            "valgrind is not installed: run `cargo xtask setup`".into(),
        ));
    }
    let mut counted = Vec::new();
    if programs.is_empty() {
        eprintln!("== service-instructions: building the server");
        // Not as it is shipped: link-time optimisation may leave no function whose instructions can be counted.
        run_command(&mut workspace.cargo(&["build", "--release", "--locked", "-p", "jeton-cli"]))?;
        counted.push(count(workspace, &workspace.target().join("release/jeton"))?);
    }
    for program in programs {
        // The server has a working folder of its own.
        let whole = program.canonicalize();
        let whole =
            whole.map_err(|error| Error::Usage(format!("{}: {error}", program.display())))?;
        counted.push(count(workspace, &whole)?);
    }
    let mut wrong = Vec::new();
    for (index, (name, _, _)) in CALLS.iter().enumerate() {
        let counts: Vec<f64> = counted.iter().map(|counts| counts[index]).collect();
        let shown: Vec<String> = counts.iter().map(|count| format!("{count:>9.0}")).collect();
        let more = counts[counts.len() - 1] / counts[0] - 1.0;
        if counts.len() == 1 {
            println!("{name:<12} {} instructions", shown[0]);
        } else {
            println!(
                "{name:<12} {} instructions, {:+.1} %",
                shown.join(" "),
                more * 100.0
            );
        }
        if more > MOST_MORE {
            wrong.push(format!(
                "{name}: {:.1} % more instructions, maximum {:.0} %",
                more * 100.0,
                MOST_MORE * 100.0
            ));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Error::Failed(wrong.join("; ")))
    }
}

/// Instructions of each call by this program.
fn count(workspace: &Workspace, program: &Path) -> Result<[f64; CALLS.len()], Error> {
    eprintln!("== service-instructions: {}", program.display());
    let server = Server::under_callgrind(workspace, program)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::Usage(format!("no runtime: {error}")))?;
    let connection = Connection::to(format!("http://{}", server.address()));
    let client = runtime.block_on(connection.connect()).map_err(failed)?;
    wait_until_ready(&runtime, &client)?;
    let mut medians = [f64::NAN; CALLS.len()];
    for ((_, call, profile), middle) in CALLS.iter().zip(&mut medians) {
        let issued = runtime.block_on(client.issue(issue(profile)));
        let verify = VerifyRequest {
            audience: "api".to_owned(),
            token: issued.map_err(failed)?.token,
            ..VerifyRequest::default()
        };
        let mut counts = Vec::new();
        server.instructions(workspace)?;
        for _ in 0..COUNTS {
            for _ in 0..TIMES {
                let done = match call {
                    Do::Issue => runtime.block_on(client.issue(issue(profile))).map(drop),
                    Do::Verify => runtime.block_on(client.verify(verify.clone())).map(drop),
                };
                done.map_err(failed)?;
            }
            #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
            counts.push(server.instructions(workspace)? as f64 / f64::from(TIMES));
        }
        // The first one is a warm-up.
        *middle = median(&counts[1..]).unwrap_or(f64::NAN);
    }
    Ok(medians)
}

fn issue(profile: &str) -> IssueRequest {
    IssueRequest {
        profile: profile.to_owned(),
        subject: "alice".to_owned(),
        ..IssueRequest::default()
    }
}

/// The server listens before it is ready.
fn wait_until_ready(runtime: &Runtime, client: &Client) -> Result<(), Error> {
    let began = Instant::now();
    loop {
        match runtime.block_on(client.issue(issue(HS256_PROFILE))) {
            Ok(_) => return Ok(()),
            Err(error) if began.elapsed() > READY_LIMIT => return Err(failed(error)),
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

fn failed(error: jeton_client::Error) -> Error {
    Error::Failed(format!("a call failed: {error}"))
}
