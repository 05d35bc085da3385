//! Compares the code in `src/generated` with the `.proto` files. `JETON_WRITE=1` regenerates it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use prost::Message as _;
use prost_types::FileDescriptorSet;
use tonic_prost_build::Builder;

const PROTOS: &[&str] = &[
    "jeton/v1/token.proto",
    "jeton/v1/admin.proto",
    "jwt/services/jwt_service.proto",
];

#[test]
fn generated_code_equals_the_proto_files() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let builder = builder().skip_debug(SECRETS);
    let (mut files, mut descriptors) = generate(&package.join("../../proto"), PROTOS, builder);
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
    let builder = builder().build_server(false).skip_debug(SECRETS);
    let (files, _) = generate(&store.join("proto"), &["etcd.proto"], builder);
    compare(&store.join("src/generated"), files);
}

/// Here, because the server stands alone with its lockfile, and would compile the generator again. The generator is of
/// the versions that the server has.
#[test]
fn generated_code_of_the_tonic_server_equals_its_proto_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let server = root.join("servers/rust/tonic");
    let builder = builder().build_client(false);
    let protos = ["jwt/services/jwt_service.proto"];
    let (files, _) = generate(&root.join("proto"), &protos, builder);
    compare(&server.join("src/generated"), files);
    for name in ["prost", "tonic", "tonic-prost"] {
        let [here, there] = [&root, &server].map(|folder| locked(folder, name));
        assert_eq!(here, there, "{name}");
    }
}

/// The version of a package in a lockfile.
fn locked(folder: &Path, name: &str) -> String {
    let text = fs::read_to_string(folder.join("Cargo.lock")).unwrap();
    let (_, package) = text.split_once(&format!("name = \"{name}\"\n")).unwrap();
    package.lines().next().unwrap().to_owned()
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

fn builder() -> Builder {
    tonic_prost_build::configure()
        .build_transport(false)
        .emit_rerun_if_changed(false)
}

/// Generates the files, as a map from name to content, and returns the descriptors.
fn generate(
    folder: &Path,
    protos: &[&str],
    builder: Builder,
) -> (BTreeMap<String, Vec<u8>>, FileDescriptorSet) {
    let descriptors = protox::compile(protos, [folder]).unwrap();
    let out = tempfile::tempdir().unwrap();
    builder
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
