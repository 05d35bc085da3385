//! Links another static library in Rust beside the C library, in one program.

use std::fs;
use std::path::Path;

use crate::command::{Error, Workspace, run as run_command};

const RUST: &str = r#"
//! Another library in Rust, with the same standard library and a panic that it catches.
#[unsafe(no_mangle)]
pub extern "C" fn second_sum(count: u64) -> u64 {
    let sum = std::panic::catch_unwind(|| {
        let all: Vec<u64> = (0..count).collect();
        assert!(count < 100, "so many");
        all.iter().sum()
    });
    sum.unwrap_or(u64::MAX)
}
"#;

const C: &str = r#"
#include <string.h>
#include "jeton.h"
uint64_t second_sum(uint64_t count);
int main(void) {
  const JetonKey *key;
  if (jeton_abi_version() != JETON_ABI_VERSION) return 1;
  if (jeton_key_generate((const uint8_t *)"ES256", 5, NULL, 0, &key, NULL)) return 2;
  if (jeton_release(key, NULL)) return 3;
  if (second_sum(10) != 45) return 4;
  return second_sum(1000) == UINT64_MAX ? 0 : 5;
}
"#;

/// Builds the program and runs it.
pub(super) fn run(workspace: &Workspace, library: &Path, folder: &Path) -> Result<(), Error> {
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).map_err(|error| Error::Failed(error.to_string()))
    };
    write("second.rs", RUST)?;
    write("second.c", C)?;
    let second = folder.join("libsecond.a");
    let mut rustc = workspace.command(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--edition", "2024", "--crate-type", "staticlib", "-O", "-o"]);
    run_command(rustc.arg(&second).arg(folder.join("second.rs")))?;
    let program = folder.join("second");
    // In both orders: the linker takes a symbol from the library that comes first.
    for libraries in [[library, &second], [&second, library]] {
        let mut cc = workspace.command("cc");
        cc.arg("-I").arg(workspace.path("crates/jeton-ffi/include"));
        cc.arg(folder.join("second.c")).args(libraries);
        run_command(cc.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program))?;
        run_command(&mut workspace.command(&program))?;
    }
    Ok(())
}
