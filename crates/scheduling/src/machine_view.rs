//! Where a scheduler asks whether a job could start now.

use pavior_allocation::{Fork, Machine, Placement, Refusal};
use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::Job;

use crate::beside_calendar::BesideCalendar;
use crate::calendar::{Calendar, Reach};
use crate::{AdvanceReservation, Dispatcher, Prediction, Queue, RepeatedJob, Running, Scheduler};

/// A question and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Nodes free at the time, to whom the question was put: the machine, or a fork of it in which
    /// reservations are taken.
    pub free: u32,
    /// Why it could not, if it could not.
    pub refusal: Option<Refusal>,
}

/// Who keeps count of attempts, and may time them.
pub trait AttemptObserver {
    /// An attempt begins.
    fn begins(&mut self) {}
    /// It has ended.
    fn ended(&mut self, attempt: Attempt);
}

/// Keeps no count.
impl AttemptObserver for () {
    fn ended(&mut self, _: Attempt) {}
}

/// The only way from a scheduler to the machine that counts: every question asked here is an
/// attempt in the metrics. Forks of the machine, for plans, are free.
///
/// Nodes that are reserved ahead are taken for each job that would reach into the reservation
/// ([`Calendar`]). A scheduler that asks here need not know of them. One that plans on forks of its
/// own asks [`MachineView::calendar`].
pub struct MachineView<'a> {
    machine: &'a mut Machine,
    observer: &'a mut dyn AttemptObserver,
    prediction: Option<&'a mut dyn Prediction>,
    /// None if nothing was ever reserved.
    ahead: Option<Ahead<'a>>,
    /// The number of changes that voided promises.
    voided: u64,
    granted: &'a [JobId],
}

/// What is reserved ahead.
pub(crate) struct Ahead<'a> {
    pub(crate) now: Time,
    pub(crate) calendar: &'a Calendar,
    pub(crate) beside: &'a mut BesideCalendar,
}

