//! A wrapper that checks proposals from strategies that are not built in.
//!
//! Invariant: once the strategy has failed or made a proposal that cannot be granted, it makes no
//! more proposals. Forks share the error, so the machine also sees failures in forks.
//!
//! Cost: O(N/64) per proposal for N nodes, in addition to the strategy's own cost.

use std::sync::{Arc, OnceLock};

use pavior_kernel::{CallerError, Stream};
use pavior_mesh::{Occupancy, Request};

use crate::strategy::MachineStrategy;
use crate::{BadProposal, Placement, Strategy, Work};

/// A strategy and its first error.
pub(crate) struct Checked {
    strategy: Box<dyn Strategy>,
    error: Arc<OnceLock<CallerError>>,
}

impl Clone for Checked {
    fn clone(&self) -> Checked {
        Checked { strategy: self.strategy.fork(), error: Arc::clone(&self.error) }
    }
}

impl Checked {
    pub(crate) fn new(strategy: Box<dyn Strategy>) -> Checked {
        Checked { strategy, error: Arc::default() }
    }

    /// Stores an error unless one is already stored.
    fn note(&self, error: Option<CallerError>) {
        if let Some(error) = error {
            self.error.get_or_init(|| error);
        }
    }

    fn has_failed(&self) -> bool {
        self.error.get().is_some()
    }
}

/// Checks that a proposal can be granted for the given request.
fn check(free: &Occupancy, request: &Request, proposal: &Placement) -> Result<(), BadProposal> {
    let bad = |fault| BadProposal::Placement { proposal: proposal.clone(), fault };
    proposal.take_from(&mut free.clone()).map_err(bad)?;
    let requested = request.nodes;
    if proposal.nodes() < requested {
        return Err(BadProposal::TooFew { proposal: proposal.clone(), requested });
    }
    Ok(())
}

impl Strategy for Checked {
    fn find(
        &mut self,
        free: &Occupancy,
        request: &Request,
        draw: &mut Stream,
    ) -> Option<Placement> {
        if self.has_failed() {
            return None;
        }
        let proposal = self.strategy.find(free, request, draw);
        let checked = proposal.as_ref().map_or(Ok(()), |proposal| check(free, request, proposal));
        self.note(self.strategy.error().or(checked.err().map(CallerError::new)));
        proposal.filter(|_| !self.has_failed())
    }

    fn granted(&mut self, placement: &Placement) {
        if !self.has_failed() {
            self.strategy.granted(placement);
            self.note(self.strategy.error());
        }
    }

    fn released(&mut self, placement: &Placement) {
        if !self.has_failed() {
            self.strategy.released(placement);
            self.note(self.strategy.error());
        }
    }

    fn work(&self) -> Work {
        self.strategy.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn error(&self) -> Option<CallerError> {
        self.error.get().cloned()
    }

    fn validate(&self, free: &Occupancy) {
        if !self.has_failed() {
            self.strategy.validate(free);
        }
    }
}

impl MachineStrategy for Checked {}

#[cfg(test)]
mod tests {
    use pavior_mesh::Cuboid;

    use super::*;
    use crate::strategy::CopyForMachine;

    /// A strategy that fails on its first query and must not be queried again.
    #[derive(Clone)]
    struct Failing(bool);

    impl Strategy for Failing {
        fn find(&mut self, _: &Occupancy, _: &Request, _: &mut Stream) -> Option<Placement> {
            assert!(!std::mem::replace(&mut self.0, true));
            None
        }

        fn granted(&mut self, _: &Placement) {
            assert!(!self.0);
        }

        fn work(&self) -> Work {
            Work::default()
        }

        fn fork(&self) -> Box<dyn Strategy> {
            Box::new(self.clone())
        }

        fn error(&self) -> Option<CallerError> {
            self.0.then(|| CallerError::new(std::fmt::Error))
        }
    }

    #[test]
    fn one_that_has_failed_hears_of_nothing_more_and_refuses() {
        let free = Occupancy::all_free("mesh:2x2".parse().unwrap());
        let node = Placement::Whole(Cuboid::node([0; 3]));
        let mut checked = Checked::new(Box::new(Failing(false)));
        let mut fork = checked.copy();
        checked.granted(&node);
        let draw = &mut Stream::new(1, 0, "draw");
        assert!(checked.error().is_none());
        assert_eq!(checked.find(&free, &Request::nodes(1), draw), None);
        // The machine and its forks all report the failure.
        for strategy in [&mut checked as &mut dyn MachineStrategy, &mut *fork] {
            assert!(strategy.error().is_some());
            strategy.covered(&Cuboid::node([0; 3]), &node);
            strategy.released(&node);
            assert!(!strategy.reset(&free) && !strategy.uses_switches(&node));
            assert_eq!(strategy.find(&free, &Request::nodes(1), draw), None);
        }
    }
}
