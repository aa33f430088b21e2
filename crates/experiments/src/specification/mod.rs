//! Experiments as data: the parameters that vary, the replications, and the figures.
//!
//! An experiment file is TOML. Every parameter is a key with a single value, a list or a range, and
//! every combination of values is a point. Command lines and programs can set the same keys
//! individually as [`Setting`]s. Each `[[sweep]]` table overrides some of the top-level values, and
//! the experiment runs every point of every sweep. `[[figure]]` tables declare figures.

mod error;
mod expand;
mod figure;
mod left_out;
mod read;
mod schema;
mod settings;
mod values;

use pavior_kernel::{BadName, bare_name, unknown_name};
use pavior_simulation::metrics::{self, ALLOCATION_NS, MetricSpec};
use toml::Spanned;
use toml::de::DeTable;

use crate::keys::Keys;
use crate::orders::{self, Orders};
use crate::parameters::{CONTROLS, SKIP_UNSUPPORTED};
use crate::{Catalogue, Formula, Point, Policy, snapshot};
use read::{Entry, Node};
use values::Value;

use error::Fault;
pub use error::SettingError;
pub use figure::{Axis, Figure, StatedMark};
pub use left_out::LeftOut;
use left_out::Skipping;
pub use schema::schema;
pub use settings::Setting;

/// An experiment.
#[derive(Clone)]
pub struct Specification {
    /// The name, a single word that is used in file names and footers.
    pub name: String,
    /// The report's heading.
    pub title: String,
    /// The points to run, without duplicates.
    pub points: Vec<Point>,
    /// Values skipped because they do not apply, without duplicates.
    pub left_out: Vec<LeftOut>,
    /// True if values that do not apply are skipped. Otherwise, they cause errors.
    pub skips_unsupported: bool,
    /// The metrics to observe.
    pub metrics: Vec<&'static MetricSpec>,
    /// True if allocation attempts are timed.
    pub timing: bool,
    /// The number of replications.
    pub policy: Policy,
    /// The maximum number of replications for each point, if the point's sweep sets a maximum.
    pub caps: Vec<Option<u64>>,
    /// The metrics with a precision target, as indices into `metrics`.
    pub targets: Vec<usize>,
    /// The baseline strategy, or `None` if there is only one strategy.
    pub baseline: Option<String>,
    /// Each strategy's asymptotic cost, for snapshots.
    pub orders: Orders,
    /// The figures.
    pub figures: Vec<Figure>,
    /// The registries of strategies, schedulers, shape rules and patterns.
    pub catalogue: Catalogue,
}

/// The maximum total number of replications. Any larger number is assumed to be a mistake.
const MOST_RUNS: u64 = 10_000_000;

impl Specification {
    /// Parses an experiment file. `name` is used if the file does not specify a name.
    ///
    /// # Errors
    /// Returns an error with its position if the file is not TOML or has any invalid content.
    ///
    /// ```
    /// # mod pavior { pub use pavior_experiments as experiments; pub use pavior_kernel::*; }
    /// use pavior::experiments::Specification;
    /// let text = "strategy = ['ff', 'tbl']\nload = { from = 1, to = 2, steps = 3 }\n";
    /// let experiment = Specification::parse(text, "example")?;
    /// assert_eq!(experiment.points.len(), 6);
    /// assert_eq!(experiment.points[3].get("load"), Some("1.5"));
    /// let error = Specification::parse("strategy = 'tlb'", "example").err().unwrap();
    /// assert_eq!((error.reason.as_str(), error.span), (
    ///     "unknown strategy `tlb`; did you mean `tbl`?", 12..15));
    /// # Ok::<(), pavior::BadName>(())
    /// ```
    pub fn parse(text: &str, name: &str) -> Result<Specification, BadName> {
        Specification::parse_with(text, name, &Catalogue::default())
    }

    /// Works like [`Specification::parse`], but looks up names in the given catalogue.
    ///
    /// # Errors
    /// Returns the same errors as [`Specification::parse`].
    pub fn parse_with(
        text: &str,
        name: &str,
        catalogue: &Catalogue,
    ) -> Result<Specification, BadName> {
        let document = document(text)?;
        let entries = read::entries(text, document.get_ref());
        Ok(Specification::read(entries, name, Keys::Plain, catalogue)?)
    }

