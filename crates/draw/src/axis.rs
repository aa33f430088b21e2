//! Axes: round numbers, and where they stand.

/// A linear or logarithmic scale from data to a place on the canvas.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
    from: f64,
    to: f64,
    /// Where numbers stand.
    pub(crate) ticks: Vec<f64>,
}

impl Scale {
    /// A scale for data between `low` and `high`, drawn from `from` to `to`, with about `count`
    /// numbers. Its ends are round numbers beyond the data.
    pub(crate) fn new(
        (low, high): (f64, f64),
        logarithmic: bool,
        (from, to): (f64, f64),
        count: usize,
    ) -> Scale {
        let ticks = if logarithmic { decades(low, high) } else { linear(low, high, count) };
        let (low, high) = (ticks[0], ticks[ticks.len() - 1]);
        let ticks = if logarithmic { thinned(ticks, count) } else { ticks };
        Scale { low, high, logarithmic, from, to, ticks }
    }

    /// A linear scale between ends that need not be round, without numbers.
    pub(crate) fn plain((low, high): (f64, f64), (from, to): (f64, f64)) -> Scale {
        Scale { low, high, logarithmic: false, from, to, ticks: Vec::new() }
    }

    /// Where a value stands.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let along = |value: f64| if self.logarithmic { libm::log10(value) } else { value };
        let share = (along(value) - along(self.low)) / (along(self.high) - along(self.low));
        self.from + share * (self.to - self.from)
    }

    /// Where a value stands, or the nearer end for one beyond the ends, infinite ones included; the
    /// lower end for one that is no number.
    pub(crate) fn clamped(&self, value: f64) -> f64 {
        // `max` answers with the number where the other is none.
        self.at(value.max(self.low).min(self.high))
    }

    /// Whether a value stands between the ends.
    pub(crate) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Whether a value can be shown.
    pub(crate) fn shows(&self, value: f64) -> bool {
        can_show(value, self.logarithmic)
    }
}

/// Values beyond this are not drawn: sums and differences of two of them could not be reckoned
/// with.
const GREATEST: f64 = 1e300;
/// Smaller steps than this between the numbers of an axis cannot be told apart.
const LEAST: f64 = 1e-290;

/// Whether an axis has a place for a value.
pub(crate) fn can_show(value: f64, logarithmic: bool) -> bool {
    value.abs() <= GREATEST && (!logarithmic || value >= LEAST)
}

/// Multiples of 1, 2, 2.5 or 5 times a power of ten that span the data.
fn linear(low: f64, high: f64, count: usize) -> Vec<f64> {
    // Ends that are next to equal, or next to 0, leave no room for steps that can be told apart.
    let is_wide = high - low > (1e-12 * low.abs().max(high.abs())).max(LEAST);
    let (low, high) = if is_wide { (low, high) } else { around(low) };
    let rough = (high - low) / count.max(2) as f64;
    let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|&step| step >= rough * 0.999)
        .unwrap_or(10.0 * power);
    // A hair's breadth, so that an end on a multiple stays there.
    let hair = 1e-9;
    let (first, last) =
        (libm::floor(low / step + hair) as i64, libm::ceil(high / step - hair) as i64);
    (first..=last.max(first + 1)).map(|k| k as f64 * step).collect()
}

/// An interval about a single value.
fn around(value: f64) -> (f64, f64) {
    if value.abs() < LEAST {
        (0.0, 1.0)
    } else {
        (value - value.abs() / 2.0, value + value.abs() / 2.0)
    }
}

/// 1, 2 and 5 times powers of ten that span the data.
fn decades(low: f64, high: f64) -> Vec<f64> {
    let first = libm::floor(libm::log10(low) + 1e-9) as i32;
    let last = libm::ceil(libm::log10(high) - 1e-9) as i32;
    let all: Vec<f64> = (first..=last.max(first + 1))
        .flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * libm::pow(10.0, f64::from(power))))
        .collect();
    let above = all.iter().position(|&tick| tick > low * 1.000_001).unwrap_or(1);
    let below = all.iter().position(|&tick| tick >= high * 0.999_999).unwrap_or(all.len() - 1);
    all[above.saturating_sub(1)..=below.max(above)].to_vec()
}

