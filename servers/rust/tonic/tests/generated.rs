//! The code in `src/generated` is what the `.proto` file says. `JETON_WRITE=1` writes it.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

const NAME: &str = "jwt.services.rs";

#[test]
fn generated_code_matches_proto() {
    let house = Path::new(env!("CARGO_MANIFEST_DIR"));
    let proto = house.join("../../../proto");
    let described = protox::compile(["jwt/services/jwt_service.proto"], [proto]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    tonic_prost_build::configure()
        .build_client(false)
        .emit_rerun_if_changed(false)
        .out_dir(folder.path())
        .compile_fds(described)
        .unwrap();
    let made = fs::read(folder.path().join(NAME)).unwrap();
    let committed = house.join("src/generated").join(NAME);
    if std::env::var_os("JETON_WRITE").is_some() {
        fs::write(&committed, &made).unwrap();
    }
    assert!(
        fs::read(committed).unwrap() == made,
        "{NAME} is not what proto/ says: JETON_WRITE=1 cargo test --test generated"
    );
}
