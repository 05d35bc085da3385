//! Latencies of calls in a histogram that merges exactly.

use base64_simd::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// Shorter latencies are not distinguished: the loader's own clock and wake-up take as long.
const LOWEST_NS: u64 = 1_000;
/// Longer latencies are counted as this value.
const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Three significant digits: 1.00 ms and 1.01 ms have separate buckets.
const DIGITS: u8 = 3;
/// The maximum length of a histogram's text. A histogram with every bucket filled has a tenth of
/// it.
const TEXT_BYTES_MAX: usize = 4 << 20;

/// Latencies of calls that were answered with a token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Latencies {
    histogram: Histogram<u64>,
    /// The exact values: a bucket has only three digits.
    sum_ns: u64,
    fastest_ns: Option<u64>,
    slowest_ns: Option<u64>,
}

impl Default for Latencies {
    fn default() -> Self {
        Self {
            histogram: Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, DIGITS)
                .expect("the bounds are valid constants"),
            sum_ns: 0,
            fastest_ns: None,
            slowest_ns: None,
        }
    }
}

impl Latencies {
    /// Counts a call that took `ns` nanoseconds.
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.sum_ns = self.sum_ns.saturating_add(ns);
        self.fastest_ns = Some(self.fastest_ns.map_or(ns, |f| f.min(ns)));
        self.slowest_ns = Some(self.slowest_ns.map_or(ns, |s| s.max(ns)));
    }

    /// Adds another histogram, bucket by bucket.
    pub fn add(&mut self, other: &Self) {
        self.histogram
            .add(&other.histogram)
            .expect("all histograms have the same bounds: reading rejects others");
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        let ends = |a: Option<u64>, b: Option<u64>, pick: fn(u64, u64) -> u64| match (a, b) {
            (Some(a), Some(b)) => Some(pick(a, b)),
            (one, other) => one.or(other),
        };
        self.fastest_ns = ends(self.fastest_ns, other.fastest_ns, u64::min);
        self.slowest_ns = ends(self.slowest_ns, other.slowest_ns, u64::max);
    }

    /// Returns the number of calls.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns the mean in milliseconds; none without a call.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    pub fn mean_ms(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64 / 1e6)
    }

    /// Returns the shortest in milliseconds.
    #[must_use]
    pub fn fastest_ms(&self) -> Option<f64> {
        self.fastest_ns.map(ms)
    }

    /// Returns the longest in milliseconds.
    #[must_use]
    pub fn slowest_ms(&self) -> Option<f64> {
        self.slowest_ns.map(ms)
    }

    /// Returns a percentile in milliseconds: `percentile(99.9)`.
    #[must_use]
    pub fn percentile_ms(&self, percent: f64) -> Option<f64> {
        // The upper end of a bucket can be above its slowest call.
        let slowest = self.slowest_ns?;
        let value = self.histogram.value_at_quantile(percent / 100.0);
        Some(ms(value.min(slowest)))
    }

    /// Returns the histogram of ghz: the number of calls in each of this many equal steps from the
    /// fastest to the slowest, as `(upper bound in ms, calls)`.
    #[must_use]
    pub fn steps(&self, steps: u32) -> Vec<(f64, u64)> {
        let (Some(fastest), Some(slowest)) = (self.fastest_ns, self.slowest_ns) else {
            return Vec::new();
        };
        let bound = |step: u32| fastest + (slowest - fastest) / u64::from(steps) * u64::from(step);
        let mut counted: Vec<(u64, u64)> = (0..steps).map(|step| (bound(step), 0)).collect();
        counted.push((slowest, 0));
        for bucket in self.histogram.iter_recorded() {
            // A bucket counts at its lower end, so the fastest call is in the first step.
            let low = self.histogram.lowest_equivalent(bucket.value_iterated_to());
            let at = counted.partition_point(|(bound, _)| *bound < low);
            let last = counted.len() - 1;
            counted[at.min(last)].1 += bucket.count_since_last_iteration();
        }
        let in_ms = counted.into_iter();
        in_ms.map(|(bound, calls)| (ms(bound), calls)).collect()
    }

    /// Returns every bucket with calls: its upper end in nanoseconds, and the count.
    #[must_use]
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        let recorded = self.histogram.iter_recorded();
        recorded
            .map(|b| (b.value_iterated_to(), b.count_since_last_iteration()))
            .collect()
    }
}

