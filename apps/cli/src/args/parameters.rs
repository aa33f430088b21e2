//! Command-line options generated from the list of parameters: one `--NAME` per parameter, with its
//! description and default.
//!
//! Values are stored as text and parsed by the list of parameters, so an error message can
//! underline the invalid part.

use std::marker::PhantomData;
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use pavior::experiments::parameters::{
    self, CONTROLS, Control, ControlKind, Heading, Parameter, ValueType,
};
use pavior::experiments::{Catalogue, Given, Setting};

use super::parameter_sets::ParameterSet;
use crate::failure::Failure;

/// Options that accept a list of values if the set takes lists. The command runs every combination
/// of these values.
const LISTS: [&str; 5] = ["strategy", "scheduler", "load", "metrics", "precision-metrics"];
/// Options that also have a one-letter name.
const SHORT: [(&str, char); 2] = [("machine", 'm'), ("strategy", 's')];

/// The values that the user passed for the options in a parameter set.
#[derive(Debug)]
pub(crate) struct ParameterArgs<S> {
    typed: Vec<(&'static str, String)>,
    set: PhantomData<S>,
}

impl<S: ParameterSet> ParameterArgs<S> {
    /// Returns the options as experiment settings. Options that the user omitted get the set's own
    /// defaults.
    pub(crate) fn settings(&self) -> Vec<Setting> {
        let typed = self.typed.iter().map(|(name, text)| (*name, text.as_str()));
        let is_open = |(name, _): &(&str, &str)| self.typed(name).is_none();
        let setting = |(name, text): (&str, &str)| {
            let values = if LISTS.contains(&name) { text.split(',').collect() } else { vec![text] };
            let values = values.into_iter().map(String::from).collect();
            Setting { key: name.to_string(), values }
        };
        typed.chain(S::DEFAULTS.iter().copied().filter(is_open)).map(setting).collect()
    }

    /// Returns the settings with the given log as the trace.
    pub(crate) fn settings_for(&self, log: &Path) -> Vec<Setting> {
        let mut settings = self.settings();
        settings.insert(0, Setting::new("trace", log.to_string_lossy()));
        settings
    }

    /// Returns the value that the user passed for an option in the set.
    pub(crate) fn typed(&self, name: &str) -> Option<&str> {
        debug_assert!(option_names::<S>().any(|(other, _)| other == name), "no option --{name}");
        self.typed.iter().find(|(other, _)| *other == name).map(|(_, typed)| typed.as_str())
    }

    /// Returns the user's options as arguments of the form `--first=10`.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = String> {
        option_names::<S>().filter_map(|(name, is_switch)| {
            let text = self.typed(name)?;
            Some(if is_switch { format!("--{name}") } else { format!("--{name}={text}") })
        })
    }

    /// Returns the value that the user passed for an option, or the set's own default.
    pub(crate) fn typed_or_default(&self, name: &str) -> Option<&str> {
        self.typed(name).or(own_default::<S>(name))
    }

    /// Returns the value of every parameter in the set. Options that the user omitted get their
    /// defaults.
    ///
    /// # Errors
    /// Returns an error if a value is invalid for its parameter.
    pub(crate) fn given(&self) -> Result<Given, Failure> {
        let (mut given, catalogue) = (Given::default(), Catalogue::default());
        for parameter in parameters::ALL.iter().filter(|parameter| S::contains(parameter)) {
            let name = parameter.name;
            let value = self.typed_or_default(name).or(parameter.default.first().copied());
            let Some(text) = value else { continue };
            let failure = |error| Failure::option(&format!("--{name}"), text, 0, &error);
            parameter.reading(text, &catalogue).map_err(failure)?.put(&mut given);
        }
        Ok(given)
    }
}

/// Returns the set's own default for an option, which replaces the parameter's default.
fn own_default<S: ParameterSet>(name: &str) -> Option<&'static str> {
    S::DEFAULTS.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
}

