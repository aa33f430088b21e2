//! What the papers' statements say, in a line each, and how many rows of each hold.

use super::Statement;

/// Every statement.
const CLAIMS: &[(&str, &str)] = &[
    ("T1", "TBL allocates in a third of TFF's time at load 4.6"),
    ("T2", "TBL's turnaround is about half of that of FF and BL"),
    ("T3", "TBL's turnaround is very close to TFF's"),
    ("T4", "utilisation: equal at low load; 47 to 49 % with turning, at most 36 % without"),
    ("T5", "allocated submeshes: far fewer than nodes, not growing with the machine"),
    ("T6", "TBL allocates faster than TFF, and the more so at higher loads"),
    ("G1", "one-to-all, load 0.0205: GABL 64 / 36 / 31 % below FF, Paging(0), MBS"),
    ("G2", "all-to-all, load 0.1: GABL 0.17 / 0.28 / 0.30 of FF, Paging(0), MBS"),
    ("G3", "full queue: utilisation of 72 to 79 % without contiguity, FF at most 49 %"),
    ("G4", "GABL's blocks per job are 0.54 to 0.60 of MBS's, and fewer at all loads"),
    ("G5", "SSD gives much lower turnaround than FCFS"),
    ("G6", "longer messages: the order stays, and GABL's advantage in one-to-all grows"),
    ("G7", "GABL has the lowest turnaround everywhere"),
    ("N1", "at heavy load NAS has the highest utilisation"),
    ("N2", "one-to-all: all about equal at low load, NAS above LSSA and FF at high load"),
    ("N3", "all-to-all: NAS about LSSA, both above FF, then NAS above both"),
    ("N4", "near-neighbour: LSSA highest at low load, NAS at high load"),
    ("N5", "one-to-all: NAS has the lowest response time"),
    ("N6", "all-to-all, near-neighbour: FF has the lowest response time, NAS below LSSA"),
    ("N7", "uniform-decreasing sides raise every strategy's utilisation"),
    ("M1", "the worked examples, row by row"),
    ("M2", "MFA's choice has the highest optimality index"),
    ("M3", "by the formulas, MFA falls below SBA as the busy submeshes grow"),
    ("M4", "K is the mean size of the busy submeshes; the index of Figure 2 is 6"),
];

/// How many rows of a statement hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementCount {
    /// The statement.
    pub id: String,
    /// What it says.
    pub claim: &'static str,
    /// Rows that hold.
    pub holds: usize,
    /// All rows.
    pub rows: usize,
}

impl StatementCount {
    /// In words: `holds`, `differs`, or how many hold.
    pub fn verdict(&self) -> String {
        match (self.holds, self.rows) {
            (1, 1) => "holds".to_string(),
            (0, 1) => "differs".to_string(),
            (holds, rows) if holds == rows => format!("all {rows} hold"),
            (0, rows) => format!("none of {rows} holds"),
            (holds, rows) => format!("{holds} of {rows} hold"),
        }
    }
}

/// The rows by statement, in their order.
pub fn tally(all: &[Statement]) -> Vec<StatementCount> {
    let mut tallies: Vec<StatementCount> = Vec::new();
    for one in all {
        let id = one.id.split('@').next().unwrap_or_default();
        let at = tallies.iter().position(|tally| tally.id == id).unwrap_or_else(|| {
            let claim = CLAIMS.iter().find(|(name, _)| *name == id).map_or("", |(_, claim)| claim);
            tallies.push(StatementCount { id: id.to_string(), claim, holds: 0, rows: 0 });
            tallies.len() - 1
        });
        tallies[at].rows += 1;
        tallies[at].holds += usize::from(one.holds);
    }
    tallies
}
