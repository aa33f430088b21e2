//! An experiment's files, generated from its samples. Equal samples produce identical bytes.

use std::io;

use pavior_draw::{Drawing, Page, Section, SectionTable, html, svg, vega};
use serde::Serialize;

use crate::json::{Document, Results};
use crate::results::{shown, target_missed};
use crate::{
    Policy, Samples, Specification, Summary, Table, chart, differences, parameters,
    write_differences,
};
use pavior_simulation::metrics::ALLOCATION_NS;

/// A file to be written.
pub struct Publication {
    /// The file name, without a directory.
    pub name: String,
    /// The contents of the file.
    pub bytes: Vec<u8>,
}

/// The origin of the numbers, as shown in footers.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// The version of the program.
    pub version: String,
    /// The command that reproduces the numbers.
    pub command: String,
}

impl Specification {
    /// Generates all of an experiment's files, except those that record when and where the
    /// experiment was run. The report begins with the paragraphs in `lead` and the sections in
    /// `first`.
    ///
    /// # Errors
    /// Returns an error only if a write to memory fails.
    pub fn publish(
        &self,
        samples: &Samples,
        from: &Provenance,
        lead: Vec<String>,
        first: Vec<Section>,
    ) -> io::Result<Vec<Publication>> {
        let (results, measured) = (Table::of(self, samples), Table::measured(self, samples));
        let differences = differences(self, samples);
        let mut files = Vec::new();
        let mut add = |name: &str, bytes: Vec<u8>| {
            files.push(Publication { name: name.to_string(), bytes });
        };
        add("results.csv", csv(|out| results.to_csv(out))?);
        add("replications.csv", csv(|out| self.write_replications(samples, out))?);
        if self.timing {
            add("timings.csv", csv(|out| self.write_timings(samples, out))?);
        }
        if self.baseline.is_some() {
            add("differences.csv", csv(|out| write_differences(self, &differences, out))?);
        }
        add("results.json", pretty(&self.json(samples, &results, from))?);
        let drawings = self.drawings(&results, &measured, &mut add);
        let mut page = Page {
            title: self.title.clone(),
            lead: lead.into_iter().chain(self.left_out_in_words()).collect(),
            sections: first,
            footer: self.footer(samples, from),
        };
        if !drawings.is_empty() {
            page.sections.push(Section { title: "Figures".into(), drawings, ..Section::default() });
        }
        let table = self.overview_of(samples, &results);
        page.sections.push(Section {
            title: "Results".into(),
            text: vec![about_means(&results)],
            folded: table.rows.len() > 24,
            table: Some(table),
            ..Section::default()
        });
        page.sections.extend(self.compared(&differences));
        add("report.html", html(&page).into_bytes());
        Ok(files)
    }

    /// Generates the figure files from the tables alone.
    pub fn figures(&self, results: &Table, measured: &Table) -> Vec<Publication> {
        let mut files = Vec::new();
        let mut add = |name: &str, bytes: Vec<u8>| {
            files.push(Publication { name: name.to_string(), bytes });
        };
        self.drawings(results, measured, &mut add);
        files
    }

    fn drawings(
        &self,
        results: &Table,
        measured: &Table,
        add: &mut dyn FnMut(&str, Vec<u8>),
    ) -> Vec<Drawing> {
        let mut drawings = Vec::new();
        for figure in &self.figures {
            let is_measured = figure.y == ALLOCATION_NS;
            let mut chart = chart(figure, if is_measured { measured } else { results });
            if let Some(sentence) = self.left_out_in_words() {
                let stop = if chart.note.is_empty() { "" } else { ". " };
                chart.note = format!("{}{stop}{sentence}", chart.note);
            }
            let svg = svg(&chart);
            add(&format!("{}.svg", figure.name), svg.clone().into_bytes());
            add(&format!("{}.vl.json", figure.name), format!("{:#}\n", vega(&chart)).into_bytes());
            let source = if is_measured { "timings.csv" } else { "results.csv" };
            drawings.push(Drawing { svg, caption: format!("{}.svg, from {source}", figure.name) });
        }
        drawings
    }

