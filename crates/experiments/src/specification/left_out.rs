//! Combinations that do not apply and are skipped on request.

use serde::Serialize;

use super::error::{Fault, Place};
use crate::keys::Keys;
use crate::parameters::SKIP_UNSUPPORTED;

/// The parameters whose values may not apply to a particular machine or workload.
const CHOICES: [&str; 4] = ["strategy", "scheduler", "freedom", "pattern"];

/// A value that does not apply and was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The parameter: `strategy`, `scheduler`, `freedom` or `pattern`.
    pub parameter: &'static str,
    /// The skipped value.
    pub value: String,
    /// The machine that the value does not apply to. The value may apply to other machines.
    pub machine: String,
    /// The reason why the value does not apply.
    pub reason: String,
}

impl LeftOut {
    /// Describes the skipped value and the reason.
    pub fn words(&self) -> String {
        let LeftOut { parameter, value, machine, reason } = self;
        if reason.starts_with(value.as_str()) {
            format!("{parameter} {reason}")
        } else {
            format!("{parameter} {value} on {machine}: {reason}")
        }
    }
}

/// The policy for combinations that do not apply, and a record of the skipped values.
pub(super) struct Skipping {
    /// True if these combinations are skipped.
    pub(super) is_on: bool,
    /// The spelling of keys.
    pub(super) keys: Keys,
    /// The values skipped so far, without duplicates.
    pub(super) left_out: Vec<LeftOut>,
    /// The location of the first skipped value.
    first: Option<Place>,
}

impl Skipping {
    pub(super) fn new(is_on: bool, keys: Keys) -> Skipping {
        Skipping { is_on, keys, left_out: Vec::new(), first: None }
    }

    /// Records that a combination does not apply.
    ///
    /// # Errors
    /// Returns an error if the combination may not be skipped. `several` is true if other
    /// combinations remain.
    pub(super) fn note(
        &mut self,
        (left_out, place): (LeftOut, Place),
        several: bool,
    ) -> Result<(), Fault> {
        let is_choice = CHOICES.contains(&left_out.parameter);
        if !(is_choice && self.is_on) {
            let hint = if is_choice && several { self.hint() } else { String::new() };
            return Err(Fault::new(left_out.reason + &hint, place));
        }
        self.first.get_or_insert(place);
        if !self.left_out.contains(&left_out) {
            self.left_out.push(left_out);
        }
        Ok(())
    }

    fn hint(&self) -> String {
        match self.keys {
            Keys::Options => format!("; use --{SKIP_UNSUPPORTED} to skip it"),
            Keys::Keywords => {
                format!("; {}=True skips it", SKIP_UNSUPPORTED.replace('-', "_"))
            }
            Keys::Plain => {
                format!("; to skip it, set {SKIP_UNSUPPORTED} = true or use --{SKIP_UNSUPPORTED}")
            }
        }
    }

    /// Creates the error for an experiment in which no combinations remain.
    pub(super) fn nothing_left(self) -> Fault {
        let all: Vec<String> = self.left_out.iter().map(LeftOut::words).collect();
        let reason = format!("nothing is left to compare: {}", all.join("; "));
        Fault::new(reason, self.first.unwrap_or(Place::Nowhere))
    }
}
