//! Tests that a run measures the requested metrics.

use pavior_simulation::metrics::{ALL, Context, Metric, MetricSpec, Unit};
use pavior_simulation::{Ending, Fact, Interest, Measured, Observer, SimulationBuilder};

use crate::{job, setup};

/// A custom metric that counts started jobs.
#[derive(Default)]
struct Starts(u32);

impl Observer for Starts {
    fn interest(&self) -> Interest {
        Interest::STARTS
    }

    fn see(&mut self, _: pavior_kernel::Time, fact: &Fact<'_>) {
        if matches!(fact, Fact::Started { .. }) {
            self.0 += 1;
        }
    }
}

impl Metric for Starts {
    fn value(&self) -> Option<f64> {
        Some(f64::from(self.0))
    }
}

static STARTS: MetricSpec = MetricSpec {
    name: "starts",
    meaning: "jobs that started",
    unit: Unit::Count,
    standard: false,
    build: |_: &Context| Box::new(Starts::default()),
};

fn two_jobs<'o, 'i>() -> SimulationBuilder<'o, 'i> {
    let jobs = [job(0, 0, [2, 2, 1], 4), job(1, 1, [2, 2, 1], 4)];
    setup("mesh:2x2", "ff", "fcfs", Ending::Drained).simulation(jobs.into_iter())
}

fn names(measured: &Measured) -> Vec<&str> {
    measured.metrics.iter().map(|(spec, _)| spec.name).collect()
}

#[test]
fn metrics_that_are_asked_for_add_up_and_replace_the_standard_ones() {
    let run = two_jobs().measure(&["completed"]).unwrap().with_metrics([&STARTS]);
    let measured = run.measure(&["makespan"]).unwrap().run().unwrap();
    assert_eq!(names(&measured), ["completed", "starts", "makespan"]);
    assert_eq!(measured.value("completed"), Some(2.0));
    assert_eq!(measured.value("starts"), Some(2.0));
}

#[test]
fn who_asks_for_nothing_gets_the_standard_metrics_and_who_asks_for_none_gets_none() {
    let standard = ALL.iter().filter(|spec| spec.standard).map(|spec| spec.name);
    assert_eq!(names(&two_jobs().run().unwrap()), standard.collect::<Vec<_>>());
    assert!(names(&two_jobs().with_metrics([]).run().unwrap()).is_empty());
}
