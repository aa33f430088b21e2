//! Sets of parameters that commands accept as options.

use pavior::experiments::parameters::{self, Applies, Heading, Parameter};

/// A set of parameters.
pub(crate) trait ParameterSet {
    /// The names of parameters in the set. `contains` may also select others.
    const NAMES: &[&str] = &[];

    /// True if the set includes the controls for replications and results.
    const WITH_CONTROLS: bool = false;

    /// True if the command compares several values of one option.
    const TAKES_LISTS: bool = false;

    /// Defaults that override the parameters' own defaults.
    const DEFAULTS: &[(&str, &str)] = &[];

    /// Returns true if the set includes a parameter.
    fn contains(parameter: &Parameter) -> bool {
        Self::NAMES.contains(&parameter.name)
    }
}

/// The default strategy and scheduler for jobs from a log.
const LOG_DEFAULTS: &[(&str, &str)] = &[("strategy", "tff"), ("scheduler", "easy")];

/// Parameters of simulation runs, and controls for replications and results.
#[derive(Debug)]
pub(crate) struct RunParameters;

impl ParameterSet for RunParameters {
    const WITH_CONTROLS: bool = true;
    const TAKES_LISTS: bool = true;

    fn contains(parameter: &Parameter) -> bool {
        parameter.applies != Applies::Snapshot
    }
}

/// Parameters that set when jobs arrive and how much work each one has.
#[derive(Debug)]
pub(crate) struct StreamParameters;

impl ParameterSet for StreamParameters {
    const NAMES: &[&str] = &["load", "service", "arrivals"];
}

/// Parameters for replaying a log on a machine without a network and without failures.
#[derive(Debug)]
pub(crate) struct ForecastParameters;

impl ParameterSet for ForecastParameters {
    const NAMES: &[&str] = &["machine", "strategy", "scheduler", "shape-rule", "freedom", "seed"];
    const DEFAULTS: &[(&str, &str)] = LOG_DEFAULTS;

    fn contains(parameter: &Parameter) -> bool {
        Self::NAMES.contains(&parameter.name) || LogParameters::contains(parameter)
    }
}

/// Parameters for replaying a log on a machine whose nodes may fail.
#[derive(Debug)]
pub(crate) struct AdviceParameters;

impl AdviceParameters {
    /// Failure parameters that affect only the measurements.
    pub(super) const EXCLUDED: &[&str] = &["slice"];
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

/// Parameters for reading a log.
#[derive(Debug)]
pub(crate) struct LogParameters;

impl ParameterSet for LogParameters {
    fn contains(parameter: &Parameter) -> bool {
        parameters::of_reading(parameter.name).is_some()
    }
}

/// Parameters for requests whose sides are random or come from a log.
#[derive(Debug)]
pub(crate) struct RequestParameters;

impl ParameterSet for RequestParameters {
    const NAMES: &[&str] = &["sides", "trace", "shape-rule"];

    fn contains(parameter: &Parameter) -> bool {
        Self::NAMES.contains(&parameter.name) || LogParameters::contains(parameter)
    }
}

/// Parameters of messages and of the network that carries them.
#[derive(Debug)]
pub(crate) struct MessageParameters;

impl ParameterSet for MessageParameters {
    const NAMES: &[&str] = &["flits", "routing-delay", "buffer", "engine", "release", "lanes"];
}
