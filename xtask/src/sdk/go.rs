//! The library for Go, in `sdk/go`.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::libraries::{self, Build};
use super::{KEY_SERVER, key_server};
use crate::command::{Error, Workspace, output, run as run_command};
use crate::counted;
use crate::tally::Format;

const MODULE: &str = "sdk/go";
/// Its path in programs, and the version in `go.mod` of those that need it.
const PATH: &str = "github.com/jeton/jeton/sdk/go";
const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));
/// The folder of the native library, which is a module of its own in a release.
const LIBRARY: &str = "lib/linux_amd64/libjeton.a";
const HEADERS: [&str; 2] = ["jeton.h", "jeton_codes.h"];

/// The modules beside the first one.
const OTHERS: [&str; 3] = ["grpc", "internal/migration", "internal/tools"];

/// Builds and tests it.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    library(workspace, Build::Tests)?;
    check_headers(workspace)?;
    check_format(workspace)?;
    tests(workspace, "", &["-tags", HOOKS, "./..."])?;
    for module in OTHERS {
        tests(workspace, module, &["./..."])?;
    }
    Ok(())
}

/// Its tests with the race detector, staticcheck, vet, programs that link it in other ways, and an installation.
pub(crate) fn more(workspace: &Workspace) -> Result<(), Error> {
    library(workspace, Build::Tests)?;
    let staticcheck = ["tool", "-modfile=internal/tools/go.mod", "staticcheck"];
    let staticcheck = [&staticcheck[..], &["-tags", HOOKS, "./..."]].concat();
    run_command(&mut go(workspace, "", &staticcheck))?;
    run_command(&mut go(workspace, "", &["vet", "-tags", HOOKS, "./..."]))?;
    for module in OTHERS {
        run_command(&mut go(workspace, module, &["vet", "./..."]))?;
    }
    tests(workspace, "", &["-race", "-tags", HOOKS, "./..."])?;
    static_program(workspace)?;
    second_library(workspace)?;
    let proxy = libraries::folder(workspace)?.join("go-proxy");
    write_proxy(workspace, &proxy)?;
    install(workspace, &proxy, &workspace.tested_binary()?)
}

/// The tag of tests that make the library panic.
const HOOKS: &str = "jeton_test_hooks";

/// Go in the folder of a module.
fn go(workspace: &Workspace, module: &str, arguments: &[&str]) -> Command {
    let mut go = workspace.command("go");
    go.args(arguments).env("CGO_ENABLED", "1");
    // A panic that a test asks for needs no backtrace.
    go.env("RUST_BACKTRACE", "0");
    go.current_dir(workspace.path(MODULE).join(module));
    go
}

fn tests(workspace: &Workspace, module: &str, arguments: &[&str]) -> Result<(), Error> {
    let arguments = [&["test", "-json"], arguments].concat();
    let name = format!("{MODULE}/{module}");
    let mut test = go(workspace, module, &arguments);
    test.env(KEY_SERVER, key_server(workspace)?);
    // The tools have no tests yet; they must compile.
    counted::run_any(name.trim_end_matches('/'), Format::Go, &mut test).map(drop)
}

/// The modules that a program needs, as a release has them.
const PUBLISHED: [&str; 3] = ["", "/lib/linux_amd64", "/grpc"];

/// Writes the modules with the native library that is there into a folder for `GOPROXY`.
pub(super) fn write_proxy(workspace: &Workspace, proxy: &Path) -> Result<Vec<PathBuf>, Error> {
    let _ = fs::remove_dir_all(proxy);
    let mut go = workspace.command("go");
    go.args(["run", "./moduleproxy", "-version", VERSION]);
    go.arg("-licences").arg(workspace.root());
    go.arg("-out").arg(proxy);
    for inner in PUBLISHED {
        let folder = workspace.path(&format!("{MODULE}{inner}"));
        go.arg(format!("{PATH}{inner}={}", folder.display()));
    }
    run_command(go.current_dir(workspace.path(MODULE).join("internal/tools")))?;
    let mut files = Vec::new();
    for inner in PUBLISHED {
        let folder = proxy.join(format!("{PATH}{inner}/@v"));
        for name in ["info", "mod", "zip"] {
            files.push(folder.join(format!("{VERSION}.{name}")));
        }
    }
    Ok(files)
}

