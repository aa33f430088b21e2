//! Sets of parameters that commands accept as options.

use pavior::experiments::parameters::{self, Applies, Heading, Parameter};

/// A set of parameters and controls that a command accepts as options.
pub(crate) trait ParameterSet {
    /// The names of parameters in the set.
    const NAMES: &[&str] = &[];

    /// True if the set includes the controls.
    const WITH_CONTROLS: bool = false;

    /// True if the command compares several values of one option.
    const TAKES_LISTS: bool = false;

    /// Defaults that replace those of the parameters.
    const DEFAULTS: &[(&str, &str)] = &[];

    /// Returns true if the set includes a parameter.
    fn contains(parameter: &Parameter) -> bool {
        Self::NAMES.contains(&parameter.name)
    }
}

/// The default strategy and scheduler for the jobs of a log.
const LOG_DEFAULTS: &[(&str, &str)] = &[("strategy", "tff"), ("scheduler", "easy")];

/// Parameters of simulation runs, and the controls of replications and results.
#[derive(Debug)]
pub(crate) struct RunParameters;

impl ParameterSet for RunParameters {
    const WITH_CONTROLS: bool = true;
    const TAKES_LISTS: bool = true;

    fn contains(parameter: &Parameter) -> bool {
        parameter.applies != Applies::Snapshot
    }
}

/// Parameters of when jobs arrive and how much work they have.
#[derive(Debug)]
pub(crate) struct StreamParameters;

impl ParameterSet for StreamParameters {
    const NAMES: &[&str] = &["load", "service", "arrivals"];
}

/// Parameters of replaying a log on a machine without a network and without failures.
#[derive(Debug)]
pub(crate) struct ForecastParameters;

impl ParameterSet for ForecastParameters {
    const NAMES: &[&str] = &["machine", "strategy", "scheduler", "shape-rule", "freedom", "seed"];
    const DEFAULTS: &[(&str, &str)] = LOG_DEFAULTS;

    fn contains(parameter: &Parameter) -> bool {
        Self::NAMES.contains(&parameter.name) || LogParameters::contains(parameter)
    }
}

/// Parameters of replaying a log on a machine whose nodes may fail.
#[derive(Debug)]
pub(crate) struct AdviceParameters;

impl AdviceParameters {
    /// Parameters of failures that change only what is measured or when a run ends.
    pub(super) const EXCLUDED: &[&str] = &["slice", "max-interruptions"];
}

impl ParameterSet for AdviceParameters {
    const NAMES: &[&str] =
        &["arrival-scale", "estimates", "kill", "migration", "movable", "placed"];
    const DEFAULTS: &[(&str, &str)] = LOG_DEFAULTS;

    fn contains(parameter: &Parameter) -> bool {
        let is_failure = parameter.heading == Heading::Failures;
        ForecastParameters::contains(parameter)
            || Self::NAMES.contains(&parameter.name)
            || (is_failure && !Self::EXCLUDED.contains(&parameter.name))
    }
}

/// Parameters of reading a log.
#[derive(Debug)]
pub(crate) struct LogParameters;

impl ParameterSet for LogParameters {
    fn contains(parameter: &Parameter) -> bool {
        parameters::of_reading(parameter.name).is_some()
    }
}

/// Parameters of requests, whose sides are random or come from a log.
#[derive(Debug)]
pub(crate) struct RequestParameters;

impl ParameterSet for RequestParameters {
    const NAMES: &[&str] = &["sides", "trace", "shape-rule"];

    fn contains(parameter: &Parameter) -> bool {
        Self::NAMES.contains(&parameter.name) || LogParameters::contains(parameter)
    }
}

/// Parameters of the network.
#[derive(Debug)]
pub(crate) struct MessageParameters;

impl ParameterSet for MessageParameters {
    const NAMES: &[&str] = &["flits", "routing-delay", "buffer", "engine", "release", "lanes"];
}
