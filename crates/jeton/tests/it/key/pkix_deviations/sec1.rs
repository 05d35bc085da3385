//! SEC1, alone and in PKCS#8.

use super::der::*;
use super::subjects::Subject;

/// RFC 5915 keys in every form, and whether they must be accepted.
pub(crate) fn sec1_forms(subject: &Subject) -> Vec<(String, Vec<u8>, bool)> {
    let inner = octets(&subject.pkcs8);
    let scalar = split(&elements(&inner)[1]).1.to_vec();
    let own_curve = split(&subject.parameters().unwrap()).1.to_vec();
    let parameters = |oid: &[u8]| tlv(0xa0, &[&tlv(OID, &[oid])]);
    let point = |unused: u8, point: &[u8]| tlv(0xa1, &[&tlv(BIT_STRING, &[&[unused], point])]);
    let form = |number: u8, scalar: &[u8], rest: &[&[u8]]| {
        tlv(
            SEQUENCE,
            &[
                &version(number),
                &tlv(OCTET_STRING, &[scalar]),
                &rest.concat(),
            ],
        )
    };
    let public = subject.public();
    let (x, y) = public[1..].split_at(public.len() / 2);
    let compressed = [&[2 + (y[y.len() - 1] & 1)], x].concat();
    let mut negated = compressed.clone();
    negated[0] ^= 1;
    let mut hybrid = public.clone();
    hybrid[0] = 6 + (y[y.len() - 1] & 1);
    let mut off = public.clone();
    *off.last_mut().unwrap() ^= 1;
    let own = parameters(&own_curve);
    let right = point(0, &public);
    let mut forms = vec![
        ("SEC1: scalar alone".to_owned(), form(1, &scalar, &[]), true),
        (
            "SEC1: with its parameters".to_owned(),
            form(1, &scalar, &[&own]),
            true,
        ),
        (
            "SEC1: with its publicKey".to_owned(),
            form(1, &scalar, &[&right]),
            true,
        ),
        (
            "SEC1: with both".to_owned(),
            form(1, &scalar, &[&own, &right]),
            true,
        ),
    ];
    let mut wrong = |what: &str, der| forms.push((format!("SEC1: {what}"), der, false));
    for (what, bits) in [
        ("another key's publicKey", bits(&subject.other_spki)),
        ("the negated point as publicKey", negated),
        ("a hybrid point as publicKey", hybrid),
        ("a publicKey off the curve", off),
        ("a cut publicKey", public[..public.len() - 1].to_vec()),
        ("an empty publicKey", Vec::new()),
        ("the point at infinity as publicKey", vec![0]),
    ] {
        wrong(what, form(1, &scalar, &[&own, &point(0, &bits)]));
    }
    wrong(
        "a publicKey with an unused bit",
        form(1, &scalar, &[&own, &point(1, &public)]),
    );
    wrong(
        "publicKey before parameters",
        form(1, &scalar, &[&right, &own]),
    );
    for (name, curve) in ["P-256", "P-384", "P-521", "secp256k1"].iter().zip(CURVES) {
        if curve != own_curve {
            let what = format!("parameters of {name}");
            wrong(&what, form(1, &scalar, &[&parameters(curve)]));
        }
    }
    let explicit = tlv(0xa0, &[&tlv(SEQUENCE, &[&version(1), &tlv(SEQUENCE, &[])])]);
    wrong("explicit parameters", form(1, &scalar, &[&explicit]));
    wrong(
        "parameters that are NULL",
        form(1, &scalar, &[&tlv(0xa0, &[&NULL])]),
    );
    wrong("version 0", form(0, &scalar, &[&own]));
    wrong("version 2", form(2, &scalar, &[&own]));
    wrong(
        "a longer scalar",
        form(1, &[&[0], &scalar[..]].concat(), &[&own]),
    );
    wrong("a zero scalar", form(1, &vec![0; scalar.len()], &[&own]));
    wrong(
        "a scalar beyond the order",
        form(1, &vec![0xff; scalar.len()], &[&own]),
    );
    wrong("an empty scalar", form(1, &[], &[&own]));
    forms
}
