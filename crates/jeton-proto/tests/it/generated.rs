//! Compares the code in `src/generated` with the `.proto` files. `JETON_WRITE=1` regenerates it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use prost::Message as _;
use prost_types::FileDescriptorSet;

const PROTOS: &[&str] = &[
    "jeton/v1/token.proto",
    "jeton/v1/admin.proto",
    "jwt/services/jwt_service.proto",
];

#[test]
fn generated_code_equals_the_proto_files() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut files, mut descriptors) = generate(&package.join("../../proto"), PROTOS, true);
    // Reflection does not need comments and source positions.
    for file in &mut descriptors.file {
        file.source_code_info = None;
    }
    files.insert("descriptors.bin".to_owned(), descriptors.encode_to_vec());
    compare(&package.join("src/generated"), files);
}

/// Here, because a crate whose generated code is missing could not build the test that writes it.
#[test]
fn generated_code_of_the_store_equals_the_calls_of_etcd() {
    let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jeton-store");
    let (files, _) = generate(&store.join("proto"), &["etcd.proto"], false);
    compare(&store.join("src/generated"), files);
}

fn compare(committed: &Path, generated: BTreeMap<String, Vec<u8>>) {
    if std::env::var_os("JETON_WRITE").is_some() {
        for (name, bytes) in &generated {
            fs::write(committed.join(name), bytes).unwrap();
        }
    }
    let mut names: Vec<_> = fs::read_dir(committed)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, generated.keys().cloned().collect::<Vec<_>>());
    for (name, bytes) in generated {
        assert!(
            fs::read(committed.join(&name)).unwrap() == bytes,
            "{name} differs from its .proto file: run JETON_WRITE=1 cargo test -p jeton-proto"
        );
    }
}

/// Generates the files, as a map from name to content, and returns the descriptors.
fn generate(
    folder: &Path,
    protos: &[&str],
    has_servers: bool,
) -> (BTreeMap<String, Vec<u8>>, FileDescriptorSet) {
    let descriptors = protox::compile(protos, [folder]).unwrap();
    let out = tempfile::tempdir().unwrap();
    tonic_prost_build::configure()
        .build_server(has_servers)
        .build_transport(false)
        .emit_rerun_if_changed(false)
        .skip_debug(SECRETS)
        .out_dir(out.path())
        .compile_fds(descriptors.clone())
        .unwrap();
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(out.path()).unwrap() {
        let entry = entry.unwrap();
        let bytes = fs::read(entry.path()).unwrap();
        files.insert(entry.file_name().into_string().unwrap(), bytes);
    }
    (files, descriptors)
}

/// Messages with a token, a key or a password. They have no `Debug`, so that they cannot reach a log.
const SECRETS: &[&str] = &[
    ".jeton.v1.IssueResponse",
    ".jeton.v1.IssueOutcome",
    ".jeton.v1.IssueBatchResponse",
    ".jeton.v1.VerifyRequest",
    ".jeton.v1.VerifyBatchRequest",
    ".jeton.v1.RevokeRequest",
    ".jeton.v1.ImportKeyRequest",
    ".jwt.services.GenerateJwtResponse",
    ".etcdserverpb.AuthenticateRequest",
    ".etcdserverpb.AuthenticateResponse",
];
