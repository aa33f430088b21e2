//! Sentences about the results, and number formatting.

use super::{Advice, Alternative, Change, Measure, Shown, Topic};
use crate::batches::FEWEST_JOBS;

/// The index of the measure for the wait times of all jobs.
const WAITING: usize = 0;

/// Returns recommendations, each supported by its alternative's confidence intervals.
pub fn recommendations(advice: &Advice) -> Vec<String> {
    if advice.jobs < FEWEST_JOBS as u64 {
        return vec![format!(
            "No difference is significant: confidence intervals require at least {FEWEST_JOBS} \
             jobs, but only {} were compared.",
            advice.jobs
        )];
    }
    let mut all = of_settings(advice);
    for topic in [Topic::Machine, Topic::Failures] {
        let own = || advice.alternatives.iter().filter(move |one| one.topic == topic);
        for one in own() {
            all.extend(sentence(one, "With"));
            all.extend(of_sizes(advice, one));
            all.extend(of_lost(advice, one).filter(|_| topic == Topic::Failures));
        }
        all.extend(undecided(advice, own()));
    }
    all
}

/// Describes the alternative settings, in descending order of their minimum gain.
fn of_settings(advice: &Advice) -> Vec<String> {
    let own = || advice.alternatives.iter().filter(|one| one.topic == Topic::Settings);
    let mut gains: Vec<&Alternative> = own().filter(|one| shown(one) == Shown::Less).collect();
    let sure = |one: &Alternative| waiting(one).and_then(|change| change.ends());
    gains.sort_by(|a, b| {
        let sure = |one| sure(one).map_or(0.0, |[_, high]| high);
        sure(a).total_cmp(&sure(b))
    });
    let mut all = Vec::new();
    for (place, one) in gains.iter().enumerate() {
        let gain = sentence(one, if place == 0 { "Change one setting: with" } else { "With" });
        let mut paragraph = gain.unwrap_or_default();
        for (measure, change) in advice.measures.iter().zip(&one.changes) {
            let change = change.filter(|change| change.shown() == Shown::More);
            let Some(([low, high], _)) = change.and_then(|c| c.ends()).zip(measure.nodes) else {
                continue;
            };
            let range = times(low, high);
            paragraph +=
                &format!(" However, jobs of {} would have waited {range} longer.", measure.title);
        }
        all.push(paragraph);
    }
    if gains.is_empty() {
        let Advice { strategy, scheduler, .. } = advice;
        all.push(format!(
            "Keep strategy {strategy} and scheduler {scheduler}: no other setting significantly \
             shortens wait times."
        ));
    }
    let worse = own().filter(|one| shown(one) == Shown::More);
    all.extend(worse.filter_map(|one| sentence(one, "With")));
    all.extend(own().filter_map(|one| of_sizes(advice, one)));
    all.extend(undecided(advice, own()));
    all
}

/// Returns a sentence about the job sizes for which the difference is significant. Returns `None`
/// if there are no such sizes, or if the difference over all jobs is significant.
fn of_sizes(advice: &Advice, one: &Alternative) -> Option<String> {
    if shown(one) != Shown::Nothing {
        return None;
    }
    let mut parts = Vec::new();
    for (measure, change) in advice.measures.iter().zip(&one.changes) {
        let Some(change) = change.filter(|_| measure.nodes.is_some()) else { continue };
        let Some([low, high]) = change.ends() else { continue };
        match change.shown() {
            Shown::Nothing => {}
            Shown::Less => parts.push((&measure.title, times(-high, -low), "less")),
            Shown::More => parts.push((&measure.title, times(low, high), "longer")),
        }
    }
    let part = |(title, range, word)| format!("jobs of {title} would have waited {range} {word}");
    let parts: Vec<String> = parts.into_iter().map(part).collect();
    let list = Some(parts.join(", ")).filter(|list| !list.is_empty())?;
    Some(format!("With {}, {list}; no significant difference over all jobs.", one.words))
}

/// Returns the difference in wait times over all jobs.
fn waiting(one: &Alternative) -> Option<Change> {
    one.changes.get(WAITING).copied().flatten()
}

fn shown(one: &Alternative) -> Shown {
    waiting(one).map_or(Shown::Nothing, |change| change.shown())
}

/// Returns a sentence that states how much shorter or longer the waits would have been, provided
/// that the difference is significant.
fn sentence(one: &Alternative, opening: &str) -> Option<String> {
    let [low, high] = waiting(one)?.ends()?;
    let words = &one.words;
    Some(match shown(one) {
        Shown::Nothing => return None,
        Shown::Less => {
            format!("{opening} {words}, jobs would have waited {} less.", times(-high, -low))
        }
        Shown::More => {
            format!("{opening} {words}, jobs would have waited {} longer.", times(low, high))
        }
    })
}

