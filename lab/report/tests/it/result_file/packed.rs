//! A result compressed by gzip: the download of a page, and the output of `gzip results.json`.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use jeton_lab_model::result::{RESULT_BYTES_MAX, read, to_bytes, to_packed_bytes};

use super::refusal;
use crate::sample;

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[test]
fn packed_result_is_read_like_the_plain_one() {
    let result = sample::result();
    let folder = tempfile::tempdir().unwrap();
    // The file name does not decide the format.
    let path = folder.path().join("results.json");
    for bytes in [to_packed_bytes(&result), packed(&to_bytes(&result))] {
        assert!(bytes.len() * 4 < to_bytes(&result).len());
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(read(&path).unwrap(), result);
    }
}

#[test]
fn packed_result_truncated_or_broken_is_rejected() {
    let whole = to_packed_bytes(&sample::result());
    for end in [2, 9, 100, whole.len() - 1] {
        let said = refusal(&whole[..end]).unwrap();
        assert!(said.contains("is incomplete"), "{end} bytes: {said}");
    }
    let mut wrong_sum = whole.clone();
    let sum = whole.len() - 8;
    wrong_sum[sum] ^= 1;
    let said = refusal(&wrong_sum).unwrap();
    assert!(said.contains("invalid gzip data"), "{said}");
    let said = refusal(&packed(b"[1]")).unwrap();
    assert!(said.contains("is not a result of the lab"), "{said}");
}

#[test]
fn packed_result_that_expands_endlessly_is_rejected() {
    let blanks = vec![b' '; 1_000_000];
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..=RESULT_BYTES_MAX / 1_000_000 {
        packer.write_all(&blanks).unwrap();
    }
    let bomb = packer.finish().unwrap();
    assert!(bomb.len() < 100_000, "{} bytes", bomb.len());
    let said = refusal(&bomb).unwrap();
    assert!(said.contains("larger than 64 MB"), "{said}");
}
