//! Failure classes: kinds of components that fail, with their mean times to failure and repair.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use pavior_kernel::{BadName, OptionSpec, Options, Values, unknown_name};

use super::ComponentKind;

/// The valid range for a mean, chosen so that times in ticks fit easily in 64 bits.
pub(super) const MEANS: RangeInclusive<f64> = 1e-3..=1e12;

const fn mean(key: &'static str, meaning: &'static str) -> OptionSpec {
    let values = Values::Number(*MEANS.start(), *MEANS.end());
    OptionSpec { key, values, default: "", meaning, bare: false }
}

const OPTIONS: &[OptionSpec] = &[
    mean("mttf", "the mean time to failure of each component (exponential)"),
    mean("mttr", "the mean time to repair a component (exponential)"),
];

/// Components whose failures and repairs follow the same distributions. Times to failure and repair
/// are exponential, and components are independent of each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailureClass {
    /// The kind of component.
    pub kind: ComponentKind,
    /// The mean time to failure, in units.
    pub mttf: f64,
    /// The mean time to repair, in units.
    pub mttr: f64,
}

/// A list of failure classes, with at most one per kind of component.
///
/// The textual form is `node:mttf=1000:mttr=10,cube:mttf=5000:mttr=24`, in which each class is
/// written as `node` (or `chip`), `cube` or `switch`, followed by its two means.
///
/// ```
/// # mod pavior { pub use pavior_workload as workload; pub use pavior_kernel::*; }
/// use pavior::workload::FailureClasses;
/// let classes: FailureClasses = "chip:mttf=1000:mttr=10,switch:mttr=4:mttf=1e5".parse()?;
/// assert_eq!(classes.to_string(), "node:mttf=1000:mttr=10,switch:mttf=100000:mttr=4");
/// assert_eq!("cube:mttf=1,rack".parse::<FailureClasses>().unwrap_err().span, 0..11);
/// # Ok::<(), pavior::BadName>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FailureClasses(Vec<FailureClass>);

impl FailureClasses {
    /// Creates a list with a single class for nodes.
    pub fn nodes(mttf: f64, mttr: f64) -> FailureClasses {
        FailureClasses(vec![FailureClass { kind: ComponentKind::Node, mttf, mttr }])
    }

    /// Returns the classes, in the order given.
    pub fn iter(&self) -> impl Iterator<Item = &FailureClass> {
        self.0.iter()
    }
}

impl FromStr for FailureClasses {
    type Err = BadName;

    fn from_str(text: &str) -> Result<FailureClasses, BadName> {
        let mut classes: Vec<FailureClass> = Vec::new();
        let mut at = 0;
        for part in text.split(',') {
            let moved =
                |bad: BadName| BadName { span: at + bad.span.start..at + bad.span.end, ..bad };
            let class = class(part).map_err(moved)?;
            if classes.iter().any(|other| other.kind == class.kind) {
                let reason = format!("more than one class is given for {}", class.kind.word());
                return Err(moved(BadName { reason, span: 0..part.len() }));
            }
            classes.push(class);
            at += part.len() + 1;
        }
        Ok(FailureClasses(classes))
    }
}

fn class(text: &str) -> Result<FailureClass, BadName> {
    let word = text.split(':').next().unwrap_or_default();
    let kind = match word {
        "chip" => Some(ComponentKind::Node),
        word => ComponentKind::ALL.into_iter().find(|kind| kind.word() == word),
    };
    let kind = kind.ok_or_else(|| {
        let known = ["chip", "node", "cube", "switch"];
        BadName { span: 0..word.len(), ..unknown_name("failure class", word, &known) }
    })?;
    let options = Options::parse(word, text, OPTIONS)?;
    if let Some(spec) = OPTIONS.iter().find(|spec| options.get(spec.key).is_empty()) {
        let reason = format!("`{text}` has no {}; example: {word}:mttf=1000:mttr=10", spec.key);
        return Err(BadName { reason, span: 0..text.len() });
    }
    Ok(FailureClass { kind, mttf: options.number("mttf"), mttr: options.number("mttr") })
}

impl fmt::Display for FailureClasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, FailureClass { kind, mttf, mttr }) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{}:mttf={mttf}:mttr={mttr}", kind.word())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_read_and_written() {
        let text = "node:mttf=1000:mttr=10,cube:mttf=5000:mttr=24,switch:mttf=50000:mttr=2.5";
        let classes: FailureClasses = text.parse().unwrap();
        assert_eq!(classes.to_string(), text);
        assert_eq!("chip:1000:10".parse::<FailureClasses>(), Ok(FailureClasses::nodes(1e3, 10.0)));
        for (text, span, reason) in [
            ("", 0..0, "unknown failure class"),
            ("cubes:mttf=1:mttr=1", 0..5, "did you mean `cube`"),
            ("node:mttf=1", 0..11, "has no mttr"),
            ("cube", 0..4, "has no mttf"),
            ("cube:mttf=0:mttr=1", 10..11, "not a valid value for `mttf`"),
            ("cube:mttf=1:mttr=nan", 17..20, "not a valid value for `mttr`"),
            ("cube:1:2,chip:mttf=1:often=2", 21..26, "no option `often`"),
            ("cube:1:2,cube:3:4", 9..17, "more than one class is given for cube"),
            ("chip:1:2,node:3:4", 9..17, "more than one class is given for node"),
        ] {
            let bad = text.parse::<FailureClasses>().unwrap_err();
            assert_eq!(bad.span, span, "{text}: {bad}");
            assert!(bad.reason.contains(reason), "{text}: {bad}");
        }
    }
}
