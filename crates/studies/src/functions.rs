//! What statements need to know besides samples: functions by name, which find facts.
//!
//! A function is given texts by name and finds facts by name. All of them look at a still state: a
//! `machine` and its `busy` boxes, as an experiment has them.
//!
//! - `choice`: what a `strategy` chooses for a `request`. Facts: `place`, the base as `<x,y>`, or
//!   `nothing`; `index`, the optimality index.
//! - `candidates`: the `number`th place (from 1) that MFA considers around the busy submesh
//!   `around` (from 1) for a `request`. Facts: `side` and `place`; `verdict`, the index, `-1` or
//!   `computed earlier`; `index`, a number or nothing; `touches`, the nodes that count; `words`.
//! - `sizes`: the busy boxes. Facts: `mean` and `sizes`, in nodes.
//! - `contact`: a `request` placed at `base`. Facts: `index`; `busy` and `border`, how many busy
//!   neighbours and nodes on the border it has; `touches`.

use std::collections::BTreeMap;

use pavior::experiments::{boxes, sides};
use pavior::strategies::{
    BadName, Coordinates, MfaCandidate, MfaVerdict, Selection, Sides, State, answer, index,
    mfa_candidates, unknown_name,
};
use pavior::{Cuboid, Grid, JobId, Request};

type Given = BTreeMap<String, String>;
type Facts = BTreeMap<&'static str, String>;
type Function = fn(&Given) -> Result<Facts, String>;

const ALL: [(&str, Function); 4] =
    [("choice", choice), ("candidates", candidates), ("sizes", sizes), ("contact", contact)];

/// A function by name.
pub(super) fn find(name: &str) -> Result<Function, String> {
    let found = ALL.iter().find(|(known, _)| *known == name).map(|(_, function)| *function);
    found.ok_or_else(|| unknown_name("function", name, &ALL.map(|(known, _)| known)).reason)
}

fn word<'g>(given: &'g Given, name: &str) -> Result<&'g str, String> {
    given.get(name).map(String::as_str).ok_or_else(|| format!("`with` gives no `{name}`"))
}

fn number(given: &Given, name: &str) -> Result<usize, String> {
    let text = word(given, name)?;
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| format!("`{name}` is a number from 1, not `{text}`"))
}

fn task(given: &Given) -> Result<Sides, String> {
    sides(word(given, "request")?).map_err(|bad| bad.reason)
}

fn state(given: &Given) -> Result<State, String> {
    let grid: Grid = word(given, "machine")?.parse().map_err(|bad: BadName| bad.reason)?;
    let mut state = State::new(grid);
    let busy = boxes(word(given, "busy")?).map_err(|bad| bad.reason)?;
    for (job, held) in (1..).zip(busy) {
        state.hold(JobId(job), &[held]).map_err(|error| format!("box {job}: {error}"))?;
    }
    Ok(state)
}

fn place(point: Coordinates) -> String {
    format!("<{},{}>", point[0], point[1])
}

fn choice(given: &Given) -> Result<Facts, String> {
    let strategy: Selection =
        word(given, "strategy")?.parse().map_err(|bad: BadName| bad.reason)?;
    let found = answer(&state(given)?, &strategy, &Request::shape(task(given)?), 1);
    let choice = found.map_err(|error| error.to_string())?.outcome.ok();
    let part = choice.as_ref().and_then(|choice| choice.placement.parts().first().copied());
    let place = part.map_or("nothing".into(), |part| place(part.base));
    let index = choice.map_or(String::new(), |choice| choice.index().to_string());
    Ok(Facts::from([("place", place), ("index", index)]))
}

fn candidates(given: &Given) -> Result<Facts, String> {
    let (state, task) = (state(given)?, task(given)?);
    let (around, position) = (number(given, "around")?, number(given, "number")?);
    let all = mfa_candidates(state.free(), &state.busy_list(), task, false).into_iter();
    let mut own = all.filter(|one| one.around.is_some_and(|(submesh, _)| submesh + 1 == around));
    if let Some(candidate) = own.nth(position - 1) {
        return Ok(candidate_facts(&candidate, task, &state));
    }
    let mut facts = Facts::from([("words", "not looked at".to_string())]);
    for name in ["side", "place", "verdict", "index", "touches"] {
        facts.insert(name, String::new());
    }
    Ok(facts)
}

fn candidate_facts(candidate: &MfaCandidate, task: Sides, state: &State) -> Facts {
    let mut touched = String::new();
    let (verdict, index, words) = match candidate.verdict {
        MfaVerdict::Index(index) => {
            touched = touches(state, &Cuboid::new(candidate.base, task)).join(" ");
            (index.to_string(), index.to_string(), format!("from {touched}"))
        }
        MfaVerdict::Inadmissible => ("-1".into(), "-1".into(), "inadmissible".into()),
        MfaVerdict::ComputedEarlier => {
            ("computed earlier".into(), String::new(), "computed earlier".into())
        }
    };
    let side = candidate.around.map_or(String::new(), |(_, side)| side.to_string());
    Facts::from([
        ("side", side),
        ("place", place(candidate.base)),
        ("verdict", verdict),
        ("index", index),
        ("touches", touched),
        ("words", words),
    ])
}

fn sizes(given: &Given) -> Result<Facts, String> {
    let sizes: Vec<u32> = state(given)?.busy_list().iter().map(Cuboid::volume).collect();
    let mean = f64::from(sizes.iter().sum::<u32>()) / sizes.len() as f64;
    Ok(Facts::from([("mean", mean.to_string()), ("sizes", format!("{sizes:?}"))]))
}

fn contact(given: &Given) -> Result<Facts, String> {
    let state = state(given)?;
    let base = word(given, "base")?;
    let placed = boxes(&format!("{base}:{}", word(given, "request")?)).map_err(|bad| bad.reason)?;
    let [placed] = placed[..] else { return Err(format!("`{base}` is no base")) };
    // It must lie on the machine, and be free.
    self::state(given)?
        .hold(JobId(0), &[placed])
        .map_err(|error| format!("the request at {base}: {error}"))?;
    let touched = touches(&state, &placed);
    // A node of its own counts where it lies on the border, another's where it is busy.
    let own = |name: &&String| {
        placed.nodes(state.grid()).any(|node| place(state.grid().point(node)) == **name)
    };
    let border = touched.iter().filter(own).count();
    Ok(Facts::from([
        ("index", index(state.free(), &placed).to_string()),
        ("busy", (touched.len() - border).to_string()),
        ("border", border.to_string()),
        ("touches", touched.join(" ")),
    ]))
}

/// What counts for the index of a box: busy neighbours, and own nodes on the border.
fn touches(state: &State, placed: &Cuboid) -> Vec<String> {
    let grid = state.grid();
    let mut all = Vec::new();
    for node in placed.nodes(grid).map(|node| grid.point(node)) {
        for (x, y) in [(1, 0), (0, 1), (-1, 0), (0, -1)] {
            let at = |axis: usize, step: i32| {
                let moved = i32::from(node[axis]) + step;
                u16::try_from(moved).ok().filter(|&moved| moved < grid.side(axis))
            };
            match at(0, x).zip(at(1, y)) {
                None => all.push(place(node)),
                Some((x, y)) => {
                    let beside = [x, y, 0];
                    let inside = Cuboid::node(beside).intersects(grid, placed);
                    if !inside && !state.free().is_free(&Cuboid::node(beside)) {
                        all.push(place(beside));
                    }
                }
            }
        }
    }
    all.sort();
    all
}
