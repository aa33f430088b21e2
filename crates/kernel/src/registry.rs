//! Choice by name: the one registry of strategies, schedulers, shape rules, patterns and the rest.
//!
//! A [`Family`] is a set of things of one kind; an [`Entry`] is one of them as data: its name, what
//! can be set behind it, and what it does. A [`Selection`] is an entry with its options, as in
//! `paging:1:snake`. A [`Registry`] holds the built-in entries and those that its owner adds; there
//! is no global list that a program could change. Help, tables and tests derive from the entries.

use std::convert::Infallible;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use crate::options::{BadName, OptionSpec, Options, bare_name, unknown_name};

/// A set of things that are chosen by name; the implementing type says what an entry does.
pub trait Family: Sized + Send + Sync + 'static {
    /// The word for one of them in messages: `strategy`.
    const NOUN: &'static str;

    /// Every built-in entry, in the order in which tables show them.
    fn builtin() -> &'static [&'static Entry<Self>];

    /// Other names, each with the name and options that it stands for.
    fn aliases() -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

/// A family whose entries build something. [`Selection::supports`] and [`Selection::build`] call
/// these, so that who uses a selection imports no trait.
pub trait Buildable: Family {
    /// What an entry may not work on, such as a grid of nodes.
    type Place;
    /// What one is built for.
    type For<'a>;
    /// What is built.
    type Built;
    /// Why it cannot be built.
    type Fault;

    /// Whether the selected entry works on a place; every place will do unless it says otherwise.
    ///
    /// # Errors
    /// If not, with the reason.
    fn supports(_: &Selection<Self>, _: &Self::Place) -> Result<(), Self::Fault> {
        Ok(())
    }

    /// Builds what is selected.
    ///
    /// # Errors
    /// If it cannot be built for this, or its closure fails.
    fn build(
        selection: &Selection<Self>,
        purpose: Self::For<'_>,
    ) -> Result<Self::Built, Self::Fault>;
}

/// A named thing as data.
///
/// A name that is known only at run time can be given with [`String::leak`].
pub struct Entry<F> {
    /// Kebab-case, as the field names it.
    pub name: &'static str,
    /// Its title, in words.
    pub title: &'static str,
    /// Authors and year, where there are any.
    pub source: &'static str,
    /// What can be set behind its name.
    pub options: &'static [OptionSpec],
    /// The option texts (what stands behind the name and its colon; empty for the defaults) that
    /// tests and benches run.
    pub variants: &'static [&'static str],
    /// What it does.
    pub does: F,
}

impl<F> Entry<F> {
    /// Something without options, whose title is its name. Fields that differ are set in a struct
    /// update: `Entry { source: "Zhu 1992", ..Entry::new(name, does) }`.
    pub const fn new(name: &'static str, does: F) -> Entry<F> {
        Entry { name, title: name, source: "", options: &[], variants: &[""], does }
    }
}

/// A shared, cheaply copied reference to an entry, built in or added.
pub struct EntryHandle<F: 'static>(Source<F>);

enum Source<F: 'static> {
    Builtin(&'static Entry<F>),
    Added(Arc<Entry<F>>),
}

impl<F> Deref for EntryHandle<F> {
    type Target = Entry<F>;

    #[inline]
    fn deref(&self) -> &Entry<F> {
        match &self.0 {
            Source::Builtin(entry) => entry,
            Source::Added(entry) => entry,
        }
    }
}

// Not derived: that would ask for `F: Clone`, though only a reference is copied.
impl<F> Clone for EntryHandle<F> {
    fn clone(&self) -> Self {
        EntryHandle(match &self.0 {
            Source::Builtin(entry) => Source::Builtin(entry),
            Source::Added(entry) => Source::Added(Arc::clone(entry)),
        })
    }
}

impl<F> fmt::Debug for EntryHandle<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<F> From<&'static Entry<F>> for EntryHandle<F> {
    fn from(entry: &'static Entry<F>) -> Self {
        EntryHandle(Source::Builtin(entry))
    }
}

/// For loops over [`Family::builtin`].
impl<F> From<&&'static Entry<F>> for EntryHandle<F> {
    fn from(entry: &&'static Entry<F>) -> Self {
        EntryHandle::from(*entry)
    }
}

impl<F> From<&EntryHandle<F>> for EntryHandle<F> {
    fn from(entry: &EntryHandle<F>) -> Self {
        entry.clone()
    }
}

/// Why an entry cannot be added to a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadEntry {
    /// The entry's name.
    pub name: String,
    /// What is wrong, a clause that follows the name.
    pub reason: String,
}

