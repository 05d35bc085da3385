//! Passes the compiler's version to the crate: `hello` reports what the driver was built with.

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok());
    // "rustc 1.95.0 (… date)": only the number is used.
    let number = version
        .as_deref()
        .and_then(|line| line.split_whitespace().nth(1))
        .unwrap_or("unknown");
    println!("cargo::rustc-env=JETON_DRIVER_RUSTC=rustc {number}");
    println!("cargo::rerun-if-changed=build.rs");
}
