//! PEM and DER keys with additional, missing or contradicting data, for every algorithm. Contradictions and
//! ambiguity are rejected; irrelevant data is accepted.

mod der;
mod private;
mod public;
mod rows;
mod sec1;
mod subjects;

use der::{NULL, elements, octets};
use private::{private_rows, rsa_rows};
use public::public_rows;
use rows::{Row, Rows};
use sec1::sec1_forms;
use subjects::{Family, Subject, subjects};

fn check(
    subject: &Subject,
    read: &dyn Fn(&[u8]) -> jeton::Result<String>,
    rows: Vec<Row>,
    surprises: &mut Vec<String>,
) {
    let own = (subject.read_public)(&subject.spki).unwrap();
    for row in rows {
        let outcome = read(&row.der);
        match (row.is_right, outcome) {
            (true, Ok(key)) if key == own => {}
            (false, Err(jeton::Error::Key(_))) => {}
            (_, Ok(key)) if key == own => {
                surprises.push(format!("{}: {}: accepted", subject.name, row.what))
            }
            (_, Ok(_)) => surprises.push(format!(
                "{}: {}: read as another key",
                subject.name, row.what
            )),
            (_, Err(error)) => surprises.push(format!("{}: {}: {error}", subject.name, row.what)),
        }
    }
}

fn none(surprises: &[String]) {
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn pkcs8_that_deviates_is_rejected() {
    let mut surprises = Vec::new();
    for subject in subjects() {
        check(
            &subject,
            &subject.read_private,
            private_rows(&subject),
            &mut surprises,
        );
    }
    none(&surprises);
}

#[test]
fn spki_that_deviates_is_rejected() {
    let mut surprises = Vec::new();
    for subject in subjects() {
        check(
            &subject,
            &subject.read_public,
            public_rows(&subject),
            &mut surprises,
        );
    }
    none(&surprises);
}

fn pem(label: &str, der: &[u8]) -> String {
    use ::der::pem::{LineEnding, encode_string};
    encode_string(label, LineEnding::LF, der).unwrap()
}

/// The forms with their own PEM labels: SEC1, and PKCS#1 of either key.
#[test]
fn sec1_and_pkcs1_that_deviate_are_rejected() {
    let mut surprises = Vec::new();
    for subject in subjects() {
        let mut private = Rows(Vec::new());
        let mut public = Rows(Vec::new());
        let label = match subject.family {
            Family::Ec => {
                for (what, der, is_right) in sec1_forms(&subject) {
                    // Outside PKCS#8, only the key itself names the curve.
                    let names_its_curve = elements(&der).iter().any(|part| part[0] == 0xa0);
                    if is_right && names_its_curve {
                        private.wrong("SEC1: more after it", [&der[..], &[0]].concat());
                        private.wrong("SEC1: a NULL after it", [&der[..], &NULL].concat());
                        private.right(what, der);
                    } else {
                        private.wrong(what, der)
                    }
                }
                "EC PRIVATE KEY"
            }
            Family::Rsa => {
                rsa_rows(&subject, &<[u8]>::to_vec, &mut private);
                let der = octets(&subject.pkcs8);
                private.wrong("PKCS#1: more after it", [&der[..], &[0]].concat());
                private.wrong("PKCS#1: a NULL after it", [&der[..], &NULL].concat());
                private.right("PKCS#1", der);
                let der = subject.public();
                public.wrong("PKCS#1: more after it", [&der[..], &[0]].concat());
                public.wrong("PKCS#1: a NULL after it", [&der[..], &NULL].concat());
                public.right("PKCS#1", der);
                "RSA PRIVATE KEY"
            }
            Family::Edwards | Family::MlDsa => continue,
        };
        let read = |der: &[u8]| (subject.read_private_pem)(&pem(label, der));
        check(&subject, &read, private.0, &mut surprises);
        let read = |der: &[u8]| (subject.read_public_pem)(&pem("RSA PUBLIC KEY", der));
        check(&subject, &read, public.0, &mut surprises);
    }
    none(&surprises);
}

/// Text around and inside the PEM block.
#[test]
fn pem_with_more_than_one_key_is_rejected() {
    let mut surprises = Vec::new();
    for subject in subjects() {
        let own = pem("PRIVATE KEY", &subject.pkcs8);
        let other = pem("PRIVATE KEY", &subject.other_pkcs8);
        let body = own.lines().nth(1).unwrap();
        for (what, text, is_right) in [
            ("alone", own.clone(), true),
            ("with blank lines around it", format!("\n{own}\n\n"), true),
            ("twice", format!("{own}{own}"), false),
            ("before another", format!("{own}{other}"), false),
            ("after another", format!("{other}{own}"), false),
            (
                "with a character too many",
                own.replacen(body, &format!("{body}A"), 1),
                false,
            ),
            (
                "with padding within",
                own.replacen(body, &format!("{body}=="), 1),
                false,
            ),
            ("as a public key", pem("PUBLIC KEY", &subject.pkcs8), false),
            (
                "as a certificate",
                pem("CERTIFICATE", &subject.pkcs8),
                false,
            ),
            (
                "ended as another",
                own.replace("END PRIVATE", "END PUBLIC"),
                false,
            ),
        ] {
            let read = |_: &[u8]| (subject.read_private_pem)(&text);
            let what = format!("PEM {what}");
            let row = Row {
                what,
                der: Vec::new(),
                is_right,
            };
            check(&subject, &read, vec![row], &mut surprises);
        }
    }
    none(&surprises);
}
