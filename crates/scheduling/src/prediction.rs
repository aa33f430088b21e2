//! Predictions of job run times on specific nodes.

use pavior_allocation::Placement;
use pavior_workload::Job;

/// A prediction of how much longer a job takes on specific nodes than in its requested box.
///
/// The caller that runs the machine provides the prediction
/// ([`MachineView::with_prediction`](crate::MachineView::with_prediction)), because a scheduler has
/// no access to the strategy or the network. Any function that takes a job and a placement and
/// returns a number implements this trait.
/// ```
/// # mod pavior { pub use pavior_scheduling as scheduling;
/// #     pub use pavior_workload as workload; pub use pavior_allocation::*; }
/// use pavior::scheduling::Prediction;
/// use pavior::workload::Job;
/// use pavior::Placement;
/// // A job in several pieces takes 50% longer.
/// let mut slower = |_: &Job, placement: &Placement| {
///     if placement.parts().len() > 1 { 1.5 } else { 1.0 }
/// };
/// fn takes(_: &mut dyn Prediction) {}
/// takes(&mut slower);
/// ```
pub trait Prediction {
    /// Returns the job's run time on these nodes divided by its run time in its requested box.
    /// Equal arguments must produce equal results until a job starts or ends.
    fn growth(&mut self, job: &Job, placement: &Placement) -> f64;
}

impl<F: FnMut(&Job, &Placement) -> f64> Prediction for F {
    fn growth(&mut self, job: &Job, placement: &Placement) -> f64 {
        self(job, placement)
    }
}
