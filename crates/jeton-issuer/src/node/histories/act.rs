//! What happens in a history.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::limits;

const SKEW: i64 = limits::CLOCK_SKEW_SECONDS;
/// By how much one jumps: what counts as a jump and what does not, ahead and behind. A rule that is made by a
/// clock further behind is over too early.
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
    /// As a jeton of before the counter did: a token without a stamp.
    IssueWithoutStamp(u8),
    Revoke(What),
    /// Between its look and its commit another node revokes the first, and both issue.
    RevokeMeanwhile(What, What, Index),
    /// What is due, as far as the clock is trusted.
    Due,
    /// Everything that is over by its clock goes.
    Clean,
    /// Meanwhile another node revokes something.
    CleanMeanwhile(What, Index),
    /// As a fourth node does whose clock is so far ahead and that trusts it.
    CleanEarly(i64),
    Lag,
    CatchUp,
    Jump(i64),
    Forward(i64),
    /// Until the first rule is over by its clock, and so much more.
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
