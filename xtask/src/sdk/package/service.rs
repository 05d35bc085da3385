//! The token service and the lab: two static programs, the root file system of its container, and a Debian package.
//!
//! Two checkouts of the same commit give the same bytes: no path and no time of the builder is in them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{FOLDER, copy, failed, sbom, write_checksums};
use crate::command::{Error, Workspace, output, run as run_command};

/// What stands in binaries for the folders of the builder.
const SOURCES: &str = "/jeton";
const REGISTRY: &str = "/cargo";

/// The user of the container. It is in no system's list.
const USER: &str = "jeton:x:65532:65532:jeton:/var/lib/jeton:/sbin/nologin\n";
const GROUP: &str = "jeton:x:65532:\n";

/// Builds `dist/jeton-service-TARGET/`.
pub(super) fn run(workspace: &Workspace, target: &str) -> Result<(), Error> {
    let folder = workspace
        .path(FOLDER)
        .join(format!("jeton-service-{target}"));
    let _ = fs::remove_dir_all(&folder);
    let programs = binaries(workspace, target)?;
    let time = time(workspace)?;
    let mut files = root_file_system(workspace, &programs, &folder)?;
    check_root(workspace, &folder.join("rootfs"))?;
    files.push(debian(workspace, target, &programs, &folder, &time)?);
    let list = folder.join("sbom.cdx.json");
    write(
        &list,
        &sbom(workspace, target, "jeton-cli", "jeton-service")?,
    )?;
    files.push(list);
    write_checksums(workspace, &folder, &files)?;
    publish(workspace, &folder)?;
    set_mode(&folder.join("state/jeton"), 0o700)?;
    archive(workspace, &folder, &time)
}

/// The time of the commit: everything in the package has it.
fn time(workspace: &Workspace) -> Result<String, Error> {
    if let Ok(time) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(time);
    }
    let text = output(workspace.command("git").args(["log", "-1", "--format=%ct"]))?;
    Ok(text.trim().to_owned())
}

/// The programs of the package.
const PROGRAMS: [&str; 2] = ["jeton", "jeton-lab"];

/// Builds the programs: static, stripped, without folders of the builder.
fn binaries(workspace: &Workspace, target: &str) -> Result<Vec<PathBuf>, Error> {
    let root = workspace.root().display().to_string();
    let registry = cargo_home()?;
    let built_in = workspace.target().display().to_string();
    let flags = [
        "-Ctarget-feature=+crt-static".to_owned(),
        // A static binary finds no function by name at run time; the default then reads /dev/urandom.
        "--cfg=getrandom_backend=\"linux_getrandom\"".to_owned(),
        // The linker's id of a build is a hash of paths too.
        "-Clink-arg=-Wl,--build-id=none".to_owned(),
        format!("--remap-path-prefix={registry}={REGISTRY}"),
        format!("--remap-path-prefix={built_in}={SOURCES}/target"),
        format!("--remap-path-prefix={root}={SOURCES}"),
    ];
    let c_flags = format!(
        "-ffile-prefix-map={registry}={REGISTRY} -ffile-prefix-map={built_in}={SOURCES}/target -ffile-prefix-map={root}={SOURCES} -g0"
    );
    let mut cargo = workspace.cargo(&["build", "--locked", "--profile", "dist"]);
    cargo
        .args(["-p", "jeton-cli", "-p", "jeton-lab"])
        .args(["--target", target])
        .arg("--target-dir")
        .arg(workspace.target().join("static"))
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        // The lab looks for drivers in the current folder.
        .env("JETON_CHECKOUT", ".")
        .env("CARGO_INCREMENTAL", "0")
        .env("CFLAGS", &c_flags)
        .env("CXXFLAGS", &c_flags);
    run_command(&mut cargo)?;
    let built = workspace.target().join(format!("static/{target}/dist"));
    let mut programs = Vec::new();
    for name in PROGRAMS {
        let stripped = workspace.target().join("static").join(name);
        let mut strip = workspace.command("objcopy");
        strip.args(["--strip-all", "--remove-section=.comment"]);
        run_command(strip.arg(built.join(name)).arg(&stripped))?;
        check_binary(&stripped, &[&root, &registry, &built_in])?;
        programs.push(stripped);
    }
    Ok(programs)
}