/// Installs the modules into an empty folder, and runs the program of the README with a token of `jeton serve`, which is
/// this binary.
pub(super) fn install(workspace: &Workspace, proxy: &Path, jeton: &Path) -> Result<(), Error> {
    let folder = libraries::folder(workspace)?.join("go-install");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    let readme = workspace.path(MODULE).join("README.md");
    let text = fs::read_to_string(&readme).map_err(|error| failed(&readme, &error))?;
    let service = Service::start(workspace, &folder, jeton)?;
    let program = first_program(&text)
        .ok_or_else(|| Error::Failed(format!("{} has no program", readme.display())))?
        .replace(DOCUMENTED, &service.address);
    let file = folder.join("main.go");
    fs::write(&file, program).map_err(|error| failed(&file, &error))?;

    let token = service.token(workspace)?;
    // The cache of the compiler knows the files of a version in a folder, and does not look again.
    let modules = folder.join(format!("modules-{}", std::process::id()));
    let go = |arguments: &[&str]| {
        let mut go = workspace.command("go");
        go.args(arguments).current_dir(&folder);
        // Only what is in the folder, and not what an earlier test has downloaded.
        go.env("GOPROXY", format!("file://{}", proxy.display()));
        go.env("GOMODCACHE", &modules);
        go.envs([
            ("GONOSUMDB", "*"),
            ("GOFLAGS", "-modcacherw"),
            ("GOWORK", "off"),
        ]);
        go
    };
    run_command(&mut go(&["mod", "init", "example.com/app"]))?;
    run_command(&mut go(&["get", &format!("{PATH}@{VERSION}")]))?;
    let shown = output(&mut go(&["run", ".", token.trim()]))?;
    if shown.starts_with("alice ") {
        Ok(())
    } else {
        Err(Error::Failed(format!(
            "the program of the README prints: {shown}"
        )))
    }
}

/// The first block of Go code.
fn first_program(page: &str) -> Option<&str> {
    let start = page.find("```go\n")? + "```go\n".len();
    Some(&page[start..start + page[start..].find("```")?])
}

/// The address in the README.
const DOCUMENTED: &str = "127.0.0.1:8420";

/// How often the service is started.
const STARTS: usize = 3;

/// A `jeton serve`, which ends with this value.
struct Service {
    process: Child,
    program: PathBuf,
    address: String,
}

impl Service {
    /// Starts it on free ports. Another program may take one of them first; then it is started again.
    fn start(workspace: &Workspace, folder: &Path, jeton: &Path) -> Result<Service, Error> {
        for _ in 1..STARTS {
            if let Ok(service) = Service::start_once(workspace, folder, jeton) {
                return Ok(service);
            }
        }
        Service::start_once(workspace, folder, jeton)
    }

    fn start_once(workspace: &Workspace, folder: &Path, jeton: &Path) -> Result<Service, Error> {
        let (address, admin) = (free_address()?, free_address()?);
        let mut serve = workspace.command(jeton);
        serve.args(["serve", "--listen", &address, "--admin-listen", &admin]);
        serve.arg("--data").arg(folder.join("jeton-data"));
        serve.stdout(Stdio::null()).stderr(Stdio::null());
        let process = serve.spawn().map_err(|error| failed(jeton, &error))?;
        let mut service = Service {
            process,
            program: jeton.to_owned(),
            address,
        };
        for _ in 0..600 {
            if let Ok(Some(status)) = service.process.try_wait() {
                return Err(Error::Failed(format!("jeton serve ended: {status}")));
            }
            if TcpStream::connect(&service.address).is_ok() {
                return Ok(service);
            }
            sleep(Duration::from_millis(100));
        }
        Err(Error::Failed("jeton serve does not listen".into()))
    }

