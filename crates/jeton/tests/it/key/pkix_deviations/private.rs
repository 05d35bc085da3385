//! PKCS#8, and its contents for RSA and ML-DSA.

use aws_lc_rs::encoding::AsRawBytes;
use aws_lc_rs::signature::{
    ML_DSA_44_SIGNING, ML_DSA_65_SIGNING, ML_DSA_87_SIGNING, PqdsaKeyPair, PqdsaSigningAlgorithm,
};

use super::der::*;
use super::rows::{Row, Rows, all_parameters};
use super::sec1::sec1_forms;
use super::subjects::{Family, Subject};

pub(crate) fn private_rows(subject: &Subject) -> Vec<Row> {
    let mut rows = Rows(Vec::new());
    let (algorithm_element, inner) = subject.private();
    let public = subject.public();
    let key = tlv(OCTET_STRING, &[&inner]);
    let of = |parts: &[&[u8]]| tlv(SEQUENCE, parts);
    let with_key = |inner: &[u8]| {
        let key = tlv(OCTET_STRING, &[inner]);
        tlv(SEQUENCE, &[&version(0), &algorithm_element, &key])
    };
    let (v1, v2) = (version(0), version(1));
    let right = public_key(0, &public);

    rows.right("version 1", subject.pkcs8.clone());
    rows.right(
        "version 1 with attributes",
        of(&[&v1, &algorithm_element, &key, &attributes()]),
    );
    rows.right(
        "version 2 with its publicKey",
        of(&[&v2, &algorithm_element, &key, &right]),
    );
    rows.right(
        "version 2 with attributes and its publicKey",
        of(&[&v2, &algorithm_element, &key, &attributes(), &right]),
    );

    let other = public_key(0, &bits(&subject.other_spki));
    let longer = [&public[..], &[0]].concat();
    for (what, wrong) in [
        ("another key's", other.clone()),
        ("a cut", public_key(0, &public[..public.len() - 1])),
        ("a longer", public_key(0, &longer)),
        ("an empty", public_key(0, &[])),
        ("a publicKey with an unused bit, as", public_key(1, &public)),
        (
            "a constructed",
            tlv(0xa1, &[&tlv(BIT_STRING, &[&[0], &public])]),
        ),
    ] {
        rows.wrong(
            format!("{what} publicKey"),
            of(&[&v2, &algorithm_element, &key, &wrong]),
        );
    }
    rows.wrong(
        "version 1 with a publicKey",
        of(&[&v1, &algorithm_element, &key, &right]),
    );
    rows.wrong(
        "version 2 without a publicKey",
        of(&[&v2, &algorithm_element, &key]),
    );
    rows.wrong("version 3", of(&[&version(2), &algorithm_element, &key]));
    rows.wrong(
        "two publicKeys",
        of(&[&v2, &algorithm_element, &key, &right, &other]),
    );
    rows.wrong(
        "publicKey before attributes",
        of(&[&v2, &algorithm_element, &key, &right, &attributes()]),
    );
    rows.wrong("two attribute sets", {
        of(&[&v1, &algorithm_element, &key, &attributes(), &attributes()])
    });
    rows.wrong("more after it", [&subject.pkcs8[..], &[0]].concat());
    rows.wrong(
        "another element after it",
        [&subject.pkcs8[..], &NULL].concat(),
    );
    rows.wrong(
        "another element in it",
        of(&[&v1, &algorithm_element, &key, &NULL]),
    );
    rows.wrong("more after the key", with_key(&[&inner[..], &[0]].concat()));
    rows.wrong(
        "another element after the key",
        with_key(&[&inner[..], &NULL].concat()),
    );
    rows.wrong("a cut key", with_key(&inner[..inner.len() - 1]));
    rows.wrong("an empty key", with_key(&[]));
    if split(&inner).0 == SEQUENCE {
        let mut parts = elements(&inner);
        parts.push(NULL.to_vec());
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        rows.wrong(
            "another element in the key",
            with_key(&tlv(SEQUENCE, &parts)),
        );
    }
    let mut parts = elements(&algorithm_element);
    if parts.len() == 1 {
        parts.push(NULL.to_vec());
    }
    parts.push(NULL.to_vec());
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    rows.wrong(
        "another element after the parameters",
        of(&[&v1, &tlv(SEQUENCE, &parts), &key]),
    );

    for (what, parameters) in all_parameters() {
        let der = of(&[
            &v1,
            &algorithm(&subject.algorithm_id(), parameters.as_deref()),
            &key,
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
                of(&[&v1, &algorithm(oid, parameters), &key]),
            );
        }
    }
    match subject.family {
        Family::Rsa => rsa_rows(subject, &with_key, &mut rows),
        Family::Ec => {
            for (what, inner, is_right) in sec1_forms(subject) {
                if is_right {
                    rows.right(what, with_key(&inner))
                } else {
                    rows.wrong(what, with_key(&inner))
                }
            }
        }
        Family::Edwards => {
            let secret = &inner[2..];
            rows.wrong("a key without its own OCTET STRING", with_key(secret));
            for length in [0, 31, 33, 64] {
                let mut secret = secret.to_vec();
                secret.resize(length, 1);
                rows.wrong(
                    format!("a key of {length} bytes"),
                    with_key(&tlv(OCTET_STRING, &[&secret])),
                );
            }
        }
        Family::MlDsa => ml_dsa_rows(subject, &with_key, &mut rows),
    }
    rows.0
}

