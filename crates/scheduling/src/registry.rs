//! The list of schedulers, and how a name becomes one.

use std::fmt;
use std::str::FromStr;

use pavior_kernel::{BadName, Options, bare_name, unknown_name};

use crate::schedulers::ALL;
use crate::{Scheduler, Spec};

/// Every scheduler.
pub fn all() -> &'static [&'static Spec] {
    ALL
}

/// A scheduler with its options: what `window:8` means.
///
/// ```
/// use pavior_scheduling::Selection;
/// let selection: Selection = "ssd".parse()?;
/// assert_eq!(selection.spec.title, "Shortest service demand first");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Selection {
    /// The scheduler.
    pub spec: &'static Spec,
    /// Its options.
    pub options: Options,
}

impl Selection {
    /// Makes the scheduler.
    pub fn build(&self) -> Box<dyn Scheduler> {
        (self.spec.build)(&self.options)
    }

    /// The selections that tests and benches run.
    pub fn variants(spec: &'static Spec) -> impl Iterator<Item = Selection> {
        spec.variants.iter().map(|options| {
            let name = match *options {
                "" => spec.name.to_string(),
                options => format!("{}:{options}", spec.name),
            };
            name.parse().expect("variants are written right")
        })
    }
}

impl FromStr for Selection {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Selection, BadName> {
        let name = bare_name(text);
        let Some(spec) = ALL.iter().find(|spec| spec.name == name) else {
            let known: Vec<&str> = ALL.iter().map(|spec| spec.name).collect();
            return Err(unknown_name("scheduler", name, &known));
        };
        Ok(Selection { spec, options: Options::parse(name, text, spec.options)? })
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.options.name(self.spec.name))
    }
}
