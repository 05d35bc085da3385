//! Checks of settings together: those of a format, required ones, and contradictions.

use jeton::__private::check_header_members;
use jeton::error::InvalidUse;

use super::table::{Kind, Setting};
use super::values::Members;
use crate::fault::Fault;
use crate::format::Format;

/// Checks that the settings apply to the format, that none contradicts another, and that the required ones are given.
pub(crate) fn check(
    rows: &'static [Setting],
    given: &[&'static Setting],
    format: Format,
) -> Result<(), Fault> {
    let is_given = |name: &str| given.iter().any(|row| row.name == name);
    for row in given {
        if !row.formats.contains(&format) {
            return Err(another_format(row, format));
        }
        if let Some(other) = row.excludes
            && is_given(other)
        {
            let why = format!("contradicts `{}`: set only one of them", row.name);
            return Err(Fault::option(other, why));
        }
    }
    for row in rows {
        if !row.required || !row.formats.contains(&format) || is_given(row.name) {
            continue;
        }
        match rows.iter().find(|other| other.excludes == Some(row.name)) {
            Some(other) if is_given(other.name) => {}
            Some(other) => {
                let why = format!("required unless `{}` is set", other.name);
                return Err(Fault::option(row.name, why));
            }
            None => return Err(Fault::option(row.name, "required")),
        }
    }
    Ok(())
}

#[cold]
fn another_format(row: &Setting, format: Format) -> Fault {
    if row.kind == Kind::Serialization && format == Format::Jwt {
        return Fault::option(
            row.name,
            "a JWT has only `compact`; JSON serializations need the format `jws` or `jwe`",
        );
    }
    Fault::option(row.name, format!("does not apply to {}", format.phrase()))
}

/// Checks that the settings can be used with a remote key set.
pub(crate) fn check_remote(given: &[&'static Setting]) -> Result<(), Fault> {
    match given.iter().find(|row| !row.with_remote_keys) {
        Some(row) => Err(Fault::option(row.name, "not used with a remote key set")),
        None => Ok(()),
    }
}

/// Checks that a caller may add these members to a header. The names are between other quotes than those of settings.
pub(crate) fn check_headers(members: &Members) -> Result<(), Fault> {
    check_header_members(members.iter()).map_err(|error| {
        let why = match error {
            InvalidUse::DecidedHeaderMember { name, by } => {
                format!("\"{name}\" cannot be added: {by} decides it")
            }
            error => error.to_string(),
        };
        Fault::option("headers", why)
    })
}

/// Returns an error for the first of these settings that is set.
pub(crate) fn check_unset<const N: usize>(
    settings: [(&'static str, bool); N],
    why: &'static str,
) -> Result<(), Fault> {
    match settings.into_iter().find(|(_, is_set)| *is_set) {
        Some((name, _)) => Err(Fault::option(name, why)),
        None => Ok(()),
    }
}
