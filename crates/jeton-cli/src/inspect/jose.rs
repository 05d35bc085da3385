//! Reports JWS and JWE in every serialization.

use super::hidden::{Hidden, Reason};
use super::report::{self, Content, Report};
use crate::exit::{Failure, Outcome};
use crate::jose::{self, Jwe, Jws, Recipient, Serialization, Signature, Token};
use crate::json::Members;
use crate::output;

/// How many signatures or recipients are shown.
const SHOWN_MAX: usize = 64;

/// Returns whether a text is JSON with the members of a token, valid or not.
pub(super) fn has_token_members(text: &str) -> bool {
    let members = Members::loose(text).map_or(Vec::new(), |Members(all)| all);
    let mut names = members.iter().map(|(name, _)| name.as_str());
    names.any(|name| matches!(name, "payload" | "signatures" | "ciphertext"))
}

/// Returns whether a JSON token has a private key outside of the report: in an unknown member (RFC 7515, section
/// 7.2.1), or in a signature that is not shown.
pub(super) fn has_private_key(text: &str) -> bool {
    let has_key = |json: &str| Hidden::of(json).has(Reason::Private);
    let in_header = |signature: &Signature<'_>| {
        let header = signature.protected.as_deref().and_then(jose::decode_json);
        header.is_some_and(|header| has_key(header.get()))
    };
    jose::is_json(text)
        && (has_key(text)
            || matches!(Token::read(text), Some(Token::Jws(jws)) if jws.signatures.iter().any(in_header)))
}

/// Creates the report of a JWS or JWE.
pub(super) fn report(text: &str) -> Outcome<Report> {
    // Noted before parsing: a duplicate member can be the reason that parsing fails.
    let ambiguity = duplicate_member(text).inspect(|ambiguity| output::note(ambiguity));
    let report = match Token::read(text) {
        Some(Token::Jws(jws)) => self::jws(&jws, text),
        Some(Token::Jwe(jwe)) => self::jwe(&jwe, text),
        None => Err(malformed("token")),
    }?;
    Ok(ambiguity.into_iter().fold(report, Report::add_note))
}

/// Returns the note about a duplicate member of a JSON token.
fn duplicate_member(text: &str) -> Option<String> {
    let name = jose::is_json(text).then(|| report::duplicate_member(text))??;
    Some(format!(
        "duplicate member {name:?}; a strict verifier rejects the token"
    ))
}

fn jws(jws: &Jws<'_>, text: &str) -> Outcome<Report> {
    let [first, ..] = &jws.signatures[..] else {
        return Err(Failure::rejected("the token has no signature"));
    };
    let payload = payload(jws, first)?;
    let is_compact = jws.serialization == Serialization::Compact;
    let is_detached = match &payload {
        None => true,
        Some(payload) => is_compact && payload.bytes() == 0,
    };
    let claims = matches!(&payload, Some(Content::Json(json)) if json.raw().get().starts_with('{'));
    let title = match (jws.serialization, claims) {
        (Serialization::Compact, true) => "JWS compact with claims (JWT)".to_owned(),
        (form, _) if is_detached => format!("JWS {}, detached payload", form.name()),
        (form, _) => format!("JWS {}", form.name()),
    };
    let mut report = Report::new("jws", title)
        .text("serialization", jws.serialization.name())
        .number("token_bytes", text.len());
    if let Some(payload) = &payload {
        report = report.note_ambiguity("payload", payload);
    }
    let mut report = match &jws.signatures[..] {
        [only] => signature(report, only)?,
        several => {
            let each = several.iter().take(SHOWN_MAX);
            let shown = each.map(|one| signature(Report::new("signature", ""), one));
            report
                .number("signatures_count", several.len())
                .with_children("signature", "signatures", shown.collect::<Outcome<_>>()?)
        }
    };
    if let Some(payload) = payload
        && !(is_compact && is_detached)
    {
        report = report.times(&payload).part("payload", payload);
    }
    Ok(report)
}

