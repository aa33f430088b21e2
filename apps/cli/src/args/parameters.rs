//! Command-line options generated from the list of parameters: one `--NAME` for each parameter,
//! with its description and default.
//!
//! Values are stored as typed. The list of parameters parses them, so that an error message can
//! underline the typed text.

use std::marker::PhantomData;
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use pavior::experiments::parameters::{
    self, Applies, CONTROLS, Control, ControlKind, Heading, Parameter, ValueType,
};
use pavior::experiments::{Catalogue, Given, Setting, SettingError};

use crate::failure::Failure;

/// A selection of parameters and controls that a command accepts as options.
pub(crate) trait Choice {
    /// Returns true if the selection includes a parameter.
    fn has(parameter: &Parameter) -> bool;

    /// True if the selection includes the controls.
    const CONTROLS: bool = false;

    /// True if the command compares several values of the options in [`LISTS`].
    const COMPARES: bool = false;

    /// Defaults that replace those of the parameters.
    const DEFAULTS: &[(&str, &str)] = &[];
}

/// The default strategy and scheduler for replaying a log.
const OF_LOGS: [(&str, &str); 2] = [("strategy", "tff"), ("scheduler", "easy")];

/// Parameters of simulation runs, and the controls of replications and results.
#[derive(Debug)]
pub(crate) struct OfRuns;

impl Choice for OfRuns {
    fn has(parameter: &Parameter) -> bool {
        parameter.applies != Applies::Snapshot
    }

    const CONTROLS: bool = true;
    const COMPARES: bool = true;
}

/// Parameters for the arrival times and the work of jobs.
#[derive(Debug)]
pub(crate) struct OfStreams;

impl Choice for OfStreams {
    fn has(parameter: &Parameter) -> bool {
        ["load", "service", "arrivals"].contains(&parameter.name)
    }
}

/// Parameters for replaying a log on a machine without a network and without failures.
#[derive(Debug)]
pub(crate) struct OfForecasts;

impl Choice for OfForecasts {
    fn has(parameter: &Parameter) -> bool {
        let of_jobs = ["machine", "strategy", "scheduler", "shape-rule", "freedom", "seed"];
        of_jobs.contains(&parameter.name) || OfReading::has(parameter)
    }

    const DEFAULTS: &[(&str, &str)] = &OF_LOGS;
}

/// Parameters for replaying a log on a machine whose nodes may fail.
#[derive(Debug)]
pub(crate) struct OfAdvice;

impl Choice for OfAdvice {
    fn has(parameter: &Parameter) -> bool {
        let of_jobs = ["arrival-scale", "estimates", "kill", "migration", "movable", "placed"];
        let watched = ["slice", "max-interruptions"];
        OfForecasts::has(parameter)
            || of_jobs.contains(&parameter.name)
            || parameter.heading == Heading::Failures && !watched.contains(&parameter.name)
    }

    const DEFAULTS: &[(&str, &str)] = &OF_LOGS;
}

/// Parameters for reading a log.
#[derive(Debug)]
pub(crate) struct OfReading;

impl Choice for OfReading {
    fn has(parameter: &Parameter) -> bool {
        parameters::of_reading(parameter.name).is_some()
    }
}

/// Parameters for requests, whose sides are random or come from a log.
#[derive(Debug)]
pub(crate) struct OfRequests;

impl Choice for OfRequests {
    fn has(parameter: &Parameter) -> bool {
        ["sides", "trace", "shape-rule"].contains(&parameter.name) || OfReading::has(parameter)
    }
}

/// Parameters of the network.
#[derive(Debug)]
pub(crate) struct OfNetworks;

impl Choice for OfNetworks {
    fn has(parameter: &Parameter) -> bool {
        ["flits", "routing-delay", "buffer", "engine", "release", "lanes"].contains(&parameter.name)
    }
}

/// Options that take a list of values. The command runs every combination of them.
const LISTS: [&str; 5] = ["strategy", "scheduler", "load", "metrics", "precision-metrics"];
/// Options that also have a one-letter name.
const SHORT: [(&str, char); 2] = [("machine", 'm'), ("strategy", 's')];

/// The values typed for the options in a selection of parameters.
#[derive(Debug)]
pub(crate) struct ParameterArgs<C> {
    typed: Vec<(&'static str, String)>,
    choice: PhantomData<C>,
}

impl<C: Choice> ParameterArgs<C> {
    /// Returns the typed values as settings of an experiment.
    pub(crate) fn settings(&self) -> Vec<Setting> {
        let setting = |(name, typed): &(&str, String)| {
            let values =
                if LISTS.contains(name) { typed.split(',').collect() } else { vec![&**typed] };
            Setting {
                key: (*name).to_string(),
                values: values.into_iter().map(String::from).collect(),
            }
        };
        self.typed.iter().map(setting).collect()
    }

    /// Returns the value of an option as typed.
    pub(crate) fn typed(&self, name: &str) -> Option<&str> {
        self.typed.iter().find(|(other, _)| *other == name).map(|(_, typed)| typed.as_str())
    }

    /// Returns the typed value of an option, or the choice's own default.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        let default = C::DEFAULTS.iter().find(|(other, _)| *other == name);
        self.typed(name).or(default.map(|(_, value)| *value))
    }

