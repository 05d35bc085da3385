//! `include/jeton.h` matches the source. `JETON_WRITE=1` writes it.

use std::path::PathBuf;

use cbindgen::{Builder, Config};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn header_is_what_the_source_says() {
    let config = Config::from_file(folder().join("cbindgen.toml")).unwrap();
    // With only the root, cbindgen reads its modules and does not start Cargo.
    let builder = Builder::new()
        .with_config(config)
        .with_src(folder().join("src/lib.rs"));
    let mut header = Vec::new();
    builder.generate().unwrap().write(&mut header);
    let header = String::from_utf8(header).unwrap();

    let file = folder().join("include/jeton.h");
    if std::env::var_os("JETON_WRITE").is_some() {
        std::fs::write(&file, &header).unwrap();
    }
    assert!(
        std::fs::read_to_string(&file).unwrap_or_default() == header,
        "include/jeton.h is stale: JETON_WRITE=1 cargo test -p jeton-ffi --test it header"
    );
}
