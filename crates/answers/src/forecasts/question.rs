//! A question about start times that can be answered on any thread.

use pavior_allocation::{Machine, Selection as Strategy};
use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_scheduling::{Dispatcher, Selection as Scheduler};
use pavior_workload::Job;

use super::replay::taught;
use super::{Effort, ForecastError, Forecaster, Kind, QueueForecast};

/// A question about when queued jobs will start. It owns all the data needed to answer it.
pub struct StartQuestion {
    /// The dispatcher's scheduler.
    pub scheduler: Scheduler,
    /// The machine's strategy.
    pub strategy: Strategy,
    /// The machine's state, with times in ticks of
    /// [`TimeUnit::SECOND`](pavior_workload::TimeUnit::SECOND).
    pub dispatcher: Dispatcher,
    /// The current time, at which the machine is in the given state.
    pub now: Time,
    /// The past jobs, in order of arrival, or `None` if no past jobs are known.
    pub past: Option<Vec<(Job, Kind)>>,
    /// The known properties of each running or waiting job.
    pub kinds: Vec<(JobId, Kind)>,
    /// The run time assumed for jobs without an estimate if no past jobs are known.
    pub endless: Time,
    /// The waiting jobs that the question is about.
    pub jobs: Vec<JobId>,
}

impl StartQuestion {
    /// Answers the question. Any jobs that the scheduler would start now are started first. Cost: a
    /// replay of the past, forecasts for those of the last 200 past jobs that had to wait, and nine
    /// runs of the queue.
    ///
    /// # Errors
    /// Returns an error if the scheduler or the strategy fails.
    pub fn answer(self) -> Result<QueueForecast, ForecastError> {
        let StartQuestion { scheduler, strategy, mut dispatcher, now, past, .. } = self;
        let endless = past.is_none().then_some(self.endless);
        let mut forecaster = match past {
            Some(past) => {
                let machine = Machine::with_seed(*dispatcher.machine().grid(), &strategy, 1);
                let machine = machine.map_err(|error| ForecastError::Machine(error.to_string()))?;
                taught(&scheduler, machine, past)?
            }
            None => Forecaster::new(scheduler, Effort::default()),
        };
        for (job, kind) in self.kinds {
            forecaster.found(job, Kind { estimate: kind.estimate.or(endless), ..kind });
        }
        forecaster.forecast_queue(&mut dispatcher, now, &self.jobs)
    }
}

impl std::fmt::Debug for StartQuestion {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("StartQuestion").field("jobs", &self.jobs).finish_non_exhaustive()
    }
}
