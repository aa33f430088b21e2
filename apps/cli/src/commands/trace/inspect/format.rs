//! Formats the values of a summary for tables and pages.

use pavior::workload::inspect::{Arrivals, Bin, Class, Clock, LineNumbers, Spread};

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// A count with its label, to be drawn as a bar.
pub(super) type Bar = (String, u64);

pub(super) fn clock_name(clock: Clock) -> &'static str {
    match clock {
        Clock::Local => "local time",
        Clock::Utc => "UTC",
        Clock::Log => "hours since the start of the log",
    }
}

/// Formats a number with at most three decimals.
pub(super) fn round(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Formats a count, followed by the first few line numbers.
pub(super) fn with_lines(found: &LineNumbers) -> String {
    const MAX_LINES: usize = 5;
    let lines: Vec<String> = found.lines.iter().take(MAX_LINES).map(ToString::to_string).collect();
    if lines.is_empty() {
        return found.count.to_string();
    }
    let more = if found.lines.len() > MAX_LINES { ", ..." } else { "" };
    let word = if found.count == 1 { "line" } else { "lines" };
    format!("{} ({word} {}{more})", found.count, lines.join(", "))
}

pub(super) fn quantiles(spread: &Spread) -> [(&'static str, f64); 8] {
    const NAMES: [&str; 8] = ["mean", "min", "p25", "p50", "p75", "p90", "p99", "max"];
    let Spread { mean, min, p25, p50, p75, p90, p99, max } = *spread;
    let values = [mean, min, p25, p50, p75, p90, p99, max];
    std::array::from_fn(|place| (NAMES[place], values[place]))
}

pub(super) fn spread_in_words(spread: &Spread) -> String {
    let cell =
        |(key, value): (&str, f64)| format!("{key} {}", round((value * 10.0).round() / 10.0));
    quantiles(spread).map(cell).join(", ")
}

/// Formats a field's most frequent values, each followed by the number of jobs that have it.
pub(super) fn most_frequent(class: &Class) -> String {
    let all: Vec<String> =
        class.most.iter().map(|top| format!("{} ({})", top.value, top.jobs)).collect();
    let more = class.values - class.most.len() as u64;
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    all.join(", ") + &more
}

pub(super) fn by_hour(arrivals: &Arrivals) -> Vec<Bar> {
    let hours = arrivals.by_hour.iter().enumerate();
    hours.map(|(hour, &count)| (format!("{hour:02}"), count)).collect()
}

pub(super) fn by_weekday(arrivals: &Arrivals) -> Option<Vec<Bar>> {
    let days = WEEKDAYS.iter().map(ToString::to_string);
    Some(days.zip(arrivals.by_weekday?).collect())
}

pub(super) fn of_bins(bins: &[Bin]) -> Vec<Bar> {
    bins.iter().map(|bin| (range(bin), bin.count)).collect()
}

fn range(bin: &Bin) -> String {
    match bin.to {
        Some(to) => format!("{}..{}", round(bin.from), round(to)),
        None => format!("{}..", round(bin.from)),
    }
}
