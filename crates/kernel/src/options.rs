//! Names with options, such as `paging:1:snake`, `tff:scan=yzx` or `compact:slack=0.1`.
//!
//! Each option follows a colon and is written as `key=value` or as a bare value. The parser in this
//! module reads names for every registry (strategies, schedulers, patterns, shape rules, ...), so
//! the notation is the same everywhere.
//!
//! A bare value sets the first option, in declaration order, that is still unset and accepts the
//! value. If a bare number is out of range for the first unset numeric option, it is an error, even
//! if a later option would accept the number.

use std::fmt;
use std::ops::Range;

/// An option of a registry entry.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// The key, in kebab case.
    pub key: &'static str,
    /// The values that the option accepts.
    pub values: Values,
    /// The default value.
    pub default: &'static str,
    /// The meaning of the option, as a phrase for help text.
    pub meaning: &'static str,
    /// True if the canonical name includes only the option's value (`paging:1`). False if it also
    /// includes the key (`tff:scan=yzx`).
    pub bare: bool,
}

/// The values that an option accepts.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// An integer in this inclusive range.
    Integer(u64, u64),
    /// A decimal number in this inclusive range.
    Number(f64, f64),
    /// Text that a function accepts. The first field describes the expected form for error
    /// messages.
    Text(&'static str, fn(&str) -> bool),
}

impl Values {
    /// Returns true if `value` is valid.
    pub fn accept(&self, value: &str) -> bool {
        match self {
            Values::OneOf(words) => words.contains(&value),
            Values::Integer(low, high) => {
                value.parse::<u64>().is_ok_and(|n| (*low..=*high).contains(&n))
            }
            Values::Number(low, high) => {
                value.parse::<f64>().is_ok_and(|n| n.is_finite() && (*low..=*high).contains(&n))
            }
            Values::Text(_, accepts) => accepts(value),
        }
    }

    /// Returns true if a value was evidently meant for this kind of option: it is either valid or
    /// an out-of-range number.
    fn is_meant(&self, value: &str) -> bool {
        let out_of_range = match self {
            Values::Integer(..) => value.parse::<i128>().is_ok(),
            Values::Number(..) => value.parse::<f64>().is_ok(),
            Values::OneOf(_) | Values::Text(..) => false,
        };
        out_of_range || self.accept(value)
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Values::OneOf(words) => f.write_str(&words.join("|")),
            Values::Integer(low, u64::MAX) => write!(f, "integer from {low}"),
            Values::Integer(low, high) => write!(f, "integer {low}..{high}"),
            Values::Number(low, high) if high.is_infinite() => write!(f, "number from {low}"),
            Values::Number(low, high) => write!(f, "number {low}..{high}"),
            Values::Text(form, _) => f.write_str(form),
        }
    }
}

/// The error for an invalid name or option, including the position of the mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadName {
    /// The reason why the name is invalid, and the values that would be valid.
    pub reason: String,
    /// The byte range of the mistake in the text.
    pub span: Range<usize>,
}

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for BadName {}

/// The values of all options of a registry entry.
///
/// ```
/// # mod pavior { pub use pavior_kernel as names; }
/// use pavior::names::{OptionSpec, Options, Values};
/// const SPECS: &[OptionSpec] = &[
///     OptionSpec {
///         key: "size", values: Values::Integer(0, 8), default: "0", meaning: "k", bare: true
///     },
///     OptionSpec { key: "scheme", values: Values::OneOf(&["row", "snake"]), default: "row",
///                  meaning: "the order of pages", bare: true },
/// ];
/// let options = Options::parse("paging", "paging:snake", SPECS).unwrap();
/// assert_eq!((options.integer("size"), options.get("scheme")), (0, "snake"));
/// assert_eq!(options.name("paging"), "paging:0:snake");
/// assert_eq!(Options::parse("paging", "paging:9", SPECS).unwrap_err().span, 7..8);
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    specs: &'static [OptionSpec],
    values: Vec<String>,
}

impl Options {
    /// Returns the default options.
    pub fn defaults(specs: &'static [OptionSpec]) -> Options {
        Options { specs, values: specs.iter().map(|spec| spec.default.to_string()).collect() }
    }

