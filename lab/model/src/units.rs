//! Formats of numbers, units and lists.

/// The time unit of a chart and its table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// Its name: `µs`.
    pub name: &'static str,
    /// Nanoseconds in one unit.
    nanoseconds: f64,
    /// Decimals that keep the smallest value at three digits or more.
    decimals: usize,
}

impl Unit {
    /// Chooses the unit in which the geometric mean of the times is between one and a thousand.
    pub fn for_times(ns: impl Iterator<Item = f64>) -> Self {
        let logs: Vec<f64> = ns
            .filter(|v| v.is_finite() && *v > 0.0)
            .map(f64::ln)
            .collect();
        let middle = (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp();
        let (name, nanoseconds) = match middle {
            m if m < 1e3 => ("ns", 1.0),
            m if m < 1e6 => ("µs", 1e3),
            m if m < 1e9 => ("ms", 1e6),
            _ => ("s", 1e9),
        };
        let smallest = logs.iter().copied().fold(f64::INFINITY, f64::min).exp() / nanoseconds;
        let decimals = match smallest {
            s if s < 1.0 => 3,
            s if s < 10.0 => 2,
            s if s < 100.0 => 1,
            _ => 0,
        };
        Self {
            name,
            nanoseconds,
            decimals,
        }
    }

    /// Formats a figure without the unit's name.
    pub fn figure(self, ns: f64) -> String {
        fixed(ns / self.nanoseconds, self.decimals)
    }

    /// Formats a figure with its unit.
    pub fn text(self, ns: f64) -> String {
        format!("{} {}", self.figure(ns), self.name)
    }

    /// Formats a tick's label with as few digits as possible.
    pub fn tick(self, ns: f64) -> String {
        let value = ns / self.nanoseconds;
        let decimals = (0..6)
            .find(|d| {
                let scale = 10f64.powi(*d);
                ((value * scale).round() / scale - value).abs() <= value.abs() * 1e-6
            })
            .unwrap_or(6);
        format!("{} {}", fixed(value, decimals as usize), self.name)
    }
}

/// Formats a number with fixed decimals and thousands separators; "n/a" if it is not finite.
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "n/a".to_owned();
    }
    if value.abs() >= 1e15 {
        return format!("{value:.2e}");
    }
    let plain = format!("{value:.decimals$}");
    let (whole, rest) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let (sign, digits) = whole
        .strip_prefix('-')
        .map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

/// Formats an integer with thousands separators.
pub fn whole(value: u64) -> String {
    fixed(value as f64, 0)
}

/// Formats a ratio for a column: 0.323, 12.60, 1,250.
pub fn ratio(value: f64) -> String {
    match value {
        v if v < 10.0 => fixed(v, 3),
        v if v < 100.0 => fixed(v, 2),
        v => fixed(v, 0),
    }
}

/// Formats a factor for a sentence or an axis: 1.06, 4.2, 13, 140.
pub fn times(value: f64) -> String {
    let plain = match value {
        v if v < 2.0 => fixed(v, 2),
        v if v < 10.0 => fixed(v, 1),
        v => fixed(v, 0),
    };
    // 2.0 becomes 2, and 1.50 becomes 1.5.
    if plain.contains('.') {
        plain.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        plain
    }
}

/// A larger share is only noise.
const SHARE_MAX: f64 = 100.0;

/// Formats a share in per cent with a no-break space: 0.012 is "1.2 %". A floor of 10,000 % and more, of a few
/// disturbed rounds, is "> 10,000 %".
pub fn percent(share: f64) -> String {
    if share > SHARE_MAX {
        return format!(">\u{a0}{}\u{a0}%", fixed(SHARE_MAX * 100.0, 0));
    }
    format!("{}\u{a0}%", fixed(share * 100.0, 1))
}

/// Joins items: "a", "a and b", "a, b and c".
pub fn list(items: impl IntoIterator<Item: AsRef<str>>) -> String {
    let items: Vec<_> = items.into_iter().collect();
    match items.as_slice() {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

/// Formats a count: "1 row", "2 rows".
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        whole(number as u64),
        if number == 1 { one } else { many }
    )
}

/// Capitalises the first letter.
pub fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_of_pure_noise_is_short() {
        assert_eq!(percent(0.012), "1.2\u{a0}%");
        assert_eq!(percent(2.3e11), ">\u{a0}10,000\u{a0}%");
    }

    #[test]
    fn unit_is_that_of_the_geometric_mean() {
        let unit = Unit::for_times([900.0, 3_300.0, 20_000.0].into_iter());
        assert_eq!(unit.text(900.0), "0.900 µs");
        assert_eq!(
            Unit::for_times([12.5, 40.0].into_iter()).text(12.5),
            "12.5 ns"
        );
        assert_eq!(Unit::for_times([2.0e6].into_iter()).text(2.0e6), "2.00 ms");
        assert_eq!(
            Unit::for_times([5.0e12].into_iter()).text(5.0e12),
            "5,000 s"
        );
    }

    #[test]
    fn fixed_not_finite_is_na() {
        assert_eq!(fixed(f64::NAN, 2), "n/a");
        assert_eq!(ratio(f64::INFINITY), "n/a");
        assert_eq!(
            Unit::for_times(std::iter::empty()).figure(1.0),
            fixed(1.0, 0)
        );
    }

    #[test]
    fn fixed_separates_thousands() {
        assert_eq!(fixed(1_234_567.891, 1), "1,234,567.9");
        assert_eq!(fixed(999.0, 0), "999");
        assert_eq!(fixed(-1234.0, 0), "-1,234");
    }

    #[test]
    fn tick_has_few_digits() {
        let unit = Unit::for_times([1_000.0, 5_000.0].into_iter());
        assert_eq!(unit.tick(2_000.0), "2 µs");
        assert_eq!(unit.tick(1_500.0), "1.5 µs");
    }
}
