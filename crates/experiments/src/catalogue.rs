//! The registries from which an experiment's names are read.

use pavior_kernel::Registry;
use pavior_network::PatternRegistry;
use pavior_workload::ShapeRule;

use crate::Point;

/// The registries from which the names in an experiment are read: the built-in entries and those that
/// the caller adds. Clones share the entries.
///
/// Results depend on an added entry by its name alone as far as [fingerprints](crate::Specification::fingerprint)
/// know: a caller that changes what an entry does gives it another name, or does not resume.
///
/// ```
/// use pavior_experiments::{Catalogue, Environment, NoStore, Shard, Specification};
/// use pavior_scheduling::{BuildScheduler, Entry, SchedulerKind, SelectedScheduler};
/// let mut catalogue = Catalogue::default();
/// // A closure captures what it needs: here, another scheduler.
/// let inner = catalogue.schedulers.select("ssd")?;
/// catalogue.schedulers.add(Entry {
///     name: "my-own", title: "My own", source: "", options: &[], variants: &[""],
///     does: SchedulerKind {
///         build: BuildScheduler::Closure(std::sync::Arc::new(move |_| inner.build())),
///     },
/// })?;
/// let text = "scheduler = ['ssd', 'my-own']\nstrategy = 'ff'\njobs = 50\nreplications = 1";
/// assert!(Specification::parse(text, "example").is_err());
/// let experiment = Specification::parse_with(text, "example", &catalogue)?;
/// let samples =
///     experiment.run(Vec::new(), Shard::WHOLE, Environment::PLAIN, &mut NoStore)?;
/// assert_eq!(samples[0][0].values, samples[1][0].values);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// Allocation strategies.
    pub strategies: pavior_allocation::Registry,
    /// Schedulers.
    pub schedulers: pavior_scheduling::Registry,
    /// Shape rules.
    pub shape_rules: Registry<ShapeRule>,
    /// Communication patterns.
    pub patterns: PatternRegistry,
}

impl Catalogue {
    /// The strategy of a point that was read with this catalogue.
    pub(crate) fn strategy(&self, point: &Point) -> pavior_allocation::Selection {
        let name = point.get("strategy").expect("every point has a strategy");
        self.strategies.select(name).expect("points hold values that were read before")
    }

    /// The scheduler of a run that was read with this catalogue.
    pub(crate) fn scheduler(&self, point: &Point) -> pavior_scheduling::Selection {
        let name = point.get("scheduler").expect("every run has a scheduler");
        self.schedulers.select(name).expect("points hold values that were read before")
    }

    /// The shape rule of a point that replays a log.
    pub(crate) fn shape_rule(
        &self,
        point: &Point,
    ) -> Option<pavior_workload::Selection<ShapeRule>> {
        let name = point.get("shape-rule")?;
        Some(self.shape_rules.select(name).expect("points hold values that were read before"))
    }

    /// Whether the workload of a point draws numbers, so that the replications of a strategy that
    /// draws none differ.
    pub fn draws(&self, point: &Point) -> bool {
        point.get("trace").is_none()
            || self.shape_rule(point).is_some_and(|rule| rule.entry.does.draws)
            || point.get("mttf").is_some()
    }
}
