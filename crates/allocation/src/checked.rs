//! A strategy that is not built in, whose proposals are checked before they are believed.
//!
//! Invariant: after its first failure, or a proposal that cannot be granted, it proposes nothing.
//! Forks share the error, so that the machine learns what has gone wrong in a plan.
//!
//! Cost: O(N/64) a proposal, beside the strategy's own.

use std::sync::{Arc, OnceLock};

use pavior_kernel::{CallerError, Stream};
use pavior_mesh::{Cuboid, Occupancy, Request};

use crate::{BadProposal, Placement, Strategy, Work};

/// A strategy, and the first error in what it did.
pub(crate) struct Checked {
    strategy: Box<dyn Strategy>,
    error: Arc<OnceLock<CallerError>>,
}

impl Checked {
    pub(crate) fn wrap(strategy: Box<dyn Strategy>) -> Box<dyn Strategy> {
        Box::new(Checked { strategy, error: Arc::default() })
    }

    /// Keeps the first error.
    fn note(&self, error: Option<CallerError>) {
        if let Some(error) = error {
            self.error.get_or_init(|| error);
        }
    }

    fn has_failed(&self) -> bool {
        self.error.get().is_some()
    }
}

/// Whether a proposal can be granted for a request.
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

    fn reset(&mut self, free: &Occupancy) -> bool {
        // Once it has failed it proposes nothing, whatever is free.
        self.has_failed() || {
            let done = self.strategy.reset(free);
            self.note(self.strategy.error());
            done
        }
    }

    fn granted(&mut self, placement: &Placement) {
        if !self.has_failed() {
            self.strategy.granted(placement);
            self.note(self.strategy.error());
        }
    }

    fn covered(&mut self, whole: &Cuboid, free: &Placement) {
        if !self.has_failed() {
            self.strategy.covered(whole, free);
            self.note(self.strategy.error());
        }
    }

    fn granted_over(&mut self, whole: &Cuboid, free: &Placement) -> bool {
        let followed = !self.has_failed() && self.strategy.granted_over(whole, free);
        self.note(self.strategy.error());
        followed
    }

    fn released(&mut self, placement: &Placement) {
        if !self.has_failed() {
            self.strategy.released(placement);
            self.note(self.strategy.error());
        }
    }

    fn uses_switches(&self, placement: &Placement) -> bool {
        !self.has_failed() && self.strategy.uses_switches(placement)
    }

    fn work(&self) -> Work {
        self.strategy.work()
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(Checked { strategy: self.strategy.fork(), error: Arc::clone(&self.error) })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails when it is first asked, and cannot do anything from then on.
    #[derive(Clone)]
    struct Failing(bool);

    impl Strategy for Failing {
        fn find(&mut self, _: &Occupancy, _: &Request, _: &mut Stream) -> Option<Placement> {
            self.0 = true;
            None
        }

        fn reset(&mut self, _: &Occupancy) -> bool {
            !self.0
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

    /// A plan asks with some nodes free only, and puts all of them back whatever was answered.
    #[test]
    fn one_that_has_failed_is_put_back_like_any_other() {
        let free = Occupancy::all_free("mesh:2x2".parse().unwrap());
        let mut checked = Checked::wrap(Box::new(Failing(false)));
        assert!(checked.reset(&free) && checked.error().is_none());
        let draw = &mut Stream::new(1, 0, "draw");
        assert_eq!(checked.find(&free, &Request::nodes(1), draw), None);
        assert!(checked.error().is_some() && checked.reset(&free));
    }
}
