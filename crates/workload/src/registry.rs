//! Named things with options: what every registry of this crate shares.
//!
//! A kind of thing (shape rules, distributions of sides, ...) is a type that holds what its entries
//! know how to do; a [`Spec`] is one entry; a [`Selection`] is an entry with its options, as in
//! `compact:slack=0.1`. Command-line help, tables and tests derive from the lists.

use std::fmt;
use std::str::FromStr;

use pavior_kernel::{BadName, OptionSpec, Options, Values, bare_name, unknown_name};

/// A kind of named thing, and the one list of its entries.
pub trait Kind: Sized + 'static {
    /// The kind in words, for messages: `shape rule`.
    const WORD: &'static str;

    /// Every entry, in the order in which tables show them.
    fn all() -> &'static [&'static Spec<Self>];
}

/// One entry of a registry.
pub struct Spec<K: 'static> {
    /// Kebab-case.
    pub name: &'static str,
    /// What it is, in a clause.
    pub title: &'static str,
    /// What can be set behind its name.
    pub options: &'static [OptionSpec],
    /// What it does.
    pub does: K,
}

/// An entry with its options: what `bursts:size=4` means.
///
/// ```
/// use pavior_workload::{Selection, ShapeRule};
/// let rule: Selection<ShapeRule> = "compact:0.1".parse()?;
/// assert_eq!(rule.to_string(), "compact:slack=0.1");
/// let error = "compakt".parse::<Selection<ShapeRule>>().unwrap_err();
/// assert_eq!(error.reason, "unknown shape rule `compakt`; did you mean `compact`?");
/// # Ok::<(), pavior_kernel::BadName>(())
/// ```
pub struct Selection<K: 'static> {
    /// The entry.
    pub spec: &'static Spec<K>,
    /// Its options.
    pub options: Options,
}

impl<K> Selection<K> {
    /// An entry with all options at their defaults.
    pub fn defaults(spec: &'static Spec<K>) -> Selection<K> {
        Selection { spec, options: Options::defaults(spec.options) }
    }
}

// Not derived: that would ask for `K: Clone`, though only a reference is copied.
impl<K> Clone for Selection<K> {
    fn clone(&self) -> Self {
        Selection { spec: self.spec, options: self.options.clone() }
    }
}

impl<K> fmt::Debug for Selection<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K> fmt::Display for Selection<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.options.name(self.spec.name))
    }
}

impl<K: Kind> FromStr for Selection<K> {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Selection<K>, BadName> {
        let name = bare_name(text);
        let Some(spec) = K::all().iter().find(|spec| spec.name == name) else {
            let known: Vec<&str> = K::all().iter().map(|spec| spec.name).collect();
            return Err(unknown_name(K::WORD, name, &known));
        };
        Ok(Selection { spec, options: Options::parse(name, text, spec.options)? })
    }
}

/// Means and rates: a decimal number above 0. The bound keeps sums of very many of them in range.
pub(crate) const POSITIVE: Values = Values::Text("number above 0, at most 1e9", |text| {
    text.parse::<f64>().is_ok_and(|value| value > 0.0 && value <= 1e9)
});
