//! Valid and invalid encodings of a key, and data shared by several tables.

use super::der::{CURVES, ED448, NULL, OCTET_STRING, OID, SEQUENCE, tlv, version};

/// An encoding for one subject, and whether it must be accepted.
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) der: Vec<u8>,
    pub(crate) is_right: bool,
}

pub(crate) struct Rows(pub(crate) Vec<Row>);

impl Rows {
    pub(crate) fn right(&mut self, what: impl Into<String>, der: Vec<u8>) {
        self.0.push(Row {
            what: what.into(),
            der,
            is_right: true,
        });
    }

    pub(crate) fn wrong(&mut self, what: impl Into<String>, der: Vec<u8>) {
        self.0.push(Row {
            what: what.into(),
            der,
            is_right: false,
        });
    }
}

/// The parameters of all algorithms, and none.
pub(crate) fn all_parameters() -> Vec<(&'static str, Option<Vec<u8>>)> {
    let mut all = vec![
        ("no parameters", None),
        ("NULL", Some(NULL.to_vec())),
        ("a NULL with contents", Some(vec![0x05, 0x01, 0x00])),
        ("an empty SEQUENCE", Some(tlv(SEQUENCE, &[]))),
        ("an OCTET STRING", Some(tlv(OCTET_STRING, &[&[1]]))),
        (
            "explicit EC parameters",
            Some(tlv(SEQUENCE, &[&version(1), &tlv(SEQUENCE, &[])])),
        ),
        ("another OID", Some(tlv(OID, &[&ED448]))),
    ];
    let names = ["P-256", "P-384", "P-521", "secp256k1"];
    for (name, curve) in names.into_iter().zip(CURVES) {
        all.push((name, Some(tlv(OID, &[curve]))));
    }
    all
}
