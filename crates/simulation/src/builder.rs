//! A builder that configures a run, and the results of the run.

use std::sync::Arc;

use pavior_kernel::BadName;
use pavior_workload::Job;

use crate::metrics::{ALL, Context, Metric, MetricSpec, named};
use crate::{Bounds, Inputs, Observer, Outcome, Place, RunError, Setup, Simulation, Stop, placed};

/// A run that is being configured. [`Setup::simulation`] creates it, and [`SimulationBuilder::run`]
/// executes it.
#[must_use = "nothing runs until `run` is called"]
pub struct SimulationBuilder<'o, 'i> {
    setup: Setup,
    inputs: Inputs<'i>,
    metrics: Option<Vec<&'static MetricSpec>>,
    context: Context,
    observers: Vec<&'o mut dyn Observer>,
    bounds: Bounds,
    stop: Stop,
    places: Option<Arc<[Place]>>,
}

/// The results of a run.
pub struct Measured {
    /// The outcome of the run.
    pub outcome: Outcome,
    /// Each requested metric and its value, in the order requested. The value is `None` if the
    /// metric does not apply.
    pub metrics: Vec<(&'static MetricSpec, Option<f64>)>,
}

impl Measured {
    /// Returns a metric's value, or `None` if the metric does not apply or was not measured.
    pub fn value(&self, metric: &str) -> Option<f64> {
        self.metrics.iter().find(|(spec, _)| spec.name == metric)?.1
    }
}

impl Setup {
    /// Begins configuring a run. `jobs` is [`Inputs`] or an iterator over jobs in arrival order.
    ///
    /// ```
    /// # mod pavior { pub use pavior_simulation as simulation;
    /// #     pub use pavior_workload as workload; }
    /// use pavior::simulation::{Recorder, Setup};
    /// use pavior::workload::{Synthetic, SyntheticJobs};
    /// let grid = "mesh:8x8".parse()?;
    /// let jobs = SyntheticJobs::new(&Synthetic::at_load(1.0), &grid, 1, 0)?.take(100);
    /// let mut recorder = Recorder::default();
    /// let run = Setup::new(grid, "tff", "easy")?.simulation(jobs).observe(&mut recorder);
    /// let measured = run.measure(&["turnaround", "utilization"])?.run()?;
    /// assert!(measured.value("turnaround").is_some());
    /// assert_eq!(recorder.into_records().len(), 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn simulation<'o, 'i>(self, jobs: impl Into<Inputs<'i>>) -> SimulationBuilder<'o, 'i> {
        SimulationBuilder {
            context: Context::of(self.grid),
            setup: self,
            inputs: jobs.into(),
            metrics: None,
            observers: Vec::new(),
            bounds: Bounds::default(),
            stop: Stop::default(),
            places: None,
        }
    }
}

impl<'o> SimulationBuilder<'o, '_> {
    /// Adds metrics to measure. If none are added, the standard metrics are measured.
    ///
    /// # Errors
    /// Returns an error if a metric is unknown. The error may suggest a similar name.
    pub fn measure(self, names: &[&str]) -> Result<Self, BadName> {
        let metrics = names.iter().map(|name| named(name)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.with_metrics(metrics))
    }

    /// Works like [`SimulationBuilder::measure`], but takes metric specs, such as custom ones.
    pub fn with_metrics(mut self, metrics: impl Into<Vec<&'static MetricSpec>>) -> Self {
        self.metrics.get_or_insert_default().extend(metrics.into());
        self
    }

    /// Sets the context that metrics use, for example the time unit. The default is [`Context::of`]
    /// for the machine's grid.
    pub fn with_context(mut self, context: Context) -> Self {
        self.context = context;
        self
    }

    /// Adds an observer. May be called repeatedly.
    pub fn observe(mut self, observer: &'o mut dyn Observer) -> Self {
        self.observers.push(observer);
        self
    }

    /// Sets the bounds at which the run ends with an error. The default is [`Bounds::default`].
    pub fn within(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Ends the run with an error once `stop` has been set.
    pub fn until(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    /// Runs each job at a fixed time on fixed nodes (listed in job order), without the scheduler or
    /// the strategy. Failures, dependencies and reservations are ignored.
    pub fn placed(mut self, places: impl Into<Option<Arc<[Place]>>>) -> Self {
        self.places = places.into();
        self
    }

    /// Executes the run.
    ///
    /// # Errors
    /// Returns an error if the strategy, machine and network are incompatible, if the network
    /// deadlocks, if the strategy or scheduler fails, if the scheduler starts a job that cannot
    /// start, if a bound is reached, or if the run is stopped.
    pub fn run(self) -> Result<Measured, RunError> {
        let SimulationBuilder { setup, inputs, metrics, context, observers, bounds, stop, places } =
            self;
        let standard = || ALL.iter().copied().filter(|spec| spec.standard).collect();
        let metrics: Vec<_> = metrics.unwrap_or_else(standard);
        let mut own: Vec<Box<dyn Metric>> =
            metrics.iter().map(|spec| spec.observer(&context)).collect();
        let own_observers = own.iter_mut().map(|metric| &mut **metric as &mut dyn Observer);
        let mut all: Vec<&mut dyn Observer> = own_observers.collect();
        all.extend(observers.into_iter().map(|observer| observer as &mut dyn Observer));
        let outcome = match places {
            Some(places) => {
                let place = |job: &Job| places.get(job.index as usize).cloned().flatten();
                let jobs = inputs.jobs.map(|job| {
                    let place = place(&job);
                    (job, place)
                });
                placed::replay(&setup, &jobs.collect::<Vec<_>>(), &mut all)
            }
            None => Simulation::new(&setup, inputs, &mut all)?.within(bounds).run(&stop)?,
        };
        let values = own.iter().map(|metric| metric.value());
        Ok(Measured { outcome, metrics: metrics.into_iter().zip(values).collect() })
    }
}
