//! The release: `jeton`, its service, and the lab's archive.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::super::super::readme::first_block;
use super::super::{RELEASE, failed};
use super::{Context, Root, java, node, python};
use crate::command::{Error, run as run_command};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn archive(root: &Root<'_>, program: &str) -> String {
    format!("{program}-{VERSION}-{}.tar.gz", root.target.platform())
}

/// Installs a program of the release as users do, and returns its path in the root. In a root of another architecture, a
/// shell starts no programs: there, its archive is unpacked.
fn install(context: &Context<'_>, root: &Root<'_>, program: &str) -> Result<String, Error> {
    let release = context.workspace.path(RELEASE);
    let archive = archive(root, program);
    if !root.target.is_native() {
        let mut unpack = context.workspace.command("tar");
        unpack.arg("-xzf").arg(release.join(&archive));
        run_command(unpack.arg("-C").arg(root.path("")))?;
        let name = archive.trim_end_matches(".tar.gz");
        return Ok(format!("/check/{name}/{program}"));
    }
    add_release(context, root, &[&archive])?;
    let script = "/check/release/install.sh";
    let arguments = [script, "/check/release", "--prefix", "/check/home", program];
    root.run("/bin/sh", &arguments)?;
    Ok(format!("/check/home/bin/{program}"))
}

/// Adds the files that the install script needs, and archives.
fn add_release(context: &Context<'_>, root: &Root<'_>, archives: &[&str]) -> Result<(), Error> {
    let release = context.workspace.path(RELEASE);
    for file in ["install.sh", "SHA256SUMS"].iter().chain(archives) {
        root.add(&release.join(file), &format!("release/{file}"))?;
    }
    Ok(())
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
    let answer = fs::read_to_string(root.path("livez")).unwrap_or_default();
    if ended_well && answer == "live\n" {
        Ok(())
    } else {
        Err(Error::Failed(format!("/livez: `{answer}`; {text}")))
    }
}

/// What `dpkg` and the scripts of the package need, which a folder without configured packages does not have.
const ACCOUNTS: &str = "set -e; cd /etc; [ -e passwd ] || echo root:x:0:0::/root:/bin/sh > passwd; \
    [ -e group ] || echo root:x:0: > group; mkdir -p /var/lib/dpkg/info /var/lib/dpkg/updates; \
    touch /var/lib/dpkg/status; ";

/// What is asked of the package: that it is installed, that only its user reads the key, and that it can be removed.
const DEBIAN: &str = "dpkg --install /check/jeton.deb; /usr/bin/jeton --version; \
    [ \"$(stat --format '%U %a' /etc/jeton/key-encryption-key)\" = 'jeton 600' ]; \
    dpkg --remove jeton; [ ! -e /usr/bin/jeton ]";

/// The Debian package is installed, and removed again.
pub(super) fn debian(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    if !root.target.is_native() {
        return Err(Error::Usage("an emulated program starts no others".into()));
    }
    let package = format!("jeton_{VERSION}_{}.deb", root.target.debian());
    root.add(&context.workspace.path(RELEASE).join(package), "jeton.deb")?;
    let script = format!("{ACCOUNTS}{DEBIAN}");
    root.run("/bin/sh", &["-c", &script]).map(drop)
}

/// The layer of the image for this platform has the program where its configuration says.
pub(super) fn image(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let workspace = context.workspace;
    let image = root.path("image");
    let unpack = |archive: &Path, to: &Path| {
        fs::create_dir_all(to).map_err(|error| failed(to, &error))?;
        run_command(
            workspace
                .command("tar")
                .arg("-xf")
                .arg(archive)
                .arg("-C")
                .arg(to),
        )
    };
    let file = format!("jeton-{VERSION}.oci.tar");
    unpack(&workspace.path(RELEASE).join(file), &image)?;
    let blob = |descriptor: &Value| {
        let digest = descriptor["digest"].as_str().unwrap_or_default();
        image.join("blobs").join(digest.replace(':', "/"))
    };
    let read = |file: &Path| -> Result<Value, Error> {
        let bytes = fs::read(file).map_err(|error| failed(file, &error))?;
        let broken =
            |error: serde_json::Error| Error::Failed(format!("{}: {error}", file.display()));
        serde_json::from_slice(&bytes).map_err(broken)
    };
    let index = read(&blob(&read(&image.join("index.json"))?["manifests"][0]))?;
    let is_wanted = |one: &&Value| one["platform"]["architecture"] == root.target.debian();
    let manifests = index["manifests"].as_array();
    let manifest = manifests.and_then(|all| all.iter().find(is_wanted));
    let manifest = manifest.ok_or_else(|| Error::Failed("no image for this platform".into()))?;
    let manifest = read(&blob(manifest))?;
    unpack(&blob(&manifest["layers"][0]), &root.path("image-root"))?;
    let config = read(&blob(&manifest["config"]))?;
    let program = config["config"]["Entrypoint"][0]
        .as_str()
        .unwrap_or_default();
    let version = root.run(&format!("/check/image-root{program}"), &["--version"])?;
    if version.contains(VERSION) {
        Ok(())
    } else {
        Err(Error::Failed(format!("{program} --version: `{version}`")))
    }
}

/// The first block of the README, whose language is not named, installs the release and measures.
pub(super) fn lab(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    if !root.target.is_native() {
        let lab = install(context, root, "jeton-lab")?;
        root.run(&lab, &["--version"])?;
        return Err(Error::Usage("an emulator has no timings".into()));
    }
    node::add_node(context, root)?;
    root.add_command("java", &java::java(root))?;
    python::python(context, root)?;
    let archives = ["jeton", "jeton-lab"].map(|program| archive(root, program));
    add_release(context, root, &archives.each_ref().map(String::as_str))?;
    let line = first_block(context.workspace, "README.md", "")?;
    let script = format!("cd /check/release && {line}");
    let said = root.run("/bin/sh", &["-c", &script])?;
    eprintln!("{said}");
    let results = "/check/release/jeton-lab/results.json";
    root.run("/check/home/.local/bin/jeton-lab", &["check", results])
        .map(drop)
}
