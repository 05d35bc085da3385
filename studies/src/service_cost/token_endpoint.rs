//! `cargo xtask token-endpoint-cost`: measures what a token costs by `client_credentials` over HTTP, and by `Issue`
//! over gRPC with the authentication of its caller.
//!
//! Both give the same kind of token, from one server, over HTTP/2. The caller of `Issue` has a bearer token, which
//! the server verifies and caches. The client of the token endpoint has a secret.

use jeton_lab_stats::median::median;
use xtask::command::{Error, Workspace, output};

use super::load::Call;
use super::servers::{Server, build, fresh, needs};
use crate::origin;
use crate::pairs::Plan;
use crate::verdict::ratio;

const LOG: &str = "docs/reference/token-endpoint-cost.md";
/// Calls of one load.
const CALLS: u64 = 60_000;
/// The folder of the server.
const FOLDER: &str = "token-endpoint";
/// The aim for the ratio.
const AIM: f64 = 1.3;
/// `ci:token-endpoint-cost` in base64, and the SHA-256 of that secret.
const BASIC: &str = "Basic Y2k6dG9rZW4tZW5kcG9pbnQtY29zdA==";
const HASH: &str = "423e620e0657ac8655c9bf6c3c2a7f168464190b38f7d26877ddf54673415bdd";

const ISSUER: &str = r#"
data = "data"
listen = "127.0.0.1:0"
admin_listen = "127.0.0.1:0"
workers = 1

[[issuer]]
iss = "https://id.example"
profiles = [{name = "access", alg = "ES256", typ = "at+jwt", lifetime_seconds = 7200, audiences = ["api", "jeton"]}]
"#;

const CLIENTS: &str = r#"
[bearer]
issuer = "https://id.example"
audience = "jeton"

[[client]]
name = "caller"
bearer_subject = "caller"
may = ["issue"]
issuers = ["*"]

[[client]]
name = "ci"
secrets = ["sha256:HASH"]
may = ["token"]
issuers = ["*"]
tokens = [{profile = "access", scopes = ["read"]}]
requests_per_minute = 1000000
"#;

/// Loads one server in both ways, alternately, and writes the log.
pub(crate) fn run(workspace: &Workspace, plan: &Plan) -> Result<(), Error> {
    needs()?;
    eprintln!("== token-endpoint-cost: building the server");
    build(workspace)?;
    fresh(workspace, FOLDER)?;
    let bearer = bearer_token(workspace)?;
    let clients = CLIENTS.replace("HASH", HASH);
    let server = Server::jeton_with(workspace, FOLDER, &format!("{ISSUER}{clients}"))?;
    let by_grpc = Call::issue_as_client(&bearer, CALLS);
    let by_http = Call::client_credentials(BASIC, CALLS);
    // The first load of each is a warm-up and does not count.
    server.load(workspace, &by_grpc)?;
    server.load(workspace, &by_http)?;
    let (mut grpc, mut http) = (Vec::new(), Vec::new());
    for pair in 0..plan.pairs {
        eprintln!(
            "== token-endpoint-cost: pair {} of {}",
            pair + 1,
            plan.pairs
        );
        grpc.push(server.load(workspace, &by_grpc)?.cpu_us);
        http.push(server.load(workspace, &by_http)?.cpu_us);
    }
    let ratio = ratio(&http, &grpc)?;
    let [low, high] = ratio.interval();
    let text = format!(
        "# Cost of the token endpoint\n\n\
         `cargo xtask token-endpoint-cost --pairs {}`, {}, commit {}, {}.\n\n\
         The same ES256 token by `client_credentials` with a client secret, and by gRPC `Issue` with the bearer token\n\
         of its caller. One server on one core, h2load on another, 5 connections of 50 calls in flight. Loads\n\
         alternate. The kernel counts the CPU time of the server. The ratio has its 95 % interval.\n\n\
         | `Issue`, µs of CPU per call | `client_credentials` | ratio |\n|---:|---:|---:|\n\
         | {:.1} | {:.1} | {:.2} ({low:.2} to {high:.2}) |\n",
        plan.pairs,
        origin::day(workspace)?,
        origin::commit(workspace)?,
        origin::cpu(),
        median(&grpc).unwrap_or(f64::NAN),
        median(&http).unwrap_or(f64::NAN),
        ratio.ratio(),
    );
    std::fs::write(workspace.path(LOG), &text)
        .map_err(|error| Error::Usage(format!("{LOG}: {error}")))?;
    println!("{text}");
    if low <= AIM {
        Ok(())
    } else {
        Err(Error::Failed(format!(
            "the ratio's interval begins at {low:.2}, maximum {AIM}"
        )))
    }
}

/// Issues the bearer token of the caller, by a server without clients on the same data folder.
fn bearer_token(workspace: &Workspace) -> Result<String, Error> {
    let server = Server::jeton_with(workspace, FOLDER, ISSUER)?;
    let mut issue = workspace.command(workspace.target().join("dist/jeton"));
    issue.args([
        "token",
        "issue",
        "--profile",
        "access",
        "--audience",
        "jeton",
    ]);
    issue.args(["--subject", "caller", "--server"]);
    issue.arg(format!("http://{}", server.address()));
    Ok(output(&mut issue)?.trim().to_owned())
}
