//! Differences between a strategy and its claim, described in words and as drawings.

use std::fmt;

use pavior_mesh::{Cuboid, Occupancy, Request, Sides, volume};

use crate::Placement;
use crate::explain::words;

/// A difference between a strategy and its claim.
pub enum Flaw {
    /// A wrong answer.
    Answer(Box<Counterexample>),
    /// Any other difference, in words.
    Words(String),
}

/// A state, a request, and a wrong answer to the request.
///
/// Displayed as one or two sentences, drawings of all planes in the state, and a legend.
#[derive(Clone)]
pub struct Counterexample {
    /// The strategy, with its options.
    pub strategy: String,
    /// The free nodes.
    pub free: Occupancy,
    /// The request.
    pub request: Request,
    /// The strategy's answer.
    pub answer: Option<Placement>,
    /// The boxes that should have been granted, if the oracle finds only one correct placement.
    pub expected: Vec<Cuboid>,
    /// A description of the error, phrased as a clause.
    pub reason: String,
    /// The number of correct answers before this one.
    pub answers: u64,
}

impl Flaw {
    /// Records that `answers` correct answers preceded the flaw.
    pub(super) fn after(mut self, answers: u64) -> Flaw {
        if let Flaw::Answer(counterexample) = &mut self {
            counterexample.answers = answers;
        }
        self
    }
}

/// A node's mark in a drawing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Free,
    Busy,
    Granted,
    Clash,
    Expected,
    Both,
}

impl Mark {
    const ALL: [Mark; 6] =
        [Mark::Free, Mark::Busy, Mark::Granted, Mark::Clash, Mark::Expected, Mark::Both];

    fn sign(self) -> char {
        match self {
            Mark::Free => '.',
            Mark::Busy => '#',
            Mark::Granted => 'o',
            Mark::Clash => 'X',
            Mark::Expected => '+',
            Mark::Both => '*',
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Mark::Free => "free",
            Mark::Busy => "busy",
            Mark::Granted => "granted",
            Mark::Clash => "granted, but busy",
            Mark::Expected => "expected",
            Mark::Both => "granted and expected",
        }
    }
}

impl Counterexample {
    /// Describes the request, for example as `2x3`, `5 nodes`, or `5 nodes in a 2x3 box`.
    pub fn asked(&self) -> String {
        let Request { nodes, shape, .. } = self.request;
        match shape {
            None => format!("{nodes} nodes"),
            Some(sides) if volume(sides) == u64::from(nodes) => self.sides(sides),
            Some(sides) => format!("{nodes} nodes in a {} box", self.sides(sides)),
        }
    }

    /// Describes the answer, for example as `it refuses` or `it grants 2x3 at 0,0`.
    pub fn answered(&self) -> String {
        match &self.answer {
            None => "it refuses".to_string(),
            Some(placement) if placement.parts().is_empty() => {
                "it grants an empty placement".to_string()
            }
            Some(placement) => format!("it grants {}", self.boxes(placement.parts())),
        }
    }

    /// Returns the sentences, without the drawing.
    pub fn sentence(&self) -> String {
        let Counterexample { strategy, free, reason, .. } = self;
        let (asked, answered) = (self.asked(), self.answered());
        format!("{strategy} is wrong on {}. Asked for {asked}, {answered}; {reason}.", free.grid())
    }

    fn boxes(&self, parts: &[Cuboid]) -> String {
        let grid = self.free.grid();
        parts.iter().map(|part| words(grid, part)).collect::<Vec<_>>().join(" and ")
    }

    fn sides(&self, sides: Sides) -> String {
        let axes = self.free.grid().axes();
        sides[..axes].iter().map(u16::to_string).collect::<Vec<_>>().join("x")
    }

