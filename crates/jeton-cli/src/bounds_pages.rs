//! Compares the numbers in `SECURITY.md` and `docs/reference/bounds.md` with the constants.

#![allow(clippy::unwrap_used)]

use jeton::{Limits, limits};
use jeton_issuer::limits as of_issuer;
use jeton_server::limits as of_server;

const PAGE: &str = include_str!("../../../SECURITY.md");

/// With a comma after each three digits.
fn number(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().ok().unwrap().to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups
        .map(|group| std::str::from_utf8(group).unwrap())
        .collect();
    groups.join(",")
}

/// In the largest binary unit.
fn bytes(bytes: impl TryInto<u64>) -> String {
    let bytes = bytes.try_into().ok().unwrap();
    match bytes.trailing_zeros() {
        30.. => format!("{} GiB", bytes >> 30),
        20.. => format!("{} MiB", bytes >> 20),
        10.. => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}

/// Constants that are private, or of other tests.
const CLAIMS_BUFFER: &str = include_str!("../../jeton/src/claims/buffer.rs");
const CONFINED_TESTS: &str = include_str!("../tests/it/untrusted/confined.rs");

/// The product after this text of a source.
fn written(source: &str, before: &str) -> u64 {
    let (_, after) = source.split_once(before).unwrap();
    let end = after.find(|next: char| !next.is_ascii_digit() && !" *".contains(next));
    let factors = after[..end.unwrap()].split('*');
    factors
        .map(|factor| factor.trim().parse::<u64>().unwrap())
        .product()
}

/// What the page says with numbers.
fn said() -> Vec<String> {
    let library = Limits::default();
    let server = jeton_server::Config::default().limits;
    let seconds = |duration: std::time::Duration| duration.as_secs();
    let row = |name: &str, value: String| format!("{name} | {value} |");
    vec![
        format!(
            "ahead of the clock by {} seconds",
            limits::ISSUED_AHEAD_SECONDS
        ),
        format!(
            "RSA modulus under {} bits",
            number(limits::RSA_MODULUS_BITS_MIN)
        ),
        row("the token as it arrives", bytes(library.token_bytes as u64)),
        row(
            "protected header before base64url",
            bytes(library.header_bytes as u64),
        ),
        row("nesting in header and claims", number(library.json_depth)),
        row(
            "the `kid` of a token",
            format!("{} bytes", number(library.key_id_bytes as u64)),
        ),
        row(
            "an id that the caller gives to a key",
            format!("{} bytes", number(limits::KEY_ID_BYTES as u64)),
        ),
        row(
            "the `kid` of a key that is read",
            bytes(limits::KEY_ID_BYTES_MAX as u64),
        ),
        row(
            "a PASETO footer before base64url",
            bytes(limits::FOOTER_BYTES as u64),
        ),
        row(
            "of a password-encrypted `k1` or `k3`",
            format!(
                "{} to {}",
                number(limits::PBKDF2_ITERATIONS_MIN),
                number(limits::PBKDF2_ITERATIONS)
            ),
        ),
        row(
            "of a password-encrypted `k2` or `k4`",
            format!(
                "{} to {}",
                bytes(limits::ARGON2ID_MEMORY_BYTES_MIN),
                bytes(limits::ARGON2ID_MEMORY_BYTES)
            ),
        ),
        row(
            "`ARGON2ID_PASSES`, `ARGON2ID_LANES`",
            format!("{}, {}", limits::ARGON2ID_PASSES, limits::ARGON2ID_LANES),
        ),
        row(
            "when such a key is read",
            bytes(limits::ARGON2ID_MEMORY_BYTES_DEFAULT),
        ),
        row(
            "memory × passes",
            bytes(limits::ARGON2ID_WORK_BYTES_DEFAULT),
        ),
        row(
            "`PasswordLimits::pbkdf2_iterations`",
            number(limits::PBKDF2_ITERATIONS),
        ),
        row(
            "of an encrypted PKCS#8 key",
            format!(
                "{}, {}",
                number(limits::PBKDF2_ITERATIONS),
                bytes(limits::SCRYPT_MEMORY_BYTES)
            ),
        ),
        row(
            "`p2c` of a password-encrypted JWE",
            number(library.pbes2_rounds),
        ),
        row(
            "one certificate, one HMAC secret",
            bytes(limits::KEY_BYTES as u64),
        ),
        row("a key set's text", bytes(limits::KEY_SET_BYTES as u64)),
        row("keys in a set", number(limits::KEY_SET_KEYS as u64)),
        row(
            "keys tried for a token without a `kid`",
            number(library.keys_tried as u64),
        ),
        row(
            "signatures on one JWS in the JSON serialization",
            number(limits::SIGNATURES as u64),
        ),
        row(
            "over all signatures and keys",
            number(limits::SIGNATURES_TRIED as u64),
        ),
        row(
            "an RSA modulus",
            format!(
                "{} to {} bits",
                number(limits::RSA_MODULUS_BITS_MIN as u64),
                number(limits::RSA_MODULUS_BITS as u64)
            ),
        ),
        row(
            "an RSA public exponent",
            format!("{} bits", limits::RSA_EXPONENT_BITS),
        ),
        format!(
            "{} for tokens and payloads, {} for keys and secrets",
            bytes(crate::input::INPUT_BYTES_MAX),
            bytes(limits::KEY_SET_BYTES as u64)
        ),
        format!(
            "claims over {}",
            bytes(written(CLAIMS_BUFFER, "type Buffer = SmallVec<[u8; "))
        ),
        format!(
            "{} of address space",
            bytes(written(CONFINED_TESTS, "MEMORY_KIB: u64 = ") << 10)
        ),
        format!("{} random bits", 8 * of_server::ADMIN_TOKEN_BYTES),
        format!(
            "At most {} Argon2id computations run at once (`ARGON2_AT_ONCE`), and {} wait",
            of_server::ARGON2_AT_ONCE,
            of_server::ARGON2_WAITING
        ),
        row("a request", bytes(server.message_bytes as u64)),
        row(
            "a token that is issued, verified or introspected",
            bytes(of_issuer::TOKEN_BYTES as u64),
        ),
        row("tokens of a batch", number(server.batch_items as u64)),
        row(
            "calls in flight on one connection",
            number(server.calls_per_connection),
        ),
        row("headers of a request", bytes(server.header_bytes)),
        row(
            &format!(
                "the admin listener accepts {} more",
                of_server::ADMIN_CONNECTIONS
            ),
            number(server.connections as u64),
        ),
        row(
            "memory that all clients make the server hold",
            bytes(server.memory_bytes as u64),
        ),
        row(
            "the same for one address or one client",
            bytes(server.memory_share_bytes as u64),
        ),
        row(
            &format!(
                "streams of revocations, with {} queued messages each",
                of_server::WATCHER_MESSAGES
            ),
            number(server.revocation_watchers as u64),
        ),
        row(
            "`limits.revocation_watchers_per_client`, of one client",
            number(of_server::REVOCATION_WATCHERS_PER_CLIENT as u64),
        ),
        row(
            "of one client (`ADMIN_STREAMS_PER_CLIENT`)",
            format!(
                "{}, {}",
                of_server::ADMIN_STREAMS,
                of_server::ADMIN_STREAMS_PER_CLIENT
            ),
        ),
        row(
            "for these clients (`FEED_HISTORY_BYTES`)",
            bytes(of_issuer::FEED_HISTORY_BYTES as u64),
        ),
        row(
            "(`LOADING_BYTES`)",
            bytes(jeton_store::limits::LOADING_BYTES as u64),
        ),
        row(
            "how long a client may read nothing of its response",
            format!("{} s", server.client_stall_timeout_seconds),
        ),
        row(
            "for each server",
            format!("{} per minute", of_server::REQUESTS_PER_MINUTE),
        ),
        row("(`RULES`)", number(of_issuer::RULES as u64)),
        row(
            "those that one client made",
            number(server.revocation_rules_per_client as u64),
        ),
        row(
            "(`revocations_per_day`), for each server",
            format!("{} per day", number(of_server::REVOCATIONS_PER_DAY)),
        ),
        row(
            "(`FORM_PARAMETERS`)",
            number(of_server::FORM_PARAMETERS as u64),
        ),
        row(
            "(`CLIENT_ASSERTION_SECONDS`)",
            format!(
                "{} s",
                number(of_server::CLIENT_ASSERTION_SECONDS.unsigned_abs())
            ),
        ),
        row(
            "(`ARGON2_MEMORY_KIB`, `ARGON2_PASSES`)",
            format!(
                "{}, {}",
                bytes(u64::from(of_server::ARGON2_MEMORY_KIB.1) << 10),
                of_server::ARGON2_PASSES.1
            ),
        ),
        row(
            "(`ARGON2_COMPARISONS`)",
            number(of_server::ARGON2_COMPARISONS as u64),
        ),
        row(
            "(`SINGLE_USE_SECONDS`)",
            format!("{} s", number(of_server::SINGLE_USE_SECONDS.unsigned_abs())),
        ),
        row("(`ACTORS`)", number(of_server::ACTORS as u64)),
        row("nesting of claims", number(of_issuer::CLAIMS_DEPTH)),
        row(
            "a subject, a `client_id`, a token id",
            format!(
                "1 to {} bytes, no control characters",
                number(of_issuer::NAME_BYTES as u64)
            ),
        ),
        format!("at most {} s later", of_issuer::CLOCK_SKEW_SECONDS),
        format!("differ by {} s", of_issuer::CLOCK_SKEW_SECONDS),
        format!(
            "can issue for {} minutes",
            of_issuer::ISSUE_WITHOUT_STORE.as_secs() / 60
        ),
        format!(
            "buffers of at most {}",
            bytes(u64::from(of_server::ARGON2_MEMORY_KIB.1) << 10)
        ),
        format!(
            "yields to other calls every {} ms",
            of_server::TIME_SLICE.as_millis()
        ),
        format!("idle for {} s", seconds(of_server::IDLE_BEFORE_EVICTION)),
        format!(
            "share of the memory allows: {} with the defaults",
            number((of_server::MEMORY_SHARE_BYTES / of_server::CONNECTION_BYTES) as u64)
        ),
    ]
}

/// Numbers that no constant decides: names and codes of standards, and counts of what the sentence lists.
const OTHER: &[&str] = &[
    "PASETO versions 1 and 2",
    // Of each decryption with RSA1_5.
    "a second one",
    // Status codes of HTTP, which the tests `browser_requests` of the server compare.
    "| 415 |",
    "| 400 |",
    "| 421 |",
    "| 403 |",
    "OAuth 2.0",
    "up to two layers",
    "HTTP/2",
    "SHA-256",
];

#[test]
fn every_number_in_security_md_comes_from_a_constant() {
    let mut rest = PAGE.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in said() {
        assert!(rest.contains(&text), "SECURITY.md does not say: {text}");
        rest = rest.replacen(&text, " ", 1);
    }
    for text in OTHER {
        rest = rest.replace(text, " ");
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    let is_number = |word: &str| {
        word.trim_start_matches(['(', '"', '~'])
            .starts_with(|first: char| first.is_ascii_digit())
    };
    for (before, word) in words.iter().zip(&words[1..]) {
        let is_name = ["RFC", "section"].contains(before);
        assert!(
            is_name || !is_number(word),
            "SECURITY.md: `{before} {word}` comes from no constant"
        );
    }
}

/// What the page claims of its review.
#[test]
fn page_says_that_nobody_outside_has_reviewed_the_code() {
    assert!(PAGE.contains("No outside person has reviewed the code."));
}

const BOUNDS: &str = include_str!("../../../docs/reference/bounds.md");
const CHART: &str = include_str!("../../../deploy/helm/jeton/values.yaml");

/// The server without clients, as the test of the page measures it.
const EMPTY_SERVER_BYTES: u64 = 64 << 20;

#[test]
fn bounds_add_up_below_the_memory_of_the_chart() {
    let argon2 =
        (of_server::ARGON2_AT_ONCE as u64) * (u64::from(of_server::ARGON2_MEMORY_KIB.1) << 10);
    let parts = [
        (
            "open streams",
            of_server::MEMORY_BYTES as u64,
            "`limits.memory_bytes`",
        ),
        (
            "by the first comparisons and kept",
            argon2,
            "`ARGON2_AT_ONCE`, `ARGON2_MEMORY_KIB`",
        ),
        (
            "that follow them",
            of_issuer::FEED_HISTORY_BYTES as u64,
            "`FEED_HISTORY_BYTES`",
        ),
        (
            "while the store is loaded",
            jeton_store::limits::LOADING_BYTES as u64,
            "`LOADING_BYTES`",
        ),
        (
            "and without revocations",
            EMPTY_SERVER_BYTES,
            "measured by the test below",
        ),
    ];
    for (what, most, bound) in parts {
        let row = format!("{what} | {} | {bound}", bytes(most));
        assert!(BOUNDS.contains(&row), "docs/reference/bounds.md: {row}");
    }
    let sum: u64 = parts.iter().map(|(_, most, _)| most).sum();
    let chart = CHART
        .lines()
        .find_map(|line| line.trim().strip_prefix("limits: {memory: "));
    let gibibytes = chart.and_then(|text| text.strip_suffix("Gi}")).unwrap();
    let chart = gibibytes.parse::<u64>().unwrap() << 30;
    assert!(sum < chart);
    let row = format!(
        "| sum | {} | below the memory limit of the chart, {} MiB |",
        bytes(sum),
        number(chart >> 20)
    );
    assert!(BOUNDS.contains(&row), "docs/reference/bounds.md: {row}");
}

#[test]
fn bounds_page_has_every_share_and_time() {
    let server = jeton_server::Config::default().limits;
    let seconds = |time: std::time::Duration| format!("{} s", time.as_secs());
    let stall = format!("{} s", server.client_stall_timeout_seconds);
    for (most, bound) in [
        (
            bytes(server.memory_share_bytes as u64),
            "`limits.memory_share_bytes`",
        ),
        (number(server.connections as u64), "`limits.connections`"),
        (
            number(of_server::ADMIN_CONNECTIONS as u64),
            "`ADMIN_CONNECTIONS`",
        ),
        (
            number((of_server::MEMORY_SHARE_BYTES / of_server::CONNECTION_BYTES) as u64),
            "`CONNECTION_BYTES`",
        ),
        (
            number(server.calls_per_connection),
            "`limits.calls_per_connection`",
        ),
        (
            number(server.revocation_watchers as u64),
            "`limits.revocation_watchers`",
        ),
        (
            number(of_server::REVOCATION_WATCHERS_PER_CLIENT as u64),
            "`limits.revocation_watchers_per_client`",
        ),
        (number(of_server::ADMIN_STREAMS as u64), "`ADMIN_STREAMS`"),
        (
            number(of_server::ADMIN_STREAMS_PER_CLIENT as u64),
            "`ADMIN_STREAMS_PER_CLIENT`",
        ),
        (number(of_server::ARGON2_WAITING as u64), "`ARGON2_WAITING`"),
        (
            format!("{} per minute", of_server::REQUESTS_PER_MINUTE),
            "`requests_per_minute`",
        ),
        (number(of_issuer::RULES as u64), "`RULES`"),
        (
            number(server.revocation_rules_per_client as u64),
            "`limits.revocation_rules_per_client`",
        ),
        (
            format!("{} per day", number(of_server::REVOCATIONS_PER_DAY)),
            "`revocations_per_day`",
        ),
        (seconds(of_server::HANDSHAKE_TIMEOUT), "`HANDSHAKE_TIMEOUT`"),
        (seconds(of_server::RECEIVE_TIMEOUT), "`RECEIVE_TIMEOUT`"),
        (stall, "`limits.client_stall_timeout_seconds`"),
        (
            format!("{} spans", number(of_server::TRACE_QUEUE_SPANS as u64)),
            "`TRACE_QUEUE_SPANS`",
        ),
    ] {
        let row = format!("| {most} | {bound}");
        assert!(BOUNDS.contains(&row), "docs/reference/bounds.md: {row}");
    }
    let small = format!(
        "at most {} may use",
        bytes(of_server::SMALL_HOLDER_BYTES as u64)
    );
    assert!(BOUNDS.contains(&small), "docs/reference/bounds.md: {small}");
}
