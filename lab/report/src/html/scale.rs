//! The logarithmic axis: positions in per cent of the chart's width, and ticks.

/// Space at both ends in per cent of the width, so that no mark is cut.
const MARGIN: f64 = 2.0;

/// The largest range of an axis in nanoseconds: from a femtosecond to 30,000 years. Values outside are
/// drawn at its ends, so that a broken figure cannot cause endless ticks.
const REACH: std::ops::RangeInclusive<f64> = 1e-6..=1e21;

/// A logarithmic axis over positive values.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogScale {
    low: f64,
    high: f64,
}

impl LogScale {
    /// Creates an axis for these values; values that are not positive numbers are ignored.
    ///
    /// It spans at least a factor of 1.5, so that noise never fills the full width.
    pub(super) fn holding(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|v| v.is_finite() && *v > 0.0) {
            let value = value.clamp(*REACH.start(), *REACH.end());
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        let widen = (1.5 / (high / low)).sqrt().max(1.0) * 1.06;
        Self {
            low: low / widen,
            high: high * widen,
        }
    }

    /// Creates an axis for these figures, and for the ends of their intervals as far as they are near: an interval of a
    /// noisy run may have a huge end, which is drawn at the end of the axis.
    pub(super) fn around(
        figures: impl Iterator<Item = f64> + Clone,
        ends: impl Iterator<Item = f64>,
    ) -> Self {
        /// Figures of one chart usually differ less.
        const NEAR: f64 = 100.0;
        let Self { low, high } = Self::holding(figures.clone());
        let near = ends.map(|end| end.clamp(low / NEAR, high * NEAR));
        Self::holding(figures.chain(near))
    }

    /// Returns the position of a value in per cent of the width, clamped to the chart.
    pub(super) fn place(self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        // NaN maps to the left edge; it is not drawn.
        let share = if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        };
        MARGIN + share * (100.0 - 2.0 * MARGIN)
    }

    /// Returns three to seven round values inside the axis.
    pub(super) fn ticks(self) -> Vec<f64> {
        const STEPS: [&[f64]; 4] = [
            &[1.0],
            &[1.0, 3.0],
            &[1.0, 2.0, 5.0],
            &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
        ];
        for steps in STEPS {
            let ticks = self.decades(steps);
            if ticks.len() >= 3 {
                let every = ticks.len().div_ceil(7);
                return ticks.into_iter().step_by(every).collect();
            }
        }
        self.even()
    }

    fn decades(self, steps: &[f64]) -> Vec<f64> {
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        (first..=last)
            .flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)))
            .filter(|tick| (self.low..=self.high).contains(tick))
            .collect()
    }

    /// Returns even steps, for an axis shorter than a decade.
    fn even(self) -> Vec<f64> {
        let rough = (self.high - self.low) / 4.0;
        let decade = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|nice| nice * decade)
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let first = (self.low / step).ceil();
        (0..8)
            .map(|n| (first + f64::from(n)) * step)
            .filter(|tick| *tick <= self.high)
            .collect()
    }
}

pub(super) fn per_cent(place: f64) -> String {
    let text = format!("{place:.2}");
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}