fn cargo_home() -> Result<String, Error> {
    if let Ok(home) = std::env::var("CARGO_HOME") {
        return Ok(home);
    }
    let home = std::env::var("HOME");
    let home = home.map_err(|_| Error::Usage("neither CARGO_HOME nor HOME is set".into()))?;
    Ok(format!("{home}/.cargo"))
}

/// Fails if the binary needs libraries, or contains a folder of the builder.
fn check_binary(binary: &Path, folders: &[&str]) -> Result<(), Error> {
    let bytes = fs::read(binary).map_err(|error| failed(binary, &error))?;
    if find(&bytes, b"/ld-linux").is_some() {
        return Err(Error::Failed(format!("{} is not static", binary.display())));
    }
    for folder in folders {
        if let Some(at) = find(&bytes, folder.as_bytes()) {
            let end = bytes.len().min(at + 120);
            return Err(Error::Failed(format!(
                "{} contains a folder of the builder: {}",
                binary.display(),
                String::from_utf8_lossy(&bytes[at..end]).escape_debug()
            )));
        }
    }
    Ok(())
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

/// Makes what the container file copies: `rootfs/`, `state/`, and the file itself.
fn root_file_system(
    workspace: &Workspace,
    programs: &[PathBuf],
    folder: &Path,
) -> Result<Vec<PathBuf>, Error> {
    let root = folder.join("rootfs");
    for part in ["usr/bin", "etc/jeton", "usr/share/doc/jeton", "var/lib"] {
        make(&root.join(part))?;
    }
    make(&folder.join("state/jeton"))?;
    let mut files = install(programs, &root)?;
    for (name, text) in [("etc/passwd", USER), ("etc/group", GROUP)] {
        let file = root.join(name);
        write(&file, text)?;
        files.push(file);
    }
    files.extend(documents(workspace, &root.join("usr/share/doc/jeton"))?);
    let container = folder.join("Containerfile");
    files.push(copy(
        &workspace.path("deploy/container/Containerfile"),
        &container,
    )?);
    Ok(files)
}

/// Runs the binary with nothing but the root file system. Only root may change the root.
fn check_root(workspace: &Workspace, root: &Path) -> Result<(), Error> {
    let user = output(workspace.command("id").arg("-u"))?;
    if user.trim() != "0" {
        eprintln!("== the root file system was not run: chroot requires root");
        return Ok(());
    }
    let run = |name: &str, arguments: &[&str]| {
        let mut command = workspace.command("chroot");
        let program = format!("/usr/bin/{name}");
        output(command.arg(root).arg(program).args(arguments))
    };
    run("jeton-lab", &["--version"])?;
    let version = run("jeton", &["--version"])?;
    eprintln!("== in its root file system: {}", version.trim());
    // Needs random bytes, and there is no /dev.
    run("jeton", &["key", "new", "--alg", "HS256"]).map(drop)
}

/// Makes the Debian package.
fn debian(
    workspace: &Workspace,
    target: &str,
    programs: &[PathBuf],
    folder: &Path,
    time: &str,
) -> Result<PathBuf, Error> {
    let architecture = match target.split('-').next() {
        Some("x86_64") => "amd64",
        Some("aarch64") => "arm64",
        other => {
            return Err(Error::Failed(format!(
                "Debian has another name for the architecture {other:?}"
            )));
        }
    };
    let version = env!("CARGO_PKG_VERSION");
    let root = workspace.target().join("static/debian");
    let _ = fs::remove_dir_all(&root);
    for part in [
        "DEBIAN",
        "usr/bin",
        "usr/lib/systemd/system",
        "usr/share/doc/jeton",
        "etc/jeton",
    ] {
        make(&root.join(part))?;
    }
    install(programs, &root)?;
    documents(workspace, &root.join("usr/share/doc/jeton"))?;
    let deploy = |name: &str| workspace.path("deploy").join(name);
    let control = deploy("debian/control");
    let text = fs::read_to_string(&control).map_err(|error| failed(&control, &error))?;
    let text = text
        .replace("@VERSION@", version)
        .replace("@ARCHITECTURE@", architecture);
    write(&root.join("DEBIAN/control"), &text)?;
    for (from, to, mode) in [
        ("debian/conffiles", "DEBIAN/conffiles", 0o644),
        ("debian/postinst", "DEBIAN/postinst", 0o755),
        ("debian/prerm", "DEBIAN/prerm", 0o755),
        (
            "systemd/jeton.service",
            "usr/lib/systemd/system/jeton.service",
            0o644,
        ),
        ("jeton.toml", "etc/jeton/jeton.toml", 0o644),
    ] {
        let to = copy(&deploy(from), &root.join(to))?;
        set_mode(&to, mode)?;
    }
    publish(workspace, &root)?;
    let package = folder.join(format!("jeton_{version}_{architecture}.deb"));
    let mut build = workspace.command("dpkg-deb");
    build
        .args(["--root-owner-group", "-Zxz", "--build"])
        .arg(&root)
        .arg(&package)
        .env("SOURCE_DATE_EPOCH", time);
    run_command(&mut build)?;
    Ok(package)
}

fn documents(workspace: &Workspace, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let names = ["LICENSE-MIT", "LICENSE-APACHE", "docs/operating.md"];
    let mut files = Vec::new();
    for name in names {
        let base = name.rsplit('/').next().unwrap_or(name);
        let file = copy(&workspace.path(name), &folder.join(base))?;
        set_mode(&file, 0o644)?;
        files.push(file);
    }
    Ok(files)
}

/// Copies the programs to `usr/bin`.
fn install(programs: &[PathBuf], root: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for (program, name) in programs.iter().zip(PROGRAMS) {
        let file = copy(program, &root.join("usr/bin").join(name))?;
        set_mode(&file, 0o755)?;
        files.push(file);
    }
    Ok(files)
}

fn make(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))
}

