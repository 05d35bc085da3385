//! Conclusions of report 2: the cost of algorithms.

use super::evidence::{Compared, Evidence, Finding, Open, Parts, time};
use super::{Claim, attacked, claim, of};
use crate::report_2::{doing, jwe, jws};
use crate::source::REPORT_2;
use crate::works;
use jeton_lab_model::result::{Answer, ClaimAnswered, RowId, VerdictKind};

/// The smallest ratio for "heavily", and the additional bytes of an RSA key of 3,072 bits.
const HEAVILY: f64 = 3.0;
const HEAVY_BYTES: u64 = 384;
/// The largest ratio, in either direction, for "about the same", and for "a little faster".
const ABOUT: f64 = 1.5;
/// The largest share of a token for "a little smaller".
const A_LITTLE_SMALLER: f64 = 0.1;
/// The largest share for "next to nothing".
const NEXT_TO_NOTHING: f64 = 0.25;
/// The largest share for "little".
const LITTLE: f64 = 0.5;
/// The smallest ratio to HMAC for "very slowly" and "not well".
const VERY_SLOWLY: f64 = 20.0;
const NOT_WELL: f64 = 10.0;
/// The range for "about seven times".
const ABOUT_SEVEN: [f64; 2] = [5.0, 10.0];

/// The works that the conclusions are decided by.
pub(super) fn deciding() -> Vec<RowId> {
    let encryptions = [
        ("dir", "A128GCM"),
        ("dir", "A128CBC-HS256"),
        ("dir", "A256GCM"),
        ("dir", "A256CBC-HS512"),
        ("A128KW", "A256GCM"),
        ("A256KW", "A256GCM"),
        ("RSA-OAEP", "A256GCM"),
        ("RSA-OAEP-256", "A256GCM"),
        ("RSA1_5", "A256GCM"),
    ];
    let signatures = ["NONE", "HS256", "RS256", "ES256", "ES384", "ES512"];
    let encryptions = encryptions
        .iter()
        .flat_map(|(alg, enc)| [encrypt(alg, enc), decrypt(alg, enc)]);
    let signatures = signatures
        .iter()
        .flat_map(|alg| [signed(alg), verified(alg)]);
    encryptions.chain(signatures).collect()
}

pub(super) fn answers(evidence: &Evidence<'_>) -> Vec<ClaimAnswered> {
    let e = evidence;
    let mut claims = encryption(e);
    claims.extend(signatures(e));
    claims.extend(cautions(e));
    of(REPORT_2, claims)
}

fn encryption(e: &Evidence<'_>) -> Vec<Claim> {
    vec![
        claim("2.1", rsa_encryption(e)),
        claim("2.2", slowest(e)),
        claim("2.3a", content_encryptions(e, false)),
        claim("2.3b", content_encryptions(e, true)),
        claim("2.3c", smaller(e)),
        claim("2.4", key_wrap(e)),
    ]
}

fn encrypt(alg: &str, enc: &str) -> RowId {
    doing(&jwe(alg, enc), "encrypt")
}

fn decrypt(alg: &str, enc: &str) -> RowId {
    doing(&jwe(alg, enc), "decrypt")
}

fn signed(alg: &str) -> RowId {
    doing(&jws(alg), "sign")
}

fn verified(alg: &str) -> RowId {
    doing(&jws(alg), "verify")
}

fn rsa_encryption(e: &Evidence<'_>) -> Result<Finding, Open> {
    let (rsa, wrap) = (
        encrypt("RSA-OAEP-256", "A256GCM"),
        encrypt("A256KW", "A256GCM"),
    );
    let (back, unwrap) = (
        decrypt("RSA-OAEP-256", "A256GCM"),
        decrypt("A256KW", "A256GCM"),
    );
    let (large, small) = (e.size(&rsa)?, e.size(&wrap)?);
    let larger = large.saturating_sub(small);
    let mut parts = Parts::default();
    for (what, with, without) in [("encrypting", rsa, wrap), ("decrypting", back, unwrap)] {
        let compared = e.compare(&with, &without)?;
        parts.add(what, &compared, compared.is_at_least(HEAVILY));
    }
    parts.is_wrong |= larger < HEAVY_BYTES;
    let (heavy, times) = parts.judged("RSA-OAEP-256 against A256KW: ")?;
    let measured = format!("{times}, {larger} bytes larger ({large} against {small})");
    let why =
        format!("high cost means {HEAVILY} × the time in both directions, and {HEAVY_BYTES} bytes");
    Ok(Finding::new(holds(heavy), measured, why, parts.rows))
}