    /// Returns the typed values and the choice's own defaults, as settings for the jobs of a log.
    pub(crate) fn settings_for(&self, log: &Path) -> Vec<Setting> {
        let mut settings = self.settings();
        settings.insert(0, Setting::new("trace", log.to_string_lossy()));
        let open = C::DEFAULTS.iter().filter(|(name, _)| self.typed(name).is_none());
        settings.extend(open.map(|&(name, value)| Setting::new(name, value)));
        settings
    }

    /// Returns the value of every parameter in the selection. Parameters that were not typed have
    /// their default values.
    ///
    /// # Errors
    /// Returns an error if a typed value is not a value of its parameter.
    pub(crate) fn given(&self) -> Result<Given, Failure> {
        let (mut given, catalogue) = (Given::default(), Catalogue::default());
        for parameter in parameters::ALL.iter().filter(|parameter| C::has(parameter)) {
            let name = parameter.name;
            let typed = self.typed(name);
            let Some(text) = typed.or(parameter.default.first().copied()) else { continue };
            let bad = |bad| Failure::option(&format!("--{name}"), text, 0, &bad);
            parameter.reading(text, &catalogue).map_err(bad)?.put(&mut given);
        }
        Ok(given)
    }
}

/// Converts an error in a setting to one whose message underlines the wrong part of the typed text.
pub(crate) fn failure(settings: &[Setting], error: SettingError) -> Failure {
    let SettingError { reason, setting, value } = error;
    let (Some(setting), Some((value, span))) = (setting.map(|index| &settings[index]), value)
    else {
        return Failure::usage(reason);
    };
    let before: usize = setting.values[..value].iter().map(|value| value.len() + 1).sum();
    let (option, typed) = (format!("--{}", setting.key), setting.values.join(","));
    Failure::option(&option, &typed, before, &pavior::BadName { reason, span })
}

impl<C: Choice> FromArgMatches for ParameterArgs<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut typed = Vec::new();
        for (name, is_switch) in names::<C>() {
            if matches.value_source(name) != Some(ValueSource::CommandLine) {
                continue;
            }
            let text =
                if is_switch { None } else { matches.get_one::<String>(name).map(String::as_str) };
            typed.push((name, text.unwrap_or("true").to_string()));
        }
        Ok(ParameterArgs { typed, choice: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = ParameterArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<C: Choice> Args for ParameterArgs<C> {
    fn augment_args(mut command: Command) -> Command {
        for heading in Heading::ALL {
            let chosen = parameters::ALL.iter().filter(|one| one.heading == heading && C::has(one));
            command = command.args(chosen.map(of_parameter::<C>));
            let controls = controls::<C>().filter(|control| control.heading == Some(heading));
            command = command.args(controls.map(of_control));
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn controls<C: Choice>() -> impl Iterator<Item = &'static Control> {
    CONTROLS.iter().filter(|control| C::CONTROLS && control.heading.is_some())
}

/// Returns the name of each option, with a flag that is true if the option takes no value.
fn names<C: Choice>() -> impl Iterator<Item = (&'static str, bool)> {
    let chosen = parameters::ALL.iter().filter(|parameter| C::has(parameter));
    let chosen = chosen.map(|parameter| (parameter.name, parameter.kind == ValueType::Switch));
    let controls = controls::<C>();
    chosen.chain(controls.map(|control| (control.name, control.kind == ControlKind::Switch)))
}

fn of_parameter<C: Choice>(parameter: &'static Parameter) -> Arg {
    let Parameter { name, meaning, kind, unit, default, .. } = parameter;
    let mut help = sentence(meaning);
    if !unit.is_empty() {
        help += &format!(" ({unit})");
    }
    if C::COMPARES && LISTS.contains(name) {
        help += "; separate several values with commas to compare them";
    }
    let other = C::DEFAULTS.iter().find(|(one, _)| one == name);
    let default = other.map_or_else(|| default.join(","), |(_, value)| (*value).to_string());
    let arg = option(name, &help, parameter.heading, &default);
    let arg = match SHORT.iter().find(|(long, _)| long == name) {
        Some((_, short)) => arg.short(*short),
        None => arg,
    };
    match kind {
        // The status, field 11 of a log, may be -1.
        ValueType::Text => arg.allow_hyphen_values(*name == "status"),
        ValueType::Number | ValueType::Count => arg.allow_hyphen_values(true),
        ValueType::Switch => arg.action(ArgAction::SetTrue).num_args(0),
        ValueType::Choice(words) => {
            let words = words
                .iter()
                .map(|(word, meaning)| PossibleValue::new(*word).help(sentence(meaning)));
            arg.value_parser(PossibleValuesParser::new(words))
        }
    }
}

fn of_control(control: &'static Control) -> Arg {
    let heading = control.heading.unwrap_or(Heading::General);
    let arg = option(control.name, &sentence(control.meaning), heading, control.default);
    if control.kind == ControlKind::Switch {
        return arg.action(ArgAction::SetTrue).num_args(0);
    }
    arg.allow_hyphen_values(matches!(control.kind, ControlKind::Share | ControlKind::Count))
}

fn option(name: &'static str, help: &str, heading: Heading, default: &str) -> Arg {
    let default = match default {
        "" | "false" => String::new(),
        default => format!(" [default: {default}]"),
    };
    let arg = Arg::new(name).long(name).help(format!("{help}{default}"));
    let arg = arg.value_name(name.replace('-', "_").to_uppercase());
    match heading {
        Heading::General => arg,
        other => arg.help_heading(other.title()),
    }
}

/// Capitalizes the first letter of a clause.
fn sentence(clause: &str) -> String {
    let mut letters = clause.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
