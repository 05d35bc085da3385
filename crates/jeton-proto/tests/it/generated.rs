//! Compares the code in `src/generated` with the `.proto` files. `JETON_WRITE=1` regenerates it.

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
fn generated_code_equals_the_proto_files() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let committed = package.join("src/generated");
    let generated = generate(&package.join("../../proto"));
    if std::env::var_os("JETON_WRITE").is_some() {
        for (name, bytes) in &generated {
            fs::write(committed.join(name), bytes).unwrap();
        }
    }
    let mut names: Vec<_> = fs::read_dir(&committed)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, generated.keys().cloned().collect::<Vec<_>>());
    for (name, bytes) in generated {
        assert!(
            fs::read(committed.join(&name)).unwrap() == bytes,
            "{name} differs from proto/: run JETON_WRITE=1 cargo test -p jeton-proto"
        );
    }
}

/// Generates the files, as a map from name to content.
fn generate(protos: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut descriptors = protox::compile(PROTOS, [protos]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    tonic_prost_build::configure()
        .build_transport(false)
        .emit_rerun_if_changed(false)
        .skip_debug(SECRETS)
        .out_dir(folder.path())
        .compile_fds(descriptors.clone())
        .unwrap();
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let bytes = fs::read(entry.path()).unwrap();
        files.insert(entry.file_name().into_string().unwrap(), bytes);
    }
    // Reflection does not need comments and source positions.
    for file in &mut descriptors.file {
        file.source_code_info = None;
    }
    files.insert("descriptors.bin".to_owned(), descriptors.encode_to_vec());
    files
}

/// Messages with a token or a key. They have no `Debug`, so that they cannot reach a log.
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
