//! Presents the summary of a log as text.

use pavior::text::shown;
use pavior::workload::inspect::Week;

use super::examples::Example;
use super::format::{
    Bar, by_hour, by_weekday, clock_name, most_frequent, of_bins, spread_in_words,
};
use super::{Inspection, facts};
use crate::output::Format;

/// The length of the longest bar, in columns.
const MAX_BAR_COLUMNS: u128 = 50;

/// Formats the summary in sections, omitting empty ones.
pub(super) fn table(inspection: &Inspection<'_>) -> String {
    let (summary, arrivals) = (inspection.summary, &inspection.summary.arrivals);
    let mut text = String::new();
    for (key, value) in facts(summary, Format::Table) {
        text += &format!("{key:<22} {value}\n");
    }
    let example =
        |Example { reason, line, text }: &Example| format!("{reason}, line {line}: {text}");
    text += &section("examples", inspection.examples.iter().map(example));
    if let Some(factors) = &summary.estimate_factors {
        text += &format!("\nestimate / run time: {}\n", spread_in_words(factors));
    }
    let classes = summary.classes.iter();
    let classes = classes.map(|class| format!("{:>9}: {}", class.field, most_frequent(class)));
    text += &section("most frequent values (jobs)", classes);
    let sizes = format!("size in nodes: {}", spread_in_words(&summary.sizes));
    text += &section(&sizes, bars(of_bins(&summary.size_histogram)));
    let runs = format!("run time in s: {}", spread_in_words(&summary.runs));
    text += &section(&runs, bars(of_bins(&summary.run_histogram)));
    let loads = weekly_loads(&summary.weeks);
    if loads.len() > 1 {
        text += &section("load in % by submission week", bars(loads));
    }
    let title = format!("arrivals by hour of the day ({})", clock_name(arrivals.clock));
    text += &section(&title, bars(by_hour(arrivals)));
    if let Some(days) = by_weekday(arrivals) {
        text += &section("arrivals by day of the week", bars(days));
    }
    if let Some(command) = &inspection.replay {
        text += &format!("\nreplay: {command}\n");
    }
    for names in summary.names.chunk_by(|a, b| a.field == b.field) {
        let title = format!("jobs by {}", names[0].field);
        let names = names.iter();
        let line =
            names.map(|name| format!("{:>6}  {} ({})", name.jobs, shown(&name.name), name.number));
        text += &section(&title, line);
    }
    text
}

/// Formats a title and indented lines. Without any lines, returns an empty string.
fn section(title: &str, lines: impl IntoIterator<Item = String>) -> String {
    let mut text = String::new();
    for line in lines {
        text += &format!("  {line}\n");
    }
    if text.is_empty() { text } else { format!("\n{title}\n{text}") }
}

/// Returns one line per row, each with a horizontal bar.
fn bars(rows: Vec<Bar>) -> impl Iterator<Item = String> {
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let label = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    rows.into_iter().map(move |(name, count)| {
        let columns = (u128::from(count) * MAX_BAR_COLUMNS).div_ceil(most.into());
        let bar = "#".repeat(columns as usize);
        let space = if bar.is_empty() { "" } else { " " };
        format!("{name:>label$} {bar}{space}{count}")
    })
}

/// Returns the mean load, in percent, for at most 26 intervals of one or more whole weeks.
fn weekly_loads(weeks: &[Week]) -> Vec<Bar> {
    const MAX_ROWS: usize = 26;
    let each = weeks.len().div_ceil(MAX_ROWS).max(1);
    let row = |(at, weeks): (usize, &[Week])| {
        let loads: Vec<f64> = weeks.iter().filter_map(|week| week.load).collect();
        let mean = 100.0 * loads.iter().sum::<f64>() / loads.len() as f64;
        (!loads.is_empty()).then(|| ((at * each + 1).to_string(), mean.round() as u64))
    };
    weeks.chunks(each).enumerate().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_proportional_to_any_count() {
        let rows = [("a", u64::MAX), ("b", u64::MAX / 2), ("c", 1), ("d", 0)];
        let rows = rows.map(|(label, count)| (label.to_string(), count)).to_vec();
        let lengths: Vec<usize> = bars(rows).map(|line| line.matches('#').count()).collect();
        assert_eq!(lengths, [50, 25, 1, 0]);
    }
}
