//! Registries of strategies, schedulers, shape rules, patterns and other entries that are selected
//! by name.
//!
//! A [`Family`] is a set of similar entries. An [`Entry`] describes one member as data: its name,
//! options and behavior. A [`Selection`] is an entry with values for its options, such as
//! `paging:1:snake`. A [`Registry`] contains the built-in entries and any that its owner adds;
//! there is no global mutable registry. Help, tables and tests are generated from the entries.

use std::convert::Infallible;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use crate::options::{BadName, OptionSpec, Options, bare_name, unknown_name};

/// A set of entries that are selected by name. The implementing type defines their behavior.
pub trait Family: Sized + Send + Sync + 'static {
    /// The noun for an entry in messages, such as `strategy`.
    const NOUN: &'static str;

    /// Returns every built-in entry, in the order used in tables.
    fn builtin() -> &'static [&'static Entry<Self>];

    /// Returns the aliases, each with the name and options that it stands for.
    fn aliases() -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

/// A family whose entries build something. Call its functions through [`Selection::supports`] and
/// [`Selection::build`], so that code that uses a selection does not have to import this trait.
pub trait Buildable: Family {
    /// The target that an entry may or may not support, such as a grid of nodes.
    type Place;
    /// The input to [`Buildable::build`], such as a job and a random number stream.
    type For<'a>;
    /// The type of the built object.
    type Built;
    /// The error from a failed build.
    type Fault;

    /// Checks that the selected entry supports a [`Buildable::Place`]. Always succeeds by default.
    ///
    /// # Errors
    /// Returns the reason if the entry does not support the target.
    fn supports(_: &Selection<Self>, _: &Self::Place) -> Result<(), Self::Fault> {
        Ok(())
    }

    /// Builds the selected entry.
    ///
    /// # Errors
    /// Returns an error if the entry does not support the input, or if the entry's closure fails.
    fn build(
        selection: &Selection<Self>,
        purpose: Self::For<'_>,
    ) -> Result<Self::Built, Self::Fault>;
}

/// A named registry entry, as data.
///
/// For a name known only at run time, use [`String::leak`].
pub struct Entry<F> {
    /// The name used in the literature, in kebab case.
    pub name: &'static str,
    /// The human-readable title.
    pub title: &'static str,
    /// The authors and year, or an empty string.
    pub source: &'static str,
    /// The options that may follow the name.
    pub options: &'static [OptionSpec],
    /// The options with which tests and benchmarks run the entry, excluding the name and the first
    /// colon. An empty string selects the defaults.
    pub variants: &'static [&'static str],
    /// The behavior.
    pub does: F,
}

impl<F> Entry<F> {
    /// Creates an entry that has no options and whose title is its name. Set other fields with
    /// struct update syntax: `Entry { source: "Zhu 1992", ..Entry::new(name, does) }`.
    pub const fn new(name: &'static str, does: F) -> Entry<F> {
        Entry { name, title: name, source: "", options: &[], variants: &[""], does }
    }
}

/// A shared reference to a built-in or added entry. It is cheap to clone.
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

// `Clone` is implemented by hand because deriving it would require `F: Clone`.
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

/// Converts the items of [`Family::builtin`], which iteration yields as double references.
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

/// The error for an entry that cannot be added to a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadEntry {
    /// The entry's name.
    pub name: String,
    /// The reason, worded to follow the name in a message.
    pub reason: String,
}

impl fmt::Display for BadEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be registered: {}", self.name, self.reason)
    }
}

impl std::error::Error for BadEntry {}

