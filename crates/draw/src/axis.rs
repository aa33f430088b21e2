//! Axes: round tick values, their labels, and their positions on the canvas.

use std::ops::RangeInclusive;

use crate::time;

/// The unit of an axis, which determines how its numbers are formatted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Any other unit. Numbers are written without a unit.
    #[default]
    Plain,
    /// Seconds. Numbers are written in seconds, minutes, hours and days.
    Seconds,
    /// Nanoseconds. Numbers are written in ns, µs, ms and s.
    Nanoseconds,
}

impl Unit {
    /// Returns the unit with the given name in result files. Any name other than `s` and `ns` maps
    /// to `Plain`.
    pub fn named(name: &str) -> Unit {
        match name {
            "s" => Unit::Seconds,
            "ns" => Unit::Nanoseconds,
            _ => Unit::Plain,
        }
    }

    /// Formats a single value, including its unit if the unit is recognized.
    pub(crate) fn words(self, value: f64) -> String {
        match self {
            Unit::Plain => label(value),
            Unit::Seconds => time::words(value),
            Unit::Nanoseconds => time::short(value),
        }
    }
}

/// A linear or logarithmic scale that maps data to positions on the canvas.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
    from: f64,
    to: f64,
    unit: Unit,
    /// The tick values, in ascending order.
    pub(crate) ticks: Vec<f64>,
}

impl Scale {
    /// Creates a scale for data between `low` and `high`, drawn from `from` to `to`, with about
    /// `count` ticks. The scale begins and ends at round numbers that enclose the data.
    pub(crate) fn new(
        (low, high): (f64, f64),
        (logarithmic, unit): (bool, Unit),
        (from, to): (f64, f64),
        count: usize,
    ) -> Scale {
        let ticks = match (logarithmic, unit) {
            (true, Unit::Seconds) => spanning(low, high, &time::ladder(low, high)),
            (true, _) => decades(low, high),
            (false, _) => linear(low, high, count, unit),
        };
        let (low, high) = (ticks[0], ticks[ticks.len() - 1]);
        let ticks = if logarithmic { thinned(ticks, count, unit) } else { ticks };
        Scale { low, high, logarithmic, from, to, unit, ticks }
    }

    pub(crate) fn label(&self, tick: f64) -> String {
        match (self.unit, self.logarithmic) {
            (Unit::Plain, _) => label(tick),
            (Unit::Seconds, true) => time::whole(tick),
            (Unit::Seconds, false) => {
                let step = self.ticks.windows(2).map(|pair| pair[1] - pair[0]).next();
                time::stepped(tick, step.unwrap_or(tick))
            }
            (Unit::Nanoseconds, _) => time::short(tick),
        }
    }

    /// Creates a linear scale without ticks. The scale may start and end at any number.
    pub(crate) fn plain((low, high): (f64, f64), (from, to): (f64, f64)) -> Scale {
        Scale { low, high, logarithmic: false, from, to, unit: Unit::Plain, ticks: Vec::new() }
    }

    /// Returns the position of a value on the canvas.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let along = |value: f64| if self.logarithmic { libm::log10(value) } else { value };
        let share = (along(value) - along(self.low)) / (along(self.high) - along(self.low));
        self.from + share * (self.to - self.from)
    }

    /// Returns the position of a value, clamped to the scale. A value beyond either end is drawn at
    /// that end, even if it is infinite. NaN is drawn at the lower end.
    pub(crate) fn clamped(&self, value: f64) -> f64 {
        // If one argument is NaN, `max` returns the other.
        self.at(value.max(self.low).min(self.high))
    }

    /// Returns true if a value is within the range of the scale.
    pub(crate) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Returns true if a value can be drawn on this scale.
    pub(crate) fn shows(&self, value: f64) -> bool {
        can_show(value, self.logarithmic)
    }
}

/// The largest magnitude that is drawn. Adding or subtracting larger values could overflow.
const GREATEST: f64 = 1e300;
/// The smallest step between two ticks. Also the smallest value on a logarithmic axis.
const LEAST: f64 = 1e-290;

/// Returns true if a value has a position on an axis.
pub(crate) fn can_show(value: f64, logarithmic: bool) -> bool {
    value.abs() <= GREATEST && (!logarithmic || value >= LEAST)
}