    /// Returns the value of `skip-unsupported` in an experiment file, or `None` if the file does
    /// not contain this key.
    ///
    /// # Errors
    /// Returns an error if the file is not TOML, or if the value is neither true nor false.
    pub fn states_skipping(text: &str) -> Result<Option<bool>, BadName> {
        let document = document(text)?;
        let entries = read::entries(text, document.get_ref());
        let stated = entries.iter().find(|entry| entry.is(SKIP_UNSUPPORTED));
        Ok(stated.map(|entry| entry.node.switch()).transpose()?)
    }

    /// Reads entries, including any sweeps and figures.
    fn read(
        entries: Vec<Entry<'_>>,
        name: &str,
        keys: Keys,
        catalogue: &Catalogue,
    ) -> Result<Specification, Fault> {
        let mut specification = Specification {
            name: name.to_string(),
            title: String::new(),
            points: Vec::new(),
            left_out: Vec::new(),
            skips_unsupported: false,
            metrics: metrics::ALL.iter().filter(|spec| spec.standard).copied().collect(),
            timing: true,
            policy: Policy::Fixed(10),
            caps: Vec::new(),
            targets: Vec::new(),
            baseline: None,
            orders: Orders::default(),
            figures: Vec::new(),
            catalogue: catalogue.clone(),
        };
        let (parameters, rest): (Vec<Entry<'_>>, Vec<Entry<'_>>) =
            entries.into_iter().partition(|entry| expand::parameter(entry).is_some());
        specification.read_controls(&rest)?;
        let blocks: Vec<Node<'_>> =
            rest.iter().filter(|entry| entry.is("sweep")).flat_map(|e| e.node.list()).collect();
        let mut skipping = Skipping::new(specification.skips_unsupported, keys);
        (specification.points, specification.caps) =
            expand::points(&parameters, &blocks, &mut skipping, catalogue)?;
        specification.add_placed();
        if specification.points.is_empty() {
            return Err(skipping.nothing_left());
        }
        specification.left_out = skipping.left_out;
        let snapshots = specification.points.iter().all(Point::is_snapshot);
        if snapshots && !rest.iter().any(|entry| entry.is("metrics")) {
            specification.metrics = snapshot::METRICS.to_vec();
        }
        specification.policy(&rest, keys)?;
        specification.compare(&rest)?;
        for node in rest.iter().filter(|entry| entry.is("figure")).flat_map(|e| e.node.list()) {
            let figure = figure::read(node, &specification)?;
            specification.figures.push(figure);
        }
        if !rest.iter().any(|entry| entry.is("figure")) {
            specification.figures = figure::usual(&specification);
        }
        Ok(specification)
    }

    /// Appends the points that use the placements in the log, if any are requested.
    fn add_placed(&mut self) {
        let (mut placed, mut caps): (Vec<Point>, Vec<_>) = Default::default();
        for (point, cap) in self.points.iter_mut().zip(&self.caps) {
            let (plain, other) = point.clone().split_placed();
            *point = plain;
            if let Some(other) = other.filter(|other| !placed.contains(other)) {
                placed.push(other);
                caps.push(*cap);
            }
        }
        self.points.extend(placed);
        self.caps.extend(caps);
    }

