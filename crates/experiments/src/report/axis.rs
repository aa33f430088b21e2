//! Axes: round numbers, and where they stand.

/// A linear or logarithmic scale from data to a place on the canvas.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
    from: f64,
    to: f64,
    /// Where numbers stand.
    pub(super) ticks: Vec<f64>,
}

impl Scale {
    /// A scale for data between `low` and `high`, drawn from `from` to `to`, with about `count`
    /// numbers. Its ends are round numbers beyond the data.
    pub(super) fn new(
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
    pub(super) fn plain((low, high): (f64, f64), (from, to): (f64, f64)) -> Scale {
        Scale { low, high, logarithmic: false, from, to, ticks: Vec::new() }
    }

    /// Where a value stands.
    pub(super) fn at(&self, value: f64) -> f64 {
        let along = |value: f64| if self.logarithmic { libm::log10(value) } else { value };
        let share = (along(value) - along(self.low)) / (along(self.high) - along(self.low));
        self.from + share * (self.to - self.from)
    }

    /// Where a value stands, or the nearer end for one beyond the ends.
    pub(super) fn clamped(&self, value: f64) -> f64 {
        self.at(value.clamp(self.low, self.high))
    }

    /// Whether a value stands between the ends.
    pub(super) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Whether a value can be shown.
    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.logarithmic || value > 0.0)
    }
}

/// Multiples of 1, 2, 2.5 or 5 times a power of ten that span the data.
fn linear(low: f64, high: f64, count: usize) -> Vec<f64> {
    let (low, high) = if high > low { (low, high) } else { around(low) };
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
    if value == 0.0 { (0.0, 1.0) } else { (value - value.abs() / 2.0, value + value.abs() / 2.0) }
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
pub(super) fn label(value: f64) -> String {
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

#[cfg(test)]
mod tests {
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
}
