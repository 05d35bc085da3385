//! base64url is canonical: decoding and encoding returns the same text, and all decoders reject every other text.
#![no_main]

#[path = "../../crates/jeton/src/base64.rs"]
mod base64;

use jeton_fuzz::seeds;
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: seeds::write(|| seeds::from_vectors(|found| found.is_compact(3))
        .iter()
        .flat_map(|token| token.split('.').map(str::to_owned).collect::<Vec<_>>())
        .collect()),
    |data: &[u8]| {
        let encoded = base64::encode(data);
        assert_eq!(encoded.len(), base64::encoded_length(data.len()));
        assert_eq!(base64::decode(encoded.as_bytes()).as_deref(), Ok(data));
        let mut onto = String::from("x");
        base64::encode_onto(data, &mut onto);
        assert_eq!(onto[1..], encoded);

        let decoded = base64::decode(data);
        if let Ok(bytes) = &decoded {
            assert_eq!(base64::encode(bytes).as_bytes(), data);
        }
        let mut onto = vec![1];
        match base64::decode_onto(data, &mut onto) {
            Ok(()) => assert_eq!(decoded.as_deref(), Ok(&onto[1..])),
            Err(error) => assert_eq!(decoded, Err(error)),
        }
        let mut buffer = vec![0; data.len()];
        match base64::decode_into(data, &mut buffer) {
            Ok(filled) => assert_eq!(decoded.as_deref(), Ok(&*filled)),
            Err(error) => assert_eq!(decoded, Err(error)),
        }
    }
);