/// Returns a sentence that states how many fewer or more node-hours would have been lost, provided
/// that the difference in losses is significant.
fn of_lost(advice: &Advice, one: &Alternative) -> Option<String> {
    let lost = advice.measures.iter().position(|measure| measure.metric == "node_time_lost")?;
    let change = one.changes[lost]?;
    let [low, high] = change.times(1.0 / advice.measures[lost].scale).ends()?;
    let (low, high, word) = match change.shown() {
        Shown::Nothing => return None,
        Shown::Less => (-high, -low, "fewer"),
        Shown::More => (low, high, "more"),
    };
    let words = &one.words;
    Some(format!("With {words}, {low:.0} to {high:.0} {word} node-hours would have been lost."))
}

/// Lists the alternatives that make no significant difference for jobs of any size.
fn undecided<'a>(advice: &Advice, all: impl Iterator<Item = &'a Alternative>) -> Option<String> {
    let name = |one: &'a Alternative| match one.topic {
        Topic::Settings => one.name.as_str(),
        Topic::Machine | Topic::Failures => one.words.as_str(),
    };
    let without =
        |one: &&Alternative| shown(one) == Shown::Nothing && of_sizes(advice, one).is_none();
    let names: Vec<&str> = all.filter(without).map(name).collect();
    let list = match names.split_last()? {
        (last, []) => (*last).to_string(),
        (last, rest) => format!("{} and {last}", rest.join(", ")),
    };
    Some(format!("Wait times do not change significantly with {list}."))
}

/// Formats a range of positive times, in a unit that suits the longer time.
fn times(low: f64, high: f64) -> String {
    let (unit, word) = match high {
        high if high < 120.0 => (1.0, "s"),
        high if high < 2.0 * 3600.0 => (60.0, "min"),
        high if high < 4.0 * 86_400.0 => (3600.0, "h"),
        _ => (86_400.0, "days"),
    };
    let (low, high) = (low / unit, high / unit);
    let decimals = usize::from(high < 20.0);
    if low < 0.5 / 10_f64.powi(decimals as i32) {
        return format!("up to {high:.decimals$} {word}");
    }
    format!("{low:.decimals$} to {high:.decimals$} {word}")
}

/// Formats a measure's value for display, in the measure's unit. Returns `-` if the measure does
/// not apply.
pub fn value(measure: &Measure, value: Option<f64>) -> String {
    value.map_or("-".to_string(), |value| {
        let value = value / measure.scale;
        format!("{value:.*}", decimals(value))
    })
}

/// Formats a difference and its half-width for display, in the measure's unit. The text begins with
/// `~` if the interval contains zero, that is, if the difference is not significant.
pub fn cell(measure: &Measure, change: Option<Change>) -> String {
    let Some(change) = change.map(|change| change.times(1.0 / measure.scale)) else {
        return "-".to_string();
    };
    let mark = if change.shown() == Shown::Nothing { "~" } else { "" };
    let width = change.half_width.unwrap_or_default();
    let decimals = decimals(change.difference.abs().max(width));
    let difference = format!("{:+.decimals$}", change.difference);
    let difference = if difference.trim_start_matches(['+', '-', '0', '.']).is_empty() {
        "0".to_string()
    } else {
        difference
    };
    match change.half_width {
        None => format!("~{difference}"),
        Some(0.0) => mark.to_string() + &difference,
        Some(width) => format!("{mark}{difference}±{width:.decimals$}"),
    }
}

/// Returns the number of decimals needed to show three significant digits.
fn decimals(value: f64) -> usize {
    match value.abs() {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        _ => 2,
    }
}

/// A note about an effect that the numbers do not account for.
pub(super) const MESSAGES: &str = "These numbers ignore that messages take longer when a job's \
                                   nodes are farther apart.";

/// Returns notes that accompany the numbers, one sentence each.
pub fn notes(advice: &Advice) -> Vec<String> {
    let mut all = Vec::new();
    let (alternatives, measures) = (advice.alternatives.len(), advice.measures.len());
    if alternatives > 1 {
        all.push(format!(
            "Comparing {alternatives} alternatives on {measures} measures gives {} intervals, each \
             with a confidence level of {:.2}%. The probability that all intervals for one measure \
             are correct is therefore at least 95% (Bonferroni). For several measures together, it \
             is lower.",
            alternatives * measures,
            100.0 * advice.level,
        ));
    }
    let jobs = |count: u64| if count == 1 { "1 job".to_string() } else { format!("{count} jobs") };
    let present = &advice.present;
    if present.rejected > 0 {
        let rejected = jobs(present.rejected);
        all.push(format!("Left out: {rejected} that can never fit on the current machine."));
    }
    if present.stuck > 0 {
        all.push(format!(
            "Left out: {} that never started with the current configuration.",
            jobs(present.stuck)
        ));
    }
    for one in &advice.alternatives {
        let own = |run: &super::Run| run.rejected + run.stuck;
        if own(&one.run) != own(present) {
            all.push(format!(
                "With {}, {} never started ({} in the current configuration). The differences \
                 cover only jobs that ran in both configurations.",
                one.words,
                jobs(own(&one.run)),
                own(present)
            ));
        }
    }
    all.push(MESSAGES.to_string());
    all.extend(advice.left_out.iter().map(|reason| format!("Not tried: {reason}.")));
    all
}
