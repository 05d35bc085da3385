//! Decides which tokens a revocation rule rejects, as `RevocationRule` in token.proto describes.

use jeton_proto::v1::RevocationRule;

/// Random digits of a `jti` before its stamp.
const RANDOM_DIGITS: usize = 32;

/// Epoch and number.
type Stamp = (u64, u64);

/// Whether the rule rejects the token with this `jti` and `iat`.
pub(crate) fn rejects(
    rule: &RevocationRule,
    token_id: Option<&str>,
    issued_at: Option<i64>,
) -> bool {
    if rule.is_ended {
        return false;
    }
    if rule.not_before == i64::MAX {
        return true;
    }
    let stamp = (rule.epoch, rule.number);
    match token_id.and_then(stamp_of) {
        Some(token) if stamp != (0, 0) => token < stamp,
        _ => issued_at.is_none_or(|at| at <= rule.not_before),
    }
}

/// Merges a received rule with the known rule of the same name, so that the result rejects at least as much.
///
/// Only a rule that says so ends the known one. The server may have lost the known rule because of a wrong clock.
pub(crate) fn merge(rule: RevocationRule, known: Option<&RevocationRule>) -> RevocationRule {
    let stamp = (rule.epoch, rule.number);
    match known.filter(|known| !known.is_ended) {
        // A part of the snapshot may be newer than the change that follows.
        Some(known) if rule.is_ended => {
            if (known.epoch, known.number) > stamp {
                known.clone()
            } else {
                rule
            }
        }
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
        // A rule without a stamp rejects by time alone, including tokens with a higher stamp than the known one.
        _ => rule,
    }
}

fn stamp_of(token_id: &str) -> Option<Stamp> {
    let (random, stamp) = token_id.split_at_checked(RANDOM_DIGITS)?;
    let (epoch, number) = stamp.strip_prefix('-')?.split_once('-')?;
    if random.bytes().all(is_digit) {
        Some((read(epoch)?, read(number)?))
    } else {
        None
    }
}

fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn read(digits: &str) -> Option<u64> {
    let is_canonical = digits.bytes().all(is_digit) && (digits == "0" || !digits.starts_with('0'));
    if is_canonical {
        u64::from_str_radix(digits, 16).ok()
    } else {
        None
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
    fn rejects_compares_stamps_of_token_and_rule() {
        let (id, at) = (format!("{RANDOM}-a-10"), Some(100));
        for (epoch, number, is_rejected) in [
            (9, 99, false),
            (10, 15, false),
            (10, 16, false),
            (10, 17, true),
            (11, 0, true),
        ] {
            // Regardless of the time of issue.
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
    fn rejects_without_a_stamp_compares_times() {
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
    fn merge_never_weakens_the_known_rule() {
        let known = rule(i64::MAX, 10, 17);
        let merged = merge(rule(100, 10, 18), Some(&known));
        assert_eq!(
            (merged.not_before, merged.epoch, merged.number),
            (i64::MAX, 10, 18)
        );
        let merged = merge(rule(100, 10, 16), Some(&rule(90, 10, 17)));
        assert_eq!(
            (merged.not_before, merged.epoch, merged.number),
            (100, 10, 17)
        );
        let unstamped = rule(100, 0, 0);
        assert_eq!(merge(unstamped.clone(), Some(&rule(90, 10, 17))), unstamped);
        assert_eq!(merge(unstamped.clone(), None), unstamped);
    }

    #[test]
    fn merge_ends_the_known_rule_and_nothing_newer() {
        let ended = |number| RevocationRule {
            is_ended: true,
            ..rule(100, 10, number)
        };
        for known in [rule(100, 10, 17), rule(i64::MAX, 10, 17)] {
            let merged = merge(ended(17), Some(&known));
            assert!(!rejects(&merged, Some(RANDOM), Some(0)) && merged.is_ended);
            assert_eq!(merge(ended(16), Some(&known)), known);
        }
        let again = rule(200, 10, 18);
        assert_eq!(merge(again.clone(), Some(&ended(17))), again);
        assert!(!rejects(&merge(ended(17), None), None, None));
        let unstamped = RevocationRule {
            is_ended: true,
            ..rule(100, 0, 0)
        };
        assert_eq!(merge(unstamped.clone(), Some(&rule(100, 0, 0))), unstamped);
    }

    #[test]
    fn stamp_of_accepts_the_canonical_form_only() {
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
