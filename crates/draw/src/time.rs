//! Formats times, such as 45 s, 90 min or 3 d 4 h, and chooses round steps between ticks.

use crate::axis::{in_decades, is_power, label, round};

const MINUTE: f64 = 60.0;
const HOUR: f64 = 3600.0;
const DAY: f64 = 86_400.0;

/// The units of time, longest first.
const UNITS: [(f64, &str); 4] = [(DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (1.0, "s")];

/// The units of a time in nanoseconds, longest first.
const SHORT_UNITS: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];

/// The round steps that may separate ticks on an axis, from a second to half a day.
const STEPS: [f64; 17] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0,
    10_800.0, 21_600.0, 43_200.0,
];

/// The possible ticks on a logarithmic axis, from a second to half a day.
const LADDER: [f64; 17] = [
    1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0,
    10_800.0, 21_600.0, 43_200.0,
];

/// The ticks from [`LADDER`] that are kept when there is not enough room for all of them.
const MAIN: [f64; 5] = [1.0, 10.0, 60.0, 600.0, 3600.0];

/// Returns the smallest round step that is at least `rough`.
pub(crate) fn step(rough: f64) -> f64 {
    if rough < 0.999 {
        return round(rough);
    }
    let step = STEPS.into_iter().find(|&step| step >= rough * 0.999);
    step.unwrap_or_else(|| DAY * round((rough / DAY).max(1.0)))
}

/// Returns ticks for a logarithmic axis, starting at or below `low` and ending at or above `high`.
pub(crate) fn ladder(low: f64, high: f64) -> Vec<f64> {
    let decades = |from: f64, to: f64| {
        let (first, last) = (libm::floor(libm::log10(from)), libm::ceil(libm::log10(to)));
        in_decades(first as i32..=last as i32)
    };
    let below: Vec<f64> =
        if low < 1.0 { decades(low, 1.0).filter(|&tick| tick < 1.0).collect() } else { Vec::new() };
    let days = decades(1.0, (high / DAY).max(10.0)).map(|days| days * DAY);
    below.into_iter().chain(LADDER).chain(days).collect()
}

/// Returns true if a [`LADDER`] tick is kept when there is not enough room for all of them.
pub(crate) fn is_main(tick: f64) -> bool {
    if tick < 1.0 {
        is_power(tick)
    } else {
        MAIN.contains(&tick) || tick >= DAY && is_power(tick / DAY)
    }
}

/// Formats a time in the largest unit that is at most `size` or, failing that, in the last one.
fn in_unit(time: f64, size: f64, units: [(f64, &str); 4]) -> String {
    if time == 0.0 {
        return "0".to_string();
    }
    let unit = units.into_iter().find(|(unit, _)| size.abs() >= *unit * 0.999_999);
    let (unit, name) = unit.unwrap_or(units[3]);
    format!("{} {name}", label(time / unit))
}

/// Formats a time in its largest unit, so that 90 s becomes 1.5 min.
pub(crate) fn whole(seconds: f64) -> String {
    in_unit(seconds, seconds, UNITS)
}

/// Formats a time for an axis with ticks `step` apart. All ticks on an axis use the same unit.
pub(crate) fn stepped(seconds: f64, step: f64) -> String {
    // Half-hour steps are formatted in hours, such as 1.5 h.
    let is_half_hour = (1800.0 * 0.999_999..HOUR).contains(&step.abs());
    in_unit(seconds, if is_half_hour { HOUR } else { step }, UNITS)
}

/// Formats a time in its two largest units, such as 3 d 4 h, 2 min 5 s or 12.5 s.
pub(crate) fn words(seconds: f64) -> String {
    let size = seconds.abs();
    if !(MINUTE..=1e9 * DAY).contains(&size) {
        return whole(seconds);
    }
    let place = UNITS.iter().position(|(unit, _)| size >= *unit).unwrap_or(2).min(2);
    let ((long, long_name), (short, short_name)) = (UNITS[place], UNITS[place + 1]);
    let parts = libm::round(size / short);
    let each = long / short;
    let (first, rest) = (libm::floor(parts / each), parts % each);
    let sign = if seconds < 0.0 { "-" } else { "" };
    // For example, 59 min 59.7 s is rounded up to an hour.
    if place > 0 && first >= UNITS[place - 1].0 / long {
        return format!("{sign}1 {}", UNITS[place - 1].1);
    }
    if rest == 0.0 {
        format!("{sign}{first} {long_name}")
    } else {
        format!("{sign}{first} {long_name} {rest} {short_name}")
    }
}

/// Formats a number of nanoseconds, such as 250 ns, 1.5 µs or 20 ms.
pub(crate) fn short(ns: f64) -> String {
    in_unit(ns, ns, SHORT_UNITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_two_units() {
        let told = [
            (0.0, "0"),
            (0.25, "0.25 s"),
            (59.0, "59 s"),
            (125.0, "2 min 5 s"),
            (3599.7, "1 h"),
            (7200.0, "2 h"),
            (300_000.0, "3 d 11 h"),
            (-90_000.0, "-1 d 1 h"),
        ];
        for (seconds, text) in told {
            assert_eq!(words(seconds), text);
        }
        let told = [(0.1, "0.1 ns"), (250.0, "250 ns"), (1500.0, "1.5 µs"), (2e10, "20 s")];
        assert!(told.into_iter().all(|(ns, text)| short(ns) == text));
    }

    #[test]
    fn steps_are_round_at_every_size() {
        for (rough, step) in [(0.3, 0.5), (3.0, 5.0), (40.0, 60.0), (5000.0, 7200.0)] {
            assert_eq!(super::step(rough).to_bits(), f64::to_bits(step));
        }
        let steps = [44_000.0, 100_000.0, 1e7].map(super::step).map(f64::to_bits);
        assert_eq!(steps, [DAY, 2.0 * DAY, 200.0 * DAY].map(f64::to_bits));
    }
}
