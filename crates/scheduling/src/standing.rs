//! What a scheduler has in mind for the jobs that wait.

use pavior_allocation::Placement;
use pavior_kernel::Time;
use pavior_mesh::JobId;

use crate::Queue;

/// What a scheduler has in mind for the jobs that wait, after it has answered that none starts now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// What keeps each job, in the order of the queue.
    pub kept: Vec<Kept>,
    /// What is kept for waiting jobs: at most one reservation a job.
    pub reserved: Vec<Reserved>,
    /// When running jobs are expected to end, and their nodes, if reservations are numbers of
    /// nodes and the scheduler keeps this.
    pub ends: Vec<(Time, u64)>,
}

/// What keeps a job from starting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The machine alone: the job starts as soon as it can be placed.
    ByMachine,
    /// Another job must start before, whatever is free. `None`: the scheduler does not look at the
    /// job yet.
    ByOrder(Option<JobId>),
    /// Nodes that are reserved for other jobs, if not the machine itself.
    ByReservations,
}

/// Nodes that are kept for a waiting job, or a number of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// The job.
    pub job: JobId,
    /// When it is to start.
    pub from: Time,
    /// When it is expected to end.
    pub to: Time,
    /// The number of nodes.
    pub nodes: u64,
    /// The nodes, if they are chosen.
    pub placement: Option<Placement>,
}

impl Standing {
    /// Every job starts as soon as it can be placed.
    pub(crate) fn free(queue: &Queue) -> Standing {
        Standing::among_oldest(queue, queue.len(), None)
    }

    /// One job starts as soon as it can be placed, and the others after it.
    pub(crate) fn strict(queue: &Queue, first: JobId) -> Standing {
        let kept = |id| if id == first { Kept::ByMachine } else { Kept::ByOrder(Some(first)) };
        Standing { kept: queue.iter().map(|job| kept(job.id)).collect(), ..Standing::default() }
    }

    /// The oldest `open` jobs start as soon as they can be placed; the others are not looked at
    /// before `first` has started.
    pub(crate) fn among_oldest(queue: &Queue, open: usize, first: Option<JobId>) -> Standing {
        let kept = |place| if place < open { Kept::ByMachine } else { Kept::ByOrder(first) };
        Standing { kept: (0..queue.len()).map(kept).collect(), ..Standing::default() }
    }

    /// The head starts as soon as it can be placed. A job that ends before the head's reservation
    /// begins does, too; the others must leave the reservation as it is.
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
