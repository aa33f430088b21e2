//! Past states, and problems for records that cannot be read.

use std::sync::Arc;

use axum::http::StatusCode;

use super::fair_queue::StopFlag;
use super::machines::MachineQuery;
use super::{App, Fault};
use crate::core::{Caller, ServiceLimits, StateView};
use crate::storage::StoreError;
use crate::writer::{Cutoff, RecoveryError, state_at};

/// Returns the current state, or the state after a past record or at a past time.
pub(super) async fn view_at(
    app: &Arc<App>,
    caller: &Caller,
    query: &MachineQuery,
) -> Result<Arc<StateView>, Fault> {
    let now = app.writer.view().await?;
    let (until, at_ms) = (query.at.unwrap_or(u64::MAX), query.at_ms.unwrap_or(u64::MAX));
    if until >= now.seq && at_ms >= now.now_ms {
        return Ok(now);
    }
    let (history, seed) = (app.writer.history().clone(), app.seed);
    let until = until.min(now.seq);
    // Without a time, the record number alone is the cutoff, even if nothing was sampled yet.
    let known = query.at_ms.map_or(until, |at_ms| app.samples.before(at_ms).min(until));
    let cutoff = Cutoff { known, until, at_ms };
    // Reading a past state can take a long time, so the work goes through the queue for questions.
    let work = move |stop: &StopFlag| {
        // A view does not depend on the limits.
        let limits = ServiceLimits::default();
        state_at(&*history, &cutoff, &limits, seed, stop).map(|state| state.view())
    };
    match app.questions.run(caller, work).await? {
        Ok(view) => Ok(Arc::new(view)),
        Err(RecoveryError::Store(StoreError::Compacted(upto))) => Err(compacted(upto)),
        Err(error) => Err(Fault::internal(&error)),
    }
}

/// Returns the problem for records that have been removed.
pub(super) fn compacted(upto: u64) -> Fault {
    let detail = format!("records up to {upto} have been removed; start again from GET /v1/state");
    let mut fault = Fault::new(StatusCode::GONE, "compacted", detail);
    fault.problem.oldest = Some(upto);
    fault
}

/// Returns the problem for a record that does not exist yet. The caller may have seen the record's
/// number before the data was restored from an older backup.
pub(super) fn ahead(record: u64, last: u64) -> Fault {
    let detail =
        format!("there is no record {record} (the last is {last}); start again from GET /v1/state");
    Fault::new(StatusCode::GONE, "ahead", detail)
}