/// The time of RSA decryption in the report.
const PUBLISHED_DECRYPTION: &str = "15 ms";

/// Compares the fastest RSA decryption with the slowest other row of the report, of those that were measured.
fn slowest(e: &Evidence<'_>) -> Result<Finding, Open> {
    let needed = deciding();
    for work in &needed {
        e.time(work)?;
    }
    let (mut rsa, mut others) = (Vec::new(), Vec::new());
    let further = works(REPORT_2.report, 1);
    let further = further.into_iter().filter(|work| !needed.contains(work));
    for work in needed.iter().cloned().chain(further) {
        let Ok(time) = e.time(&work) else { continue };
        let is_rsa = work.operation == "decrypt" && work.subject.contains(":jwe:RSA");
        if is_rsa {
            rsa.push((time, work))
        } else {
            others.push((time, work))
        }
    }
    let by_time = |a: &&(f64, RowId), b: &&(f64, RowId)| a.0.total_cmp(&b.0);
    let fastest = rsa.iter().min_by(by_time).ok_or("RSA decryption")?;
    let longest = rsa.iter().max_by(by_time).ok_or("RSA decryption")?;
    let (most, other) = others.iter().max_by(by_time).ok_or("other operations")?;
    let compared = e.compare(&fastest.1, other)?;
    let measured = format!(
        "RSA decryption takes {} to {} ({PUBLISHED_DECRYPTION} in the report); the slowest of \
         the report's {} other measured operations {} ({}, {})",
        time(fastest.0),
        time(longest.0),
        others.len(),
        time(*most),
        other.subject,
        other.operation
    );
    let slowest = judged(&compared)? == VerdictKind::Slower;
    let why = if slowest {
        "no operation without RSA decryption takes as long; the published time is of another machine"
    } else {
        "another operation takes longer"
    };
    let rows = vec![fastest.1.clone(), longest.1.clone(), other.clone()];
    Ok(Finding::new(holds(slowest), measured, why, rows))
}

/// Answers whether both kinds of content encryption cost about the same, or one is a little faster.
fn content_encryptions(e: &Evidence<'_>, faster: bool) -> Result<Finding, Open> {
    let pairs = [("A128GCM", "A128CBC-HS256"), ("A256GCM", "A256CBC-HS512")];
    let (mut about, mut is_slower) = (Parts::default(), false);
    for (gcm, cbc) in pairs {
        for (operation, work) in [
            ("encrypt", encrypt as fn(&str, &str) -> RowId),
            ("decrypt", decrypt),
        ] {
            if faster && operation == "decrypt" {
                continue;
            }
            let compared = e.compare(&work("dir", gcm), &work("dir", cbc))?;
            let mut agrees = compared.is_within([1.0 / ABOUT, ABOUT]);
            if faster {
                let is_faster = match compared.kind {
                    VerdictKind::Undecided => None,
                    kind => Some(kind == VerdictKind::Faster),
                };
                is_slower |= is_faster == Some(false);
                agrees = match (is_faster, agrees) {
                    (Some(true), agrees) => agrees,
                    (is_faster, _) => is_faster,
                };
            }
            about.add(&format!("{operation} {gcm}"), &compared, agrees);
        }
    }
    let (all, measured) = about.judged("with dir, against CBC with HMAC: ")?;
    let why = match (faster, is_slower, all) {
        (true, true, _) => "not faster at both sizes".to_owned(),
        (true, false, true) => format!("faster at both sizes, and by at most {ABOUT} ×"),
        (true, false, false) => {
            format!("faster, but by more than a little: a little means at most {ABOUT} ×")
        }
        (false, ..) => format!("about the same means at most {ABOUT} × in either direction"),
    };
    Ok(Finding::new(holds(all), measured, why, about.rows))
}