#[allow(clippy::cast_precision_loss, reason = "below an hour in nanoseconds")]
fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// The form in a file. The histogram has HdrHistogram's own format (V2, deflated, base64), which
/// its tools in every language read.
#[derive(Serialize, Deserialize)]
struct Written {
    hdr: String,
    sum_ns: u64,
    fastest_ns: Option<u64>,
    slowest_ns: Option<u64>,
}

impl From<Latencies> for Written {
    fn from(latencies: Latencies) -> Self {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&latencies.histogram, &mut bytes)
            .expect("writing to a Vec cannot fail, and the counts are below the format's limit");
        Self {
            hdr: STANDARD.encode_to_string(bytes),
            sum_ns: latencies.sum_ns,
            fastest_ns: latencies.fastest_ns,
            slowest_ns: latencies.slowest_ns,
        }
    }
}

impl TryFrom<Written> for Latencies {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let no_histogram = || "hdr: not an HdrHistogram (V2, deflated, base64)".to_owned();
        if written.hdr.len() > TEXT_BYTES_MAX {
            return Err(no_histogram());
        }
        let bytes = STANDARD
            .decode_to_vec(&written.hdr)
            .map_err(|_| no_histogram())?;
        let histogram: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|_| no_histogram())?;
        if (histogram.low(), histogram.high(), histogram.sigfig())
            != (LOWEST_NS, HIGHEST_NS, DIGITS)
        {
            return Err("hdr: the bounds differ from those of the lab's loader".to_owned());
        }
        let is_empty = histogram.is_empty();
        if is_empty != written.fastest_ns.is_none() || is_empty != written.slowest_ns.is_none() {
            return Err("fastest_ns: contradicts the histogram".to_owned());
        }
        if written.fastest_ns > written.slowest_ns {
            return Err("fastest_ns: exceeds slowest_ns".to_owned());
        }
        let latencies = Self {
            histogram,
            sum_ns: written.sum_ns,
            fastest_ns: written.fastest_ns,
            slowest_ns: written.slowest_ns,
        };
        latencies.agree()?;
        Ok(latencies)
    }
}

