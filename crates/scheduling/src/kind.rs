//! Registry entries for schedulers, and functions that build the selected scheduler.

use std::fmt;
use std::sync::Arc;

use pavior_kernel::{BadName, Buildable, CallerError, Family, Options};

use crate::Scheduler;
use crate::schedulers::ALL;

/// A scheduler's registry entry: its name, options and behavior.
pub type Entry = pavior_kernel::Entry<SchedulerKind>;

/// A registry of built-in and added schedulers.
pub type Registry = pavior_kernel::Registry<SchedulerKind>;

/// A scheduler with its options, such as `window:8`.
///
/// ```
/// # mod pavior { pub use pavior_scheduling as scheduling; }
/// use pavior::scheduling::Selection;
/// let selection: Selection = "ssd".parse()?;
/// assert_eq!(selection.entry.title, "Shortest service demand first");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Selection = pavior_kernel::Selection<SchedulerKind>;

/// Returns a scheduler's name with the options that services and daemons use by default. Promises
/// to waiting jobs hold even if users underestimate run times (`promise=holds`). Only the oldest
/// `depth` waiting jobs are planned, or all of them if `depth` is `None`. Options already in the
/// name take precedence. A name is unchanged if its scheduler supports neither option.
///
/// ```
/// # mod pavior { pub use pavior_scheduling as scheduling; }
/// let served = |name| pavior::scheduling::served(name, Some(100)).unwrap();
/// assert_eq!(served("conservative"), "conservative:depth=100:promise=holds");
/// assert_eq!(served("conservative:depth=9:promise=moves"), "conservative:depth=9");
/// assert_eq!(served("easy"), "easy:promise=holds");
/// assert_eq!(served("fcfs"), "fcfs");
/// ```
///
/// # Errors
/// Returns an error if the scheduler or one of its options is unknown.
pub fn served(name: &str, depth: Option<u64>) -> Result<String, BadName> {
    let selection: Selection = name.parse()?;
    let depth = depth.map_or("all".to_string(), |depth| depth.to_string());
    let mut text = name.to_string();
    for (key, value) in [("depth", depth.as_str()), ("promise", "holds")] {
        let option = selection.entry.options.iter().find(|option| option.key == key);
        let says = |part: &str| {
            let value = part.split_once('=').map_or(Some(part), |_| None);
            part.starts_with(&format!("{key}="))
                || value.is_some_and(|value| option.is_some_and(|one| one.values.accept(value)))
        };
        if option.is_some() && !name.split(':').skip(1).any(says) {
            text += &format!(":{key}={value}");
        }
    }
    Ok(text.parse::<Selection>()?.to_string())
}

/// The part of a registry entry that is specific to schedulers.
#[derive(Clone, Debug)]
pub struct SchedulerKind {
    /// The constructor.
    pub build: BuildScheduler,
}

/// Creates an entry for a scheduler without options. `make` is called once for each run.
///
/// ```
/// # mod pavior { pub use pavior_scheduling as scheduling; pub use pavior_kernel::*; }
/// use pavior::scheduling::{MachineView, Queue, Registry, Running, Scheduler, Start, entry};
/// use pavior::Time;
///
/// struct Oldest;
///
/// impl Scheduler for Oldest {
///     fn next(
///         &mut self, _: Time, queue: &Queue, _: &Running, view: &mut MachineView<'_>,
///     ) -> Option<Start> {
///         view.can_start(queue.get(0)?).ok().map(|()| Start::at(0))
///     }
/// }
///
/// let mut registry = Registry::new();
/// registry.add(entry("oldest", || Oldest))?;
/// assert_eq!(registry.select("oldest")?.to_string(), "oldest");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn entry<S: Scheduler + 'static>(
    name: &'static str,
    make: impl Fn() -> S + Send + Sync + 'static,
) -> Entry {
    let build = BuildScheduler::Closure(Arc::new(move |_| Ok(Box::new(make()))));
    Entry::new(name, SchedulerKind { build })
}

/// A scheduler constructor.
#[derive(Clone)]
pub enum BuildScheduler {
    /// A function.
    Function(fn(&Options) -> Box<dyn Scheduler>),
    /// A closure with captured state.
    Closure(Arc<SchedulerClosure>),
}

/// A closure that creates a scheduler or returns an error.
pub type SchedulerClosure =
    dyn Fn(&Options) -> Result<Box<dyn Scheduler>, CallerError> + Send + Sync;

impl fmt::Debug for BuildScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BuildScheduler::Function(_) => "Function",
            BuildScheduler::Closure(_) => "Closure",
        })
    }
}

impl Family for SchedulerKind {
    const NOUN: &'static str = "scheduler";

    fn builtin() -> &'static [&'static Entry] {
        ALL
    }
}

impl Buildable for SchedulerKind {
    type Place = ();
    type For<'a> = ();
    type Built = Box<dyn Scheduler>;
    type Fault = CallerError;

    fn build(selection: &Selection, (): ()) -> Result<Box<dyn Scheduler>, CallerError> {
        match &selection.entry.does.build {
            BuildScheduler::Function(build) => Ok(build(&selection.options)),
            BuildScheduler::Closure(build) => build(&selection.options),
        }
    }
}
