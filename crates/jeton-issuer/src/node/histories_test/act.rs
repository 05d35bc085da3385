//! Steps of a history.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::limits;

const SKEW: i64 = limits::CLOCK_SKEW_SECONDS;
/// Sizes of jumps, below and above the threshold, ahead and behind.
const JUMPS: [i64; 6] = [120, 599, 7200, 40 * 24 * 3600, -599, -3000];

#[derive(Debug, Clone)]
pub(super) enum What {
    Subject(u8),
    Client(u8),
    /// The key of that token.
    Key(Index),
    Token(Index),
    TokenWithoutExpiry(Index),
}

#[derive(Debug, Clone)]
pub(super) enum Act {
    Issue(Index, u8),
    /// A token without a stamp, as older versions issued.
    IssueWithoutStamp(u8),
    Revoke(What),
    /// Between its read and its commit another node revokes, and both issue.
    RevokeMeanwhile(What, What, Index),
    /// Maintenance, as far as the clock is trusted.
    Due,
    /// Deletes everything that is over by its clock.
    Clean,
    /// Meanwhile another node revokes.
    CleanMeanwhile(What, Index),
    /// Like a fourth node whose clock is ahead and trusted.
    CleanEarly(i64),
    Lag,
    CatchUp,
    Jump(i64),
    Forward(i64),
    /// Until the first rule ends by its clock, plus this many seconds.
    Over(i64),
    Lifetimes(Index),
    Rotate,
    Compromised,
    Restart,
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        3 => (0_u8..2).prop_map(What::Subject),
        1 => (0_u8..2).prop_map(What::Client),
        1 => any::<Index>().prop_map(What::Key),
        1 => any::<Index>().prop_map(What::Token),
        1 => any::<Index>().prop_map(What::TokenWithoutExpiry),
    ]
}

pub(super) fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => (any::<Index>(), 0_u8..2).prop_map(|(profile, who)| Act::Issue(profile, who)),
        2 => (0_u8..2).prop_map(Act::IssueWithoutStamp),
        4 => what().prop_map(Act::Revoke),
        2 => (what(), what(), any::<Index>()).prop_map(|(a, b, who)| Act::RevokeMeanwhile(a, b, who)),
        2 => Just(Act::Due),
        2 => Just(Act::Clean),
        2 => (what(), any::<Index>()).prop_map(|(what, who)| Act::CleanMeanwhile(what, who)),
        1 => select(vec![599, 7200, 40 * 24 * 3600]).prop_map(Act::CleanEarly),
        3 => Just(Act::Lag),
        2 => Just(Act::CatchUp),
        2 => select(JUMPS.to_vec()).prop_map(Act::Jump),
        3 => prop_oneof![1_i64..5, 1_i64..900, Just(3600)].prop_map(Act::Forward),
        2 => prop_oneof![-SKEW - 1..=SKEW + 1, Just(2 * limits::STEADY_SECONDS)].prop_map(Act::Over),
        1 => any::<Index>().prop_map(Act::Lifetimes),
        1 => Just(Act::Rotate),
        1 => Just(Act::Compromised),
        1 => Just(Act::Restart),
    ]
}