/// Powers of ten only, or every other one and so on, where there are too many numbers.
fn thinned(ticks: Vec<f64>, count: usize) -> Vec<f64> {
    if ticks.len() <= count + 2 {
        return ticks;
    }
    let is_power = |tick: &f64| {
        let exponent = libm::log10(*tick);
        (exponent - libm::round(exponent)).abs() < 1e-9
    };
    let powers: Vec<f64> = ticks.into_iter().filter(is_power).collect();
    let each = powers.len().div_ceil(count.max(2));
    powers.into_iter().step_by(each.max(1)).collect()
}

/// A number as axes have it: 0.25, 1500, 2e6.
pub(crate) fn label(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_string()
    } else if !(1e-4..1e6).contains(&size) {
        let exponent = libm::floor(libm::log10(size)) as i32;
        let factor = value / libm::pow(10.0, f64::from(exponent));
        format!("{}e{exponent}", short(factor, 2))
    } else {
        let digits = libm::floor(libm::log10(size)) as i32;
        short(value, (4 - digits).clamp(0, 8) as usize)
    }
}

fn short(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// A metric with its unit, as the label of an axis.
///
/// ```
/// assert_eq!(pavior_draw::with_unit("waiting_time", "s"), "waiting time (s)");
/// assert_eq!(pavior_draw::with_unit("utilization", "fraction"), "utilization (fraction)");
/// ```
pub fn with_unit(metric: &str, unit: &str) -> String {
    let name = metric.replace('_', " ");
    match unit {
        "" | "count" | "ratio" => name,
        "ns" => format!("{} time (ns, median of runs)", name.trim_end_matches(" ns")),
        "time_unit" => format!("{name} (time units)"),
        "cycle" => format!("{name} (cycles)"),
        other => format!("{name} ({other})"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_are_round_and_span_the_data() {
        let labels = |low: f64, high: f64, log: bool| -> Vec<String> {
            Scale::new((low, high), log, (0.0, 1.0), 5).ticks.iter().map(|t| label(*t)).collect()
        };
        assert_eq!(labels(0.0, 4.6, false), ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(labels(0.0, 0.49, false), ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(labels(0.0, 0.0, false)[0], "0");
        assert_eq!(labels(0.001, 1.0, true), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels(3.0, 40.0, true), ["2", "5", "10", "20", "50"]);
        assert_eq!(labels(7.0, 7.0, true), ["5", "10"]);
        assert_eq!(labels(5e-5, 6.67e-5, false).first().unwrap(), "5e-5");
        assert_eq!(label(2_500_000.0), "2.5e6");
    }

    #[test]
    fn every_range_gets_a_scale() {
        for low in [-3.0, 0.0, 1e-9, 0.3, 17.0, 5e8] {
            for span in [0.0, 1e-9, 0.7, 1e3, 1e12] {
                let scale = Scale::new((low, low + span), false, (0.0, 100.0), 5);
                assert!((2..=12).contains(&scale.ticks.len()), "{low} {span}: {scale:?}");
                assert!((-1e-6..=100.0 + 1e-6).contains(&scale.at(low + span)), "{scale:?}");
                if low > 0.0 {
                    let scale = Scale::new((low, low + span), true, (0.0, 100.0), 5);
                    assert!((1..=8).contains(&scale.ticks.len()), "{low} {span}: {scale:?}");
                    assert!((-1e-6..=100.0 + 1e-6).contains(&scale.at(low)), "{scale:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn no_numbers_break_a_scale(
            ends in any::<[f64; 2]>(), bits in any::<[u64; 2]>(), logarithmic: bool
        ) {
            for ends in [ends, bits.map(f64::from_bits)] {
                if !ends.iter().all(|&end| can_show(end, logarithmic)) {
                    continue;
                }
                let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                let scale = Scale::new((low, high), logarithmic, (0.0, 100.0), 6);
                prop_assert!((1..=14).contains(&scale.ticks.len()), "{scale:?}");
                for end in [low, high, f64::INFINITY, f64::NEG_INFINITY] {
                    let place = scale.clamped(end);
                    let is_near = (-1e-6..=100.0 + 1e-6).contains(&place);
                    prop_assert!(is_near, "{end} at {place}: {scale:?}");
                }
            }
        }
    }
}
