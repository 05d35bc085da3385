//! The code in `src/generated` is what the `.proto` files say. `JETON_WRITE=1` writes it.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use prost::Message as _;

const PROTOS: &[&str] = &[
    "jeton/v1/token.proto",
    "jeton/v1/admin.proto",
    "jwt/services/jwt_service.proto",
];

#[test]
fn the_generated_code_is_what_the_protos_say() {
    let house = Path::new(env!("CARGO_MANIFEST_DIR"));
    let committed = house.join("src/generated");
    let made = make(&house.join("../../proto"));
    if std::env::var_os("JETON_WRITE").is_some() {
        for (name, bytes) in &made {
            fs::write(committed.join(name), bytes).unwrap();
        }
    }
    let mut there: Vec<_> = fs::read_dir(&committed)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    assert_eq!(there, made.keys().cloned().collect::<Vec<_>>());
    for (name, bytes) in made {
        assert!(
            fs::read(committed.join(&name)).unwrap() == bytes,
            "{name} is not what proto/ says: JETON_WRITE=1 cargo test -p jeton-proto"
        );
    }
}

/// Each file's name and contents.
fn make(protos: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut described = protox::compile(PROTOS, [protos]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    tonic_prost_build::configure()
        .build_transport(false)
        .emit_rerun_if_changed(false)
        .skip_debug(SECRETS)
        .out_dir(folder.path())
        .compile_fds(described.clone())
        .unwrap();
    let mut made = BTreeMap::new();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let bytes = fs::read(entry.path()).unwrap();
        made.insert(entry.file_name().into_string().unwrap(), bytes);
    }
    // Reflection tells what can be called; comments and places of the sources it needs not.
    for file in &mut described.file {
        file.source_code_info = None;
    }
    made.insert("descriptors.bin".to_owned(), described.encode_to_vec());
    made
}

/// Messages that carry a token or a key: they have no `Debug`, so that none can reach a log.
const SECRETS: &[&str] = &[
    ".jeton.v1.IssueResponse",
    ".jeton.v1.IssueOutcome",
    ".jeton.v1.IssueBatchResponse",
    ".jeton.v1.VerifyRequest",
    ".jeton.v1.VerifyBatchRequest",
    ".jeton.v1.RevokeRequest",
    ".jeton.v1.ImportKeyRequest",
    ".jwt.services.GenerateJwtResponse",
];
