//! What is known beforehand of a strategy's answers.

use pavior_allocation::claim::Recognition;
use pavior_allocation::{Machine, SelectedStrategy};

/// Whether a strategy refuses on fewer nodes what it refuses on more: one that misses nothing, or that grants by
/// count. Then a request that is refused is refused until nodes become free.
pub(crate) fn is_monotone(machine: &Machine) -> bool {
    is_by_count(machine) || is_complete(&machine.selection().claim().recognition)
}

/// Whether a strategy grants wherever enough nodes are free.
pub(crate) fn is_by_count(machine: &Machine) -> bool {
    matches!(machine.selection().claim().recognition, Recognition::Count)
}

/// Whether a strategy's answers depend on nothing but which nodes are free.
pub(crate) fn is_determined(machine: &Machine) -> bool {
    matches!(
        machine.selection().claim().recognition,
        Recognition::First | Recognition::Best { first_of_ties: true, .. }
    )
}

/// Whether a strategy refuses only where none of its shapes is free.
pub(crate) fn is_complete(recognition: &Recognition) -> bool {
    matches!(recognition, Recognition::First | Recognition::Best { .. } | Recognition::Complete)
}
