//! The registries of strategies, schedulers, shape rules and patterns.

use pavior_kernel::Registry;
use pavior_network::PatternRegistry;
use pavior_workload::ShapeRule;

/// The registries that define the names in an experiment. They contain the built-in entries and any
/// entries added by the caller. Clones share the entries.
///
/// A [fingerprint](crate::Specification::fingerprint) identifies an added entry only by its name. A
/// caller that changes the behavior of an entry must either rename the entry or not resume earlier
/// runs.
///
/// ```
/// # mod pavior { pub use pavior_experiments as experiments;
/// #     pub use pavior_scheduling as scheduling; }
/// use pavior::experiments::{Catalogue, Environment, NoStore, Shard, Specification};
/// use pavior::scheduling::{BuildScheduler, Entry, SchedulerKind};
/// let mut catalogue = Catalogue::default();
/// // A closure captures what it needs: here, another scheduler.
/// let inner = catalogue.schedulers.select("ssd")?;
/// let build = BuildScheduler::Closure(std::sync::Arc::new(move |_| inner.build(())));
/// catalogue.schedulers.add(Entry::new("my-own", SchedulerKind { build }))?;
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
