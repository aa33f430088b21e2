//! The parameter for advance reservations.

use super::{Applies, COMMON, Parameter, verbatim};

pub(super) const RESERVATIONS: Parameter = Parameter {
    name: "reservations",
    meaning: "a file of advance reservations, which no job may overlap: JSON lines \
              {\"boxes\":[{\"base\":[0,0],\"sides\":[4,2]}],\"from\":3600,\"to\":7200}; \
              \"nodes\":[[1,1]] may replace \"boxes\"",
    applies: Applies::Runs,
    read: |text, _| Ok(verbatim(text, |given| &mut given.reservations)),
    ..COMMON
};
