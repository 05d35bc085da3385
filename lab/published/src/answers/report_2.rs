//! Conclusions of report 2: the cost of algorithms.

use super::evidence::{Evidence, Finding, Judge, Limit, Open, Parts, time};
use super::{Conclusion, Rule, attacked};
use crate::report_2::{doing, jwe, jws};
use crate::works;
use jeton_lab_model::result::{Answer, RowId, VerdictKind};

/// The smallest ratio for "heavily", and the additional bytes of an RSA key of 3,072 bits.
const HEAVILY: f64 = 3.0;
const HEAVY_BYTES: u64 = 384;
/// The largest ratio, in either direction, for "about the same", and for "a little faster".
const ABOUT: f64 = 1.5;
const IS_ABOUT: Limit = Limit::Within([1.0 / ABOUT, ABOUT]);
/// The largest share of a token for "a little smaller".
const A_LITTLE_SMALLER: f64 = 0.1;

/// The works that the conclusions are decided by, each in both directions.
const NEEDED: [&str; 15] = [
    "dir+A128GCM",
    "dir+A128CBC-HS256",
    "dir+A256GCM",
    "dir+A256CBC-HS512",
    "A128KW+A256GCM",
    "A256KW+A256GCM",
    "RSA-OAEP+A256GCM",
    "RSA-OAEP-256+A256GCM",
    "RSA1_5+A256GCM",
    "NONE",
    "HS256",
    "RS256",
    "ES256",
    "ES384",
    "ES512",
];

/// Ratios: the words before them, their limit, why it holds and why not, and each with its name.
type Ratios = (
    &'static str,
    &'static str,
    Limit,
    [&'static str; 2],
    &'static [(&'static str, &'static str, &'static str)],
);

const SLOWLY: &str = "read as at least 20 × the time of HMAC";
const NOT_WELL: &str = "read as at least 10 × the time of HMAC";
const SEVEN: &str = "about seven means 5 to 10 ×";
const SAME: &str = "about the same means at most 1.5 × in either direction";
const NOTHING: &str = "next to nothing means at most 25 %";
const LITTLE: &str =
    "little means at most 50 %; the row without a signature is measured by the lab itself";
const OF_CBC: &str = "with dir, against CBC with HMAC: ";

#[rustfmt::skip]
const RATIOS: [Ratios; 7] = [
    ("2.3a", OF_CBC, IS_ABOUT, [SAME, SAME], &[
        ("encrypt A128GCM", "dir+A128GCM encrypt", "dir+A128CBC-HS256 encrypt"),
        ("decrypt A128GCM", "dir+A128GCM decrypt", "dir+A128CBC-HS256 decrypt"),
        ("encrypt A256GCM", "dir+A256GCM encrypt", "dir+A256CBC-HS512 encrypt"),
        ("decrypt A256GCM", "dir+A256GCM decrypt", "dir+A256CBC-HS512 decrypt"),
    ]),
    ("2.4", "against dir: ", Limit::AtMost(1.25), [NOTHING, NOTHING], &[
        ("A128KW encrypt", "A128KW+A256GCM encrypt", "dir+A256GCM encrypt"),
        ("A128KW decrypt", "A128KW+A256GCM decrypt", "dir+A256GCM decrypt"),
        ("A256KW encrypt", "A256KW+A256GCM encrypt", "dir+A256GCM encrypt"),
        ("A256KW decrypt", "A256KW+A256GCM decrypt", "dir+A256GCM decrypt"),
    ]),
    ("2.5a", "against HMAC: ", Limit::AtLeast(20.0), [SLOWLY, SLOWLY], &[("sign", "RS256 sign", "HS256 sign")]),
    ("2.5b", "", Limit::Within([5.0, 10.0]), [SEVEN, SEVEN], &[("", "RS256 verify", "HS256 verify")]),
    ("2.5c", "", Limit::Faster, ["on every curve", "not on every curve"], &[
        ("ES256:", "ES256 sign", "ES256 verify"),
        ("ES384:", "ES384 sign", "ES384 verify"),
        ("ES512:", "ES512 sign", "ES512 verify"),
    ]),
    ("2.5d", "against HMAC: ", Limit::AtLeast(10.0), [NOT_WELL, NOT_WELL], &[
        ("sign", "ES256 sign", "HS256 sign"),
        ("verify", "ES256 verify", "HS256 verify"),
    ]),
    ("2.6", "HS256 against JSON and base64 without it: ", Limit::AtMost(1.5), [LITTLE, LITTLE], &[
        ("sign", "HS256 sign", "NONE sign"),
        ("verify", "HS256 verify", "NONE verify"),
    ]),
];

