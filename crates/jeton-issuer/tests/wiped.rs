//! Tests that secrets are wiped: searches all writable memory of the process before and after they are
//! dropped.
//!
//! A separate binary, so that the memory contains little else. The searched secret itself is never in
//! memory: it is stored masked and compared byte by byte.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jeton::SystemClock;

use jeton::key::{SigAlg, SigningKey};
use jeton_issuer::{
    DataFolder, IssuerSettings, KeyEncryptionKey, KeySource, Missing, Node, Options,
};
use jeton_store::MemoryStore;
use zeroize::Zeroizing;

const ISS: &str = "https://id.example";

/// Timeout for the threads of a node to release it, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// One test at a time: all share the same memory.
static ALONE: Mutex<()> = Mutex::new(());

/// The searched bytes, masked.
struct Needle(Vec<u8>);

const MASK: u8 = 0xa5;

impl Needle {
    fn of(bytes: impl Iterator<Item = u8>) -> Needle {
        let needle = Needle(bytes.map(|byte| byte ^ MASK).collect());
        assert!(
            needle.0.len() >= 16,
            "too short to be found by chance alone"
        );
        needle
    }

    fn begins(&self, at: &[u8]) -> bool {
        at.len() >= self.0.len()
            && (self.0.iter().zip(at)).all(|(masked, byte)| masked ^ MASK == *byte)
    }
}

/// A secret of 32 bytes in the encodings in which it may occur.
struct Secret {
    seed: u64,
}

impl Secret {
    fn byte(&self, at: usize) -> u8 {
        // splitmix64
        let mut word = (self.seed + at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)).to_le_bytes()[0]
    }

    fn bytes(&self) -> impl Iterator<Item = u8> {
        (0..32).map(|at| self.byte(at))
    }

    fn hex_digits(&self) -> impl Iterator<Item = u8> {
        let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
        self.bytes()
            .flat_map(move |byte| [digit(byte >> 4), digit(byte & 15)])
    }

    fn base64url_digits(&self) -> impl Iterator<Item = u8> {
        (0..43).map(|at| {
            // Six bits from here.
            let bit = |bit: usize| match bit / 8 {
                32.. => 0,
                at => self.byte(at) >> (7 - bit % 8) & 1,
            };
            let value = (0..6).fold(0, |value, offset| value << 1 | bit(6 * at + offset));
            let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
            digits[usize::from(value)]
        })
    }

    fn needles(&self) -> Vec<(&'static str, Needle)> {
        vec![
            ("its bytes", Needle::of(self.bytes())),
            ("its hexadecimal digits", Needle::of(self.hex_digits())),
            ("its base64url", Needle::of(self.base64url_digits())),
        ]
    }
}

/// Preallocated text: growing leaves copies.
fn text(parts: &[&str], secret: impl Iterator<Item = u8>) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(1024));
    text.push_str(parts[0]);
    secret.for_each(|digit| text.push(char::from(digit)));
    text.push_str(parts[1]);
    text
}