/// Makes everything readable for all, whatever the umask of the builder is.
fn publish(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let mut chmod = workspace.command("chmod");
    run_command(chmod.args(["-R", "u=rwX,go=rX"]).arg(folder))
}

fn set_mode(path: &Path, mode: u32) -> Result<(), Error> {
    let mode = fs::Permissions::from_mode(mode);
    fs::set_permissions(path, mode).map_err(|error| failed(path, &error))
}

fn write(file: &Path, text: &str) -> Result<(), Error> {
    fs::write(file, text).map_err(|error| failed(file, &error))?;
    set_mode(file, 0o644)
}

/// Packs the folder. The archive is the same for the same files.
fn archive(workspace: &Workspace, folder: &Path, time: &str) -> Result<(), Error> {
    let name = folder.file_name().unwrap_or_default();
    let archive = folder.with_extension("tar.gz");
    let mut tar = workspace.command("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .arg(format!("--mtime=@{time}"))
        // Without the time at which gzip ran.
        .args(["--use-compress-program", "gzip -n"])
        .arg("-cf")
        .arg(&archive)
        .arg("-C")
        .arg(workspace.path(FOLDER))
        .arg(name);
    run_command(&mut tar)?;
    eprintln!("== {}", archive.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_with_a_folder_of_the_builder_is_refused() {
        let folder =
            std::env::temp_dir().join(format!("jeton-check-binary-{}", std::process::id()));
        let write =
            |text: &str| fs::write(&folder, text).expect("the temporary folder is writable");
        let check = || check_binary(&folder, &["/home/me/jeton", "/home/me/.cargo"]);
        write("a binary with /jeton/src/main.rs");
        assert!(check().is_ok());
        write("a binary with /home/me/jeton/src/main.rs");
        assert!(check().is_err_and(|error| error.to_string().contains("folder of the builder")));
        write("a binary with /lib64/ld-linux-x86-64.so.2");
        assert!(check().is_err_and(|error| error.to_string().contains("not static")));
        let _ = fs::remove_file(&folder);
    }
}