pub(crate) fn rsa_rows(subject: &Subject, with_key: &dyn Fn(&[u8]) -> Vec<u8>, rows: &mut Rows) {
    let parts = elements(&octets(&subject.pkcs8));
    let others = elements(&octets(&subject.other_pkcs8));
    let of = |parts: &[Vec<u8>]| {
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        with_key(&tlv(SEQUENCE, &parts))
    };
    assert_eq!(parts.len(), 9);
    let names = ["version", "n", "e", "d", "p", "q", "dp", "dq", "qi"];
    for (index, name) in names
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(index, _)| *index != 2)
    {
        let mut changed = parts.clone();
        changed[index] = others[index].clone();
        rows.wrong(format!("another key's {name}"), of(&changed));
    }
    let mut multi = parts.clone();
    multi[0] = version(1);
    rows.wrong("version multi without other primes", of(&multi));
    let three = tlv(SEQUENCE, &[&parts[4], &parts[6], &parts[8]]);
    multi.push(tlv(SEQUENCE, &[&three]));
    rows.wrong("another prime", of(&multi));
    multi[0] = version(0);
    rows.wrong("another prime in version two-prime", of(&multi));
    let mut padded = parts.clone();
    let n = split(&parts[1]).1;
    padded[1] = tlv(INTEGER, &[&[0], n]);
    rows.wrong("a number with a zero too many", of(&padded));
}

pub(crate) fn ml_dsa_rows(subject: &Subject, with_key: &dyn Fn(&[u8]) -> Vec<u8>, rows: &mut Rows) {
    let set: &'static PqdsaSigningAlgorithm = match subject.name.as_str() {
        "ML-DSA-44" => &ML_DSA_44_SIGNING,
        "ML-DSA-65" => &ML_DSA_65_SIGNING,
        _ => &ML_DSA_87_SIGNING,
    };
    let seed_of = |pkcs8: &[u8]| {
        let inner = octets(pkcs8);
        assert_eq!(inner[..2], [0x80, 0x20], "the seed alone");
        inner[2..].to_vec()
    };
    let expanded_of = |seed: &[u8]| {
        let pair = PqdsaKeyPair::from_seed(set, seed).unwrap();
        pair.private_key().as_raw_bytes().unwrap().as_ref().to_vec()
    };
    let (seed, other) = (seed_of(&subject.pkcs8), seed_of(&subject.other_pkcs8));
    let (expanded, other_expanded) = (expanded_of(&seed), expanded_of(&other));
    let octets = |bytes: &[u8]| tlv(OCTET_STRING, &[bytes]);
    let both = |seed: &[u8], expanded: &[u8]| {
        with_key(&tlv(SEQUENCE, &[&octets(seed), &octets(expanded)]))
    };
    rows.right("the seed and its expanded key", both(&seed, &expanded));
    rows.wrong(
        "the seed and another's expanded key",
        both(&seed, &other_expanded),
    );
    rows.wrong(
        "another's seed and the expanded key",
        both(&other, &expanded),
    );
    rows.wrong("the expanded key alone", with_key(&octets(&expanded)));
    rows.wrong("the seed as an OCTET STRING", with_key(&octets(&seed)));
    rows.wrong(
        "the seed as a constructed element",
        with_key(&tlv(0xa0, &[&octets(&seed)])),
    );
    rows.wrong("the seed without its tag", with_key(&seed));
    for at in [0, expanded.len() / 2, expanded.len() - 1] {
        let mut changed = expanded.clone();
        changed[at] ^= 1;
        rows.wrong(
            format!("the seed and its expanded key, changed at byte {at}"),
            both(&seed, &changed),
        );
    }
    // The last bytes look like the encoding of a seed.
    let mut looks_like = expanded.clone();
    let end = looks_like.len();
    looks_like[end - 34..end - 32].copy_from_slice(&[0x80, 0x20]);
    looks_like[end - 32..].copy_from_slice(&seed);
    rows.wrong(
        "an expanded key that ends like a seed",
        with_key(&octets(&looks_like)),
    );
    rows.wrong(
        "the seed, its expanded key and more",
        with_key(&tlv(SEQUENCE, &[&octets(&seed), &octets(&expanded), &NULL])),
    );
    for length in [0, 31, 33, 64] {
        let mut seed = seed.clone();
        seed.resize(length, 1);
        rows.wrong(
            format!("a seed of {length} bytes"),
            with_key(&tlv(0x80, &[&seed])),
        );
    }
}
