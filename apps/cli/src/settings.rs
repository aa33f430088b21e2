//! Creates specifications and scenarios from a command's settings.

use pavior::experiments::{Keys, Scenario, Setting, Specification};
use pavior::simulation::Histories;

use crate::failure::Failure;
use crate::logs;

/// Parses settings into a specification. Error messages underline the invalid part of the input.
pub(crate) fn specification(settings: &[Setting], name: &str) -> Result<Specification, Failure> {
    Specification::from_settings(settings, name, Keys::Options)
        .map_err(|error| Failure::in_setting(settings, error))
}

/// Creates the scenario for the first point, for commands that use only its jobs.
pub(crate) fn scenario(settings: &[Setting]) -> Result<Scenario, Failure> {
    let specification = specification(settings, "simulate")?;
    let point = &specification.points[0];
    Scenario::new(point.settings(), false, &logs::folder(""), &Histories::default())
        .map_err(Failure::from_input)
}
