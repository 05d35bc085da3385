//! One input: a key that was changed. The seed and its number repeat it.

use crate::jwk_changes::Jwk;
use crate::random::Random;
use crate::readers::Format;
use crate::seeds::Seed;
use crate::{der_changes, pem_changes};

/// The longest input, bytes.
const BYTES: usize = 64 * 1024;

pub struct Case<'s> {
    pub number: u64,
    pub seed: &'s Seed,
    pub changes: Vec<&'static str>,
    pub input: Vec<u8>,
}

/// Makes an input. The first ones are the keys without a change.
pub fn make<'s>(format: Format, seeds: &'s [Seed], seed: u64, number: u64) -> Case<'s> {
    let mut random = Random::of(seed, number);
    let (key, times) = match usize::try_from(number)
        .ok()
        .and_then(|number| seeds.get(number))
    {
        Some(key) => (key, 0),
        None => (
            &seeds[random.below(seeds.len())],
            random.pick(&[1, 1, 1, 2, 2, 3]),
        ),
    };
    let donor = &seeds[random.below(seeds.len())];
    let (mut input, changes) = match format {
        Format::Der => ders(key, donor, times, &mut random),
        Format::Pem => pems(key, donor, times, &mut random),
        Format::Jwk => jwks(key, donor, times, &mut random),
    };
    input.truncate(BYTES);
    Case {
        number,
        seed: key,
        changes,
        input,
    }
}

fn ders(
    key: &Seed,
    donor: &Seed,
    times: usize,
    random: &mut Random,
) -> (Vec<u8>, Vec<&'static str>) {
    let mut der = key.bytes.clone();
    let changes = applied(times, || {
        der_changes::change(&mut der, &donor.bytes, random)
    });
    (der, changes)
}

fn pems(
    key: &Seed,
    donor: &Seed,
    times: usize,
    random: &mut Random,
) -> (Vec<u8>, Vec<&'static str>) {
    let mut text = String::from_utf8_lossy(&key.bytes).into_owned();
    let donor = String::from_utf8_lossy(&donor.bytes);
    let mut changes = Vec::new();
    if times > 0
        && random.once_in(5)
        && let Some((label, mut der)) = pem_changes::read(&text)
    {
        let donor = pem_changes::read(&donor).map(|(_, der)| der);
        let donor = donor.unwrap_or_default();
        changes = applied(1, || der_changes::change(&mut der, &donor, random));
        text = pem_changes::write(&label, &der);
    }
    changes.extend(applied(times - changes.len().min(times), || {
        pem_changes::change(&mut text, &donor, random)
    }));
    (text.into_bytes(), changes)
}

fn jwks(
    key: &Seed,
    donor: &Seed,
    times: usize,
    random: &mut Random,
) -> (Vec<u8>, Vec<&'static str>) {
    let jwk = |seed: &Seed| Jwk::read(std::str::from_utf8(&seed.bytes).ok()?);
    let (Some(mut jwk), Some(donor)) = (jwk(key), jwk(donor)) else {
        return (key.bytes.clone(), Vec::new());
    };
    let changes = applied(times, || jwk.change(&donor, random));
    // Without a change, the file stays as it is.
    match changes.is_empty() {
        true => (key.bytes.clone(), changes),
        false => (jwk.write().into_bytes(), changes),
    }
}

/// Applies so many changes. One that does not apply is drawn again, some times.
fn applied(times: usize, mut change: impl FnMut() -> Option<&'static str>) -> Vec<&'static str> {
    (0..times)
        .filter_map(|_| (0..20).find_map(|_| change()))
        .collect()
}
