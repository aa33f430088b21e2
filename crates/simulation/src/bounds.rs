//! Bounds that stop runs which would otherwise never end.
//!
//! A queue may grow without limit, a job may lose a node every time it runs, and a machine may
//! reach a state in which nothing can start. Without bounds, such a run would exhaust memory or
//! never end. When a run reaches a bound, it fails with an error that names the bound; normal runs
//! stay far below all bounds.

use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_scheduling::Queue;
use pavior_workload::Job;
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::Ending;
use crate::pace::Pace;

/// The bounds on a run.
///
/// ```
/// # mod pavior { pub use pavior_simulation as simulation; pub use pavior_workload as workload; }
/// use pavior::simulation::{Bounds, Ending, Setup};
/// use pavior::workload::{Synthetic, SyntheticJobs};
/// let grid = "mesh:4x4".parse()?;
/// // More jobs arrive than the machine can run.
/// let jobs = SyntheticJobs::new(&Synthetic::at_load(50.0), &grid, 1, 0)?;
/// let bounds = Bounds { waiting: 100, ..Bounds::default() };
/// let setup = Setup::new(grid, "tff", "fcfs")?.with_ending(Ending::Completions(1000));
/// assert!(setup.simulation(jobs).within(bounds).run().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The maximum number of waiting jobs when the stream of jobs is endless. Logs are finite, so
    /// the maximum does not apply to them.
    pub waiting: u64,
    /// The latest simulated time that the run may reach.
    pub until: Time,
    /// The maximum number of times that failures may interrupt a single job.
    pub interruptions: u64,
}

impl Default for Bounds {
    /// Returns bounds of 1,000,000 waiting jobs, [`Time::LATEST`] and 10,000 interruptions.
    fn default() -> Bounds {
        Bounds { waiting: 1_000_000, until: Time::LATEST, interruptions: 10_000 }
    }
}

/// The maximum number of idle time steps since the last completion. In an idle time step, the
/// machine is idle, jobs are waiting, and only arrivals can still happen. Jobs that start and are
/// interrupted do not count as progress.
pub const ARRIVALS_IN_VAIN: u64 = 1_000;
/// The corresponding maximum (see [`ARRIVALS_IN_VAIN`]) if nodes can still fail or be repaired.
/// Because some schedulers try every waiting job after each change, a time step with several failed
/// attempts counts ten times, plus once for every hundred waiting jobs.
pub const CHANGES_IN_VAIN: u64 = 1_000_000;
/// The maximum number of interruptions since the last completion.
pub const INTERRUPTIONS_IN_VAIN: u64 = 100_000;

/// The reason why a run was stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Endless {
    /// A time would overflow.
    #[error(
        "job {job} would {what} after tick 2^62, the latest supported time; use smaller times or a \
         smaller arrival scale"
    )]
    Overflow {
        /// The job's number in its log or, if it has none, its position in order of arrival.
        job: u64,
        /// `arrive` or `end`.
        what: &'static str,
    },
    /// The run reached its time limit.
    #[error("the run exceeds the simulated-time limit (--max-time)")]
    TooLate,
    /// The queue grows without limit.
    #[error(
        "{waiting} jobs are waiting (the first is job {job}), and jobs arrive faster than the \
         machine can run them: either the load is too high, or failed nodes are never repaired. To \
         allow more waiting jobs, raise --max-waiting"
    )]
    TooManyWaiting {
        /// The number of waiting jobs.
        waiting: u64,
        /// The job that is first in the queue.
        job: u64,
    },
    /// Jobs are repeatedly interrupted, and none of them completes.
    #[error(
        "no job completed during the last {times} interruptions by node failures (latest: job \
         {job}): nodes fail before jobs can finish"
    )]
    NoneCompletes {
        /// The job that most recently lost a node.
        job: u64,
        /// The number of times that running jobs have lost nodes.
        times: u64,
    },
    /// Far more jobs are interrupted than complete, so the run is not expected to finish.
    #[error(
        "node failures have destroyed all of a running job's work {times} times, while {completed} \
         jobs completed; at this rate the run will not finish. To let more jobs complete, use a \
         longer --mttf, shorter or smaller jobs, or --checkpoint, which saves completed work; \
         --max-interruptions does not help"
    )]
    FewComplete {
        /// The number of interruptions that destroyed all of a job's work, counted since such
        /// interruptions began to outnumber completions.
        times: u64,
        /// The number of completions during that time.
        completed: u64,
    },
    /// A single job is interrupted again and again.
    #[error(
        "job {job} has lost a node {times} times: nodes fail before it finishes; to allow more \
         losses, raise --max-interruptions"
    )]
    Interrupted {
        /// The job's number.
        job: u64,
        /// The number of times the job was interrupted.
        times: u64,
    },
    /// At the end of the run, jobs are still waiting even though they fit on the idle machine.
    #[error(
        "{} never started, although the idle machine has room: the scheduler is faulty or cannot \
         handle such large times", named(jobs, *count)
    )]
    NeverStarted {
        /// The numbers of the first few jobs that never started.
        jobs: [u64; 4],
        /// The total number of jobs that never started.
        count: u64,
    },
    /// The machine is idle, but no waiting job can start.
    #[error(
        "no more jobs complete: {waiting} jobs are waiting (the first is job {job}), and none is \
         running. Either the scheduler starts none on the idle machine, or failures prevent jobs \
         from completing. In the latter case, use --checkpoint to save the completed work of jobs \
         that lose nodes"
    )]
    Stuck {
        /// The number of waiting jobs.
        waiting: u64,
        /// The job that is first in the queue.
        job: u64,
    },
}

