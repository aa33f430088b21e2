//! Keys that apply to a whole experiment, such as the replications and the metrics.

use super::Heading;

/// A key that is not part of a point.
pub struct Control {
    /// The name, in kebab-case.
    pub name: &'static str,
    /// A one-clause description.
    pub meaning: &'static str,
    /// The type of the values.
    pub kind: ControlKind,
    /// The default value, or an empty string if the default is not fixed.
    pub default: &'static str,
    /// The heading under which `simulate` lists the key, or `None` if the key may occur only in
    /// experiment files.
    pub heading: Option<Heading>,
}

/// The types of control values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlKind {
    /// A word that can be part of a file name.
    Word,
    /// Arbitrary text.
    Text,
    /// True or false.
    Switch,
    /// A positive whole number.
    Count,
    /// A number greater than 0 and less than 1.
    Share,
    /// Names of metrics.
    Metrics,
    /// Formulas, one per strategy.
    Formulas,
}

/// The name of the control that skips combinations that do not apply.
pub const SKIP_UNSUPPORTED: &str = "skip-unsupported";

/// All controls.
pub static CONTROLS: &[Control] = &[
    Control {
        name: "name",
        meaning: "the name of the experiment and its files; default: the file name",
        kind: ControlKind::Word,
        default: "",
        heading: None,
    },
    Control {
        name: "title",
        meaning: "the heading of the report",
        kind: ControlKind::Text,
        default: "",
        heading: None,
    },
    Control {
        name: SKIP_UNSUPPORTED,
        meaning: "skips the listed strategies, schedulers, freedoms and patterns that do not apply \
                  to the machine or the workload",
        kind: ControlKind::Switch,
        default: "false",
        heading: Some(Heading::General),
    },
    Control {
        name: "replications",
        meaning: "the number of independent replications per point; default: 10, or 1 for a log",
        kind: ControlKind::Count,
        default: "",
        heading: Some(Heading::Replications),
    },
    Control {
        name: "precision",
        meaning: "the target precision, such as 0.05: adds replications until each confidence \
                  interval's half-width is at most this fraction of the mean",
        kind: ControlKind::Share,
        default: "",
        heading: Some(Heading::Replications),
    },
    Control {
        name: "precision-metrics",
        meaning: "the metrics with a precision target; default: turnaround and \
                  utilization",
        kind: ControlKind::Metrics,
        default: "",
        heading: Some(Heading::Replications),
    },
    Control {
        name: "confidence",
        meaning: "the confidence level for the precision target",
        kind: ControlKind::Share,
        default: "0.95",
        heading: Some(Heading::Replications),
    },
    Control {
        name: "min-replications",
        meaning: "the minimum number of replications if precision is set",
        kind: ControlKind::Count,
        default: "5",
        heading: Some(Heading::Replications),
    },
    Control {
        name: "max-replications",
        meaning: "the maximum number of replications if precision is set",
        kind: ControlKind::Count,
        default: "200",
        heading: Some(Heading::Replications),
    },
    Control {
        name: "metrics",
        meaning: "the metrics to observe; +NAME adds one to the defaults; see `pavior metrics`",
        kind: ControlKind::Metrics,
        default: "",
        heading: Some(Heading::Results),
    },
    Control {
        name: "timing",
        meaning: "measures how long allocation attempts take",
        kind: ControlKind::Switch,
        default: "true",
        heading: None,
    },
    Control {
        name: "baseline",
        meaning: "the strategy to compare the others with; default: the first",
        kind: ControlKind::Text,
        default: "",
        heading: None,
    },
    Control {
        name: "orders",
        meaning: "each strategy's asymptotic cost, for the printed_order metric: formulas in N \
                  (nodes), h (rows), B (busy submeshes) and K (nodes per submesh)",
        kind: ControlKind::Formulas,
        default: "",
        heading: None,
    },
];
