//! A strategy that is not built in, whose proposals are checked before they are believed.

use std::sync::{Arc, OnceLock};

use pavior_kernel::{CallerError, Stream};
use pavior_mesh::{Occupancy, Request};

use crate::{BadProposal, Placement, Strategy, Work};

/// Asks a strategy until it fails or proposes what cannot be granted; from then on it proposes nothing.
/// Forks share the error, so that the machine learns what has gone wrong in a plan.
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
    proposal.take_from(&mut free.clone())?;
    let (proposed, requested) = (proposal.nodes(), request.nodes);
    if proposed < requested { Err(BadProposal::TooFew { proposed, requested }) } else { Ok(()) }
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
        !self.has_failed() && self.strategy.reset(free)
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