/// A work by algorithm and operation: `dir+A128GCM encrypt`.
fn of(work: &str) -> RowId {
    let (alg, operation) = work.split_once(' ').unwrap_or_default();
    let subject = alg
        .split_once('+')
        .map_or_else(|| jws(alg), |(alg, enc)| jwe(alg, enc));
    doing(&subject, operation)
}

fn all(works: &[&str]) -> Vec<RowId> {
    works.iter().map(|work| of(work)).collect()
}

pub(super) fn conclusions() -> Vec<Conclusion> {
    let ratios = RATIOS.into_iter().map(|(id, words, limit, whys, parts)| {
        let parts = parts
            .iter()
            .map(|(name, ours, theirs)| (*name, of(ours), of(theirs)));
        (id, Rule::Ratios(words, limit, whys, parts.collect()))
    });
    let needed = NEEDED.iter().flat_map(|alg| {
        let both = if alg.contains('+') {
            ["encrypt", "decrypt"]
        } else {
            ["sign", "verify"]
        };
        both.map(|operation| of(&format!("{alg} {operation}")))
    });
    let rsa = [
        "RSA-OAEP-256+A256GCM encrypt",
        "A256KW+A256GCM encrypt",
        "RSA-OAEP-256+A256GCM decrypt",
        "A256KW+A256GCM decrypt",
    ];
    let short = ["dir+A128GCM encrypt", "dir+A128CBC-HS256 encrypt"];
    let long = ["dir+A256GCM encrypt", "dir+A256CBC-HS512 encrypt"];
    let public = [
        "RSA-OAEP+A256GCM encrypt",
        "RSA-OAEP-256+A256GCM encrypt",
        "RSA1_5+A256GCM encrypt",
    ];
    let figures: [(&str, Vec<RowId>, Judge); 9] = [
        ("2.1", all(&rsa), rsa_encryption),
        ("2.2", needed.collect(), slowest),
        ("2.3b", all(&[short, long].concat()), a_little_faster),
        ("2.3c", all(&short), smaller),
        (
            "2.7",
            all(&["dir+A128GCM decrypt", "dir+A128CBC-HS256 decrypt"]),
            authenticates,
        ),
        ("2.8", Vec::new(), |_, _| {
            Ok(Finding::opinion(
                "a tag of 128 bits is the only one that RFC 7518, section 5.3, permits; one forgery in 2^128 passes",
            ))
        }),
        ("2.9", all(&[long[1], short[1]]), half_tag),
        ("2.10", all(&public), public_key_alone),
        ("2.11", Vec::new(), |e, _| {
            Ok(Finding::opinion(attacked::accepted(e)))
        }),
    ];
    let figures = figures
        .into_iter()
        .map(|(id, works, answer)| (id, Rule::Figures(works, answer)));
    ratios.chain(figures).collect()
}

fn rsa_encryption(e: &Evidence<'_>, works: &[RowId]) -> Result<Finding, Open> {
    let (large, small) = (e.size(&works[0])?, e.size(&works[1])?);
    let larger = large.saturating_sub(small);
    let mut parts = Parts::default();
    for (what, pair) in ["encrypting", "decrypting"]
        .into_iter()
        .zip(works.chunks(2))
    {
        let compared = e.compare(&pair[0], &pair[1])?;
        parts.add(what, &compared, compared.is(Limit::AtLeast(HEAVILY)));
    }
    parts.is_wrong |= larger < HEAVY_BYTES;
    let (heavy, times) = parts.judged("RSA-OAEP-256 against A256KW: ")?;
    let measured = format!("{times}, {larger} bytes larger ({large} against {small})");
    let why =
        format!("high cost means {HEAVILY} × the time in both directions, and {HEAVY_BYTES} bytes");
    Ok(Finding::judged(
        heavy,
        measured,
        [why.clone(), why],
        parts.rows,
    ))
}

