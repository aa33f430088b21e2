//! The interface through which a scheduler checks whether a job could start now.

use pavior_allocation::{Fork, Machine, Placement, Refusal};
use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::Job;

use crate::beside_calendar::BesideCalendar;
use crate::calendar::{Calendar, Reach};
use crate::{AdvanceReservation, Dispatcher, Prediction, Queue, RepeatedJob, Running, Scheduler};

/// The result of a query to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The number of free nodes on the queried machine, which may be a fork in which reserved nodes
    /// count as taken.
    pub free: u32,
    /// The reason for the refusal, if the request was refused.
    pub refusal: Option<Refusal>,
}

/// An observer that counts attempts and, optionally, times them.
pub trait AttemptObserver {
    /// Records the start of an attempt.
    fn begins(&mut self) {}
    /// Records the end of an attempt.
    fn ended(&mut self, attempt: Attempt);
}

/// A no-op observer.
impl AttemptObserver for () {
    fn ended(&mut self, _: Attempt) {}
}

/// A scheduler's view of the machine. Each query through the view counts as an attempt in the
/// metrics. Queries to forks of the machine, which are used for planning, do not count.
///
/// For a job that would overlap an advance reservation, the reserved nodes count as taken
/// ([`Calendar`]). A scheduler that queries only this view can therefore ignore reservations. A
/// scheduler that plans on its own forks must use [`MachineView::calendar`].
pub struct MachineView<'a> {
    machine: &'a mut Machine,
    observer: &'a mut dyn AttemptObserver,
    prediction: Option<&'a mut dyn Prediction>,
    /// The advance reservations, or `None` if none have ever been made.
    ahead: Option<Ahead<'a>>,
    /// The number of changes that voided promises.
    voided: u64,
    granted: &'a [JobId],
}

/// The advance reservations, and cached answers that account for them.
pub(crate) struct Ahead<'a> {
    pub(crate) now: Time,
    pub(crate) calendar: &'a Calendar,
    pub(crate) beside: &'a mut BesideCalendar,
}

