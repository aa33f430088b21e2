//! The parameter of advance reservations.

use super::{Applies, COMMON, Parameter, verbatim};

pub(super) const RESERVATIONS: Parameter = Parameter {
    name: "reservations",
    meaning: "a list of nodes that are reserved ahead, into which no job starts: JSON lines \
              {\"boxes\":[{\"base\":[0,0],\"sides\":[4,2]}],\"from\":3600,\"to\":7200}; also of \
              \"nodes\":[[1,1]]",
    applies: Applies::Runs,
    read: |text, _| Ok(verbatim(text, |given| &mut given.reservations)),
    ..COMMON
};