/// A family's built-in entries and any that were added.
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
    /// Creates a registry with only the built-in entries.
    pub fn new() -> Registry<F> {
        Registry { added: Vec::new() }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// Returns an error if the name is taken or invalid. A name may contain only lower-case
    /// letters, digits and single hyphens. Also returns an error if an option is declared twice or
    /// rejects its own default, or if a variant is invalid. In all of these cases, the registry is
    /// unchanged.
    pub fn add(&mut self, entry: Entry<F>) -> Result<EntryHandle<F>, BadEntry> {
        let fail = |reason: String| Err(BadEntry { name: entry.name.to_string(), reason });
        if !is_name(entry.name) {
            return fail(
                "a name may contain only lowercase letters, digits and single hyphens".to_string(),
            );
        }
        if self.names().any(|name| name == entry.name) {
            return fail(format!("a {} with this name already exists", F::NOUN));
        }
        for (index, option) in entry.options.iter().enumerate() {
            if entry.options[..index].iter().any(|other| other.key == option.key) {
                return fail(format!("option `{}` is declared twice", option.key));
            }
            if !option.values.accept(option.default) {
                return fail(format!("option `{}` has an invalid default", option.key));
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

    /// Returns all entries: the built-in ones, then the added ones in the order they were added.
    pub fn entries(&self) -> impl Iterator<Item = EntryHandle<F>> + use<F> {
        let builtin = F::builtin().iter().map(EntryHandle::from);
        let added = self.added.clone().into_iter().map(|entry| EntryHandle(Source::Added(entry)));
        builtin.chain(added)
    }

    /// Returns the aliases, each with the name and options that it stands for.
    pub fn aliases(&self) -> &'static [(&'static str, &'static str)] {
        F::aliases()
    }

    /// Returns all names, with aliases last.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        let entries = F::builtin().iter().map(|entry| entry.name);
        let added = self.added.iter().map(|entry| entry.name);
        entries.chain(added).chain(F::aliases().iter().map(|(alias, _)| *alias))
    }

    /// Returns the entry with this name. Aliases are not considered.
    pub fn get(&self, name: &str) -> Option<EntryHandle<F>> {
        self.entries().find(|entry| entry.name == name)
    }

    /// Parses a name with options. Upper-case letters are equivalent to lower-case ones, and
    /// underscores to hyphens.
    ///
    /// # Errors
    /// Returns an error, with its byte range in `text`, if the name is unknown or an option is
    /// invalid.
    pub fn select(&self, text: &str) -> Result<Selection<F>, BadName> {
        let name = bare_name(text);
        if let Some((_, target)) = F::aliases().iter().find(|(alias, _)| *alias == name) {
            // Append the options that follow an alias to the alias's target. The span of an error
            // still refers to the original text.
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
        // Also accept other spellings, such as `TFF` and `easy_freedom`.
        let plain = name.to_ascii_lowercase().replace('_', "-");
        if plain != name && self.names().any(|known| known == plain) {
            return self.select(&format!("{plain}{}", &text[name.len()..]));
        }
        Err(self.unknown(name))
    }

    /// Creates the error for an unknown name. Suggests any entry whose title is that name.
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

/// Returns true if the text is a valid name. A valid name cannot be mistaken for options or a list.
fn is_name(text: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    text.split('-').all(word)
}

/// Appends options to a name.
fn behind(name: &str, options: &str) -> String {
    match options {
        "" => name.to_string(),
        options => format!("{name}:{options}"),
    }
}

/// An entry with values for its options, such as `paging:1:snake`.
///
/// [`FromStr`] parses only the names of built-in entries; [`Registry::select`] also parses the
/// names of added entries. [`Display`](fmt::Display) writes the canonical name.
pub struct Selection<F: 'static> {
    /// The entry.
    pub entry: EntryHandle<F>,
    /// The values of the entry's options.
    pub options: Options,
}

impl<F> Selection<F> {
    /// Selects an entry with all options at their defaults.
    pub fn defaults(entry: impl Into<EntryHandle<F>>) -> Selection<F> {
        let entry = entry.into();
        let options = Options::defaults(entry.options);
        Selection { entry, options }
    }

    /// Returns the variants that tests and benchmarks use for an entry.
    ///
    /// # Panics
    /// Panics if a variant of a built-in entry is invalid. A test for each registry rules this out,
    /// and [`Registry::add`] checks the variants of each added entry.
    pub fn variants(entry: impl Into<EntryHandle<F>>) -> impl Iterator<Item = Selection<F>> {
        let entry = entry.into();
        let variants = entry.variants;
        variants.iter().map(move |variant| {
            let options = Options::parse("", &behind("", variant), entry.options)
                .expect("an entry's variants are valid");
            Selection { entry: entry.clone(), options }
        })
    }
}

impl<F: Buildable> Selection<F> {
    /// Checks that the entry supports `place`, such as a grid of nodes.
    ///
    /// # Errors
    /// Returns the reason if the entry does not support `place`.
    pub fn supports(&self, place: &F::Place) -> Result<(), F::Fault> {
        F::supports(self, place)
    }

    /// Builds the entry. Depending on the family, `purpose` is the grid of an empty machine
    /// (strategy), `()` (scheduler), or a job's ranks and a random number stream (pattern).
    ///
    /// # Errors
    /// Returns an error if the entry does not support `purpose`, or if the entry's closure fails.
    pub fn build(&self, purpose: F::For<'_>) -> Result<F::Built, F::Fault> {
        F::build(self, purpose)
    }
}

// `Clone` is implemented by hand because deriving it would require `F: Clone`.
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

/// Selects an entry with all options at their defaults.
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
