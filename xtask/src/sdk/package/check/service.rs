//! The release: `jeton`, its service, and the lab's archive.

use super::super::RELEASE;
use super::{Context, Root};
use crate::command::{Error, run as run_command};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Installs a program of the release as users do, and returns its path in the root. In a root of another architecture, a
/// shell starts no programs: there, its archive is unpacked.
fn install(context: &Context<'_>, root: &Root<'_>, program: &str) -> Result<String, Error> {
    let release = context.workspace.path(RELEASE);
    let name = format!("{program}-{VERSION}-{}", root.target.platform());
    let archive = format!("{name}.tar.gz");
    if !root.target.is_native() {
        let mut unpack = context.workspace.command("tar");
        unpack.arg("-xzf").arg(release.join(archive));
        run_command(unpack.arg("-C").arg(root.path("")))?;
        return Ok(format!("/check/{name}/{program}"));
    }
    for file in ["install.sh", "SHA256SUMS", &archive] {
        root.add(&release.join(file), &format!("release/{file}"))?;
    }
    let script = "/check/release/install.sh";
    let arguments = [script, "/check/release", "--prefix", "/check/home", program];
    root.run("/bin/sh", &arguments)?;
    Ok(format!("/check/home/bin/{program}"))
}

/// The command line of the README.
pub(super) fn command(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let jeton = install(context, root, "jeton")?;
    let key = ["key", "new", "--alg", "ES256", "-o", "/check/key.json"];
    root.run(&jeton, &key)?;
    let public = root.run(&jeton, &["key", "public", "/check/key.json"])?;
    root.write("public.json", &public)?;
    let claims = r#"{"iss":"https://id.example","aud":"api"}"#;
    let key = ["--key", "/check/key.json"];
    let rest = ["--claims", claims, "--expires-in", "15m"];
    let token = root.run(&jeton, &[&["jwt", "sign"], &key[..], &rest].concat())?;
    root.write("token", &token)?;
    let key = ["--key", "/check/public.json"];
    let rest = ["--issuer", "https://id.example", "--audience", "api"];
    let verify = [&["jwt", "verify"], &key[..], &rest, &["@/check/token"]].concat();
    let verified = root.run(&jeton, &verify)?;
    if verified.contains("https://id.example") {
        Ok(())
    } else {
        Err(Error::Failed(format!("jwt verify: `{verified}`")))
    }
}

/// Asks the server as soon as it listens, and stops it. The server replaces the shell that starts this.
const ASK: &str = "ip link set lo up && rm -f check/livez && { curl --silent --show-error --fail --retry 60 \
    --retry-delay 1 --retry-connrefused http://127.0.0.1:8421/livez > check/livez; kill -TERM $$; } & true";

/// `jeton serve` starts and answers.
pub(super) fn serve(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let jeton = install(context, root, "jeton")?;
    root.write("jeton.toml", "data = '/check/data'\n")?;
    let serve = ["serve", "--config", "/check/jeton.toml"];
    let (ended_well, text) = root.outcome(root.command(&jeton, &serve, ASK))?;
    let answer = std::fs::read_to_string(root.path("livez")).unwrap_or_default();
    if ended_well && answer == "live\n" {
        Ok(())
    } else {
        Err(Error::Failed(format!("/livez: `{answer}`; {text}")))
    }
}

/// The archive of the lab measures.
pub(super) fn lab(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let lab = install(context, root, "jeton-lab")?;
    if !root.target.is_native() {
        root.run(&lab, &["--version"])?;
        return Err(Error::Usage("an emulator has no timings".into()));
    }
    let said = root.run(&lab, &["run", "--quick", "--out", "/check/lab"])?;
    eprintln!("{said}");
    root.run(&lab, &["check", "/check/lab/results.json"])
        .map(drop)
}