/// Compares the fastest RSA decryption with the slowest other row of the report, of those that were measured.
fn slowest(e: &Evidence<'_>, needed: &[RowId]) -> Result<Finding, Open> {
    needed
        .iter()
        .try_for_each(|work| e.time(work).map(|_| ()))?;
    let further = works(2, 1)
        .into_iter()
        .filter(|work| !needed.contains(work));
    let timed = needed.iter().cloned().chain(further);
    let timed = timed.filter_map(|work| Some((e.time(&work).ok()?, work)));
    let (rsa, others): (Vec<_>, Vec<_>) = timed
        .partition(|(_, work)| work.operation == "decrypt" && work.subject.contains(":jwe:RSA"));
    let by_time = |a: &&(f64, RowId), b: &&(f64, RowId)| a.0.total_cmp(&b.0);
    let fastest = rsa.iter().min_by(by_time).ok_or("RSA decryption")?;
    let longest = rsa.iter().max_by(by_time).ok_or("RSA decryption")?;
    let (most, other) = others.iter().max_by(by_time).ok_or("other operations")?;
    let compared = e.compare(&fastest.1, other)?;
    let measured = format!(
        "RSA decryption takes {} to {} (15 ms in the report); the slowest of the report's {} other measured operations \
         {} ({}, {})",
        time(fastest.0),
        time(longest.0),
        others.len(),
        time(*most),
        other.subject,
        other.operation
    );
    if compared.kind == VerdictKind::Undecided {
        let measured = compared.with_interval();
        return Err(Open::Undecided {
            measured,
            rows: compared.rows,
        });
    }
    let whys = [
        "no operation without RSA decryption takes as long; the published time is of another machine",
        "another operation takes longer",
    ];
    let rows = vec![fastest.1.clone(), longest.1.clone(), other.clone()];
    Ok(Finding::judged(
        compared.kind == VerdictKind::Slower,
        measured,
        whys,
        rows,
    ))
}

/// Answers whether one kind of content encryption is a little faster.
fn a_little_faster(e: &Evidence<'_>, works: &[RowId]) -> Result<Finding, Open> {
    let (mut parts, mut is_slower) = (Parts::default(), false);
    for (what, pair) in ["encrypt A128GCM", "encrypt A256GCM"]
        .into_iter()
        .zip(works.chunks(2))
    {
        let compared = e.compare(&pair[0], &pair[1])?;
        let is_faster = compared.is(Limit::Faster);
        is_slower |= is_faster == Some(false);
        let agrees = if is_faster == Some(true) {
            compared.is(IS_ABOUT)
        } else {
            is_faster
        };
        parts.add(what, &compared, agrees);
    }
    let (all, measured) = parts.judged(OF_CBC)?;
    let holds = format!("faster at both sizes, and by at most {ABOUT} ×");
    let more = format!("faster, but by more than a little: a little means at most {ABOUT} ×");
    let why_not = if is_slower {
        "not faster at both sizes".to_owned()
    } else {
        more
    };
    Ok(Finding::judged(all, measured, [holds, why_not], parts.rows))
}

fn smaller(e: &Evidence<'_>, works: &[RowId]) -> Result<Finding, Open> {
    let (ours, theirs) = (e.size(&works[0])?, e.size(&works[1])?);
    let measured = format!("with dir: {ours} bytes against {theirs}");
    let share = theirs.saturating_sub(ours) as f64 / theirs as f64;
    let a_little = ours < theirs && share <= A_LITTLE_SMALLER;
    let whys = [
        "a shorter nonce, no padding, and a shorter name in the header",
        "a little means at most 10 %",
    ];
    Ok(Finding::judged(a_little, measured, whys, works))
}

/// A library that is timed for decrypting has rejected changed tokens in the preflight.
fn authenticates(e: &Evidence<'_>, works: &[RowId]) -> Result<Finding, Open> {
    let measured = "both rejected tokens with one changed bit in header, nonce, ciphertext or tag in \
                    the preflight";
    e.preflight(works, measured.to_owned(), "there was no separate HMAC")
}

/// The difference between the tokens of the two CBC-HMAC algorithms is that of their tags, in
/// base64url.
fn half_tag(e: &Evidence<'_>, works: &[RowId]) -> Result<Finding, Open> {
    // Their headers and plaintexts have equal lengths; a full tag has the length of the hash.
    const HALVES: u64 = 43 - 22;
    let apart = e.size(&works[0])?.saturating_sub(e.size(&works[1])?);
    let measured = format!("A256CBC-HS512 is {apart} bytes longer than A128CBC-HS256");
    let why = "tags of 32 and 16 bytes differ by 21 characters in base64url, full ones would differ by 43";
    Ok(Finding::judged(
        apart == HALVES,
        measured,
        [why, why],
        works,
    ))
}

/// A library that is timed for encrypting got only the public key.
fn public_key_alone(e: &Evidence<'_>, works: &[RowId]) -> Result<Finding, Open> {
    let mut made = Vec::new();
    for work in works {
        if e.row(work)?.token_bytes.is_some() {
            made.push(work.clone());
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