    /// Reads the keys that do not depend on other keys.
    fn read_controls(&mut self, entries: &[Entry<'_>]) -> Result<(), Fault> {
        for entry in entries {
            if entry.is("name") {
                self.name = word(entry.node)?;
            } else if entry.is("title") {
                self.title = entry.node.text()?.to_string();
            } else if entry.is("orders") {
                self.orders = orders(entry.node)?;
            } else if entry.is("metrics") {
                (self.metrics, self.timing) = observed(entry.node)?;
            } else {
                let parameters = crate::parameters::ALL.iter().map(|parameter| parameter.name);
                let controls = CONTROLS.iter().map(|control| control.name);
                let known: Vec<&str> =
                    controls.chain(["figure", "sweep"]).chain(parameters).collect();
                if !known.iter().any(|key| entry.is(key)) {
                    return Err(entry.unknown(&known));
                }
            }
        }
        if let Some(entry) = entries.iter().find(|entry| entry.is("timing")) {
            self.timing = entry.node.switch()?;
        }
        if let Some(entry) = entries.iter().find(|entry| entry.is(SKIP_UNSUPPORTED)) {
            self.skips_unsupported = entry.node.switch()?;
        }
        if self.title.is_empty() {
            self.title.clone_from(&self.name);
        }
        Ok(())
    }

    /// Parses a number of replications. The limit on the total number of runs does not apply to a
    /// maximum, because most points do not reach their maximum.
    fn replications(&self, entry: &Entry<'_>) -> Result<u64, Fault> {
        let points = self.points.len() as u64;
        let runs = |count: u64| count.saturating_mul(points);
        match entry.node.count()? {
            0 => entry.node.fail("at least one replication is required"),
            count if count > Policy::MOST => entry
                .node
                .fail(format!("at most {} replications per point are allowed", Policy::MOST)),
            count if !entry.is("max-replications") && runs(count) > MOST_RUNS => {
                entry.node.fail(format!(
                    "{} runs ({count} for each of {points} points) exceed the limit of {MOST_RUNS}",
                    runs(count)
                ))
            }
            count => Ok(count),
        }
    }

    /// Reads the number of replications and the metrics with a precision target.
    fn policy(&mut self, entries: &[Entry<'_>], keys: Keys) -> Result<(), Fault> {
        let find = |key: &str| entries.iter().find(|entry| entry.is(key));
        let count = |key: &str| find(key).map(|entry| self.replications(entry)).transpose();
        let Some(precision) = find("precision") else {
            let others =
                ["confidence", "min-replications", "max-replications", "precision-metrics"];
            let capped = expand::first_cap(entries)?;
            let others = others.iter().find_map(|key| find(key));
            if let Some(entry) = others.or(capped.as_ref()) {
                let (key, precision) = (keys.spell(entry.key), keys.spell("precision"));
                let reason = format!("{key} needs {precision}");
                return Err(Fault::new(reason, entry.key_place.clone()));
            }
            let usual = if self.draws() { 10 } else { 1 };
            self.policy = Policy::Fixed(count("replications")?.unwrap_or(usual));
            return Ok(());
        };
        if let Some(entry) = find("replications") {
            let [count, precision] = ["replications", "precision"].map(|key| keys.spell(key));
            let reason = format!("{count} cannot be combined with {precision}");
            return Err(Fault::new(reason, entry.key_place.clone()));
        }
        let confidence = find("confidence").map_or(Ok(0.95), |entry| entry.node.share())?;
        let least = count("min-replications")?.unwrap_or(Policy::BATCH);
        let most = count("max-replications")?.unwrap_or(200);
        if let (Some(entry), true) = (find("min-replications"), least < 2) {
            return entry
                .node
                .fail("must be at least 2: a single replication has no confidence interval");
        }
        if let (Some(entry), true) = (find("min-replications"), least > most) {
            return entry.node.fail(format!("the minimum, {least}, exceeds the maximum, {most}"));
        }
        let relative = precision.node.share()?;
        self.policy = Policy::Precision { relative, confidence, least, most };
        self.targets = match find("precision-metrics") {
            None => (0..self.metrics.len())
                .filter(|&index| ["turnaround", "utilization"].contains(&self.metrics[index].name))
                .collect(),
            Some(entry) => entry
                .node
                .list()
                .into_iter()
                .map(|node| self.target(node))
                .collect::<Result<_, _>>()?,
        };
        if self.targets.is_empty() {
            return precision.node.fail(
                "no metric for the precision target: observe `turnaround` or `utilization`, or \
                 set `precision-metrics`",
            );
        }
        Ok(())
    }

    /// Returns true if any point's workload uses random numbers. Otherwise, one run is enough.
    pub fn draws(&self) -> bool {
        self.points.iter().any(|point| point.settings().draws())
    }

    /// Describes the skipped values. Returns `None` if there are none.
    pub fn left_out_in_words(&self) -> Option<String> {
        let all: Vec<String> = self.left_out.iter().map(LeftOut::words).collect();
        (!all.is_empty()).then(|| format!("Left out: {}.", all.join("; ")))
    }

    /// Returns the replication policy for a point.
    pub fn policy_at(&self, point: usize) -> Policy {
        match (self.policy, self.caps[point]) {
            (Policy::Precision { relative, confidence, least, most }, Some(cap)) => {
                let most = most.min(cap);
                Policy::Precision { relative, confidence, least: least.min(most), most }
            }
            (policy, _) => policy,
        }
    }

    fn target(&self, node: Node<'_>) -> Result<usize, Fault> {
        let name = node.text()?;
        if name == ALLOCATION_NS {
            return node.fail(
                "a measured time cannot be a precision target, because it differs from run to run",
            );
        }
        self.metrics.iter().position(|spec| spec.name == name).map_or_else(
            || {
                let known: Vec<&str> = self.metrics.iter().map(|spec| spec.name).collect();
                node.fail(unknown_name("metric", name, &known).reason)
            },
            Ok,
        )
    }

    /// Sets the baseline to the `baseline` entry's strategy or, by default, to the first strategy.
    fn compare(&mut self, entries: &[Entry<'_>]) -> Result<(), Fault> {
        let mut strategies: Vec<&str> = Vec::new();
        for strategy in self.points.iter().filter_map(|point| point.get("strategy")) {
            if !strategies.contains(&strategy) {
                strategies.push(strategy);
            }
        }
        let named = match entries.iter().find(|entry| entry.is("baseline")) {
            None => None,
            Some(entry) => {
                let parameter = &crate::parameters::STRATEGY;
                let Value { reading, .. } = values::scalar(parameter, entry.node, &self.catalogue)?;
                let is_it = |one: &&LeftOut| one.value == *reading.text;
                if let Some(left_out) = self.left_out.iter().find(is_it)
                    && !strategies.contains(&&*reading.text)
                {
                    return entry
                        .node
                        .fail(format!("the baseline was skipped: {}", left_out.words()));
                }
                if !strategies.contains(&&*reading.text) {
                    return entry.node.fail(format!(
                        "`{}` is not one of this experiment's strategies",
                        reading.text
                    ));
                }
                Some(reading.text.to_string())
            }
        };
        let first = strategies.first().map(ToString::to_string);
        self.baseline = named.or(first).filter(|_| strategies.len() > 1);
        Ok(())
    }
}

fn document(text: &str) -> Result<Spanned<DeTable<'_>>, BadName> {
    DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        BadName { reason: error.message().replace('\n', ", "), span }
    })
}