    fn mark(&self, at: [u16; 3]) -> Mark {
        let grid = self.free.grid();
        let within = |parts: &[Cuboid]| parts.iter().any(|part| part.contains(grid, at));
        let granted = self.answer.as_ref().is_some_and(|placement| within(placement.parts()));
        match (self.free.is_node_free(grid.id(at)), granted, within(&self.expected)) {
            (false, true, _) => Mark::Clash,
            (false, false, _) => Mark::Busy,
            (true, true, true) => Mark::Both,
            (true, true, false) => Mark::Granted,
            (true, false, true) => Mark::Expected,
            (true, false, false) => Mark::Free,
        }
    }

    /// Draws the planes, starting with z = 0. The origin of each plane is at the lower left.
    fn plan(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [w, d, h] = self.free.grid().sides();
        let wide = d.saturating_sub(1).to_string().len();
        let mut seen = Vec::new();
        for z in 0..h {
            if h > 1 {
                writeln!(f, "\n  z = {z}")?;
            } else {
                writeln!(f)?;
            }
            for y in (0..d).rev() {
                write!(f, "  {y:>wide$} |")?;
                for x in 0..w {
                    let mark = self.mark([x, y, z]);
                    seen.push(mark);
                    write!(f, " {}", mark.sign())?;
                }
                writeln!(f)?;
            }
            write!(f, "  {:wide$}  ", "")?;
            (0..w).try_for_each(|x| write!(f, " {}", x % 10))?;
            writeln!(f)?;
        }
        let known = Mark::ALL.into_iter().filter(|mark| seen.contains(mark));
        let legend: Vec<String> =
            known.map(|mark| format!("{} {}", mark.sign(), mark.meaning())).collect();
        write!(f, "\n  {}", legend.join("   "))
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.sentence())?;
        self.plan(f)
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::Answer(counterexample) => counterexample.fmt(f),
            Flaw::Words(words) => f.write_str(words),
        }
    }
}

/// Shows the same text as `Display`, so that a failing test's message contains the drawing.
impl fmt::Debug for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Flaw {}

impl From<String> for Flaw {
    fn from(words: String) -> Flaw {
        Flaw::Words(words)
    }
}

impl From<Counterexample> for Flaw {
    fn from(counterexample: Counterexample) -> Flaw {
        Flaw::Answer(Box::new(counterexample))
    }
}

#[cfg(test)]
mod tests {
    use pavior_mesh::Grid;

    use super::*;

    fn counterexample(free: Occupancy, answer: Option<Cuboid>) -> Counterexample {
        Counterexample {
            strategy: "mine".to_string(),
            free,
            request: Request::shape([2, 1]),
            answer: answer.map(Placement::Whole),
            expected: vec![Cuboid::new([1, 0, 0], [2, 1, 1])],
            reason: "2x1 at 1,0 comes first".to_string(),
            answers: 0,
        }
    }

    #[test]
    fn it_is_told_and_drawn() {
        let mut free = Occupancy::all_free(Grid::mesh(&[3, 2]).unwrap());
        free.take(&Cuboid::node([0, 0, 0])).unwrap();
        let refused = counterexample(free.clone(), None);
        assert_eq!(
            refused.to_string(),
            "mine is wrong on mesh:3x2. Asked for 2x1, it refuses; 2x1 at 1,0 comes first.\n\n  \
             1 | . . .\n  0 | # + +\n      0 1 2\n\n  . free   # busy   + expected"
        );
        let granted = counterexample(free, Some(Cuboid::new([0, 0, 0], [2, 1, 1]))).to_string();
        assert!(granted.contains("it grants 2x1 at 0,0; "), "{granted}");
        assert!(granted.contains("  0 | X * +\n"), "{granted}");
        assert!(granted.ends_with("X granted, but busy   + expected   * granted and expected"));
    }

    #[test]
    fn planes_follow_each_other() {
        let free = Occupancy::all_free(Grid::mesh(&[3, 1, 2]).unwrap());
        let told = counterexample(free, None).to_string();
        assert!(told.contains("Asked for 2x1x1"), "{told}");
        assert!(told.contains("\n  z = 1\n  0 | . . .\n      0 1 2\n"), "{told}");
    }
}