/// Returns ticks that enclose the data: multiples of 1, 2, 2.5 or 5 times a power of ten or, on a
/// time axis, multiples of a round duration.
fn linear(low: f64, high: f64, count: usize, unit: Unit) -> Vec<f64> {
    // If the ends are almost equal, or both are almost 0, there is no room for distinct steps.
    let is_wide = high - low > (1e-12 * low.abs().max(high.abs())).max(LEAST);
    let (low, high) = if is_wide { (low, high) } else { around(low) };
    let rough = (high - low) / count.max(2) as f64;
    let step = if unit == Unit::Seconds { time::step(rough) } else { round(rough) };
    // This tolerance keeps rounding errors from adding a tick when the data ends exactly on one.
    let hair = 1e-9;
    let (first, last) =
        (libm::floor(low / step + hair) as i64, libm::ceil(high / step - hair) as i64);
    (first..=last.max(first + 1)).map(|k| k as f64 * step).collect()
}

/// Returns the smallest value of at least `rough` that is 1, 2, 2.5 or 5 times a power of ten.
pub(crate) fn round(rough: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|&step| step >= rough * 0.999)
        .unwrap_or(10.0 * power)
}

/// Returns an interval around a value, for data that consists of a single value.
fn around(value: f64) -> (f64, f64) {
    if value.abs() < LEAST {
        (0.0, 1.0)
    } else {
        (value - value.abs() / 2.0, value + value.abs() / 2.0)
    }
}

/// Returns the ticks that span the data, each of which is 1, 2 or 5 times a power of ten.
fn decades(low: f64, high: f64) -> Vec<f64> {
    let first = libm::floor(libm::log10(low) + 1e-9) as i32;
    let last = libm::ceil(libm::log10(high) - 1e-9) as i32;
    let all: Vec<f64> = in_decades(first..=last.max(first + 1)).collect();
    spanning(low, high, &all)
}

/// Returns 1, 2 and 5 times each of the given powers of ten.
pub(crate) fn in_decades(powers: RangeInclusive<i32>) -> impl Iterator<Item = f64> {
    powers
        .flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * libm::pow(10.0, f64::from(power))))
}

/// Returns true if a value is a power of ten.
pub(crate) fn is_power(value: f64) -> bool {
    let exponent = libm::log10(value);
    (exponent - libm::round(exponent)).abs() < 1e-9
}

/// Returns the shortest contiguous part of an ascending list of ticks that still spans the data.
fn spanning(low: f64, high: f64, all: &[f64]) -> Vec<f64> {
    let above = all.iter().position(|&tick| tick > low * 1.000_001).unwrap_or(1);
    let below = all.iter().position(|&tick| tick >= high * 0.999_999).unwrap_or(all.len() - 1);
    all[above.saturating_sub(1)..=below.max(above)].to_vec()
}

/// Thins out the ticks if there are too many. Keeps only powers of ten, every other tick, or every
/// nth power of ten. On a time axis, the "powers of ten" are 1 s, 10 s, 1 min, 10 min, 1 h, 1 d, 10
/// d, and so on.
fn thinned(ticks: Vec<f64>, count: usize, unit: Unit) -> Vec<f64> {
    if ticks.len() <= count + 2 {
        return ticks;
    }
    let is_main = |tick: &f64| match unit {
        Unit::Seconds => time::is_main(*tick),
        Unit::Plain | Unit::Nanoseconds => is_power(*tick),
    };
    let main: Vec<f64> = ticks.iter().copied().filter(is_main).collect();
    if main.len() < 3 {
        return ticks.into_iter().step_by(2).collect();
    }
    if main.len() <= count + 2 {
        return main;
    }
    let each = main.len().div_ceil(count.max(2));
    main.into_iter().step_by(each.max(1)).collect()
}

/// Formats a number for an axis, such as 0.25, 1500 or 2,000,000.
pub(crate) fn label(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_string()
    } else if !(1e-6..1e9).contains(&size) {
        let exponent = libm::floor(libm::log10(size)) as i32;
        let factor = value / libm::pow(10.0, f64::from(exponent));
        format!("{}e{exponent}", short(factor, 2))
    } else {
        let digits = libm::floor(libm::log10(size)) as i32;
        in_thousands(short(value, (4 - digits).clamp(0, 8) as usize))
    }
}

