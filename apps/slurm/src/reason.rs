//! What is told to users, in AdminComment: why a job waits, and where its box lies.

use pavior_allocation::explain;
use pavior_mesh::{Cuboid, JobId, Request, Sides};
use pavior_planning::{Shape, Snapshot, Weights, blockers, earliest, nearest};

use crate::Config;
use crate::ledger::Ledger;
use crate::names::{NodeName, Note};
use crate::records::CONTROL_CHARACTERS;
use crate::state::State;

/// The nodes of a box in its own order, x fastest: rank i runs on the i-th.
pub(crate) fn ranks(config: &Config, cuboid: &Cuboid) -> Vec<NodeName> {
    cuboid.nodes(&config.grid).map(|node| config.name(node).clone()).collect()
}

/// What an opened job is told.
pub(crate) fn placed(config: &Config, cuboid: &Cuboid) -> Note {
    let at = explain::words(&config.grid, cuboid);
    let ranks = ranks(config, cuboid);
    let ranks: Vec<&str> = ranks.iter().map(NodeName::as_str).collect();
    Note::new(&format!("pavior: box {at}; ranks {}", ranks.join(",")))
}

/// What a job is told that waits for ever.
pub(crate) fn unplaced() -> Note {
    Note::new(&format!("pavior: not placed: {CONTROL_CHARACTERS}; submit it anew without them"))
}

/// What a waiting job is told: the nearest boxes, who is in its way, and when that ends.
pub(crate) fn waiting(
    config: &Config,
    ledger: &Ledger,
    snapshot: &Snapshot,
    request: &Request,
    now: u64,
) -> Note {
    Note::new(&waits(config, ledger, snapshot, request, now))
}

fn waits(
    config: &Config,
    ledger: &Ledger,
    snapshot: &Snapshot,
    request: &Request,
    now: u64,
) -> String {
    let Some(sides) = request.shape else { return "pavior: no box of so many nodes".into() };
    let shape = Shape::new(sides);
    let words = |cuboid: &Cuboid| explain::words(&config.grid, cuboid);
    let mut text = format!("pavior: waits for {}", size(config, sides));
    if let Some(at) = pavior_planning::fit(snapshot, shape) {
        return format!("{text}; {} is free, but others come first", words(&at));
    }
    text += &match nearest(snapshot, shape, 1).first() {
        Some(at) => format!("; nearest free {}", words(at)),
        None => "; nothing is free".to_string(),
    };
    let weights = Weights::nodes(snapshot);
    text += &match blockers(snapshot, shape, &weights) {
        Some(found) => {
            let jobs = found.jobs.iter().filter_map(|job| ledger.jobs.get(job.0 as usize));
            let names: Vec<String> = jobs.map(|job| job.name.to_string()).take(8).collect();
            let more = if found.jobs.len() > 8 { ",..." } else { "" };
            format!("; blocked least at {} by {}{more}", words(&found.at), names.join(","))
        }
        None => "; every place has a node that is down".to_string(),
    };
    let end = |job: JobId| State::end(ledger, job, now);
    text += &match earliest(snapshot, shape, end) {
        Some(found) => format!("; not before {}", date(found.at.0)),
        None => "; no end in sight".to_string(),
    };
    text
}

fn size(config: &Config, sides: Sides) -> String {
    let sides = sides[..config.grid.axes()].iter().map(u16::to_string);
    sides.collect::<Vec<_>>().join("x")
}

/// Seconds since 1970 as a date, in UTC.
pub(crate) fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days are counted from March of year 0, so that leap days come last (Howard Hinnant's
    // civil_from_days).
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + later;
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_right() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(date(1_795_311_390), "2026-11-22T01:36:30Z");
    }
}