fn smaller(e: &Evidence<'_>) -> Result<Finding, Open> {
    let (gcm, cbc) = (encrypt("dir", "A128GCM"), encrypt("dir", "A128CBC-HS256"));
    let (ours, theirs) = (e.size(&gcm)?, e.size(&cbc)?);
    let measured = format!("with dir: {ours} bytes against {theirs}");
    let share = theirs.saturating_sub(ours) as f64 / theirs as f64;
    let a_little = ours < theirs && share <= A_LITTLE_SMALLER;
    let why = if a_little {
        "a shorter nonce, no padding, and a shorter name in the header".to_owned()
    } else {
        format!("a little means at most {:.0} %", A_LITTLE_SMALLER * 100.0)
    };
    Ok(Finding::new(holds(a_little), measured, why, vec![gcm, cbc]))
}

fn key_wrap(e: &Evidence<'_>) -> Result<Finding, Open> {
    let mut parts = Parts::default();
    for alg in ["A128KW", "A256KW"] {
        for work in [encrypt as fn(&str, &str) -> RowId, decrypt] {
            let with = work(alg, "A256GCM");
            let compared = e.compare(&with, &work("dir", "A256GCM"))?;
            let agrees = compared.is_at_most(1.0 + NEXT_TO_NOTHING);
            parts.add(&format!("{alg} {}", with.operation), &compared, agrees);
        }
    }
    let (all, measured) = parts.judged("against dir: ")?;
    let why = format!(
        "next to nothing means at most {:.0} %",
        NEXT_TO_NOTHING * 100.0
    );
    Ok(Finding::new(holds(all), measured, why, parts.rows))
}

fn signatures(e: &Evidence<'_>) -> Vec<Claim> {
    vec![
        claim(
            "2.5a",
            times_slower(e, &[(signed("RS256"), signed("HS256"))], VERY_SLOWLY),
        ),
        claim("2.5b", seven_times(e)),
        claim("2.5c", ecdsa(e)),
        claim(
            "2.5d",
            times_slower(
                e,
                &[
                    (signed("ES256"), signed("HS256")),
                    (verified("ES256"), verified("HS256")),
                ],
                NOT_WELL,
            ),
        ),
        claim("2.6", little(e)),
    ]
}

fn times_slower(e: &Evidence<'_>, pairs: &[(RowId, RowId)], least: f64) -> Result<Finding, Open> {
    let mut parts = Parts::default();
    for (ours, theirs) in pairs {
        let compared = e.compare(ours, theirs)?;
        parts.add(&ours.operation, &compared, compared.is_at_least(least));
    }
    let (all, measured) = parts.judged("against HMAC: ")?;
    let why = format!("read as at least {least:.0} × the time of HMAC");
    Ok(Finding::new(holds(all), measured, why, parts.rows))
}

fn seven_times(e: &Evidence<'_>) -> Result<Finding, Open> {
    let compared = e.compare(&verified("RS256"), &verified("HS256"))?;
    let mut parts = Parts::default();
    parts.add("", &compared, compared.is_within(ABOUT_SEVEN));
    let (about, measured) = parts.judged("")?;
    let [least, most] = ABOUT_SEVEN;
    let why = format!("about seven means {least:.0} to {most:.0} ×");
    Ok(Finding::new(holds(about), measured, why, parts.rows))
}

fn ecdsa(e: &Evidence<'_>) -> Result<Finding, Open> {
    let mut parts = Parts::default();
    for alg in ["ES256", "ES384", "ES512"] {
        let compared = e.compare(&signed(alg), &verified(alg))?;
        let agrees = match compared.kind {
            VerdictKind::Undecided => None,
            kind => Some(kind == VerdictKind::Faster),
        };
        parts.add(&format!("{alg}:"), &compared, agrees);
    }
    let (all, measured) = parts.judged("")?;
    let why = if all {
        "on every curve"
    } else {
        "not on every curve"
    };
    Ok(Finding::new(holds(all), measured, why, parts.rows))
}

