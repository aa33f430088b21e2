//! The parameter for advance reservations.

use super::{Applies, COMMON, Parameter, verbatim};

pub(super) const RESERVATIONS: Parameter = Parameter {
    name: "reservations",
    meaning: "a list of advance reservations of nodes, which no job may overlap: JSON lines \
              {\"boxes\":[{\"base\":[0,0],\"sides\":[4,2]}],\"from\":3600,\"to\":7200}, or with \
              \"nodes\":[[1,1]]",
    applies: Applies::Runs,
    read: |text, _| Ok(verbatim(text, |given| &mut given.reservations)),
    ..COMMON
};
