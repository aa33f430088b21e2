//! What is known beforehand of a strategy's answers.

use pavior_allocation::claim::Recognition;
use pavior_allocation::{Machine, SelectedStrategy};

/// Whether a strategy's answers depend on nothing but which nodes are free.
pub(crate) fn is_determined(machine: &Machine) -> bool {
    matches!(
        machine.selection().claim().recognition,
        Recognition::First | Recognition::Best { first_of_ties: true, .. }
    )
}
