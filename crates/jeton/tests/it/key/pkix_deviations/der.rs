//! A DER writer and reader for tests, for forms that no library writes.

pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const NULL: [u8; 2] = [0x05, 0x00];
pub(crate) const ATTRIBUTES: u8 = 0xa0;
pub(crate) const PUBLIC_KEY: u8 = 0x81;
pub(crate) const OID: u8 = 0x06;

/// Object identifiers, as they are encoded.
pub(crate) const RSA_PSS: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a];
pub(crate) const RSA_OAEP: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x07];
pub(crate) const EC_DH: [u8; 5] = [0x2b, 0x81, 0x04, 0x01, 0x0c];
pub(crate) const X448: [u8; 3] = [0x2b, 0x65, 0x6f];
pub(crate) const ED448: [u8; 3] = [0x2b, 0x65, 0x71];
pub(crate) const CURVES: [&[u8]; 4] = [
    &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
    &[0x2b, 0x81, 0x04, 0x00, 0x22],
    &[0x2b, 0x81, 0x04, 0x00, 0x23],
    &[0x2b, 0x81, 0x04, 0x00, 0x0a],
];

/// One element: tag, length, and its concatenated contents.
pub(crate) fn tlv(tag: u8, contents: &[&[u8]]) -> Vec<u8> {
    let contents = contents.concat();
    let mut element = vec![tag];
    match contents.len() {
        short @ 0..0x80 => element.push(short as u8),
        long => {
            let bytes = long.to_be_bytes();
            let bytes = &bytes[bytes.iter().position(|byte| *byte != 0).unwrap()..];
            element.push(0x80 | bytes.len() as u8);
            element.extend_from_slice(bytes);
        }
    }
    element.extend(contents);
    element
}

/// Returns the tag and contents of the first element, and the rest.
pub(crate) fn split(der: &[u8]) -> (u8, &[u8], &[u8]) {
    let (length, start) = match der[1] {
        short @ 0..0x80 => (usize::from(short), 2),
        long => {
            let bytes = usize::from(long & 0x7f);
            let length = der[2..2 + bytes]
                .iter()
                .fold(0, |length, byte| length << 8 | usize::from(*byte));
            (length, 2 + bytes)
        }
    };
    (der[0], &der[start..start + length], &der[start + length..])
}

/// The elements in a constructed one.
pub(crate) fn elements(der: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = split(der).1;
    let mut elements = Vec::new();
    while !rest.is_empty() {
        let after = split(rest).2;
        elements.push(rest[..rest.len() - after.len()].to_vec());
        rest = after;
    }
    elements
}

pub(crate) fn bits(spki: &[u8]) -> Vec<u8> {
    split(&elements(spki)[1]).1[1..].to_vec()
}

pub(crate) fn octets(pkcs8: &[u8]) -> Vec<u8> {
    split(&elements(pkcs8)[2]).1.to_vec()
}

pub(crate) fn version(number: u8) -> Vec<u8> {
    tlv(INTEGER, &[&[number]])
}

pub(crate) fn algorithm(oid: &[u8], parameters: Option<&[u8]>) -> Vec<u8> {
    tlv(
        SEQUENCE,
        &[&tlv(OID, &[oid]), parameters.unwrap_or_default()],
    )
}

/// An attribute that does not affect the key: a friendly name.
pub(crate) fn attributes() -> Vec<u8> {
    let friendly_name = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x14];
    let value = tlv(0x31, &[&tlv(0x1e, &[&[0, b'k']])]);
    tlv(
        ATTRIBUTES,
        &[&tlv(SEQUENCE, &[&tlv(OID, &[&friendly_name]), &value])],
    )
}

/// A PUBLIC KEY of PKCS#8, version 2, with this number of unused bits.
pub(crate) fn public_key(unused: u8, bits: &[u8]) -> Vec<u8> {
    tlv(PUBLIC_KEY, &[&[unused], bits])
}
