//! Advice as an HTML page with recommendations, the numbers behind them, and the commands that
//! reproduce these numbers.

use pavior_draw::{DifferenceRow, Differences, Drawing, Page, Section, SectionTable};

use super::words::MESSAGES;
use super::{Advice, Alternative, BATCHES, Measure, Topic, cell, notes, recommendations, value};

/// Builds the page. `provenance` describes the program and the command that generated the page.
pub fn page(advice: &Advice, provenance: &[String]) -> Page {
    let Advice { log, machine, strategy, scheduler, jobs, span, .. } = advice;
    let days = span / 86_400.0;
    Page {
        title: "How other settings would have affected these jobs".to_string(),
        lead: vec![format!(
            "The current configuration runs the {jobs} jobs in {log} on {machine}, with strategy \
             {strategy} and scheduler {scheduler}. The jobs were submitted over {days:.1} days. \
             Each alternative changes one setting and runs the same jobs."
        )],
        sections: vec![
            Section {
                title: "Recommendations".to_string(),
                text: [recommendations(advice), vec![MESSAGES.to_string()]].concat(),
                ..Section::default()
            },
            differences(advice),
            commands(advice),
            method(advice),
        ],
        footer: provenance.to_vec(),
    }
}

fn head(measure: &Measure) -> String {
    match measure.unit {
        "" => measure.title.clone(),
        unit => format!("{} ({unit})", measure.title),
    }
}

/// Returns a table of the current values and each alternative's differences.
fn table(advice: &Advice) -> SectionTable {
    let measures = || advice.measures.iter();
    let header = [String::new()].into_iter().chain(measures().map(head)).collect();
    let values = measures().zip(&advice.present.values).map(|(one, own)| value(one, *own));
    let first = ["current value".to_string()].into_iter().chain(values).collect();
    let row = |other: &Alternative| {
        let cells = measures().zip(&other.changes);
        let cells = cells.map(|(one, change)| cell(one, *change).replace('±', " ± "));
        [other.name.clone()].into_iter().chain(cells).collect()
    };
    let rows = [first].into_iter().chain(advice.alternatives.iter().map(row)).collect();
    SectionTable { header, rows, words: 1 }
}

fn differences(advice: &Advice) -> Section {
    Section {
        title: "Differences from the current configuration".to_string(),
        text: vec![
            "The table lists the current values and, for each alternative, the differences and the \
             half-widths of their intervals. ~ marks a difference that is not significant because \
             its interval contains zero. Wait times are also listed for each third of the jobs by \
             size."
                .to_string(),
        ],
        drawings: drawings(advice),
        table: Some(table(advice)),
        ..Section::default()
    }
}

/// Draws the differences in waits for all jobs, and for the largest third of the jobs.
fn drawings(advice: &Advice) -> Vec<Drawing> {
    let largest = advice.measures.iter().rposition(|measure| measure.nodes.is_some());
    let chosen = [Some(0), largest.filter(|&at| at > 1)];
    chosen.into_iter().flatten().map(|at| drawing(advice, at)).collect()
}

fn drawing(advice: &Advice, at: usize) -> Drawing {
    let ticks = [
        (60.0, "1 min"),
        (600.0, "10 min"),
        (3600.0, "1 h"),
        (36_000.0, "10 h"),
        (360_000.0, "100 h"),
        (3_600_000.0, "1000 h"),
    ];
    let row = |one: &Alternative| {
        let change = one.changes[at]?;
        let (label, difference) = (one.name.clone(), change.difference);
        Some(DifferenceRow { label, difference, interval: change.ends() })
    };
    let jobs = match advice.measures[at].nodes {
        None => "all jobs".to_string(),
        Some(_) => format!("jobs of {}", advice.measures[at].title),
    };
    let drawn = Differences {
        title: format!("Wait times for {jobs}"),
        sides: ["shorter wait than now".to_string(), "longer wait".to_string()],
        ticks: ticks.map(|(tick, label)| (tick, label.to_string())).to_vec(),
        rows: advice.alternatives.iter().filter_map(row).collect(),
    };
    Drawing { svg: pavior_draw::differences(&drawn), caption: String::new() }
}

fn commands(advice: &Advice) -> Section {
    let row = |name: &str, command: &str| vec![name.to_string(), command.to_string()];
    let mut rows = vec![row("current configuration", &advice.present.command)];
    rows.extend(advice.alternatives.iter().map(|one| row(&one.name, &one.run.command)));
    Section {
        title: "Commands that produced these numbers".to_string(),
        text: vec![
            "Times are given in seconds, losses in node-seconds, and utilization as a fraction."
                .to_string(),
        ],
        table: Some(SectionTable {
            header: vec![String::new(), "command".to_string()],
            rows,
            words: 2,
        }),
        folded: true,
        ..Section::default()
    }
}

fn method(advice: &Advice) -> Section {
    let mut text: Vec<String> = Topic::ALL
        .iter()
        .map(|&topic| {
            let own = advice.alternatives.iter().filter(|one| one.topic == topic);
            let words: Vec<&str> = own.map(|one| one.words.as_str()).collect();
            format!("{}: {}.", topic.title(), words.join("; "))
        })
        .collect();
    text.push(format!(
        "Both runs are divided into the same {BATCHES} batches of jobs (batch means, Schmeiser \
         1982). The intervals are Student's t intervals for the paired differences between \
         batches."
    ));
    text.push(
        "Lost: node-hours that did no useful work, for example in runs ended by a failure or on \
         nodes granted beyond the request."
            .to_string(),
    );
    text.push(
        "Not modeled: user feedback. Had the waits been different, users would have submitted \
         different jobs."
            .to_string(),
    );
    text.extend(notes(advice).into_iter().filter(|note| note != MESSAGES));
    Section { title: "How to read this".to_string(), text, folded: true, ..Section::default() }
}