    fn json<'a>(
        &'a self,
        samples: &'a Samples,
        table: &'a Table,
        from: &'a Provenance,
    ) -> Document<'a> {
        let seeds = self.seeds();
        let seed = if let [seed] = seeds[..] { Some(seed) } else { None };
        Document::new(self, from, seed, Results { specification: self, samples, table })
    }

    fn seeds(&self) -> Vec<u64> {
        let mut seeds: Vec<u64> = Vec::new();
        for seed in self.points.iter().map(|point| point.settings().seed) {
            if !seeds.contains(&seed) {
                seeds.push(seed);
            }
        }
        seeds
    }

    /// Describes the origin of the numbers.
    fn footer(&self, samples: &Samples, from: &Provenance) -> Vec<String> {
        let run: Vec<_> = samples.iter().filter(|samples| !samples.is_empty()).collect();
        let total: usize = run.iter().map(|samples| samples.len()).sum();
        let missed = run.iter().filter(|samples| target_missed(self, samples)).count();
        let policy = match self.policy {
            Policy::Fixed(count) => format!("{count} replications per point"),
            Policy::Precision { relative, confidence, least, most } => {
                let names: Vec<&str> =
                    self.targets.iter().map(|&target| self.metrics[target].name).collect();
                let met = match missed {
                    0 => "met at all points".to_string(),
                    missed => format!("missed at {missed} of {} points", run.len()),
                };
                let capped = self.capped().map_or(String::new(), |words| format!(" ({words})"));
                format!(
                    "{least} to {most} replications per point{capped}, until the half-width of the \
                     {}% confidence interval (Student's t) of {} is at most {}% of the mean: {met}",
                    confidence * 100.0,
                    names.join(" and "),
                    relative * 100.0,
                )
            }
        };
        let seeds: Vec<String> = self.seeds().iter().map(ToString::to_string).collect();
        let mut lines = vec![
            format!("Command: {}", from.command),
            format!("Pavior {}, seed {}", from.version, seeds.join(", ")),
            format!("{} points, {total} replications in total; {policy}.", run.len()),
            format!(
                "All results are in results.csv, individual replications in replications.csv{}; \
                 the date and the machine are in run.json.",
                if self.timing { ", measured times in timings.csv" } else { "" }
            ),
        ];
        if run.len() < self.points.len() {
            lines.push(format!(
                "Partial experiment: {} of {} points.",
                run.len(),
                self.points.len()
            ));
        }
        lines.extend(self.overloaded_in_words(samples));
        lines
    }

    /// Describes the limits that sweeps set on the number of replications.
    fn capped(&self) -> Option<String> {
        let caps: Vec<u64> = self.caps.iter().flatten().copied().collect();
        let (least, most) = (caps.iter().min()?, caps.iter().max()?);
        let at_most =
            if least == most { most.to_string() } else { format!("{least} to {most}, by sweep,") };
        Some(format!("at most {at_most} at {} points", caps.len()))
    }

    /// Builds a table with one row per point and the most important metrics.
    pub fn overview(&self, samples: &Samples) -> SectionTable {
        self.overview_of(samples, &Table::of(self, samples))
    }

    /// Builds the [`Self::overview`] table from existing results.
    fn overview_of(&self, samples: &Samples, table: &Table) -> SectionTable {
        const FIRST: [&str; 5] =
            ["turnaround", "utilization", "waiting", "blocks_per_job", "busy_submeshes"];
        let chosen: Vec<usize> = (0..self.metrics.len())
            .filter(|&index| FIRST.contains(&self.metrics[index].name) || self.metrics.len() <= 6)
            .collect();
        let columns = self.told();
        let mut header = self.names(&columns);
        let words = header.len();
        header.extend(["replications", "precision"].map(String::from));
        header.extend(chosen.iter().map(|&index| self.metrics[index].name.replace('_', " ")));
        let mut rows = Vec::new();
        let mut lines = table.rows.iter();
        for samples in samples.iter().filter(|samples| !samples.is_empty()) {
            let own: Vec<_> = lines.by_ref().take(self.metrics.len()).collect();
            let Some(line) = own.first() else { continue };
            let mut row = picked(&line.values, &columns);
            row.push(samples.len().to_string());
            row.push(self.met(line.target_missed).to_string());
            row.extend(chosen.iter().map(|&index| own[index].summary.to_string()));
            rows.push(row);
        }
        SectionTable { header, rows, words }
    }

    /// Returns the indices of the table columns in which at least one point has a value.
    fn told(&self) -> Vec<usize> {
        let set = |index: usize| self.points.iter().any(|point| point.at(index).is_some());
        let all = shown(self).into_iter().enumerate();
        all.filter(|&(_, index)| set(index)).map(|(column, _)| column).collect()
    }

    fn names(&self, columns: &[usize]) -> Vec<String> {
        let shown = shown(self);
        columns.iter().map(|&column| parameters::ALL[shown[column]].name.to_string()).collect()
    }

    /// Describes whether the precision target was met.
    fn met(&self, missed: bool) -> &'static str {
        match (self.policy, missed) {
            (Policy::Fixed(_), _) => "no target",
            (_, true) => "missed",
            (_, false) => "met",
        }
    }

    /// Builds a section that compares the strategies with the baseline.
    fn compared(&self, differences: &[crate::Difference]) -> Option<Section> {
        let baseline = self.baseline.as_ref()?;
        let columns = self.told();
        let mut header = self.names(&columns);
        let words = header.len() + 1;
        let rest = ["metric", "pairs", "precision", "difference", "ratio"];
        header.extend(rest.map(String::from));
        let of = |one: &&crate::Difference| ["turnaround", "utilization"].contains(&one.metric);
        let row = |one: &crate::Difference| {
            let mut row = picked(&one.values, &columns);
            let paired = one.paired;
            row.push(one.metric.to_string());
            row.push(paired.pairs.to_string());
            row.push(self.met(one.target_missed).to_string());
            let difference = Some(paired.difference);
            row.push(Summary { mean: difference, ci95: paired.difference_ci95 }.to_string());
            row.push(Summary { mean: paired.ratio, ci95: paired.ratio_ci95 }.to_string());
            row
        };
        let rows: Vec<Vec<String>> = differences.iter().filter(of).map(row).collect();
        if rows.is_empty() {
            return None;
        }
        let mut text = vec![format!(
            "Differences from {baseline} and ratios to it, with the half-widths of their 95% \
             confidence intervals. Replications over the same jobs are paired. A difference is \
             significant if its interval excludes 0."
        )];
        if differences.iter().any(|one| !one.same_jobs) {
            text.push(
                "Some strategies rejected different jobs than the baseline, so their means cover \
                 different jobs; see same_jobs in differences.csv."
                    .into(),
            );
        }
        let table = Some(SectionTable { header, rows, words });
        let title = format!("Compared with {baseline}");
        Some(Section { title, text, table, folded: true, ..Section::default() })
    }
}

fn about_means(results: &Table) -> String {
    if results.rows.iter().all(|row| row.replications == 1 && row.summary.ci95.is_none()) {
        return "Results of one replication, without confidence intervals.".into();
    }
    "Means with the half-widths of their 95% confidence intervals. The precision column \
     shows whether the precision target was met."
        .into()
}

fn picked(values: &[String], columns: &[usize]) -> Vec<String> {
    columns.iter().map(|&column| values[column].clone()).collect()
}

fn csv(write: impl FnOnce(&mut dyn io::Write) -> Result<(), ::csv::Error>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

fn pretty(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}
