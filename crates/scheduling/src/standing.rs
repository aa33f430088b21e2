//! Plans that schedulers make for waiting jobs.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::JobId;

use crate::Queue;

/// A scheduler's plan for waiting jobs, after it has decided that no job starts now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The reason for each job's wait, in queue order.
    pub kept: Vec<Kept>,
    /// The reservations for waiting jobs, at most one per job.
    pub reserved: Vec<Reserved>,
    /// The expected end and node count of each running job, if reservations are node counts and the
    /// scheduler stores the ends.
    pub ends: Vec<(Time, u64)>,
}

/// The reason why a job does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Only the machine keeps the job waiting: it starts as soon as it can be placed.
    ByMachine,
    /// Another job must start first, even if nodes are free. Contains that job's id, or `None` if
    /// the scheduler has not examined the waiting job.
    ByOrder(Option<JobId>),
    /// Nodes reserved for other jobs, or the machine itself, keep the job waiting.
    ByReservations,
}

/// A reservation of specific nodes, or of a number of nodes, for a waiting job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// The job that holds the reservation.
    pub job: JobId,
    /// The planned start time.
    pub from: Time,
    /// The job's expected end.
    pub to: Time,
    /// The number of nodes.
    pub nodes: u64,
    /// The nodes, if already chosen.
    pub placement: Option<Placement>,
}

impl Standing {
    /// Creates a plan in which every job starts as soon as it can be placed.
    pub(crate) fn free(queue: &Queue) -> Standing {
        Standing::among_oldest(queue, queue.len(), None)
    }

    /// Creates a plan in which `first` starts as soon as it can be placed, and the others start
    /// after it.
    pub(crate) fn strict(queue: &Queue, first: JobId) -> Standing {
        let kept = |id| if id == first { Kept::ByMachine } else { Kept::ByOrder(Some(first)) };
        Standing { kept: queue.iter().map(|job| kept(job.id)).collect(), ..Standing::default() }
    }

    /// Creates a plan in which the oldest `open` jobs start as soon as they can be placed. The
    /// others are not examined until `first` has started.
    pub(crate) fn among_oldest(queue: &Queue, open: usize, first: Option<JobId>) -> Standing {
        let kept = |place| if place < open { Kept::ByMachine } else { Kept::ByOrder(first) };
        Standing { kept: (0..queue.len()).map(kept).collect(), ..Standing::default() }
    }

    /// Creates a plan in which the head and all jobs that end before its reservation begins start
    /// as soon as they can be placed. The other jobs may not use the reserved nodes.
    pub(crate) fn behind_head(
        now: Time,
        queue: &Queue,
        reserved: Option<Reserved>,
        leaves_enough: impl Fn(&pavior_workload::Job) -> bool,
    ) -> Standing {
        let from = reserved.as_ref().map_or(Time::MAX, |reserved| reserved.from);
        let kept = |(place, job): (usize, &pavior_workload::Job)| {
            let is_free =
                place == 0 || now.saturating_add(job.estimate) <= from || leaves_enough(job);
            if is_free { Kept::ByMachine } else { Kept::ByReservations }
        };
        Standing {
            kept: queue.iter().enumerate().map(kept).collect(),
            reserved: reserved.into_iter().collect(),
            ends: Vec::new(),
        }
    }
}
