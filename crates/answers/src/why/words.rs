//! An answer in sentences.

use pavior_allocation::explain;
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid, JobId};

use super::{Blocked, Cause, Queued, Why};

/// How a door names things.
pub struct Words<'a> {
    /// The machine.
    pub grid: &'a Grid,
    /// What a job is called, such as `job 17`; what a reader may not know is called so that it
    /// tells nothing. A text of a user's comes here in harmless form.
    pub job: &'a dyn Fn(JobId) -> String,
    /// A time by the door's clock.
    pub time: &'a dyn Fn(Time) -> String,
    /// The strategy.
    pub strategy: &'a str,
    /// The scheduler; empty if there is none.
    pub scheduler: &'a str,
}

impl Why {
    /// The answer in lines: one sentence, then who is in the way, then what would make room.
    pub fn lines(&self, words: &Words<'_>) -> Vec<String> {
        let mut lines = vec![self.sentence(words)];
        if let Some(blocked) = &self.blocked {
            lines.push(blocked.in_the_way(words));
            lines.extend(blocked.moves(words));
        }
        lines
    }

    /// The answer in one sentence.
    pub fn sentence(&self, words: &Words<'_>) -> String {
        let text = self.clause(words);
        match self.planned {
            Some(at) => format!("{text}; it is planned to start at {}.", (words.time)(at)),
            None => format!("{text}."),
        }
    }

    fn clause(&self, words: &Words<'_>) -> String {
        let Why { needed, free, .. } = self;
        let at = |part: &Cuboid| explain::words(words.grid, part);
        match self.cause {
            Cause::Fits => match &self.place[..] {
                [] => "It fits now".to_string(),
                [part] => format!("It fits now, at {}", at(part)),
                parts => format!("It fits now, in {} boxes", parts.len()),
            },
            Cause::Nodes | Cause::Place => {
                let lacks = format!("It needs {}, and {free} are free", count(*needed, "node"));
                let lacks = match self.cause {
                    Cause::Place => format!(
                        "{lacks}, but `{}` finds no place for it among them",
                        words.strategy
                    ),
                    _ => lacks,
                };
                let enough = self.enough.map(|at| format!("; enough are at {}", (words.time)(at)));
                let freed = self.blocked.as_ref().map(|blocked| blocked.cheapest(words));
                lacks + &enough.or(freed).unwrap_or_default()
            }
            Cause::Strategy => match self.place.first() {
                Some(part) => format!(
                    "{} is free, but `{}` does not place it there",
                    at(part),
                    words.strategy
                ),
                None => format!("`{}` finds no place for it", words.strategy),
            },
            Cause::Never => format!("It never fits: {} is too small for it", words.grid),
            Cause::Queue(Queued::Kept) if words.scheduler.is_empty() => {
                "No scheduler starts requests that wait: the service was started without one"
                    .to_string()
            }
            Cause::Queue(Queued::Kept) if !self.place.is_empty() => format!(
                "It fits, at {}, but the scheduler `{}` keeps it waiting",
                at(&self.place[0]),
                words.scheduler
            ),
            Cause::Queue(queued) => queued.clause(words),
        }
    }
}

impl Queued {
    fn clause(self, words: &Words<'_>) -> String {
        let Words { job, time, scheduler, .. } = words;
        match self {
            Queued::First => "It is the next".to_string(),
            Queued::Behind(Some(other)) => {
                format!("It waits for its turn: by `{scheduler}`, {} starts before it", job(other))
            }
            Queued::Behind(None) => {
                format!("It waits for its turn: `{scheduler}` does not look at it yet")
            }
            Queued::Reserved { by, from, until } => {
                let from = match from {
                    Time::ZERO => String::new(),
                    from => format!(" from {}", time(from)),
                };
                let until = until.map_or_else(String::new, |at| format!(" until {}", time(at)));
                format!(
                    "It fits, but {} has nodes reserved{from}{until}, and it would not end before",
                    job(by)
                )
            }
            Queued::Ahead { reservation, from, until } => format!(
                "It fits, but nodes are reserved ahead from {} until {} (reservation \
                 {reservation}), and it would not end before",
                time(from),
                time(until)
            ),
            Queued::Kept => format!("The scheduler `{scheduler}` keeps it waiting"),
        }
    }
}

impl Blocked {
    /// What frees the place, as the end of a sentence.
    fn cheapest(&self, words: &Words<'_>) -> String {
        let nodes = self.jobs.iter().map(|&(_, nodes)| nodes).sum();
        let (jobs, nodes) = (count(self.jobs.len() as u64, "job"), count(nodes, "node"));
        let lost = count(self.unavailable.len() as u64, "node");
        if self.jobs.is_empty() {
            return format!("; the best place has {lost} that cannot be had");
        }
        let until = self.until.map_or_else(String::new, |at| format!(", at {}", (words.time)(at)));
        match self.unavailable.len() {
            0 => format!("; the cheapest place is freed by {jobs} of {nodes}{until}"),
            _ => format!("; the best place has {lost} that cannot be had, and {jobs} of {nodes}"),
        }
    }

    /// Who is in the way there.
    fn in_the_way(&self, words: &Words<'_>) -> String {
        let at = explain::words(words.grid, &self.at);
        let (named, more) = self.largest();
        let name = |&(job, nodes): &_| format!("{} ({})", (words.job)(job), count(nodes, "node"));
        let mut all: Vec<String> = named.iter().map(name).collect();
        if !self.unavailable.is_empty() {
            all.push(count(self.unavailable.len() as u64, "unavailable node"));
        }
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let sooner = self.sooner.map_or_else(String::new, |sooner| {
            let (place, at) = (explain::words(words.grid, &sooner.place), (words.time)(sooner.at));
            format!("; {place} is free at {at}")
        });
        format!("In the way at {at}: {}{more}{sooner}.", all.join(", "))
    }

    /// What would make room there, if that is known.
    fn moves(&self, words: &Words<'_>) -> Option<String> {
        let plan = self.plan.plan.as_ref()?;
        let list = |parts: &[Cuboid]| {
            let parts: Vec<String> =
                parts.iter().map(|part| explain::words(words.grid, part)).collect();
            parts.join(" and ")
        };
        let step = |step: &crate::Move| {
            format!("{} from {} to {}", (words.job)(step.job), list(&step.from), list(&step.to))
        };
        let steps: Vec<String> = plan.moves.iter().map(step).collect();
        Some(format!("Room there is made by moving {}.", steps.join(", then ")))
    }
}

/// A number of things, in words.
fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