/// Inserts thousands separators into a whole number of at least 10,000.
fn in_thousands(number: String) -> String {
    let digits = number.trim_start_matches('-');
    if digits.len() < 5 || digits.contains('.') {
        return number;
    }
    let mut text = number[..number.len() - digits.len()].to_string();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn short(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(ends: (f64, f64), kind: (bool, Unit), count: usize) -> Vec<String> {
        let scale = Scale::new(ends, kind, (0.0, 1.0), count);
        scale.ticks.iter().map(|tick| scale.label(*tick)).collect()
    }

    #[test]
    fn ticks_are_round_and_span_the_data() {
        let labels = |low: f64, high: f64, log| labels((low, high), (log, Unit::Plain), 5);
        assert_eq!(labels(0.0, 4.6, false), ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(labels(0.0, 0.49, false), ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(labels(0.0, 0.0, false)[0], "0");
        assert_eq!(labels(0.001, 1.0, true), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels(3.0, 40.0, true), ["2", "5", "10", "20", "50"]);
        assert_eq!(labels(7.0, 7.0, true), ["5", "10"]);
        assert_eq!(labels(5e-5, 6.67e-5, false).first().unwrap(), "0.00005");
        assert_eq!(label(2_500_000.0), "2,500,000");
        assert_eq!([label(9_999.0), label(-10_000.0)], ["9999", "-10,000"]);
        assert_eq!([label(5e-7), label(2.5e9)], ["5e-7", "2.5e9"]);
    }

    #[test]
    fn seconds_are_written_as_hours_and_days() {
        let labels = |low: f64, high: f64, log| labels((low, high), (log, Unit::Seconds), 6);
        assert_eq!(labels(0.0, 300_000.0, false), ["0", "1 d", "2 d", "3 d", "4 d"]);
        assert_eq!(labels(0.0, 200_000.0, false), ["0", "12 h", "24 h", "36 h", "48 h", "60 h"]);
        assert_eq!(labels(0.0, 9000.0, false)[1], "0.5 h");
        assert_eq!(labels(0.0, 50.0, false)[1], "10 s");
        assert_eq!(labels(-7200.0, 7200.0, false)[0], "-2 h");
        assert_eq!(labels(0.0, 1e8, false)[1], "200 d");
        assert_eq!(
            labels(3000.0, 90_000.0, true),
            ["30 min", "1 h", "2 h", "3 h", "6 h", "12 h", "1 d", "2 d"]
        );
        assert_eq!(
            labels(0.3, 9e6, true),
            ["1 s", "10 s", "1 min", "10 min", "1 h", "1 d", "10 d", "100 d"]
        );
    }

    #[test]
    fn every_range_gets_a_scale() {
        let units = [Unit::Plain, Unit::Seconds, Unit::Nanoseconds];
        for (low, unit) in
            [-3.0, 0.0, 1e-9, 0.3, 17.0, 5e8].map(|low| units.map(|one| (low, one))).concat()
        {
            for span in [0.0, 1e-9, 0.7, 1e3, 1e12] {
                let scale = Scale::new((low, low + span), (false, unit), (0.0, 100.0), 5);
                assert!((2..=12).contains(&scale.ticks.len()), "{low} {span}: {scale:?}");
                assert!((-1e-6..=100.0 + 1e-6).contains(&scale.at(low + span)), "{scale:?}");
                if low > 0.0 {
                    let scale = Scale::new((low, low + span), (true, unit), (0.0, 100.0), 5);
                    assert!((1..=8).contains(&scale.ticks.len()), "{low} {span}: {scale:?}");
                    assert!((-1e-6..=100.0 + 1e-6).contains(&scale.at(low)), "{scale:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn no_numbers_break_a_scale(
            ends in any::<[f64; 2]>(), bits in any::<[u64; 2]>(), logarithmic: bool,
            unit in prop::sample::select(vec![Unit::Plain, Unit::Seconds, Unit::Nanoseconds]),
        ) {
            for ends in [ends, bits.map(f64::from_bits)] {
                if !ends.iter().all(|&end| can_show(end, logarithmic)) {
                    continue;
                }
                let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                let scale = Scale::new((low, high), (logarithmic, unit), (0.0, 100.0), 6);
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
