//! Which tokens a rule rejects, as `RevocationRule` in token.proto says.

use jeton_proto::v1::RevocationRule;

/// Digits of a `jti` before its stamp.
const RANDOM_DIGITS: usize = 32;

/// Epoch and number.
type Stamp = (u64, u64);

/// Whether the rule rejects the token with this `jti` and `iat`.
pub(crate) fn rejects(
    rule: &RevocationRule,
    token_id: Option<&str>,
    issued_at: Option<i64>,
) -> bool {
    if rule.not_before == i64::MAX {
        return true;
    }
    let stamp = (rule.epoch, rule.number);
    match token_id.and_then(stamp_of) {
        Some(token) if stamp != (0, 0) => token < stamp,
        _ => issued_at.is_none_or(|at| at <= rule.not_before),
    }
}

/// The rule, told after the one that is known: no rule is taken back before it is over, so that it does not
/// weaken what is known. The server may have lost the other one to a clock that was wrong.
pub(crate) fn merge(rule: RevocationRule, known: Option<&RevocationRule>) -> RevocationRule {
    let stamp = (rule.epoch, rule.number);
    match known {
        Some(known) if stamp != (0, 0) => {
            let (epoch, number) = stamp.max((known.epoch, known.number));
            RevocationRule {
                not_before: rule.not_before.max(known.not_before),
                until: rule.until.max(known.until),
                epoch,
                number,
                ..rule
            }
        }
        // One without a stamp rejects by the time alone, also tokens with a higher stamp than the known one's.
        _ => rule,
    }
}

fn stamp_of(token_id: &str) -> Option<Stamp> {
    let (random, stamp) = token_id.split_at_checked(RANDOM_DIGITS)?;
    let (epoch, number) = stamp.strip_prefix('-')?.split_once('-')?;
    match random.bytes().all(is_digit) {
        true => Some((read(epoch)?, read(number)?)),
        false => None,
    }
}

fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn read(digits: &str) -> Option<u64> {
    let is_written_so = digits.bytes().all(is_digit) && (digits == "0" || !digits.starts_with('0'));
    match is_written_so {
        // More than 16 digits do not fit.
        true => u64::from_str_radix(digits, 16).ok(),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANDOM: &str = "0123456789abcdef0123456789abcdef";

    fn rule(not_before: i64, epoch: u64, number: u64) -> RevocationRule {
        RevocationRule {
            not_before,
            epoch,
            number,
            ..RevocationRule::default()
        }
    }

    #[test]
    fn a_stamped_token_is_rejected_by_rules_with_a_higher_stamp() {
        let (id, at) = (format!("{RANDOM}-a-10"), Some(100));
        for (epoch, number, is_rejected) in [
            (9, 99, false),
            (10, 15, false),
            (10, 16, false),
            (10, 17, true),
            (11, 0, true),
        ] {
            // Whenever it was issued.
            for not_before in [0, 1000] {
                let rule = rule(not_before, epoch, number);
                assert_eq!(
                    rejects(&rule, Some(&id), at),
                    is_rejected,
                    "{epoch} {number}"
                );
            }
            assert!(rejects(&rule(i64::MAX, epoch, number), Some(&id), at));
        }
    }

    #[test]
    fn without_a_stamp_the_time_decides() {
        let stamped = format!("{RANDOM}-a-10");
        for (id, rule) in [
            (None, rule(100, 10, 17)),
            (Some(RANDOM), rule(100, 10, 17)),
            (Some(&*stamped), rule(100, 0, 0)),
        ] {
            assert!(rejects(&rule, id, None) && rejects(&rule, id, Some(100)));
            assert!(!rejects(&rule, id, Some(101)));
        }
    }

    #[test]
    fn a_rule_that_is_told_again_does_not_weaken_what_is_known() {
        let known = rule(i64::MAX, 10, 17);
        let told = merge(rule(100, 10, 18), Some(&known));
        assert_eq!(
            (told.not_before, told.epoch, told.number),
            (i64::MAX, 10, 18)
        );
        let told = merge(rule(100, 10, 16), Some(&rule(90, 10, 17)));
        assert_eq!((told.not_before, told.epoch, told.number), (100, 10, 17));
        let unstamped = rule(100, 0, 0);
        assert_eq!(merge(unstamped.clone(), Some(&rule(90, 10, 17))), unstamped);
        assert_eq!(merge(unstamped.clone(), None), unstamped);
    }

    #[test]
    fn a_stamp_is_read_only_as_it_is_written() {
        assert_eq!(stamp_of(&format!("{RANDOM}-0-0")), Some((0, 0)));
        let most = "f".repeat(16);
        let id = format!("{RANDOM}-{most}-{most}");
        assert_eq!(stamp_of(&id), Some((u64::MAX, u64::MAX)));
        for id in [
            RANDOM.to_owned(),
            format!("{RANDOM}-1"),
            format!("{RANDOM}-1-"),
            format!("{RANDOM}--1"),
            format!("{RANDOM}-01-1"),
            format!("{RANDOM}-1-00"),
            format!("{RANDOM}-1-1-1"),
            format!("{RANDOM}-A-1"),
            format!("{RANDOM}-+1-1"),
            format!("{RANDOM}-1{most}-1"),
            format!("{RANDOM}0-1-1"),
            format!("{}-1-1", &RANDOM[1..]),
            format!("G{}-1-1", &RANDOM[1..]),
            "\u{e9}".repeat(20),
        ] {
            assert_eq!(stamp_of(&id), None, "{id}");
        }
    }
}