impl<'a> MachineView<'a> {
    /// Creates a view of a machine without advance reservations.
    pub fn new(machine: &'a mut Machine, observer: &'a mut dyn AttemptObserver) -> MachineView<'a> {
        let voided = machine.health();
        MachineView { machine, observer, prediction: None, ahead: None, voided, granted: &[] }
    }

    /// Sets the recent grants, and the number of changes that voided promises.
    pub(crate) fn after(self, voided: u64, granted: &'a [JobId]) -> MachineView<'a> {
        MachineView { voided, granted, ..self }
    }

    /// Adds a prediction of run times.
    #[must_use]
    pub fn with_prediction(self, prediction: &'a mut dyn Prediction) -> MachineView<'a> {
        MachineView { prediction: Some(prediction), ..self }
    }

    /// Adds the advance reservations.
    pub(crate) fn beside(self, ahead: Ahead<'a>) -> MachineView<'a> {
        MachineView { ahead: Some(ahead), ..self }
    }

    /// Returns the amount by which a job's predicted run time on these nodes exceeds its estimate,
    /// which is for the requested box. Returns zero if there is no prediction.
    pub fn added_time(&mut self, job: &Job, placement: &Placement) -> Time {
        let growth = self.prediction.as_mut().map_or(1.0, |known| known.growth(job, placement));
        // The conversion saturates out-of-range numbers and turns NaN into zero.
        Time((job.estimate.ticks() * (growth - 1.0)).round() as u64)
    }

    /// Checks that a job could start now.
    ///
    /// # Errors
    /// Returns the refusal if the job could not start now.
    pub fn can_start(&mut self, job: &Job) -> Result<(), Refusal> {
        self.place(job).map(drop)
    }

    /// Returns the strategy's current placement for a job.
    ///
    /// # Errors
    /// Returns the refusal if there is no placement.
    pub fn place(&mut self, job: &Job) -> Result<Placement, Refusal> {
        self.observer.begins();
        let reach = self.reach(job);
        let (answer, free) = match self.ahead.as_mut().filter(|_| reach != Reach::NONE) {
            None => {
                let answer = self.machine.probe(&job.request);
                (answer, self.machine.free().count())
            }
            Some(Ahead { now, calendar, beside }) => {
                beside.place(self.machine, calendar, (*now, reach), job)
            }
        };
        self.observer.ended(Attempt { free, refusal: answer.as_ref().err().copied() });
        answer
    }

    /// Returns the placement that a job gets if it starts now on nodes that a plan leaves free.
    /// `fork` must be a fork of the current machine in which the nodes reserved by the plan are
    /// taken. Nodes with an advance reservation also count as taken.
    ///
    /// # Errors
    /// Returns the refusal if there is no placement.
    pub fn can_start_on(&mut self, fork: &mut Fork, job: &Job) -> Result<Placement, Refusal> {
        let open = self.calendar().filter(|_| self.reach(job) != Reach::NONE).map(|calendar| {
            let mut open = fork.free().clone();
            calendar.keep_open(self.now(), job.estimate, &mut open);
            open
        });
        self.can_start_by(fork, |fork| match open {
            None => fork.find(&job.request),
            Some(open) => fork.find_within(&open, &job.request),
        })
    }

    /// Works like [`MachineView::can_start_on`], but uses `ask` to query the fork.
    pub(crate) fn can_start_by(
        &mut self,
        fork: &mut Fork,
        ask: impl FnOnce(&mut Fork) -> Result<Placement, Refusal>,
    ) -> Result<Placement, Refusal> {
        self.observer.begins();
        let answer = ask(fork);
        let attempt =
            Attempt { free: fork.free().count(), refusal: answer.as_ref().err().copied() };
        self.observer.ended(attempt);
        answer
    }

    /// Records an attempt that failed because a plan leaves too few nodes free.
    pub(crate) fn refuse_by_count(&mut self, free: u32) {
        self.observer.begins();
        self.observer.ended(Attempt { free, refusal: Some(Refusal::TooFewFreeNodes) });
    }

    /// Makes the machine record grants and releases, so that forks can be updated.
    pub(crate) fn remember_changes(&mut self) {
        self.machine.remember_changes();
    }

    /// Copies the current machine and its reservations, so that time can advance in the copy
    /// ([`Future`](crate::Future)). The copy gets the given jobs and scheduler. Running jobs
    /// without nodes are ignored, and jobs that hold nodes but are not in `running` have no
    /// expected end. The prediction is not copied. Takes O(N/64 + j log j) time for N nodes and j
    /// jobs, plus the cost of copying the strategy's index.
    ///
    /// # Errors
    /// Returns an error if a job occurs twice in the queue, or if a waiting job already holds
    /// nodes.
    pub fn what_if(
        &self,
        queue: &Queue,
        running: &Running,
        scheduler: Box<dyn Scheduler>,
    ) -> Result<Dispatcher, RepeatedJob> {
        let calendar = self.calendar().cloned().unwrap_or_default();
        Dispatcher::of(self.machine.clone(), (queue, running), calendar, scheduler)
    }

    /// Returns the machine, from which the caller can create forks.
    pub fn machine(&self) -> &Machine {
        self.machine
    }

    /// Returns the advance reservations, or `None` if there are none.
    #[inline]
    pub fn calendar(&self) -> Option<&Calendar> {
        self.ahead.as_ref().map(|ahead| ahead.calendar).filter(|calendar| !calendar.is_empty())
    }

    /// Returns the reach of a job that starts now. The machine treats jobs with equal requests and
    /// reaches alike.
    #[inline]
    pub fn reach(&self, job: &Job) -> Reach {
        let ahead = self.ahead.as_ref();
        ahead.map_or(Reach::NONE, |ahead| ahead.calendar.reach(ahead.now, job.estimate))
    }

    /// Returns the first reservation that conflicts with starting a job on these nodes now.
    pub fn in_the_way(&self, job: &Job, nodes: &Placement) -> Option<&AdvanceReservation> {
        self.calendar()?.in_the_way(self.now(), job.estimate, nodes)
    }

    /// Returns a number that changes whenever the answer for a job with an unchanged reach could
    /// differ. Each start or end of a job increases the number by exactly one. While the number
    /// stays the same, a refused job can be granted only if its reach has increased, and only by a
    /// strategy that can miss free nodes.
    #[inline]
    pub fn state(&self) -> u64 {
        self.machine.state() + self.ahead.as_ref().map_or(0, |ahead| ahead.calendar.state())
    }

    /// Returns a number that changes whenever promises are voided, that is, when a node fails or is
    /// repaired, a job is moved, or an advance reservation is added or removed.
    #[inline]
    pub fn health(&self) -> u64 {
        self.voided
    }

    /// Returns the jobs that have been granted nodes outside the queue since the scheduler was last
    /// called, in grant order. Some may already have ended. A promise is void if it needs nodes
    /// that one of these jobs will still hold.
    #[inline]
    pub fn granted(&self) -> &'a [JobId] {
        self.granted
    }

    /// Returns the machine's state, and the current time if answers depend on the time. They do so
    /// only if there are advance reservations, because reaches then increase over time.
    #[inline]
    pub(crate) fn moment(&self) -> (u64, Time) {
        (self.state(), self.now())
    }

    /// Returns the current time, or zero if there are no advance reservations.
    #[inline]
    fn now(&self) -> Time {
        let ahead = self.ahead.as_ref().filter(|ahead| !ahead.calendar.is_empty());
        ahead.map_or(Time::ZERO, |ahead| ahead.now)
    }
}
