//! SubjectPublicKeyInfo.

use super::der::*;
use super::rows::{Row, Rows, all_parameters};
use super::subjects::{Family, Subject};

pub(crate) fn public_rows(subject: &Subject) -> Vec<Row> {
    let mut rows = Rows(Vec::new());
    let parts = elements(&subject.spki);
    let (algorithm_element, key) = (&parts[0], &parts[1]);
    let public = subject.public();
    let of = |parts: &[&[u8]]| tlv(SEQUENCE, parts);
    let with_bits =
        |unused: u8, bits: &[u8]| of(&[algorithm_element, &tlv(BIT_STRING, &[&[unused], bits])]);
    rows.right("as it should be", subject.spki.clone());
    rows.wrong("more after it", [&subject.spki[..], &[0]].concat());
    rows.wrong(
        "another element after it",
        [&subject.spki[..], &NULL].concat(),
    );
    rows.wrong(
        "another element in it",
        of(&[algorithm_element, key, &NULL]),
    );
    rows.wrong(
        "more after the key",
        with_bits(0, &[&public[..], &[0]].concat()),
    );
    rows.wrong(
        "another element after the key",
        with_bits(0, &[&public[..], &NULL].concat()),
    );
    rows.wrong("a cut key", with_bits(0, &public[..public.len() - 1]));
    rows.wrong("an empty key", with_bits(0, &[]));
    for unused in [1, 7, 8] {
        rows.wrong(format!("{unused} unused bits"), with_bits(unused, &public));
    }
    rows.wrong(
        "an OCTET STRING",
        of(&[algorithm_element, &tlv(OCTET_STRING, &[&public])]),
    );
    for (what, parameters) in all_parameters() {
        let der = of(&[
            &algorithm(&subject.algorithm_id(), parameters.as_deref()),
            key,
        ]);
        if parameters == subject.parameters() {
            rows.right(format!("parameters: {what}"), der)
        } else {
            rows.wrong(format!("parameters: {what}"), der)
        }
    }
    for (what, oid) in [
        ("rsaPSS", &RSA_PSS[..]),
        ("RSAES-OAEP", &RSA_OAEP),
        ("ecDH", &EC_DH),
        ("X448", &X448),
        ("Ed448", &ED448),
    ] {
        let parameters = subject.parameters();
        for parameters in [parameters.as_deref(), None] {
            rows.wrong(
                format!("algorithm {what}"),
                of(&[&algorithm(oid, parameters), key]),
            );
        }
    }
    match subject.family {
        Family::Rsa => {
            let mut parts = elements(&public);
            parts.push(NULL.to_vec());
            let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            rows.wrong(
                "another element in the key",
                with_bits(0, &tlv(SEQUENCE, &parts)),
            );
        }
        Family::Ec => {
            let (x, y) = public[1..].split_at(public.len() / 2);
            let odd = y[y.len() - 1] & 1;
            rows.right(
                "a compressed point",
                with_bits(0, &[&[2 + odd], x].concat()),
            );
            rows.wrong("a hybrid point", with_bits(0, &[&[6 + odd], x, y].concat()));
            rows.wrong("the point at infinity", with_bits(0, &[0]));
            let mut off = public.clone();
            *off.last_mut().unwrap() ^= 1;
            rows.wrong("a point off the curve", with_bits(0, &off));
        }
        Family::Edwards | Family::MlDsa => {}
    }
    rows.0
}
