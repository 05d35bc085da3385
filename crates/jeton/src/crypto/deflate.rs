//! Raw DEFLATE (RFC 1951) with a limit on the output size.

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};
use zeroize::Zeroizing;

/// The default level of miniz_oxide.
const LEVEL: u8 = 6;

/// Why data is not inflated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InflateError {
    /// Not exactly one complete DEFLATE stream.
    Malformed,
    /// The output exceeds the limit.
    TooLarge,
}

pub(crate) fn deflate(data: &[u8]) -> Vec<u8> {
    compress_to_vec(data, LEVEL)
}

/// Inflates to at most `limit` bytes. Never uses more memory than that.
pub(crate) fn inflate(data: &[u8], limit: usize) -> Result<Zeroizing<Vec<u8>>, InflateError> {
    let mut out = Zeroizing::new(vec![0; data.len().saturating_mul(2).min(limit)]);
    let mut state = Box::<DecompressorOxide>::default();
    let (mut input, mut filled) = (data, 0);
    loop {
        let (status, read, written) = decompress(
            &mut state,
            input,
            &mut out,
            filled,
            TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
        );
        filled += written;
        input = input.get(read..).ok_or(InflateError::Malformed)?;
        match status {
            TINFLStatus::Done if input.is_empty() => {
                out.truncate(filled);
                return Ok(out);
            }
            TINFLStatus::HasMoreOutput if out.len() == limit => return Err(InflateError::TooLarge),
            TINFLStatus::HasMoreOutput => {
                // A new buffer, so that the old one is wiped; `resize` would leave a copy behind.
                let length = out.len().saturating_mul(2).clamp(1, limit);
                let mut larger = Zeroizing::new(vec![0; length]);
                larger[..filled].copy_from_slice(&out[..filled]);
                out = larger;
            }
            _ => return Err(InflateError::Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deflate_round_trips() {
        for length in [0, 1, 100, 70_000] {
            let data: Vec<u8> = (0..length)
                .map(|i: u32| (i % 251 * (i % 17)) as u8)
                .collect();
            let small = deflate(&data);
            let back = inflate(&small, data.len().max(1)).expect("within the limit");
            assert_eq!(back.as_slice(), data);
        }
    }

    #[test]
    fn inflate_limit_is_exact() {
        let bomb = deflate(&vec![0; 1_000_000]);
        assert!(bomb.len() < 2_000);
        assert!(inflate(&bomb, 1_000_000).is_ok());
        assert_eq!(inflate(&bomb, 999_999).err(), Some(InflateError::TooLarge));
        assert_eq!(inflate(&bomb, 0).err(), Some(InflateError::TooLarge));
    }

    #[test]
    fn inflate_cut_or_extended_data_is_malformed() {
        let small = deflate(b"some text, some text, some text");
        for length in 0..small.len() {
            assert_eq!(
                inflate(&small[..length], 1000).err(),
                Some(InflateError::Malformed)
            );
        }
        let longer = [small.as_slice(), &[0]].concat();
        assert_eq!(inflate(&longer, 1000).err(), Some(InflateError::Malformed));
    }
}
