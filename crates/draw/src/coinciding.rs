//! Detects series that coincide in a drawing and could be mistaken for a single one.

use crate::chart::{Chart, Series};

/// The distance, in canvas units, below which two lines look like one. It is a third of a mark's
/// size.
const NEAR: f64 = 3.0;
/// The dash length for coinciding lines, whose dashes alternate.
const DASH: f64 = 8.0;

/// A series' position within its group of coinciding series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The index of this series within its group, starting from 0.
    pub(crate) rank: usize,
    /// The number of series in the group, or 1 if this series does not coincide with any other.
    pub(crate) of: usize,
}

impl Turn {
    pub(crate) const ALONE: Turn = Turn { rank: 0, of: 1 };

    /// Returns the dash pattern and offset that make coinciding lines alternate.
    pub(crate) fn dashes(self) -> Option<(String, f64)> {
        let gap = DASH * (self.of - 1) as f64;
        (self.of > 1).then(|| (format!("{DASH} {gap}"), 0.0 - DASH * self.rank as f64))
    }

    /// Returns the scale factor for the series' marks, chosen so that the marks of coinciding
    /// series nest inside each other.
    pub(crate) fn scale(self) -> f64 {
        match self.of {
            0 | 1 => 1.0,
            of => 1.75 - self.rank as f64 / (of - 1) as f64,
        }
    }
}

/// Groups coinciding lines. Each line is a list of points on the canvas.
pub(crate) fn groups(lines: &[Vec<(f64, f64)>]) -> Vec<Vec<usize>> {
    let near = |a: &[(f64, f64)], b: &[(f64, f64)]| {
        let close = |(a, b): (&(f64, f64), &(f64, f64))| {
            (a.0 - b.0).abs() <= NEAR && (a.1 - b.1).abs() <= NEAR
        };
        a.len() == b.len() && a.iter().zip(b).all(close)
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        match groups.iter_mut().find(|group| near(&lines[group[0]], line)) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// Returns each series' position in its group.
pub(crate) fn turns(count: usize, groups: &[Vec<usize>]) -> Vec<Turn> {
    let mut turns = vec![Turn::ALONE; count];
    for group in groups {
        for (rank, &index) in group.iter().enumerate() {
            turns[index] = Turn { rank, of: group.len() };
        }
    }
    turns
}

/// Returns one sentence per group that tells the reader which series coincide.
pub(crate) fn sentences(chart: &Chart, groups: &[Vec<usize>]) -> Vec<String> {
    let sentence = |group: &Vec<usize>| {
        let first = &chart.series[group[0]];
        let equal = group.iter().all(|&index| is_equal(first, &chart.series[index]));
        let names: Vec<&str> =
            group.iter().map(|&index| chart.series[index].name.as_str()).collect();
        let names = listed(&names);
        if equal {
            format!("{names} are equal, so their dashes alternate.")
        } else {
            format!("{names} nearly coincide, so their dashes alternate.")
        }
    };
    groups.iter().map(sentence).collect()
}

/// Returns true if two series have the same values, up to rounding.
pub(crate) fn is_equal(a: &Series, b: &Series) -> bool {
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    a.points.len() == b.points.len()
        && a.points.iter().zip(&b.points).all(|(a, b)| same(a.x, b.x) && same(a.y, b.y))
}

/// Joins names into a phrase such as `a, b and c`.
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_string(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_on_each_other_take_turns() {
        let line = |y: f64| vec![(0.0, y), (10.0, y)];
        let lines = [line(5.0), line(9.0), line(5.4), Vec::new(), line(5.0), Vec::new()];
        let groups = groups(&lines);
        assert_eq!(groups, [vec![0, 2, 4]]);
        let turns = turns(lines.len(), &groups);
        assert_eq!(turns[1], Turn::ALONE);
        assert_eq!(turns[4], Turn { rank: 2, of: 3 });
        assert_eq!(turns[4].dashes(), Some(("8 16".to_string(), -16.0)));
        assert!(turns[0].scale() > turns[2].scale() && turns[2].scale() > turns[4].scale());
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
    }
}
