//! A strategy that combines a rule with First Fit's search.
//!
//! The wrapper forwards grants and releases to the search. Strategies differ only in the rule.

use pavior_kernel::Stream;
use pavior_mesh::{Cuboid, Occupancy, Request};

use crate::kind::BoxedStrategy;
use crate::strategies::shared::base_search::BaseSearch;
use crate::strategy::MachineStrategy;
use crate::{Placement, Strategy, Work};

/// A rule that decides which boxes to search for, and in which order.
pub(crate) trait SearchRule: Clone + Send + Sync + 'static {
    /// Finds the placement for a request, loading the state into the search when necessary.
    fn find(
        &mut self,
        search: &mut BaseSearch,
        free: &Occupancy,
        request: &Request,
    ) -> Option<Placement>;

    /// Returns the work done by the rule itself, excluding work counted by the search.
    fn work(&self) -> Work {
        Work::default()
    }
}

/// A strategy that consists of a rule and the search that the rule uses.
#[derive(Clone)]
pub(crate) struct SearchStrategy<R> {
    search: BaseSearch,
    rule: R,
}

impl<R: SearchRule> SearchStrategy<R> {
    /// Creates the boxed strategy for an empty machine.
    pub(crate) fn boxed(search: BaseSearch, rule: R) -> BoxedStrategy {
        Box::new(SearchStrategy { search, rule })
    }
}

impl<R: SearchRule> Strategy for SearchStrategy<R> {
    fn find(&mut self, free: &Occupancy, request: &Request, _: &mut Stream) -> Option<Placement> {
        self.rule.find(&mut self.search, free, request)
    }

    fn granted(&mut self, placement: &Placement) {
        self.search.granted(placement);
    }

    fn released(&mut self, placement: &Placement) {
        self.search.released(placement);
    }

    fn work(&self) -> Work {
        self.rule.work() + self.search.work()
    }

    fn validate(&self, free: &Occupancy) {
        self.search.validate(free);
    }

    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

impl<R: SearchRule> MachineStrategy for SearchStrategy<R> {
    fn covered(&mut self, whole: &Cuboid, free: &Placement) {
        self.search.covered(whole, free);
    }

    fn granted_over(&mut self, whole: &Cuboid, free: &Placement) -> bool {
        self.search.granted_over(whole, free);
        true
    }

    fn reset(&mut self, _free: &Occupancy) -> bool {
        self.search.reset();
        true
    }
}
