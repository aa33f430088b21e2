//! What a scheduler is told of how long a job takes on some nodes.

use pavior_allocation::Placement;
use pavior_workload::Job;

/// Says beforehand how much longer a job takes on some nodes than in the box that it asks for.
///
/// The one who runs the machine hands it over
/// ([`MachineView::with_prediction`](crate::MachineView::with_prediction)): a scheduler sees
/// neither strategy nor network. Any function of a job and a placement is one.
///
/// ```
/// use pavior_allocation::Placement;
/// use pavior_scheduling::Prediction;
/// use pavior_workload::Job;
/// // A job in several pieces takes half as long again.
/// let mut slower = |_: &Job, placement: &Placement| {
///     if placement.parts().len() > 1 { 1.5 } else { 1.0 }
/// };
/// fn takes(_: &mut dyn Prediction) {}
/// takes(&mut slower);
/// ```
pub trait Prediction {
    /// The job's time on these nodes over its time in the box that it asks for. The same question
    /// must have the same answer as long as no job starts or ends.
    fn growth(&mut self, job: &Job, placement: &Placement) -> f64;
}

impl<F: FnMut(&Job, &Placement) -> f64> Prediction for F {
    fn growth(&mut self, job: &Job, placement: &Placement) -> f64 {
        self(job, placement)
    }
}