fn little(e: &Evidence<'_>) -> Result<Finding, Open> {
    let mut parts = Parts::default();
    for work in [signed as fn(&str) -> RowId, verified] {
        let with = work("HS256");
        let compared = e.compare(&with, &work("NONE"))?;
        parts.add(
            &with.operation,
            &compared,
            compared.is_at_most(1.0 + LITTLE),
        );
    }
    let (all, measured) = parts.judged("HS256 against JSON and base64 without it: ")?;
    let why = format!(
        "little means at most {:.0} %; the row without a signature is measured by the lab itself",
        LITTLE * 100.0
    );
    Ok(Finding::new(holds(all), measured, why, parts.rows))
}

fn cautions(e: &Evidence<'_>) -> Vec<Claim> {
    vec![
        claim("2.7", authenticates(e)),
        claim(
            "2.8",
            Finding::opinion(
                "a tag of 128 bits is the only one that RFC 7518, section 5.3, permits; one forgery in 2^128 passes",
            ),
        ),
        claim("2.9", half_tag(e)),
        claim("2.10", public_key_alone(e)),
        claim("2.11", Finding::opinion(attacked::accepted(e))),
    ]
}

/// A library that is timed for decrypting has rejected changed tokens in the preflight.
fn authenticates(e: &Evidence<'_>) -> Result<Finding, Open> {
    let rows = ["A128GCM", "A128CBC-HS256"].map(|enc| decrypt("dir", enc));
    for work in &rows {
        let row = e.rows.iter().find(|row| work.names(row));
        let reason = row
            .and_then(|row| row.reason.as_deref())
            .unwrap_or_default();
        if reason.contains("accepts") {
            let measured = format!("{}: {reason}", work.subject);
            let why = "it failed this preflight check";
            return Ok(Finding::new(
                Answer::DoesNotHold,
                measured,
                why,
                vec![work.clone()],
            ));
        }
        e.row(work)?;
    }
    let measured = "both rejected tokens with one changed bit in header, nonce, ciphertext or tag in \
                    the preflight";
    let why = "there was no separate HMAC";
    Ok(Finding::new(Answer::Holds, measured, why, rows.to_vec()))
}

/// The difference between the tokens of the two CBC-HMAC algorithms is that of their tags, in
/// base64url.
fn half_tag(e: &Evidence<'_>) -> Result<Finding, Open> {
    // Their headers and plaintexts have equal lengths; a full tag has the length of the hash.
    const HALVES: u64 = 43 - 22;
    let (long, short) = (
        encrypt("dir", "A256CBC-HS512"),
        encrypt("dir", "A128CBC-HS256"),
    );
    let apart = e.size(&long)?.saturating_sub(e.size(&short)?);
    let measured = format!("A256CBC-HS512 is {apart} bytes longer than A128CBC-HS256");
    let why = "tags of 32 and 16 bytes differ by 21 characters in base64url, full ones would differ by 43";
    Ok(Finding::new(
        holds(apart == HALVES),
        measured,
        why,
        vec![long, short],
    ))
}

/// A library that is timed for encrypting got only the public key.
fn public_key_alone(e: &Evidence<'_>) -> Result<Finding, Open> {
    let works = ["RSA-OAEP", "RSA-OAEP-256", "RSA1_5"].map(|alg| encrypt(alg, "A256GCM"));
    let mut made = Vec::new();
    for work in works {
        if e.row(&work)?.token_bytes.is_some() {
            made.push(work);
        }
    }
    if made.is_empty() {
        return Err("a token that was encrypted with RSA".into());
    }
    let measured = format!(
        "{} tokens were created by a process that had only the public key, and were decrypted with the \
         private key",
        made.len()
    );
    let why = "such a token does not prove its issuer";
    Ok(Finding::new(Answer::Holds, measured, why, made))
}

fn holds(it: bool) -> Answer {
    if it {
        Answer::Holds
    } else {
        Answer::DoesNotHold
    }
}

/// Returns the verdict on two works, or what is missing for one.
fn judged(compared: &Compared) -> Result<VerdictKind, Open> {
    match compared.kind {
        VerdictKind::Undecided => Err(compared.undecided()),
        kind => Ok(kind),
    }
}
