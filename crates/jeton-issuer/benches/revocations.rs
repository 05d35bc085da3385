//! Ten million live revocations: memory, cost of a lookup, bytes copied by a revocation.
//!
//! `cargo bench -p jeton-issuer --bench revocations`. Bytes are resident memory (`/proc/self/statm`),
//! including waste of the allocator. "One after the other" makes each lookup depend on the previous one and
//! pays the full memory latency. "Many at once" lets the processor overlap lookups, as between requests.
//! Both look up tokens that are not revoked, as nearly all lookups do. "Where it is there" looks up revoked
//! tokens.
#![allow(clippy::unwrap_used)]

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use jeton_issuer::{RevocationIndex, token_hash};

const REVOKED: usize = 10_000_000;
const LOOKS: usize = 2_000_000;
const MINUTE: u32 = 30_000_000;

const SPREADS: [(&str, u32); 4] = [
    ("in one minute", 1),
    ("over 15 minutes", 15),
    ("over a day", 1440),
    ("over a year", 525_600),
];

fn main() {
    // Each in its own process, so that freed memory of one does not count for the next.
    if let Ok(spread) = std::env::var("JETON_SPREAD") {
        let (name, minutes) = SPREADS[spread.parse::<usize>().unwrap()];
        return measure(name, minutes);
    }
    for spread in 0..SPREADS.len() {
        let measured = Command::new(std::env::current_exe().unwrap())
            .env("JETON_SPREAD", spread.to_string())
            .status();
        assert!(measured.unwrap().success());
    }
    let ids: Vec<String> = (0..1000).map(|i| format!("{i:032x}")).collect();
    let start = Instant::now();
    for i in 0..LOOKS {
        black_box(token_hash("https://id.example", black_box(&ids[i % 1000])));
    }
    println!(
        "hash of a token's id, before the look: {:.1} ns",
        nanos(start, LOOKS)
    );
}

fn measure(name: &str, minutes: u32) {
    let before = resident_bytes();
    let mut index = RevocationIndex::default();
    let start = Instant::now();
    let mut batch = Vec::with_capacity(4096);
    for minute in 0..minutes {
        let share = REVOKED / minutes as usize;
        for i in 0..share {
            batch.push(hash(minute, i));
            if batch.len() == 4096 {
                index.insert(MINUTE + minute, &mut batch);
                batch.clear();
            }
        }
        index.insert(MINUTE + minute, &mut batch);
        batch.clear();
    }
    let built = start.elapsed();
    let bytes = resident_bytes().saturating_sub(before) as f64 / index.len() as f64;

    let (apart, _) = look(&index, minutes, false);
    let (chained, found) = look(&index, minutes, true);
    assert_eq!(found, 0, "nothing that was not put in is found");
    let share = REVOKED / minutes as usize;
    let revoked = look_for_revoked(&index, minutes, share);

    let count = 10_000;
    let start = Instant::now();
    for i in 0..count {
        let published = index.clone();
        let minute = i as u32 % minutes;
        index.insert(MINUTE + minute, &mut [hash(minute, share + i)]);
        black_box(published);
    }
    println!(
        "{} {name}: {bytes:.1} bytes each; a look {apart:.0} ns (many at once), {chained:.0} ns (one \
         after the other), {revoked:.0} ns where it is there; a revocation and its snapshot {:.1} µs; built \
         in {:.1} s",
        index.len(),
        nanos(start, count) / 1000.0,
        built.as_secs_f64()
    );
}

/// Looks up tokens that are not revoked, like nearly all lookups.
fn look(index: &RevocationIndex, minutes: u32, chained: bool) -> (f64, usize) {
    let mut found = 0;
    let start = Instant::now();
    for i in 0..LOOKS {
        let salt = if chained { found } else { 0 };
        let minute = (i as u32).wrapping_mul(2_654_435_761) % minutes;
        let asked = hash(minute ^ 0x8000_0000, i + salt);
        found += usize::from(black_box(index.contains(MINUTE + minute, asked)));
    }
    (nanos(start, LOOKS), found)
}

/// Looks up revoked tokens, all of which must be found.
fn look_for_revoked(index: &RevocationIndex, minutes: u32, share: usize) -> f64 {
    let start = Instant::now();
    let mut found = 0;
    for i in 0..LOOKS {
        let spread = (i as u32).wrapping_mul(2_654_435_761);
        let minute = spread % minutes;
        found +=
            usize::from(index.contains(MINUTE + minute, hash(minute, spread as usize % share)));
    }
    assert_eq!(found, LOOKS);
    nanos(start, LOOKS)
}

/// Evenly distributed like SHA-256, and fast, so that the lookup dominates.
fn hash(minute: u32, i: usize) -> u128 {
    let half = |salt: u64| {
        let mut x = (i as u64) ^ (u64::from(minute) << 32) ^ salt;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    (u128::from(half(0x9e37_79b9_7f4a_7c15)) << 64) | u128::from(half(0xd1b5_4a32_d192_ed03))
}

/// Linux only: 0 elsewhere.
fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split(' ')
        .nth(1)
        .and_then(|text| text.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}

fn nanos(start: Instant, count: usize) -> f64 {
    start.elapsed().as_nanos() as f64 / count as f64
}
