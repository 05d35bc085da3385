//! The tests of the C interface that need a C compiler: every case, every function, valgrind, sanitizers, and another library
//! in Rust in the same program.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::libraries::{self, Build};
use super::second;
use crate::command::{Error, Workspace, output, run as run_command};
use crate::counted;
use crate::tally::Format;

const SOURCES: &str = "crates/jeton-ffi/tests/c";
const CASES: &str = "sdk/testdata/cases.jsonl";

/// How many operations valgrind watches.
const WATCHED: &str = "100000";

/// Every case and function, in programs that link the static and the shared library.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    let folder = libraries::folder(workspace)?;
    let library = libraries::static_library(workspace, Build::Tests)?;
    let program = compile(workspace, &library, "c-test", &["-O1"])?;
    runs(workspace, &program)?;
    let shared = libraries::shared_library(workspace)?;
    let program = compile(workspace, &shared, "c-test-shared", &["-O1"])?;
    runs(workspace, &program)?;
    second::run(workspace, &library, &folder)
}

/// The same under valgrind and sanitizers. Handles that were released are an error.
pub(crate) fn memory(workspace: &Workspace) -> Result<(), Error> {
    let folder = libraries::folder(workspace)?;
    let library = libraries::static_library(workspace, Build::Tests)?;
    let program = compile(workspace, &library, "c-test", &["-O1"])?;
    watch(workspace, &program)?;

    if has_sanitizers(workspace, &folder) {
        let flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
        let program = compile(workspace, &library, "c-test-sanitized", &flags)?;
        runs(workspace, &program)?;
        run_command(workspace.command(&program).args(["repeat", WATCHED]))?;
    } else {
        eprintln!("== the C compiler has no sanitizers: skipped");
    }

    let mut test = workspace.cargo_workspace("test");
    test.args(["--test", "ffi", "--features", "jeton-ffi/checking"]);
    counted::run(
        "the C interface that checks handles",
        Format::Libtest,
        &mut test,
    )
}

/// Compiles the test program.
fn compile(
    workspace: &Workspace,
    library: &Path,
    name: &str,
    flags: &[&str],
) -> Result<PathBuf, Error> {
    let program = libraries::folder(workspace)?.join(name);
    let mut cc = workspace.command("cc");
    cc.args([
        "-std=c11",
        "-D_POSIX_C_SOURCE=200809L",
        "-DJETON_TEST_HOOKS",
    ]);
    cc.args(["-Wall", "-Wextra", "-Werror", "-g"]).args(flags);
    cc.arg("-I").arg(workspace.path("crates/jeton-ffi/include"));
    for source in ["main.c", "cases.c", "everything.c", "json.c"] {
        cc.arg(workspace.path(SOURCES).join(source));
    }
    cc.arg(library)
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program);
    run_command(&mut cc)?;
    Ok(program)
}

/// Runs every case and every function.
fn runs(workspace: &Workspace, program: &Path) -> Result<(), Error> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let mut cases = workspace.command(program);
    counted::run(&name, Format::Sentence, cases.args(["cases", CASES]))?;
    run_command(quiet(workspace.command(program).arg("use")))
}

/// The panics that a test asks for need no backtrace.
fn quiet(command: &mut Command) -> &mut Command {
    command.env("RUST_BACKTRACE", "0")
}

/// Runs the program under valgrind: no error and no leak.
fn watch(workspace: &Workspace, program: &Path) -> Result<(), Error> {
    for arguments in [&["use"][..], &["cases", CASES], &["repeat", WATCHED]] {
        let mut valgrind = workspace.command("valgrind");
        // The standard library keeps a little until the process ends, which is still reachable.
        let kinds = "definite,indirect,possible";
        valgrind.args(["--quiet", "--leak-check=full", "--error-exitcode=9"]);
        valgrind.arg(format!("--show-leak-kinds={kinds}"));
        valgrind.arg(format!("--errors-for-leak-kinds={kinds}"));
        run_command(quiet(valgrind.arg(program).args(arguments)))?;
    }
    Ok(())
}

/// Whether an empty program can be built with them.
fn has_sanitizers(workspace: &Workspace, folder: &Path) -> bool {
    let source = folder.join("empty.c");
    let written = std::fs::write(&source, "int main(void) { return 0; }\n");
    let mut cc = workspace.command("cc");
    cc.args(["-fsanitize=address,undefined", "-o"]);
    cc.arg(folder.join("empty")).arg(&source);
    written.is_ok()
        && output(&mut cc).is_ok()
        && output(&mut workspace.command(folder.join("empty"))).is_ok()
}