    /// Parses the options after `name` in `text` (`name`, or `name:option:option`).
    ///
    /// # Errors
    /// Returns an error, with its byte range in `text`, if a value is unknown, out of range or
    /// repeated.
    pub fn parse(name: &str, text: &str, specs: &'static [OptionSpec]) -> Result<Options, BadName> {
        let mut options = Options::defaults(specs);
        let mut given = vec![false; specs.len()];
        let mut at = name.len();
        for part in text[name.len()..].split(':').skip(1) {
            at += 1;
            let span = at..at + part.len();
            at = span.end;
            let (index, value) = Self::place(name, part, &span, specs, &given)?;
            given[index] = true;
            options.values[index] = value.to_string();
        }
        Ok(options)
    }

    /// Finds the option that `part` sets. Returns the option's index and its new value.
    fn place<'t>(
        name: &str,
        part: &'t str,
        span: &Range<usize>,
        specs: &[OptionSpec],
        given: &[bool],
    ) -> Result<(usize, &'t str), BadName> {
        let fail = |reason: String, span: Range<usize>| Err(BadName { reason, span });
        if specs.is_empty() {
            return fail(format!("`{name}` has no options"), span.clone());
        }
        let Some((key, value)) = part.split_once('=') else {
            let open = |&index: &usize| !given[index] && specs[index].values.is_meant(part);
            return match (0..specs.len()).find(open) {
                Some(index) if specs[index].values.accept(part) => Ok((index, part)),
                _ => fail(
                    format!("`{part}` is not a valid option of `{name}`: {}", describe(specs)),
                    span.clone(),
                ),
            };
        };
        let Some(index) = specs.iter().position(|spec| spec.key == key) else {
            return fail(
                format!("`{name}` has no option `{key}`: {}", describe(specs)),
                span.start..span.start + key.len(),
            );
        };
        let value_span = span.end - value.len()..span.end;
        if given[index] {
            return fail(format!("option `{key}` is given twice"), span.clone());
        }
        if !specs[index].values.accept(value) {
            let takes = &specs[index].values;
            return fail(
                format!("`{value}` is not a valid value for `{key}`; expected {takes}"),
                value_span,
            );
        }
        Ok((index, value))
    }

    /// Returns the value of an option.
    ///
    /// # Panics
    /// Panics if no option has this key. An entry may query only the options that it declares.
    pub fn get(&self, key: &str) -> &str {
        let index = self.specs.iter().position(|spec| spec.key == key);
        &self.values[index.expect("an entry queries only declared options")]
    }

    /// Returns the value of an option that takes integers.
    ///
    /// # Panics
    /// Panics if no option has this key, or if the option's values are not [`Values::Integer`].
    pub fn integer(&self, key: &str) -> u64 {
        self.get(key).parse().expect("parsing checked the value")
    }

    /// Returns the value of an option that takes numbers.
    ///
    /// # Panics
    /// Panics if no option has this key, or if the option's values are not numbers.
    pub fn number(&self, key: &str) -> f64 {
        self.get(key).parse().expect("parsing checked the value")
    }

    /// Returns the canonical name: `name` followed by each option whose value differs from the
    /// default. Also includes each bare option that precedes a changed bare option.
    pub fn name(&self, name: &str) -> String {
        let changed = |index: usize| self.values[index] != self.specs[index].default;
        let last_bare = (0..self.specs.len()).rfind(|&i| self.specs[i].bare && changed(i));
        let mut text = name.to_string();
        for (index, spec) in self.specs.iter().enumerate() {
            if spec.bare && last_bare.is_some_and(|last| index <= last) {
                text += &format!(":{}", self.values[index]);
            } else if changed(index) {
                text += &format!(":{}={}", spec.key, self.values[index]);
            }
        }
        text
    }
}