impl Latencies {
    /// Checks that the exact values lie in the buckets that they were counted in.
    fn agree(&self) -> Result<(), String> {
        let ranges = self.histogram.iter_recorded().map(|bucket| {
            let value = bucket.value_iterated_to();
            let low = self.histogram.lowest_equivalent(value);
            let high = match self.histogram.highest_equivalent(value) {
                // The last bucket also counts all longer latencies.
                high if high >= HIGHEST_NS => u64::MAX,
                high => high,
            };
            (low, high, bucket.count_since_last_iteration())
        });
        let ranges: Vec<(u64, u64, u64)> = ranges.collect();
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else {
            return match self.sum_ns {
                0 => Ok(()),
                _ => Err("sum_ns: contradicts the empty histogram".to_owned()),
            };
        };
        for (member, value, (low, high, _)) in [
            ("fastest_ns", self.fastest_ns, first),
            ("slowest_ns", self.slowest_ns, last),
        ] {
            if !value.is_some_and(|ns| (*low..=*high).contains(&ns)) {
                return Err(format!("{member}: is in no bucket with calls at that end"));
            }
        }
        let sum = |end: fn(&(u64, u64, u64)) -> u64| {
            let ends = ranges
                .iter()
                .map(|range| u128::from(end(range)) * u128::from(range.2));
            ends.fold(0, u128::saturating_add)
        };
        // The sum stops at the largest number.
        let low = sum(|range| range.0).min(u64::MAX.into());
        if !(low..=sum(|range| range.1)).contains(&self.sum_ns.into()) {
            return Err("sum_ns: contradicts the buckets".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::servers::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Latencies {
        let mut latencies = Latencies::default();
        values.into_iter().for_each(|ns| latencies.record(ns));
        latencies
    }

    /// Values over five orders of magnitude.
    fn values() -> impl Iterator<Item = u64> + Clone {
        (0..20_000u64).map(|i| 2_000 + i.wrapping_mul(i).wrapping_mul(2_654_435_761) % 900_000_000)
    }

    #[test]
    fn latencies_merge_exactly() {
        let one = of(values());
        for shards in [2, 3, 7] {
            let mut merged = Latencies::default();
            for shard in 0..shards {
                let part = of(values()
                    .enumerate()
                    .filter(|(i, _)| i % shards == shard)
                    .map(|v| v.1));
                // Through a file, as with several loaders.
                let text = serde_json::to_string(&part).unwrap();
                merged.add(&serde_json::from_str(&text).unwrap());
            }
            assert_eq!(merged.buckets(), one.buckets());
            assert_eq!(merged, one);
        }
    }

    #[test]
    fn percentiles_have_three_digits_up_to_the_slowest() {
        let latencies = of((1..=1000).map(|i| i * 100_000));
        for (percent, expected) in [(50.0, 50.0), (99.0, 99.0), (99.9, 99.9), (100.0, 100.0)] {
            let seen = latencies.percentile_ms(percent).unwrap();
            assert!((seen / expected - 1.0).abs() < 2e-3, "{percent}: {seen}");
        }
        assert_eq!(latencies.slowest_ms(), Some(100.0));
        assert_eq!(latencies.fastest_ms(), Some(0.1));
        assert_eq!(Latencies::default().percentile_ms(50.0), None);
    }

    #[test]
    fn steps_contain_every_call() {
        let latencies = of(values());
        let steps = latencies.steps(10);
        assert_eq!(steps.len(), 11);
        assert_eq!(steps.iter().map(|s| s.1).sum::<u64>(), latencies.count());
        assert_eq!(steps[10].0, latencies.slowest_ms().unwrap());
        assert!(Latencies::default().steps(10).is_empty());
        assert_eq!(of([5_000]).steps(10).iter().map(|s| s.1).sum::<u64>(), 1);
    }

    #[test]
    fn latencies_beyond_the_bounds_are_read_again() {
        for values in [
            vec![],
            vec![0],
            vec![1, 400, 999],
            vec![5_000, 4_000_000_000_000],
            vec![40_000_000_000_000, u64::MAX, u64::MAX],
        ] {
            let written = of(values.clone());
            let text = serde_json::to_string(&written).unwrap();
            let read: Latencies = serde_json::from_str(&text).unwrap();
            let ends = |one: &Latencies| (one.sum_ns, one.fastest_ns, one.slowest_ns);
            assert_eq!(read.buckets(), written.buckets(), "{values:?}");
            assert_eq!(ends(&read), ends(&written), "{values:?}");
        }
    }

    #[test]
    fn invalid_histogram_is_rejected() {
        let good = serde_json::to_value(of([5_000, 9_000])).unwrap();
        for (member, wrong) in [
            ("hdr", serde_json::json!("AAAA")),
            ("hdr", serde_json::json!("not base64")),
            ("fastest_ns", serde_json::json!(null)),
            ("fastest_ns", serde_json::json!(10_000)),
            ("fastest_ns", serde_json::json!(1)),
            ("slowest_ns", serde_json::json!(5_000)),
            ("slowest_ns", serde_json::json!(10_000)),
            ("sum_ns", serde_json::json!(1_000)),
            ("sum_ns", serde_json::json!(14_400)),
        ] {
            let mut edited = good.clone();
            edited[member] = wrong;
            assert!(
                serde_json::from_value::<Latencies>(edited).is_err(),
                "{member}"
            );
        }
    }
}