/// Returns the payload; with `b64` false (RFC 7797) it is not encoded.
fn payload(jws: &Jws<'_>, first: &Signature<'_>) -> Outcome<Option<Content>> {
    let Some(text) = &jws.payload else {
        return Ok(None);
    };
    let bytes = if first.headers().is_false("b64") {
        text.as_bytes().to_vec()
    } else {
        jose::decode(text).ok_or_else(|| malformed("payload"))?
    };
    Ok(Some(Content::of(bytes)))
}

fn signature(report: Report, signature: &Signature<'_>) -> Outcome<Report> {
    let bytes = jose::decode(&signature.signature).ok_or_else(|| malformed("signature"))?;
    let mut report = report.number("signature_bytes", bytes.len());
    if let Some(header) = protected(signature.protected.as_deref())? {
        report = report
            .note_ambiguity("header", &header)
            .part("header", header);
    }
    if let Some(header) = signature.header {
        report = report.part("unprotected", Content::json(header));
    }
    let alg = signature.headers().text("alg");
    if alg.is_some() && !is_protected(signature.protected.as_deref(), "alg") {
        report = report.note(
            "alg is not in the protected header, so it is not signed; a strict verifier rejects the token",
        );
    }
    if alg.is_some_and(|alg| alg.eq_ignore_ascii_case("none")) {
        report =
            report.note("alg is none: the token is not signed, and no verifier should accept it");
    }
    Ok(report)
}

fn jwe(jwe: &Jwe<'_>, text: &str) -> Outcome<Report> {
    let ciphertext = jose::decode(&jwe.ciphertext).ok_or_else(|| malformed("token"))?;
    let name = jwe.serialization.name();
    let mut report = Report::new(
        "jwe",
        format!("JWE {name}, encrypted: only the header is readable"),
    )
    .text("serialization", name)
    .number("token_bytes", text.len());
    let mut shown = Vec::new();
    match &jwe.recipients[..] {
        [only] => report = recipient(report, only)?,
        several => {
            report = report.number("recipients_count", several.len());
            for one in several.iter().take(SHOWN_MAX) {
                shown.push(recipient(Report::new("recipient", ""), one)?);
            }
        }
    }
    report = report.number("ciphertext_bytes", ciphertext.len());
    let names_enc = |one: &Recipient<'_>| jwe.headers(one).text("enc").is_some();
    if jwe.recipients.iter().any(names_enc) && !is_protected(jwe.protected.as_deref(), "enc") {
        report = report.note(
            "enc is not in the protected header, so it is not authenticated; a strict reader rejects the \
             token",
        );
    }
    match protected(jwe.protected.as_deref())? {
        Some(header) => {
            report = report
                .note_ambiguity("header", &header)
                .part("header", header);
        }
        None if jwe.serialization == Serialization::Compact => return Err(malformed("header")),
        None => {}
    }
    if let Some(header) = jwe.unprotected {
        report = report.part("unprotected", Content::json(header));
    }
    if let Some(aad) = &jwe.aad {
        let aad = jose::decode(aad).ok_or_else(|| malformed("aad"))?;
        report = report.part("aad", Content::of(aad));
    }
    if !shown.is_empty() {
        report = report.with_children("recipient", "recipients", shown);
    }
    Ok(report)
}

fn recipient(report: Report, recipient: &Recipient<'_>) -> Outcome<Report> {
    let key = recipient.encrypted_key.as_deref().unwrap_or_default();
    let key = jose::decode(key).ok_or_else(|| malformed("token"))?;
    let report = report.number("encrypted_key_bytes", key.len());
    Ok(match recipient.header {
        Some(header) => report.part("recipient", Content::json(header)),
        None => report,
    })
}

/// Returns whether the protected header has this member.
fn is_protected(protected: Option<&str>, name: &str) -> bool {
    let Some(header) = protected.and_then(jose::decode_json) else {
        return false;
    };
    Members::loose(header.get())
        .is_some_and(|Members(all)| all.iter().any(|(member, _)| member == name))
}

/// Returns the protected header, if there is one. It must be JSON.
fn protected(text: Option<&str>) -> Outcome<Option<Content>> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    match jose::decode(text).map(Content::of) {
        Some(header @ Content::Json(_)) => Ok(Some(header)),
        _ => Err(malformed("header")),
    }
}

fn malformed(part: &str) -> Failure {
    Failure::rejected(format!("the {part} is malformed"))
}