impl<'a> MachineView<'a> {
    /// A view of a machine on which nothing is reserved ahead.
    pub fn new(machine: &'a mut Machine, observer: &'a mut dyn AttemptObserver) -> MachineView<'a> {
        let voided = machine.health();
        MachineView { machine, observer, prediction: None, ahead: None, voided, granted: &[] }
    }

    /// The same view after so many changes that voided promises, and these grants.
    pub(crate) fn after(self, voided: u64, granted: &'a [JobId]) -> MachineView<'a> {
        MachineView { voided, granted, ..self }
    }

    /// The same view with a prediction of how long jobs take on given nodes.
    #[must_use]
    pub fn with_prediction(self, prediction: &'a mut dyn Prediction) -> MachineView<'a> {
        MachineView { prediction: Some(prediction), ..self }
    }

    /// The same view beside what is reserved ahead.
    pub(crate) fn beside(self, ahead: Ahead<'a>) -> MachineView<'a> {
        MachineView { ahead: Some(ahead), ..self }
    }

    /// How much longer a job is predicted to take on some nodes than in the box that it asks for.
    /// In that box it takes as long as it is estimated to run. Never less than zero, and zero
    /// without a prediction.
    pub fn added_time(&mut self, job: &Job, placement: &Placement) -> Time {
        let growth = self.prediction.as_mut().map_or(1.0, |known| known.growth(job, placement));
        // Of infinity and numbers out of range a conversion makes the nearest time, of NaN zero.
        Time((job.estimate.ticks() * (growth - 1.0)).round() as u64)
    }

    /// Whether a job could start now.
    ///
    /// # Errors
    /// If not, with the reason.
    pub fn can_start(&mut self, job: &Job) -> Result<(), Refusal> {
        self.place(job).map(drop)
    }

    /// Where the strategy would put a job now.
    ///
    /// # Errors
    /// If nowhere, with the reason.
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

    /// Where a job could start now on nodes that a plan leaves free: `fork` is the machine as it
    /// is, with reservations taken. What is reserved ahead is taken for the question.
    ///
    /// # Errors
    /// If nowhere, with the reason.
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

    /// As [`MachineView::can_start_on`], with the fork asked in another way.
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

    /// Notes a question to a plan that leaves so many nodes free, too few for what was asked.
    pub(crate) fn refuse_by_count(&mut self, free: u32) {
        self.observer.begins();
        self.observer.ended(Attempt { free, refusal: Some(Refusal::TooFewFreeNodes) });
    }

    /// Lets the machine remember grants and releases, for forks that follow it.
    pub(crate) fn remember_changes(&mut self) {
        self.machine.remember_changes();
    }

    /// Copies machine and reservations as they are now, with these jobs and another scheduler. Time
    /// can run on from there ([`Future`](crate::Future)). Of the running jobs those count that hold
    /// nodes of the machine; holders that are not among them are never estimated to end. What is
    /// predicted of run times is not copied. O(N/64 + j log j) for N nodes and j jobs, and the
    /// strategy's index.
    ///
    /// # Errors
    /// If a job waits twice, or waits and holds nodes.
    pub fn what_if(
        &self,
        queue: &Queue,
        running: &Running,
        scheduler: Box<dyn Scheduler>,
    ) -> Result<Dispatcher, RepeatedJob> {
        let calendar = self.calendar().cloned().unwrap_or_default();
        Dispatcher::of(self.machine.clone(), (queue, running), calendar, scheduler)
    }

    /// The machine, to look at and to fork.
    pub fn machine(&self) -> &Machine {
        self.machine
    }

    /// What is reserved ahead; `None` if nothing is.
    #[inline]
    pub fn calendar(&self) -> Option<&Calendar> {
        self.ahead.as_ref().map(|ahead| ahead.calendar).filter(|calendar| !calendar.is_empty())
    }

    /// How far a job reaches that starts now: what is refused to one job is refused to others with
    /// the same request and the same reach.
    #[inline]
    pub fn reach(&self, job: &Job) -> Reach {
        let ahead = self.ahead.as_ref();
        ahead.map_or(Reach::NONE, |ahead| ahead.calendar.reach(ahead.now, job.estimate))
    }

    /// The first reservation into which a job would reach that starts now on some nodes.
    pub fn in_the_way(&self, job: &Job, nodes: &Placement) -> Option<&AdvanceReservation> {
        self.calendar()?.in_the_way(self.now(), job.estimate, nodes)
    }

    /// A number that changes whenever an answer to a job of the same reach could change: each start
    /// and each end of a job adds exactly one. As long as it stays, a job that was refused may be
    /// granted only if its reach has grown, and only by a strategy that can miss free nodes.
    #[inline]
    pub fn state(&self) -> u64 {
        self.machine.state() + self.ahead.as_ref().map_or(0, |ahead| ahead.calendar.state())
    }

    /// A number that changes whenever promises are void: a node failed or was repaired, a job was
    /// moved, or a reservation ahead was made or given up.
    #[inline]
    pub fn health(&self) -> u64 {
        self.voided
    }

    /// The jobs that were given nodes beside the queue since the scheduler was last asked, in
    /// order. Some may have ended since. Promises of nodes that they hold then are void.
    #[inline]
    pub fn granted(&self) -> &'a [JobId] {
        self.granted
    }

    /// The state, and the time where answers depend on it: while something is reserved ahead, the
    /// reach of a job grows with the time.
    #[inline]
    pub(crate) fn moment(&self) -> (u64, Time) {
        (self.state(), self.now())
    }

    /// The time, or zero if nothing is reserved ahead.
    #[inline]
    fn now(&self) -> Time {
        let ahead = self.ahead.as_ref().filter(|ahead| !ahead.calendar.is_empty());
        ahead.map_or(Time::ZERO, |ahead| ahead.now)
    }
}
