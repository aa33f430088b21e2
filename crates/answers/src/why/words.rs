//! Formats answers as sentences.

use pavior_allocation::explain;
use pavior_kernel::Time;
use pavior_mesh::{Cuboid, Grid, JobId};

use super::{Blocked, Cause, PlannedStart, Queued, Why};

/// The wording that an interface uses for jobs, times and settings.
pub struct Words<'a> {
    /// The machine's grid.
    pub grid: &'a Grid,
    /// A function that returns a job's name, such as `job 17`, or a neutral name if the reader is
    /// not allowed to see the job. Any text that comes from users must already be escaped.
    pub job: &'a dyn Fn(JobId) -> String,
    /// A function that formats a time according to the interface's clock and time zone.
    pub time: &'a dyn Fn(Time) -> String,
    /// The strategy.
    pub strategy: &'a str,
    /// The scheduler's name, or an empty string if there is no scheduler.
    pub scheduler: &'a str,
}

impl Why {
    /// Returns the explanation as lines of text: the reason and the expected start, the blocking
    /// jobs, and moves that would make room sooner.
    pub fn lines(&self, words: &Words<'_>) -> Vec<String> {
        let mut lines = vec![self.sentence(words)];
        if let Some(blocked) = &self.blocked {
            let is_named = self.planned.is_some_and(|planned| planned.place.is_some())
                || self.planned.is_none() && blocked.is_named();
            lines.push(blocked.in_the_way(words, is_named));
            lines.extend(blocked.sooner(words));
        }
        lines
    }

    /// Returns the reason in one sentence, with the time and place of the start if these are known.
    pub fn sentence(&self, words: &Words<'_>) -> String {
        format!("{}{}.", self.clause(words), self.start_clause(words))
    }

    /// Returns the time and place of the start, as a clause to append to a sentence.
    fn start_clause(&self, words: &Words<'_>) -> String {
        let time = words.time;
        let at = |at: Cuboid| explain::words(words.grid, &at);
        match (&self.planned, &self.blocked) {
            (Some(PlannedStart { at: start, place }), _) => {
                let on = place.map_or_else(String::new, |place| format!(", on {}", at(place)));
                format!("; it is planned to start at {}{on}", time(*start))
            }
            (None, Some(Blocked { at: place, until: Some(until), .. })) => {
                format!("; {} becomes free first, at {}", at(*place), time(*until))
            }
            (None, Some(Blocked { at: place, unavailable, .. })) if !unavailable.is_empty() => {
                let (lost, are) = match unavailable.len() {
                    1 => ("the unavailable node".to_string(), "is"),
                    many => (format!("{many} unavailable nodes"), "are"),
                };
                format!("; it cannot start until {lost} in {} {are} back", at(*place))
            }
            (None, _) => match self.enough {
                Some(at) => format!("; enough nodes will be free at {}", time(at)),
                None => String::new(),
            },
        }
    }

    fn clause(&self, words: &Words<'_>) -> String {
        let Why { needed, free, .. } = self;
        let at = |part: &Cuboid| explain::words(words.grid, part);
        match self.cause {
            Cause::Fits => match &self.place[..] {
                [] => "It fits now".to_string(),
                [part] => format!("It fits now, on {}", at(part)),
                parts => format!("It fits now, in {} boxes", parts.len()),
            },
            Cause::Nodes => {
                let few = match free {
                    0 => "none are".to_string(),
                    1 => "only 1 is".to_string(),
                    free => format!("only {free} are"),
                };
                format!("It needs {}, but {few} free", count(*needed, "node"))
            }
            Cause::Place => format!(
                "It needs {}, and {free} are free, but `{}` cannot place it on them",
                count(*needed, "node"),
                words.strategy
            ),
            Cause::Strategy => match self.place.first() {
                Some(part) => format!(
                    "It would fit on {}, but `{}` does not place it there",
                    at(part),
                    words.strategy
                ),
                None => format!("`{}` cannot place it", words.strategy),
            },
            Cause::Never => format!("It can never fit: {} is too small", words.grid),
            Cause::Queue(Queued::Kept) if words.scheduler.is_empty() => {
                "Waiting requests will not start: the service was started without a scheduler"
                    .to_string()
            }
            Cause::Queue(Queued::Kept) if !self.place.is_empty() => format!(
                "It fits on {}, but the scheduler `{}` keeps it waiting",
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
            Queued::First => "It is next".to_string(),
            Queued::Behind(Some(other)) => {
                format!("It is waiting its turn: under `{scheduler}`, {} starts first", job(other))
            }
            Queued::Behind(None) => {
                format!("It is waiting its turn: `{scheduler}` does not consider it yet")
            }
            Queued::Reserved { by, from, until } => {
                let from = match from {
                    Time::ZERO => String::new(),
                    from => format!(" from {}", time(from)),
                };
                let until = until.map_or_else(String::new, |at| format!(" until {}", time(at)));
                format!(
                    "It fits, but would not end before {} starts; nodes are reserved for that \
                     job{from}{until}",
                    job(by)
                )
            }
            Queued::Ahead { reservation, from, until } => format!(
                "It fits, but would not end before reservation {reservation} takes some of its \
                 nodes, from {} until {}",
                time(from),
                time(until)
            ),
            Queued::Kept => format!("The scheduler `{scheduler}` keeps it waiting"),
        }
    }
}

impl Blocked {
    /// Returns true if the start clause names the place.
    fn is_named(&self) -> bool {
        self.until.is_some() || !self.unavailable.is_empty()
    }

    /// Describes the blocking jobs and nodes. If `is_named` is true, the previous sentence has
    /// already named the place.
    fn in_the_way(&self, words: &Words<'_>, is_named: bool) -> String {
        let at = if is_named {
            "there".to_string()
        } else {
            format!("on {}", explain::words(words.grid, &self.at))
        };
        let (named, more) = self.largest();
        let name = |&(job, nodes): &_| format!("{} ({})", (words.job)(job), count(nodes, "node"));
        let mut all: Vec<String> = named.iter().map(name).collect();
        if !self.unavailable.is_empty() {
            all.push(count(self.unavailable.len() as u64, "unavailable node"));
        }
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        format!("Blocked {at} by {}{more}.", all.join(", "))
    }

    /// Describes the moves that would make room sooner, if known.
    fn sooner(&self, words: &Words<'_>) -> Option<String> {
        let plan = self.moves.as_ref()?;
        let list = |parts: &[Cuboid]| {
            let parts: Vec<String> =
                parts.iter().map(|part| explain::words(words.grid, part)).collect();
            parts.join(" and ")
        };
        let step = |step: &crate::Move| {
            format!("{} from {} to {}", (words.job)(step.job), list(&step.from), list(&step.to))
        };
        let steps: Vec<String> = plan.moves.iter().map(step).collect();
        let freed = list(&plan.boxes);
        Some(format!("Moving {} would free {freed} sooner.", steps.join(", then ")))
    }
}

/// Formats a count with its noun, such as `2 nodes`.
fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