impl<S: ParameterSet> FromArgMatches for ParameterArgs<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut typed = Vec::new();
        for (name, is_switch) in option_names::<S>() {
            if matches.value_source(name) != Some(ValueSource::CommandLine) {
                continue;
            }
            let text = if is_switch { None } else { matches.get_one::<String>(name).cloned() };
            typed.push((name, text.unwrap_or_else(|| "true".to_string())));
        }
        Ok(ParameterArgs { typed, set: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = ParameterArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<S: ParameterSet> Args for ParameterArgs<S> {
    fn augment_args(mut command: Command) -> Command {
        for heading in Heading::ALL {
            let is_listed = |one: &&Parameter| one.heading == heading && S::contains(one);
            let listed = parameters::ALL.iter().filter(is_listed);
            command = command.args(listed.map(parameter_arg::<S>));
            let controls = controls::<S>().filter(|(_, other)| *other == heading);
            command = command.args(controls.map(control_arg));
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Returns the set's controls with their headings. Controls without a heading are not options.
fn controls<S: ParameterSet>() -> impl Iterator<Item = (&'static Control, Heading)> {
    let controls = CONTROLS.iter().filter(|_| S::WITH_CONTROLS);
    controls.filter_map(|control| Some((control, control.heading?)))
}

/// Returns the option names, each with a flag that is true if the option takes no value.
fn option_names<S: ParameterSet>() -> impl Iterator<Item = (&'static str, bool)> {
    let parameters = parameters::ALL.iter().filter(|parameter| S::contains(parameter));
    let controls = controls::<S>();
    parameters
        .map(|parameter| (parameter.name, parameter.kind == ValueType::Switch))
        .chain(controls.map(|(control, _)| (control.name, control.kind == ControlKind::Switch)))
}

fn parameter_arg<S: ParameterSet>(parameter: &'static Parameter) -> Arg {
    let Parameter { name, meaning, kind, unit, default, .. } = parameter;
    let mut help = sentence(meaning);
    if !unit.is_empty() {
        help += &format!(" ({unit})");
    }
    if S::TAKES_LISTS && LISTS.contains(name) {
        help += "; separate multiple values with commas to compare them";
    }
    let default = own_default::<S>(name).map_or_else(|| default.join(","), str::to_string);
    let option = arg(name, &help, parameter.heading, &default);
    let option = match SHORT.iter().find(|(long, _)| long == name) {
        Some((_, short)) => option.short(*short),
        None => option,
    };
    match kind {
        // The status (field 11 in a log) may be -1.
        ValueType::Text => option.allow_hyphen_values(*name == "status"),
        ValueType::Number | ValueType::Count => option.allow_hyphen_values(true),
        ValueType::Switch => option.action(ArgAction::SetTrue).num_args(0),
        ValueType::Choice(words) => {
            let words = words
                .iter()
                .map(|(word, meaning)| PossibleValue::new(*word).help(sentence(meaning)));
            option.value_parser(PossibleValuesParser::new(words))
        }
    }
}

fn control_arg((control, heading): (&'static Control, Heading)) -> Arg {
    let option = arg(control.name, &sentence(control.meaning), heading, control.default);
    if control.kind == ControlKind::Switch {
        return option.action(ArgAction::SetTrue).num_args(0);
    }
    option.allow_hyphen_values(matches!(control.kind, ControlKind::Share | ControlKind::Count))
}

fn arg(name: &'static str, help: &str, heading: Heading, default: &str) -> Arg {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{AdviceParameters as Advice, ForecastParameters as Forecasts};
    use crate::args::{MessageParameters, RequestParameters, StreamParameters};

    #[test]
    fn every_listed_name_is_a_parameter_or_a_control() {
        let sets = [StreamParameters::NAMES, RequestParameters::NAMES, MessageParameters::NAMES];
        let sets = [&sets.concat()[..], Forecasts::NAMES, Advice::NAMES].concat();
        let defaults = Forecasts::DEFAULTS.iter().chain(Advice::DEFAULTS).map(|(name, _)| *name);
        let special = LISTS.into_iter().chain(SHORT.map(|(name, _)| name)).chain(defaults);
        for name in sets.into_iter().chain(special) {
            let is_parameter = parameters::ALL.iter().any(|parameter| parameter.name == name);
            let is_control = CONTROLS.iter().any(|control| control.name == name);
            assert!(is_parameter || is_control, "{name}");
        }
        for name in Advice::EXCLUDED {
            let excludes = |one: &Parameter| one.name == *name && one.heading == Heading::Failures;
            assert!(parameters::ALL.iter().any(excludes), "{name}");
        }
    }
}
