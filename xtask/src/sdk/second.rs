//! Links another static library in Rust beside the C library, in one program.

use std::path::Path;

use crate::command::{Error, Workspace, run as run_command};

const SOURCES: &str = "crates/jeton-ffi/tests/second";

/// Builds the program and runs it.
pub(super) fn run(workspace: &Workspace, library: &Path, folder: &Path) -> Result<(), Error> {
    let sources = workspace.path(SOURCES);
    let second = folder.join("libsecond.a");
    let mut rustc = workspace.command(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--edition", "2024", "--crate-type", "staticlib", "-O", "-o"]);
    run_command(rustc.arg(&second).arg(sources.join("second.rs")))?;
    let program = folder.join("second");
    // In both orders: the linker takes a symbol from the library that comes first.
    for libraries in [[library, &second], [&second, library]] {
        let mut cc = workspace.command("cc");
        cc.arg("-I").arg(workspace.path("crates/jeton-ffi/include"));
        cc.arg(sources.join("second.c")).args(libraries);
        run_command(cc.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program))?;
        run_command(&mut workspace.command(&program))?;
    }
    Ok(())
}
