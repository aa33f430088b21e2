//! Window: among `w` consecutive arrivals, beginning with the oldest waiting job, any job that fits
//! may start.
//!
//! Jobs in the window are tried in order of arrival. A job that starts keeps its place in the
//! window. The window slides only when the oldest job starts. The window then begins at the next
//! waiting job:
//!
//! ```text
//!   w = 4        [a b c d] e f      b starts: [a - c d] e f      e must wait for a, although only
//!                                   a, c and d are still waiting in the window
//! ```
//!
//! A job is thus overtaken by at most w - 1 others, all among the w - 1 arrivals that follow it, so
//! no job starves. `window:1` is FCFS; wider windows resemble ScanAll. A decision takes O(w) time,
//! with one query per distinct request in each state of the machine.
//!
//! Source: Ababneh & Bani-Mohammad, "A new window-based job scheduling scheme for 2D mesh
//! multicomputers", Simulation Modelling Practice and Theory 19(1), 2011. Trying the jobs in the
//! window in order of arrival is our interpretation, and the default width is our choice.

use pavior_allocation::Machine;
use pavior_kernel::{OptionSpec, Time, Values};
use pavior_mesh::JobId;

use crate::shared::refused::Refused;
use crate::{
    BuildScheduler, Entry, MachineView, Queue, Running, Scheduler, SchedulerKind, Standing, Start,
};

pub(crate) static ENTRY: Entry = Entry {
    name: "window",
    title: "Window starting at the oldest job",
    source: "Ababneh & Bani-Mohammad 2011",
    options: &[OptionSpec {
        key: "width",
        values: Values::Integer(1, u32::MAX as u64),
        default: "8",
        meaning: "the number of consecutive arrivals in the window",
        bare: true,
    }],
    variants: &["", "1", "3"],
    does: SchedulerKind {
        build: BuildScheduler::Function(|options| {
            Box::new(Window {
                width: options.integer("width") as usize,
                started: Vec::new(),
                refused: Refused::default(),
            })
        }),
    },
};

struct Window {
    width: usize,
    /// The jobs behind the oldest waiting job that have already started, in order of arrival.
    started: Vec<JobId>,
    refused: Refused,
}

impl Window {
    /// Returns the number of waiting jobs in the window, which is a range of arrival numbers.
    fn waiting(&mut self, queue: &Queue) -> usize {
        let Some(oldest) = queue.get(0) else { return 0 };
        self.started.retain(|&job| job > oldest.id);
        let mut waiting = 0;
        let mut gone = 0;
        while waiting + gone < self.width {
            let Some(job) = queue.get(waiting) else { break };
            match self.started.get(gone) {
                Some(&started) if started < job.id => gone += 1,
                // The job failed and was requeued.
                Some(&started) if started == job.id => drop(self.started.remove(gone)),
                _ => waiting += 1,
            }
        }
        waiting
    }
}

impl Scheduler for Window {
    fn next(
        &mut self,
        _: Time,
        queue: &Queue,
        _: &Running,
        view: &mut MachineView<'_>,
    ) -> Option<Start> {
        let waiting = self.waiting(queue);
        let start = self.refused.first_fit(queue, waiting, view)?;
        let job = queue.get(start.index)?.id;
        let place = self.started.partition_point(|&started| started < job);
        self.started.insert(place, job);
        Some(start)
    }

    fn standing(&self, _: Time, queue: &Queue, _: &Machine) -> Option<Standing> {
        // The list of started jobs contains no requeued jobs, because the last call to `next`
        // removed them.
        let oldest = queue.get(0)?.id;
        let mut open = 0;
        let mut gone = 0;
        while open + gone < self.width {
            let Some(job) = queue.get(open) else { break };
            let is_before = self.started.get(gone).is_some_and(|&started| started < job.id);
            if is_before { gone += 1 } else { open += 1 }
        }
        Some(Standing::among_oldest(queue, open, Some(oldest)))
    }
}