fn orders(node: Node<'_>) -> Result<Orders, Fault> {
    let one = |entry: &Entry<'_>| {
        let text = entry.node.text()?;
        let formula: Formula = match text.parse() {
            Ok(formula) => formula,
            Err(bad) => return Err(entry.node.bad(text, bad)),
        };
        match formula.names().into_iter().find(|name| !orders::NAMES.contains(name)) {
            Some(name) => entry
                .node
                .fail(format!("`{text}`: `{name}` is not one of {}", orders::NAMES.join(", "))),
            None => Ok((entry.key.to_string(), formula)),
        }
    };
    node.table()?.iter().map(one).collect::<Result<_, _>>().map(Orders)
}

/// Reads a word that can be part of a file name.
fn word(node: Node<'_>) -> Result<String, Fault> {
    let text = node.text()?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if text.is_empty() || text.len() > 80 || !text.bytes().all(plain) {
        return node.fail(
            "a name may contain only letters, digits, `-` and `_`, because it is used in file \
             names",
        );
    }
    Ok(text.to_string())
}

/// Reads the metrics, in the order listed. If any metric is written as `+NAME`, the default metrics
/// are included as well.
fn observed(node: Node<'_>) -> Result<(Vec<&'static MetricSpec>, bool), Fault> {
    let all = || metrics::ALL.iter().chain(snapshot::METRICS).copied();
    let (mut chosen, mut adds, mut timing) = (Vec::new(), false, false);
    for member in node.list() {
        let text = member.text()?;
        let name = text.trim_start_matches('+');
        adds |= name.len() < text.len();
        if name == ALLOCATION_NS {
            timing = true;
            continue;
        }
        let snapshots = snapshot::METRICS.iter().copied().find(|spec| spec.name == name);
        chosen.push(match snapshots.map_or_else(|| metrics::named(name), Ok) {
            Ok(spec) => spec,
            Err(bad) if all().any(|spec| spec.name == bare_name(name)) => {
                return member.fail(bad.reason);
            }
            Err(_) => {
                let known: Vec<&str> = all().map(|spec| spec.name).chain([ALLOCATION_NS]).collect();
                return member.fail(unknown_name("metric", name, &known).reason);
            }
        });
    }
    if chosen.is_empty() && !timing {
        return node
            .fail("list at least one metric, or omit this key to observe the default metrics");
    }
    chosen.extend(metrics::ALL.iter().filter(|spec| adds && spec.standard));
    let place = |spec: &MetricSpec| all().position(|known| known.name == bare_name(spec.name));
    chosen.sort_by_key(|spec| (place(spec), spec.name));
    chosen.dedup_by_key(|spec| spec.name);
    Ok((chosen, adds || timing))
}
