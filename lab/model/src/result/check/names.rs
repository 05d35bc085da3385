//! Limits of names: they make columns of tables.

use crate::result::{Party, Row, RunResult, Subject};

/// The longest name, id or title in characters. The longest of the lab has about a hundred.
const NAME_MAX: usize = 500;

/// The longest command in characters; it lists every library of a run.
const COMMAND_MAX: usize = 100_000;

/// Returns the first error as `place: message`.
pub(super) fn check(result: &RunResult) -> Result<(), String> {
    at_most("command", &result.command, COMMAND_MAX)?;
    for (i, run) in result.runs.iter().enumerate() {
        at_most(&format!("runs[{i}].command"), &run.command, COMMAND_MAX)?;
    }
    environment(result)?;
    for (i, pair) in result.noise_floor.pairs.iter().enumerate() {
        let names = [("subject", &pair.subject), ("contract", &pair.operation)];
        all(&format!("noise_floor.pairs[{i}]"), names)?;
    }
    for (i, verdict) in result.verdicts.iter().enumerate() {
        let names = [
            ("suite", &verdict.suite),
            ("contract", &verdict.operation),
            ("claims", &verdict.claims),
            ("comparison", &verdict.comparison),
            ("baseline", &verdict.baseline),
            ("subject", &verdict.subject),
        ];
        all(&format!("verdicts[{i}]"), names)?;
    }
    rows(result)
}

fn environment(result: &RunResult) -> Result<(), String> {
    let e = &result.environment;
    let own = [
        ("cpu", Some(&e.cpu)),
        ("kernel", Some(&e.kernel)),
        ("hypervisor", e.hypervisor.as_ref()),
        ("governor", e.governor.as_ref()),
        ("jeton", Some(&e.jeton)),
        ("commit", e.commit.as_ref()),
    ];
    all("environment", known(own))?;
    let lists = (e.flags.iter().map(|flag| ("flags", flag)))
        .chain(
            e.runtimes
                .iter()
                .flat_map(|(name, version)| [("runtimes", name), ("runtimes", version)]),
        )
        .chain(
            e.drivers
                .iter()
                .flat_map(|(name, hash)| [("drivers", name), ("drivers", hash)]),
        );
    all("environment", lists)?;
    for (i, used) in e.runtimes_used.iter().enumerate() {
        let own = [
            ("language", Some(&used.language)),
            ("name", Some(&used.name)),
            ("found", Some(&used.found)),
            ("support_ends", used.support_ends.as_ref()),
        ];
        all(&format!("environment.runtimes_used[{i}]"), known(own))?;
    }
    let processor = &e.processor;
    let own = [
        ("vendor", &processor.vendor),
        ("family", &processor.family),
        ("model", &processor.model),
        ("stepping", &processor.stepping),
        ("microcode", &processor.microcode),
    ];
    let own = own.map(|(member, name)| (member, name.as_ref()));
    all("environment.processor", known(own))
}

fn rows(result: &RunResult) -> Result<(), String> {
    let mut place = 0..;
    let mut next = || format!("rows[{}]", place.next().unwrap_or_default());
    for row in &result.rows.measured {
        measured(&next(), row)?;
    }
    for row in &result.rows.interop {
        let at = next();
        party(&format!("{at}.minter"), &row.issuer)?;
        party(&format!("{at}.verifier"), &row.verifier)?;
        let own = [
            ("format", Some(&row.format)),
            ("alg", row.alg.as_ref()),
            ("enc", row.enc.as_ref()),
        ];
        all(&at, known(own))?;
    }
    for row in &result.rows.attack {
        let at = next();
        party(&format!("{at}.subject"), &row.subject)?;
        let own = [
            ("attack", &row.attack),
            ("family", &row.family),
            ("format", &row.format),
        ];
        all(
            &at,
            own.into_iter()
                .chain(row.algs.iter().map(|alg| ("algs", alg))),
        )?;
    }
    for row in &result.rows.servers {
        let at = next();
        let subject = &row.subject;
        let own = [
            ("id", &subject.id),
            ("name", &subject.name),
            ("language", &subject.language),
            ("libraries", &subject.libraries),
        ];
        all(&format!("{at}.subject"), own)?;
        all(&at, row.loader.iter().map(|name| ("loader", name)))?;
        all(&at, [("scenario", &row.scenario)])?;
        let statuses = row.load.iter().flat_map(|load| load.statuses.keys());
        all(&at, statuses.map(|status| ("statuses", status)))?;
    }
    Ok(())
}

fn measured(at: &str, row: &Row) -> Result<(), String> {
    let own = [
        ("suite", &row.suite),
        ("contract", &row.operation),
        ("claims.name", &row.claims.name),
    ];
    all(at, own)?;
    let Subject {
        id,
        library,
        version,
        language,
        runtime,
        released,
        superseded_by,
        format,
        alg,
        enc,
        key_bits: _,
        key_handling,
    } = &row.subject;
    let own = [
        ("id", Some(id)),
        ("library", Some(library)),
        ("version", Some(version)),
        ("language", Some(language)),
        ("runtime", runtime.as_ref()),
        ("released", released.as_ref()),
        ("superseded_by", superseded_by.as_ref()),
        ("format", Some(format)),
        ("alg", alg.as_ref()),
        ("enc", enc.as_ref()),
        ("key_handling", Some(key_handling)),
    ];
    all(&format!("{at}.subject"), known(own))
}

fn party(at: &str, party: &Party) -> Result<(), String> {
    let own = [
        ("driver", &party.driver),
        ("library", &party.library),
        ("version", &party.version),
        ("language", &party.language),
    ];
    all(at, own)
}

fn known<'n, const N: usize>(
    names: [(&'static str, Option<&'n String>); N],
) -> impl Iterator<Item = (&'static str, &'n String)> {
    names
        .into_iter()
        .filter_map(|(member, name)| Some((member, name?)))
}

fn all<'n>(
    at: &str,
    names: impl IntoIterator<Item = (&'static str, &'n String)>,
) -> Result<(), String> {
    for (member, name) in names {
        at_most(&format!("{at}.{member}"), name, NAME_MAX)?;
    }
    Ok(())
}

fn at_most(place: &str, text: &str, most: usize) -> Result<(), String> {
    // No character has less than one byte.
    let length = if text.len() > most {
        text.chars().count()
    } else {
        return Ok(());
    };
    if length > most {
        Err(format!(
            "{place}: has {length} characters; the limit is {most}"
        ))
    } else {
        Ok(())
    }
}