fn describe(specs: &[OptionSpec]) -> String {
    let one = |spec: &OptionSpec| format!("{}={}", spec.key, spec.values);
    specs.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Returns the name before the first colon.
pub fn bare_name(text: &str) -> &str {
    text.split(':').next().unwrap_or(text)
}

/// Creates the error for a name that is not in a registry, suggesting the closest names.
///
/// ```
/// # mod pavior { pub use pavior_kernel as names; }
/// let error = pavior::names::unknown_name("strategy", "tlb", &["tbl", "tff", "mbs"]);
/// assert_eq!(error.reason, "unknown strategy `tlb`; did you mean `tbl`?");
/// ```
pub fn unknown_name(kind: &str, name: &str, known: &[&str]) -> BadName {
    let lower = name.to_lowercase();
    let farthest = 1 + name.len() / 3;
    // Skip names whose length alone rules them out, because `name` may be a megabyte long.
    let can_be_close = |other: &&&str| other.len().abs_diff(lower.len()) <= farthest;
    let mut scored: Vec<(usize, &str)> = known
        .iter()
        .filter(can_be_close)
        .map(|&other| (strsim::damerau_levenshtein(&lower, other), other))
        .collect();
    scored.sort();
    let nearest = scored.first().map_or(usize::MAX, |(distance, _)| *distance);
    let close: Vec<String> = scored
        .iter()
        .filter(|(distance, _)| *distance == nearest && nearest <= farthest)
        .take(3)
        .map(|(_, other)| format!("`{other}`"))
        .collect();
    let reason = if close.is_empty() {
        format!("unknown {kind} `{name}`; choose from {}", listed(known))
    } else {
        format!("unknown {kind} `{name}`; did you mean {}?", close.join(" or "))
    };
    BadName { reason, span: 0..name.len() }
}

/// Joins names with commas. Messages are truncated after 600 characters, so a list that is too long
/// ends with the number of omitted names.
fn listed(names: &[&str]) -> String {
    const LONGEST: usize = 400;
    let mut length = 0;
    let fits = |name: &&&str| {
        length += name.len() + 2;
        length <= LONGEST
    };
    let told = names.iter().take_while(fits).count();
    let list = names[..told].join(", ");
    match names.len() - told {
        0 => list,
        more => format!("{list} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_ends_with_how_many_follow() {
        let names: Vec<String> = (0..100).map(|number| format!("metric-{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let reason = unknown_name("metric", "foo", &names).reason;
        assert!(reason.len() < 600 && reason.ends_with("metric-36 and 63 more"), "{reason}");
        assert!(unknown_name("metric", "foo", &names[..2]).reason.ends_with("metric-1"));
    }

    const SPECS: &[OptionSpec] = &[
        OptionSpec {
            key: "rule",
            values: Values::OneOf(&["intended", "printed"]),
            default: "intended",
            meaning: "",
            bare: true,
        },
        OptionSpec {
            key: "corners",
            values: Values::OneOf(&["busy", "all"]),
            default: "busy",
            meaning: "",
            bare: false,
        },
        OptionSpec {
            key: "slack",
            values: Values::Number(0.0, 1.0),
            default: "0",
            meaning: "",
            bare: false,
        },
        OptionSpec {
            key: "reach",
            values: Values::Number(0.0, f64::INFINITY),
            default: "0",
            meaning: "",
            bare: false,
        },
    ];

    fn canonical(text: &str) -> Result<String, BadName> {
        Options::parse("mfa", text, SPECS).map(|options| options.name("mfa"))
    }

    #[test]
    fn canonical_names_leave_defaults_out() {
        for (given, expected) in [
            ("mfa", "mfa"),
            ("mfa:printed", "mfa:printed"),
            ("mfa:rule=printed", "mfa:printed"),
            ("mfa:intended:busy", "mfa"),
            ("mfa:all", "mfa:corners=all"),
            ("mfa:corners=all:printed", "mfa:printed:corners=all"),
            ("mfa:slack=0.25", "mfa:slack=0.25"),
        ] {
            assert_eq!(canonical(given).unwrap(), expected);
            assert_eq!(canonical(expected).unwrap(), expected);
        }
    }

    #[test]
    fn faults_name_the_place() {
        for (given, span) in [
            ("mfa:nonsense", 4..12),
            ("mfa:", 4..4),
            ("mfa:corner=all", 4..10),
            ("mfa:corners=some", 12..16),
            ("mfa:printed:rule=intended", 12..25),
            ("mfa:slack=2", 10..11),
            ("mfa:slack=nan", 10..13),
            ("mfa:reach=inf", 10..13),
            // The number is out of range for `slack`, its intended option. `reach` is not tried.
            ("mfa:2", 4..5),
            ("mfa:-1", 4..6),
        ] {
            assert_eq!(canonical(given).unwrap_err().span, span, "{given}");
        }
    }
}