    fn token(&self, workspace: &Workspace) -> Result<String, Error> {
        let mut issue = workspace.command(&self.program);
        issue.args([
            "token",
            "issue",
            "--profile",
            "access",
            "--subject",
            "alice",
        ]);
        output(issue.args(["--server", &format!("http://{}", self.address)]))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_address() -> Result<String, Error> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    listener
        .map(|address| address.to_string())
        .map_err(|error| Error::Failed(error.to_string()))
}

/// Builds the native library, and puts it where the module links it.
pub(crate) fn library(workspace: &Workspace, how: Build) -> Result<(), Error> {
    let built = libraries::static_library(workspace, how)?;
    let place = workspace.path(MODULE).join(LIBRARY);
    fs::copy(&built, &place).map_err(|error| failed(&place, &error))?;
    eprintln!("== {}", place.display());
    Ok(())
}

/// Builds the library for tests, if there is none: for the driver of the lab.
pub(crate) fn library_for_tests(workspace: &Workspace) -> Result<(), Error> {
    if workspace.path(MODULE).join(LIBRARY).exists() {
        Ok(())
    } else {
        library(workspace, Build::Tests)
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::Failed(format!("{}: {error}", path.display()))
}

/// The module has copies of the headers, as it is published without the rest of the repository.
fn check_headers(workspace: &Workspace) -> Result<(), Error> {
    for name in HEADERS {
        let source = workspace.path("crates/jeton-ffi/include").join(name);
        let copy = workspace.path(MODULE).join("internal/core").join(name);
        let read = |path: &PathBuf| fs::read(path).map_err(|error| failed(path, &error));
        if read(&source)? != read(&copy)? {
            return Err(Error::Failed(format!(
                "{} is stale; copy {} to it",
                copy.display(),
                source.display()
            )));
        }
    }
    Ok(())
}

fn check_format(workspace: &Workspace) -> Result<(), Error> {
    let unformatted = output(workspace.command("gofmt").args(["-l", MODULE]))?;
    match unformatted.trim() {
        "" => Ok(()),
        files => Err(Error::Failed(format!(
            "not formatted; run `gofmt -w` on: {}",
            files.replace('\n', ", ")
        ))),
    }
}

/// Builds a program without shared libraries, and runs it.
fn static_program(workspace: &Workspace) -> Result<(), Error> {
    let program = libraries::folder(workspace)?.join("go-static");
    let mut build = workspace.command("go");
    build.args(["build", "-tags", "netgo,osusergo", "-ldflags"]);
    build.args(["-linkmode external -extldflags \"-static\"", "-o"]);
    build.arg(&program).arg("./internal/linked/plain");
    run_command(build.current_dir(workspace.path(MODULE)))?;
    let sections = output(workspace.command("readelf").arg("-lW").arg(&program))?;
    if sections.contains("INTERP") {
        return Err(Error::Failed(format!(
            "{} needs a dynamic linker",
            program.display()
        )));
    }
    run_command(&mut workspace.command(&program))
}

/// Links another static library in Rust into the same program.
fn second_library(workspace: &Workspace) -> Result<(), Error> {
    let folder = libraries::folder(workspace)?;
    let second = folder.join("libsecond.a");
    let source = workspace.path("crates/jeton-ffi/tests/second/second.rs");
    let mut rustc = workspace.command(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--edition", "2024", "--crate-type", "staticlib", "-O", "-o"]);
    run_command(rustc.arg(&second).arg(source))?;
    let program = folder.join("go-second");
    let mut build = workspace.command("go");
    build.args(["build", "-tags", "jeton_second", "-o"]);
    build.arg(&program).arg("./internal/linked/second");
    build.env("CGO_LDFLAGS", format!("-O2 {}", second.display()));
    run_command(build.current_dir(workspace.path(MODULE)))?;
    run_command(&mut workspace.command(&program))
}
