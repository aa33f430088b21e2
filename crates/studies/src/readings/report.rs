//! Presents the results of a paper's readings as statements, tables and text.

use std::io::Write;

use super::{Closeness, Readings};
use crate::statement::{Claim, number};
use crate::{Estimate, Paper, QUICK, Statement, markdown};
use pavior::draw::{Section, SectionTable};

/// The definition of distance, for reports.
const DISTANCE: &str = "A reading's distance is the root mean square of ln(our ratio / the paper's \
                        ratio). It is 0 if all ratios match, and 0.69 if they differ by a factor \
                        of 2 on average.";

/// The definition of distance for papers that state orders.
const DISTANCE_OF_ORDERS: &str = "According to the paper, every ratio should be below 1. A \
    reading's distance is the root mean square of ln(our ratio), where ratios below 1 count as 1. \
    It is 0.69 if the ratios are 2 on average.";

impl Readings {
    fn rule(&self) -> &'static str {
        if self.orders { DISTANCE_OF_ORDERS } else { DISTANCE }
    }

    /// Explains the table's columns, using the first ratio as an example.
    fn columns(&self) -> String {
        let goal = &self.goal[0];
        let (id, Some((other, _))) = (&goal.id, goal.others.first()) else { return String::new() };
        let (metric, strategy) = (&goal.metric, goal.strategy.to_uppercase());
        format!(
            "{id}@{other} is {strategy}'s {metric} divided by that of {}, at the points in {id}. \
             {id} is the distance over all such ratios.",
            other.to_uppercase()
        )
    }

    /// Returns every ratio in every reading as a statement, for example `G1@ff:pipelined`.
    pub fn statements(&self, ranking: &[Closeness]) -> Vec<Statement> {
        let mut all = Vec::new();
        for one in ranking {
            for ((id, other, stated), ratio) in self.places().zip(&one.ratios) {
                let id = format!("{id}@{other}:{}", one.reading.name);
                let statement = if self.orders {
                    // An order is judged by the difference between the ratio and 1.
                    let above =
                        ratio.map(|ratio| Estimate { value: ratio.value - stated, ..ratio });
                    let order = Claim::Below("ratio below 1".to_string()).judge(id, above);
                    Statement { ratio: ratio.map(|ratio| ratio.value), ..order }
                } else {
                    Claim::Ratio(stated).judge(id, *ratio)
                };
                all.push(statement.note(one.reading.meaning.clone()));
            }
        }
        all
    }

    /// Creates the table of readings, closest first. Returns the column names and the rows.
    pub fn table(&self, ranking: &[Closeness]) -> (Vec<String>, Vec<Vec<String>>) {
        let mut header = vec!["reading".to_string(), "distance".to_string()];
        header.extend(self.goal.iter().map(|goal| goal.id.clone()));
        header.extend(self.places().map(|(id, other, _)| format!("{id}@{other}")));
        header.push("change".to_string());
        let below = if self.orders { "< " } else { "" };
        let stated = self.places().map(|(.., stated)| format!("{below}{stated:.2}"));
        let nothing = || vec![format!("{:.2}", 0.0); self.goal.len() + 1];
        let mut paper = vec!["the paper".to_string()];
        paper.extend(nothing().into_iter().chain(stated));
        paper.push("as stated".to_string());
        let line = |one: &Closeness| {
            let mut line = vec![one.reading.name.clone(), format!("{:.2}", one.distance)];
            line.extend(one.goals.iter().map(|distance| format!("{distance:.2}")));
            let ratio = |ratio: &Option<Estimate>| {
                ratio.map_or("-".to_string(), |ratio| format!("{:.2}", ratio.value))
            };
            line.extend(one.ratios.iter().map(ratio));
            line.push(one.reading.meaning.clone());
            line
        };
        let lines = std::iter::once(paper).chain(ranking.iter().map(line)).collect();
        (header, lines)
    }

    /// Describes the closest readings, and the results that no reading explains.
    pub fn conclusions(&self, ranking: &[Closeness]) -> Vec<String> {
        let mut text = Vec::new();
        let usual = ranking.iter().find(|one| one.reading.name == self.reading[0].name);
        if let (Some(closest), Some(usual)) = (ranking.first(), usual) {
            text.push(format!(
                "Closest over all {} ratios: {} (distance {:.2}; default reading: {:.2}).",
                closest.ratios.len(),
                closest.reading.name,
                closest.distance,
                usual.distance
            ));
        }
        for (index, goal) in self.goal.iter().enumerate() {
            let closest = ranking.iter().min_by(|a, b| a.goals[index].total_cmp(&b.goals[index]));
            if let Some(closest) = closest {
                text.push(format!(
                    "Closest for {}: {} (distance {:.2}).",
                    goal.id, closest.reading.name, closest.goals[index]
                ));
            }
        }
        let statements = self.statements(ranking);
        let holds = |place: &str| -> usize {
            let of =
                |one: &&Statement| one.verdict.is_good() && one.id.split(':').next() == Some(place);
            statements.iter().filter(of).count()
        };
        let places = self.places().map(|(id, other, _)| format!("{id}@{other}"));
        let unexplained: Vec<String> = places.filter(|place| holds(place) == 0).collect();
        let all = |one: &&Closeness| {
            let rows = self.statements(std::slice::from_ref(one));
            rows.iter().all(|row| row.verdict.is_good())
        };
        let whole: Vec<&str> =
            ranking.iter().filter(all).map(|one| one.reading.name.as_str()).collect();
        text.push(match (&whole[..], &unexplained[..]) {
            ([], []) => {
                "Each number is reproduced by at least one reading, but no reading reproduces all \
                 of them."
                    .to_string()
            }
            ([], missing) => {
                format!("Not reproduced by any reading: {}.", missing.join(", "))
            }
            (names, _) => {
                format!("Readings that reproduce every number: {}.", names.join(", "))
            }
        });
        text
    }

    /// Returns the report's introductory paragraphs.
    pub fn lead(&self, paper: &Paper, quick: bool) -> Vec<String> {
        let source = format!("{}: {}.", paper.source(), paper.title());
        let readings = "Each reading changes one or a few default settings; all readings run the \
                        same jobs. Nothing here is timed or plotted.";
        let quick = quick.then(|| QUICK.to_string());
        [source, readings.to_string()].into_iter().chain(quick).collect()
    }

    /// Creates the report section, with the definitions, the conclusions and the table.
    pub fn section(&self, ranking: &[Closeness]) -> Section {
        let (header, rows) = self.table(ranking);
        let mut text = vec![self.columns(), self.rule().to_string()];
        text.extend(self.conclusions(ranking));
        Section {
            title: "Closest readings".into(),
            text,
            table: Some(SectionTable { header, rows, words: 1 }),
            ..Section::default()
        }
    }

    /// Formats the table as Markdown, followed by the conclusions.
    pub fn markdown(&self, ranking: &[Closeness]) -> String {
        let (header, rows) = self.table(ranking);
        let mut text = markdown::table(&header, &rows, 1, header.len() - 1);
        text += &format!("\n{}\n\n", self.rule());
        for sentence in self.conclusions(ranking) {
            text += &format!("- {sentence}\n");
        }
        text
    }

    /// Writes the readings as CSV at full precision, with one line per ratio.
    ///
    /// # Errors
    /// Returns an error if the writer fails.
    pub fn write(&self, ranking: &[Closeness], out: &mut dyn Write) -> Result<(), csv::Error> {
        let mut writer = csv::Writer::from_writer(out);
        let header = [
            "reading",
            "distance",
            "statement",
            "over",
            "statement_distance",
            "paper",
            "ours",
            "ci95",
            "runs",
            "changes",
            "meaning",
        ];
        writer.write_record(header)?;
        for one in ranking {
            let mut places = self.places().zip(&one.ratios);
            for (goal, distance) in self.goal.iter().zip(&one.goals) {
                for ((id, other, stated), ratio) in places.by_ref().take(goal.others.len()) {
                    writer.write_record([
                        &one.reading.name,
                        &one.distance.to_string(),
                        id,
                        other,
                        &distance.to_string(),
                        &stated.to_string(),
                        &number(ratio.map(|ratio| ratio.value)),
                        &number(ratio.and_then(|ratio| ratio.ci95)),
                        &ratio.map_or(0, |ratio| ratio.runs).to_string(),
                        &one.reading.changes(),
                        &one.reading.meaning,
                    ])?;
                }
            }
        }
        Ok(writer.flush()?)
    }
}