/// Formats the first few job numbers and the number of remaining jobs.
fn named(jobs: &[u64; 4], count: u64) -> String {
    let all: Vec<String> = jobs.iter().take(count as usize).map(u64::to_string).collect();
    let rest = count.saturating_sub(jobs.len() as u64);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("job{} {}{more}", if count == 1 { "" } else { "s" }, all.join(", "))
}

/// Counters for events that could otherwise repeat forever.
pub(crate) struct Watch {
    bounds: Bounds,
    endless_arrivals: bool,
    pace: Pace,
    interruptions: FxHashMap<JobId, u64>,
    /// The number of completions as of the last time step. Whenever this number changes, the counts
    /// of idle time steps and interruptions are reset.
    completed: u64,
    in_vain: u64,
    interrupted: u64,
    /// The number of attempts as of the last time step.
    attempts: u64,
    /// True if all idle time steps counted so far came after the last failure or repair.
    only_arrivals: bool,
}

impl Watch {
    pub(crate) fn new(bounds: Bounds, ending: Ending) -> Watch {
        let endless_arrivals = ending != Ending::Drained;
        Watch {
            bounds,
            endless_arrivals,
            pace: Pace::new(ending),
            interruptions: FxHashMap::default(),
            completed: 0,
            in_vain: 0,
            interrupted: 0,
            attempts: 0,
            only_arrivals: false,
        }
    }

    /// Checks that the current time is within bounds. `next` is the next job to arrive.
    pub(crate) fn instant(&self, now: Time, next: Option<&Job>) -> Result<(), Endless> {
        match next {
            _ if now <= self.bounds.until => Ok(()),
            // The job actually arrives later, but its arrival time overflowed.
            Some(job) if job.arrival == now && now > Time::LATEST => {
                Err(Endless::Overflow { job: job.number, what: "arrive" })
            }
            _ => Err(Endless::TooLate),
        }
    }

    /// Returns the end time of a job that starts now.
    pub(crate) fn end(now: Time, job: &Job, length: Time) -> Result<Time, Endless> {
        now.checked_add(length).ok_or(Endless::Overflow { job: job.number, what: "end" })
    }

    /// Counts an interruption. `in_vain` is true if all work since the job's last start was lost.
    pub(crate) fn interrupted(&mut self, job: &Job, in_vain: bool) -> Result<(), Endless> {
        if in_vain {
            self.pace.interrupted();
        }
        let times = self.interruptions.entry(job.id).or_default();
        *times += 1;
        if *times > self.bounds.interruptions {
            return Err(Endless::Interrupted { job: job.number, times: *times - 1 });
        }
        self.interrupted += 1;
        if self.interrupted > INTERRUPTIONS_IN_VAIN {
            return Err(Endless::NoneCompletes { job: job.number, times: self.interrupted - 1 });
        }
        Ok(())
    }

    /// Checks for progress after a time step. `only_arrivals` is true if only arrivals can still
    /// happen. The numbers of completions and attempts are totals for the run.
    pub(crate) fn settled(
        &mut self,
        completed: u64,
        running: u64,
        queue: &Queue,
        only_arrivals: bool,
        attempts: u64,
    ) -> Result<(), Endless> {
        let asked = attempts - self.attempts;
        self.attempts = attempts;
        let new = completed - self.completed;
        let waiting = queue.len() as u64;
        if let Some((times, completed)) = self.pace.hopeless(new, completed, running, waiting) {
            return Err(Endless::FewComplete { times, completed });
        }
        if new > 0 {
            self.completed = completed;
            self.in_vain = 0;
            self.interrupted = 0;
        }
        let Some(first) = queue.get(0) else {
            self.in_vain = 0;
            return Ok(());
        };
        let job = first.number;
        if self.endless_arrivals && waiting > self.bounds.waiting {
            return Err(Endless::TooManyWaiting { waiting, job });
        }
        if running > 0 {
            return Ok(());
        }
        if self.only_arrivals != only_arrivals {
            self.only_arrivals = only_arrivals;
            self.in_vain = 0;
        }
        let several = !only_arrivals && asked > 1;
        self.in_vain += if several { 10 + waiting / 100 } else { 1 };
        let patience = match (only_arrivals, self.endless_arrivals) {
            (true, true) => ARRIVALS_IN_VAIN,
            // A log contains only a finite number of arrivals.
            (true, false) => return Ok(()),
            (false, _) => CHANGES_IN_VAIN,
        };
        if self.in_vain >= patience {
            return Err(Endless::Stuck { waiting, job });
        }
        Ok(())
    }
}
