//! Every bound of an issuer, by name. Times are in seconds, unless they are durations.

use std::time::Duration;

/// Keys that an issuer has at once, in every state.
pub const KEYS_PER_ISSUER: usize = 20;
/// Profiles that an issuer has.
pub const PROFILES_PER_ISSUER: usize = 64;
/// Audiences that a profile may be for.
pub const AUDIENCES_PER_PROFILE: usize = 64;
/// Issuers that a node serves.
pub const ISSUERS: usize = 4096;
/// How long a key is published before it signs, unless the settings say otherwise.
pub const LEAD_SECONDS: i64 = 3600;
/// The shortest lead.
pub const LEAD_SECONDS_MIN: i64 = 600;
/// How long verifiers may cache the key set, unless the settings say otherwise.
pub const MAX_AGE_SECONDS: i64 = 300;
/// How long a key signs, unless the settings say otherwise: 30 days.
pub const ROTATE_EVERY_SECONDS: i64 = 30 * 24 * 3600;
/// The longest lifetime of a token: a year.
pub const LIFETIME_SECONDS: i64 = 366 * 24 * 3600;
/// How far the clocks of two nodes may differ: one number for verification, rotation, revocation and
/// clean-up.
pub const CLOCK_SKEW_SECONDS: i64 = 60;
/// How long after its expiry a token is still taken, and how long before it was issued: nodes verify with
/// this leeway, so that each takes what the others issue.
pub const LEEWAY_SECONDS: i64 = CLOCK_SKEW_SECONDS;
/// How long a change may take from the node that makes it to the key set that another node serves. A node
/// that has not heard from the store for longer serves key sets that nobody may cache.
pub const PROPAGATION_SECONDS: i64 = 60;
/// How long a clock must go on evenly before keys are published or dropped, and revocations are forgotten, by
/// it. What it jumps by at once, without counting as a jump, is at most as much.
pub const STEADY_SECONDS: i64 = 600;
/// How long a node minds that the clock of another is far from its own.
pub const CLOCKS_APART_SECONDS: u64 = 24 * 3600;
/// How long after the last token of a key has expired the key may still be in the key set: leeway,
/// clocks that differ, and the while for which a clock must agree with itself before a key is dropped.
pub const GONE_AFTER_SECONDS: i64 = LEEWAY_SECONDS + 2 * CLOCK_SKEW_SECONDS + 2 * STEADY_SECONDS;
/// For how long a node issues that hears nothing from the store, unless
/// [`Options`](crate::Options::issue_without_store) say otherwise. Long enough for an etcd to be restarted or
/// moved; short enough that what such a node cannot know of does not go unnoticed for long: a subject that is
/// revoked elsewhere gets no new tokens from it, and a key that is retired elsewhere signs no more.
pub const ISSUE_WITHOUT_STORE: Duration = Duration::from_secs(900);
/// For how long it issues at most, whatever the options say: revocation rules are kept for as much longer.
pub const ISSUE_WITHOUT_STORE_MAX: Duration = Duration::from_secs(3600);
/// How much longer than the longest-lived token of an issuer a revocation rule counts: a node that has not
/// heard of it issues for a while, by a clock that may be ahead, and the token is verified by one that may be
/// behind.
pub const RULE_AFTER_SECONDS: i64 =
    ISSUE_WITHOUT_STORE_MAX.as_secs().cast_signed() + LEEWAY_SECONDS + 2 * CLOCK_SKEW_SECONDS;
/// Revocations written with one transaction, with its audit entry, the counter of rules and a condition in
/// 128. What they are decided from is one read of as many.
pub const REVOCATIONS_PER_TXN: usize = 100;
/// Revocations that wait to be written.
pub const WAITING_REVOCATIONS: usize = 16_384;
/// Tokens that are to be revoked, were rejected, and wait until the node has heard of all keys.
pub const WAITING_TOKENS: usize = 1024;
/// Revocation rules (subjects, clients, keys) of a node.
pub const RULES: usize = 100_000;
/// What a node keeps in memory of the last revocations, for those who follow them, bytes. Who is further
/// behind has to follow anew.
pub const FEED_HISTORY_BYTES: usize = 16 * 1024 * 1024;
/// What a feed of revocations tells at once, bytes in memory, and a transaction's more.
pub const FEED_MESSAGE_BYTES: usize = 32 * 1024;
/// A feed tells that nothing is new if the node's view is newer by so much than when it last told something.
pub const FEED_PROGRESS: Duration = Duration::from_secs(1);
/// A name: of a profile, an actor, a token, a subject or a client. Bytes. What has no such name cannot be
/// revoked by it: such tokens are not issued, and not verified.
pub const NAME_BYTES: usize = 1024;
/// A token that is issued or verified, bytes, unless [`Options`](crate::Options) say otherwise.
pub const TOKEN_BYTES: usize = 256 * 1024;
/// The most that they may say.
pub const TOKEN_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The least that they may say: registered claims with short names fit.
pub const TOKEN_BYTES_MIN: usize = 1024;
/// Nesting of the claims of a token that is issued or verified.
pub const CLAIMS_DEPTH: u32 = 32;
/// The names that one transaction revokes, bytes: its audit entry lists them.
pub const NAMES_PER_TXN_BYTES: usize = 64 * 1024;
/// Nesting of an issuer's settings.
pub const SETTINGS_DEPTH: u32 = 32;
/// A value of an issuer's settings as the log and the audit log tell it, bytes; a longer one is cut.
pub const SHOWN_VALUE_BYTES: usize = 256;
/// Fields of an issuer's settings that one entry of the audit log tells the change of.
pub const DIFFERENCES_PER_ENTRY: usize = 64;
/// How often a decision is made anew because another node was faster.
pub const ATTEMPTS: usize = 64;

// Whoever fetched a key set just before a key came into it, from a node that had not heard of the key, has
// it before it signs on a node whose clock is ahead. Settings hold `max_age <= lead / 2`, so the other half
// must have room for the rest.
const _: () = assert!(LEAD_SECONDS_MIN / 2 >= CLOCK_SKEW_SECONDS + PROPAGATION_SECONDS);
