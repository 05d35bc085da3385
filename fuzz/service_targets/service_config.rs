//! Any configuration of the server: no panic, and errors contain the position.
#![no_main]

use std::path::Path;

use jeton_fuzz::seeds;
use jeton_server::Config;
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: seeds::write(|| {
        let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/service.md");
        let book = std::fs::read_to_string(book).expect("docs/ is next to fuzz/");
        let blocks = book.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```"));
        blocks.map(|(block, _)| block.to_owned()).collect::<Vec<_>>()
    }),
    |text: &str| match Config::from_toml(text) {
        Ok(config) => drop(config.check_exposure(true)),
        Err(error) => assert!(error.to_string().contains("line ") || !error.to_string().is_empty()),
    }
);
