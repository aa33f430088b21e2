//! Plans that schedulers make for waiting jobs.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::JobId;

use crate::Queue;

/// A scheduler's plan for the waiting jobs, made once it has decided that none of them starts now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// For each job, in queue order, the reason why it is waiting.
    pub kept: Vec<Kept>,
    /// The reservations for waiting jobs, at most one per job.
    pub reserved: Vec<Reserved>,
    /// The expected end and node count of each running job, if reservations are node counts and the
    /// scheduler stores expected ends.
    pub ends: Vec<(Time, u64)>,
}

/// The reason why a job does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Only the machine keeps the job waiting. The job starts as soon as it can be placed.
    ByMachine,
    /// Another job must start first, even if enough nodes are free. Contains that job's id, or
    /// `None` if the scheduler has not examined the waiting job.
    ByOrder(Option<JobId>),
    /// The job is kept waiting by nodes reserved for other jobs, or by the machine itself.
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

    /// Creates a plan in which `first` starts as soon as it can be placed, and the other jobs start
    /// only after it.
    pub(crate) fn strict(queue: &Queue, first: JobId) -> Standing {
        let kept = |id| if id == first { Kept::ByMachine } else { Kept::ByOrder(Some(first)) };
        Standing { kept: queue.iter().map(|job| kept(job.id)).collect(), ..Standing::default() }
    }

    /// Creates a plan in which each of the oldest `open` jobs starts as soon as it can be placed.
    /// The other jobs are not examined until `first` has started.
    pub(crate) fn among_oldest(queue: &Queue, open: usize, first: Option<JobId>) -> Standing {
        let kept = |place| if place < open { Kept::ByMachine } else { Kept::ByOrder(first) };
        Standing { kept: (0..queue.len()).map(kept).collect(), ..Standing::default() }
    }

    /// Creates a plan in which the head, and every job that ends before the head's reservation
    /// begins, starts as soon as it can be placed. The other jobs may not use the reserved nodes.
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
