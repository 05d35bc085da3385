//! Checks that the code in `src/generated` matches the `.proto` file. `JETON_WRITE=1` writes it.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

const NAME: &str = "jwt.services.rs";

#[test]
fn generated_code_matches_proto() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let proto = package.join("../../../proto");
    let described = protox::compile(["jwt/services/jwt_service.proto"], [proto]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    tonic_prost_build::configure()
        .build_client(false)
        .emit_rerun_if_changed(false)
        .out_dir(folder.path())
        .compile_fds(described)
        .unwrap();
    let made = fs::read(folder.path().join(NAME)).unwrap();
    let committed = package.join("src/generated").join(NAME);
    if std::env::var_os("JETON_WRITE").is_some() {
        fs::write(&committed, &made).unwrap();
    }
    assert!(
        fs::read(committed).unwrap() == made,
        "{NAME} does not match proto/; run: JETON_WRITE=1 cargo test --test generated"
    );
}
