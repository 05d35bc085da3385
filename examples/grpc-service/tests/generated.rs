//! Compares the code in `src/generated` with the `.proto` file. `JETON_WRITE=1` regenerates it.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

#[test]
fn generated_code_equals_the_proto_file() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let descriptors = protox::compile(["greeter.proto"], [package.join("proto")]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    tonic_prost_build::configure()
        .emit_rerun_if_changed(false)
        .out_dir(folder.path())
        .compile_fds(descriptors)
        .unwrap();
    let generated = fs::read_to_string(folder.path().join("greeter.v1.rs")).unwrap();
    let committed = package.join("src/generated/greeter.v1.rs");
    if std::env::var_os("JETON_WRITE").is_some() {
        fs::write(&committed, &generated).unwrap();
    }
    assert!(
        fs::read_to_string(committed).unwrap() == generated,
        "src/generated differs from proto/: run JETON_WRITE=1 cargo test -p jeton-example-grpc-service"
    );
}