impl fmt::Display for BadEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be registered: {}", self.name, self.reason)
    }
}

impl std::error::Error for BadEntry {}

/// The built-in entries of a family and those that were added.
///
/// ```
/// use pavior_kernel::{Entry, Family, Registry};
/// struct Rounding(fn(f64) -> f64);
/// impl Family for Rounding {
///     const NOUN: &'static str = "rounding";
///     fn builtin() -> &'static [&'static Entry<Self>] {
///         const UP: Entry<Rounding> = Entry::new("up", Rounding(f64::ceil));
///         &[&UP]
///     }
/// }
/// let mut registry = Registry::<Rounding>::new();
/// registry.add(Entry::new("down", Rounding(f64::floor)))?;
/// let selection = registry.select("down")?;
/// assert_eq!((selection.entry.does.0)(2.5), 2.0);
/// let error = registry.select("dwn").unwrap_err();
/// assert_eq!(error.reason, "unknown rounding `dwn`; did you mean `down`?");
/// assert_eq!(registry.select("DOWN")?.to_string(), "down");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Registry<F: 'static> {
    added: Vec<Arc<Entry<F>>>,
}

impl<F> Clone for Registry<F> {
    fn clone(&self) -> Self {
        Registry { added: self.added.clone() }
    }
}

impl<F: Family> Default for Registry<F> {
    fn default() -> Self {
        Registry::new()
    }
}

impl<F: Family> fmt::Debug for Registry<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries()).finish()
    }
}

impl<F: Family> Registry<F> {
    /// The built-in entries alone.
    pub fn new() -> Registry<F> {
        Registry { added: Vec::new() }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// If its name is taken or is none (lower-case letters, digits and single hyphens), an option
    /// is declared twice or does not take its own default, or a variant cannot be read. Nothing is
    /// added then.
    pub fn add(&mut self, entry: Entry<F>) -> Result<EntryHandle<F>, BadEntry> {
        let fail = |reason: String| Err(BadEntry { name: entry.name.to_string(), reason });
        if !is_name(entry.name) {
            return fail("a name has lower-case letters, digits and single hyphens".to_string());
        }
        if self.names().any(|name| name == entry.name) {
            return fail(format!("there is a {} of this name", F::NOUN));
        }
        for (index, option) in entry.options.iter().enumerate() {
            if entry.options[..index].iter().any(|other| other.key == option.key) {
                return fail(format!("option `{}` is declared twice", option.key));
            }
            if !option.values.accept(option.default) {
                return fail(format!("option `{}` does not take its default", option.key));
            }
        }
        for variant in entry.variants {
            if let Err(bad) = Options::parse("", &behind("", variant), entry.options) {
                return fail(format!("variant `{variant}`: {bad}"));
            }
        }
        let entry = Arc::new(entry);
        self.added.push(Arc::clone(&entry));
        Ok(EntryHandle(Source::Added(entry)))
    }

    /// Every entry: the built-in ones, then those added, in order.
    pub fn entries(&self) -> impl Iterator<Item = EntryHandle<F>> + use<F> {
        let builtin = F::builtin().iter().map(EntryHandle::from);
        let added = self.added.clone().into_iter().map(|entry| EntryHandle(Source::Added(entry)));
        builtin.chain(added)
    }

    /// Other names, each with the name and options that it stands for.
    pub fn aliases(&self) -> &'static [(&'static str, &'static str)] {
        F::aliases()
    }