/// Counts occurrences in the writable memory of this process.
fn search(needles: &[(&'static str, Needle)]) -> Vec<(&'static str, usize)> {
    const WINDOW: usize = 1 << 16;
    let mut window = Zeroizing::new(vec![0; 2 * WINDOW]);
    let own = window.as_ptr() as u64..window.as_ptr() as u64 + window.len() as u64;
    let memory = File::open("/proc/self/mem").unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mut found: Vec<_> = needles.iter().map(|(name, _)| (*name, 0)).collect();
    for line in maps.lines() {
        let mut fields = line.split_whitespace();
        let (range, mode) = (fields.next().unwrap(), fields.next().unwrap());
        if !mode.starts_with("rw") {
            continue;
        }
        let (from, to) = range.split_once('-').unwrap();
        let address = |text| u64::from_str_radix(text, 16).unwrap();
        let (mut from, to) = (address(from), address(to));
        while from < to {
            // Windows overlap, to find matches across their end.
            let bytes = usize::try_from(to - from).unwrap().min(2 * WINDOW);
            if memory.read_exact_at(&mut window[..bytes], from).is_err() {
                break;
            }
            for at in 0..bytes.min(WINDOW) {
                if own.contains(&(from + at as u64)) {
                    continue;
                }
                for ((_, needle), (_, found)) in needles.iter().zip(&mut found) {
                    if needle.0[0] ^ MASK == window[at] && needle.begins(&window[at..bytes]) {
                        *found += 1;
                    }
                }
            }
            from += WINDOW as u64;
        }
    }
    found
}

/// The positive control of the search.
fn assert_found(needles: &[(&'static str, Needle)], name: &str) {
    let found = search(needles);
    let times = found.iter().find(|(known, _)| *known == name).unwrap().1;
    assert!(times > 0, "the search does not find {name}: {found:?}");
}

fn assert_gone(needles: &[(&'static str, Needle)]) {
    let begun = Instant::now();
    loop {
        let left: Vec<_> = search(needles)
            .into_iter()
            .filter(|(_, times)| *times > 0)
            .collect();
        if left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < TIMEOUT, "still in memory: {left:?}");
        thread::sleep(Duration::from_millis(100));
    }
}

fn node(alg: &str, options: Options) -> Node {
    let node = Node::start(Arc::new(MemoryStore::new()), options, Arc::new(SystemClock)).unwrap();
    let settings = format!(
        r#"{{"iss":"{ISS}","profiles":[{{"name":"p","alg":"{alg}","lifetime_seconds":900,"audiences":["api"]}}]}}"#
    );
    let settings = IssuerSettings::from_json(&settings).unwrap();
    node.create_issuer("setup", settings).unwrap();
    node
}

#[test]
fn key_encryption_key_from_text_is_wiped() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let secret = Secret { seed: 1 << 32 };
    let needles = secret.needles();
    let written = text(&["", ""], secret.hex_digits());
    assert_found(&needles, "its hexadecimal digits");
    // As in the environment variable.
    let KeySource::Given(key) = KeySource::choose(None, Some(&written)).unwrap() else {
        panic!("it was given")
    };
    drop(written);
    assert_found(&needles, "its bytes");
    // Private keys are encrypted under it and read again.
    let node = node("HS256", Options::new(key));
    node.rotate("me", ISS, "HS256".parse().unwrap()).unwrap();
    assert_found(&needles, "its bytes");
    drop(node);
    assert_gone(&needles);
}

#[test]
fn key_encryption_key_from_a_file_is_wiped() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let secret = Secret { seed: 2 << 32 };
    let needles = secret.needles();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let file = data.join("key-encryption-key");
    let folder = DataFolder::open(&data, Missing::Make, Duration::ZERO).unwrap();
    fs::write(&file, text(&["", "\n"], secret.hex_digits()).as_bytes()).unwrap();
    std::os::unix::fs::chown(&file, None, None).unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(&file, private).unwrap();
    for source in [KeySource::InFolder, KeySource::File(file)] {
        let options = folder.options(source).unwrap();
        assert_found(&needles, "its bytes");
        drop(options);
        assert_gone(&needles);
    }
    // Its displayed form is wiped too.
    let key = KeyEncryptionKey::from_hex(&text(&["", ""], secret.hex_digits())).unwrap();
    let shown = key.to_hex();
    assert_found(&needles, "its hexadecimal digits");
    drop((key, shown));
    assert_gone(&needles);
}

/// The record is encrypted. The snapshot has the secret for signing and verifying.
#[test]
fn imported_mac_secret_is_wiped_with_its_snapshots() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let secret = Secret { seed: 3 << 32 };
    let needles = secret.needles();
    let jwk = text(
        &[r#"{"kty":"oct","alg":"HS256","k":""#, r#""}"#],
        secret.base64url_digits(),
    );
    assert_found(&needles, "its base64url");
    let node = node("HS256", Options::new(KeyEncryptionKey::generate().unwrap()));
    node.import("me", ISS, "HS256".parse().unwrap(), &jwk)
        .unwrap();
    drop(jwk);
    assert_found(&needles, "its bytes");
    // A new snapshot with the same keys replaces the old one.
    let (settings, _) = node.issuer(ISS).unwrap();
    node.set_issuer("me", &settings).unwrap();
    let base64url = [needles
        .into_iter()
        .find(|(name, _)| *name == "its base64url")
        .unwrap()];
    // While the node runs, nothing holds it as text.
    assert_gone(&base64url);
    drop(node);
    assert_gone(&secret.needles());
}

#[test]
fn imported_private_key_is_wiped() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let jwk = SigningKey::generate(SigAlg::ES256)
        .unwrap()
        .to_jwk()
        .unwrap();
    let from = jwk.find("\"d\":\"").unwrap() + 5;
    let needles = [("its base64url", Needle::of(jwk[from..from + 43].bytes()))];
    assert_found(&needles, "its base64url");
    let node = node("ES256", Options::new(KeyEncryptionKey::generate().unwrap()));
    node.import("me", ISS, "ES256".parse().unwrap(), &jwk)
        .unwrap();
    drop(jwk);
    assert_gone(&needles);
    drop(node);
}
