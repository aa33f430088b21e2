//! The task that keeps the forecasts current.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::NextUpdate;
use crate::http::App;

/// The time limit for updating the forecasts for all machines. Forecasts that are not ready in time
/// are missing until the next update.
const UPDATE_TIMEOUT: Duration = Duration::from_secs(10);
/// The next update after a failure, which reads past records again.
const RETRY: NextUpdate =
    NextUpdate { min_delay: Duration::from_mins(1), max_delay: Some(Duration::ZERO) };

/// Updates the forecasts until the service stops.
pub(crate) async fn update_forecasts(app: Arc<App>) {
    let mut stopping = app.stopping.clone();
    let mut records = app.writer.watch();
    loop {
        let (shared, stop) = (app.clone(), Arc::new(AtomicBool::new(false)));
        let flag = stop.clone();
        let work = move || shared.forecasts.update(&shared.writer, shared.seed, &flag);
        let mut work = tokio::task::spawn_blocking(work);
        let in_time = tokio::select! {
            updated = &mut work => Some(updated),
            () = tokio::time::sleep(UPDATE_TIMEOUT) => None,
            _ = stopping.wait_for(|stopping| *stopping) => None,
        };
        let updated = if let Some(updated) = in_time {
            updated
        } else {
            stop.store(true, Ordering::Relaxed);
            work.await
        };
        let updated = updated.map_err(|panic| panic.to_string());
        let updated = updated.and_then(|next| next.map_err(|unreadable| unreadable.to_string()));
        let next = updated.unwrap_or_else(|error| {
            tracing::warn!(error, "cannot update the forecasts");
            RETRY
        });
        tokio::select! {
            () = tokio::time::sleep(next.min_delay) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        tokio::select! {
            changed = records.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(next.max_delay.unwrap_or(Duration::MAX)) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
    }
}