    /// All names, other names of entries last.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        let entries = F::builtin().iter().map(|entry| entry.name);
        let added = self.added.iter().map(|entry| entry.name);
        entries.chain(added).chain(F::aliases().iter().map(|(alias, _)| *alias))
    }

    /// The entry of this name, aliases apart.
    pub fn get(&self, name: &str) -> Option<EntryHandle<F>> {
        self.entries().find(|entry| entry.name == name)
    }

    /// Reads a name with options. Capitals and underscores may stand in a name for small letters
    /// and hyphens.
    ///
    /// # Errors
    /// If no entry has the name, or it does not take the options; the span is in bytes of `text`.
    pub fn select(&self, text: &str) -> Result<Selection<F>, BadName> {
        let name = bare_name(text);
        if let Some((_, target)) = F::aliases().iter().find(|(alias, _)| *alias == name) {
            // What stands behind an alias goes behind its target; a fault is shown where it was
            // typed.
            let whole = format!("{target}{}", &text[name.len()..]);
            return self.select(&whole).map_err(|bad| {
                let at = |at: usize| (at + name.len()).saturating_sub(target.len());
                BadName { span: at(bad.span.start)..at(bad.span.end), ..bad }
            });
        }
        if let Some(entry) = self.get(name) {
            let options = Options::parse(name, text, entry.options)?;
            return Ok(Selection { entry, options });
        }
        // `TFF` and `easy_freedom` are names written otherwise.
        let plain = name.to_ascii_lowercase().replace('_', "-");
        if plain != name && self.names().any(|known| known == plain) {
            return self.select(&format!("{plain}{}", &text[name.len()..]));
        }
        Err(self.unknown(name))
    }

    /// The error for a name that no entry has; a title is known as well.
    fn unknown(&self, name: &str) -> BadName {
        let letters = |text: &str| -> String {
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let named = letters(name);
        match self.entries().find(|entry| !named.is_empty() && letters(entry.title) == named) {
            Some(entry) => BadName {
                reason: format!("unknown {} `{name}`; did you mean `{}`?", F::NOUN, entry.name),
                span: 0..name.len(),
            },
            None => unknown_name(F::NOUN, name, &self.names().collect::<Vec<_>>()),
        }
    }
}

/// Whether text can be told from options, lists and other names.
fn is_name(text: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    text.split('-').all(word)
}

/// A name with an option text behind it.
fn behind(name: &str, options: &str) -> String {
    match options {
        "" => name.to_string(),
        options => format!("{name}:{options}"),
    }
}

/// An entry with its options: what `paging:1:snake` means.
///
/// [`FromStr`] reads the names of built-in entries, [`Registry::select`] those of added ones too;
/// [`Display`](fmt::Display) writes the canonical name.
pub struct Selection<F: 'static> {
    /// The entry.
    pub entry: EntryHandle<F>,
    /// Its options.
    pub options: Options,
}

impl<F> Selection<F> {
    /// An entry with all options at their defaults.
    pub fn defaults(entry: impl Into<EntryHandle<F>>) -> Selection<F> {
        let entry = entry.into();
        let options = Options::defaults(entry.options);
        Selection { entry, options }
    }

    /// The selections that tests and benches run.
    ///
    /// # Panics
    /// If a variant of a built-in entry cannot be read, which a test of each registry rules out;
    /// [`Registry::add`] has read those of others.
    pub fn variants(entry: impl Into<EntryHandle<F>>) -> impl Iterator<Item = Selection<F>> {
        let entry = entry.into();
        let variants = entry.variants;
        variants.iter().map(move |variant| {
            let options = Options::parse("", &behind("", variant), entry.options)
                .expect("the variants of an entry can be read");
            Selection { entry: entry.clone(), options }
        })
    }
}

impl<F: Buildable> Selection<F> {
    /// Whether it works on a place, such as a grid of nodes.
    ///
    /// # Errors
    /// If not, with the reason.
    pub fn supports(&self, place: &F::Place) -> Result<(), F::Fault> {
        F::supports(self, place)
    }

    /// Builds it: a strategy for an empty machine of a grid, a scheduler for nothing in particular
    /// (`build(())`), a pattern for a job's ranks and a stream to draw from.
    ///
    /// # Errors
    /// If it does not work there, or its closure fails.
    pub fn build(&self, purpose: F::For<'_>) -> Result<F::Built, F::Fault> {
        F::build(self, purpose)
    }
}

// Not derived: that would ask for `F: Clone`, though only a reference is copied.
impl<F> Clone for Selection<F> {
    fn clone(&self) -> Self {
        Selection { entry: self.entry.clone(), options: self.options.clone() }
    }
}

impl<F> fmt::Debug for Selection<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<F> fmt::Display for Selection<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.options.name(self.entry.name))
    }
}

impl<F: Family> FromStr for Selection<F> {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Selection<F>, BadName> {
        Registry::new().select(text)
    }
}

impl<F: Family> TryFrom<&str> for Selection<F> {
    type Error = BadName;

    fn try_from(text: &str) -> Result<Selection<F>, BadName> {
        text.parse()
    }
}

/// An entry with all options at their defaults.
impl<F> From<EntryHandle<F>> for Selection<F> {
    fn from(entry: EntryHandle<F>) -> Selection<F> {
        Selection::defaults(entry)
    }
}

impl<F> From<&Selection<F>> for Selection<F> {
    fn from(selection: &Selection<F>) -> Selection<F> {
        selection.clone()
    }
}

impl From<Infallible> for BadName {
    fn from(never: Infallible) -> BadName {
        match never {}
    }
}
