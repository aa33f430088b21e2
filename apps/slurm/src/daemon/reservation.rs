//! Reserves the gate's license for root.

use pavior::json::log;
use serde_json::json;

use super::Daemon;
use crate::SlurmError;
use crate::calls::{Call, Query};
use crate::ledger::Ledger;
use crate::setup::lists::{List, Lists};

/// The remaining time, in seconds, below which the reservation is renewed.
const MIN_REMAINING_S: u64 = 30 * 86_400;

impl Daemon {
    /// Creates or renews the reservation. Without it, every job would start without a box.
    pub(super) fn keep_reservation(&self, ledger: &Ledger, time: u64) -> Result<(), SlurmError> {
        let license = &self.config.license;
        let mut reserved = ledger.reservations.iter().filter(|other| other.has_license(license));
        if reserved.any(|reservation| reservation.end > time + MIN_REMAINING_S) {
            return Ok(());
        }
        let name = format!("ReservationName={license}");
        let licenses = format!("Licenses={license}:1");
        let exists = ledger.reservations.iter().any(|reservation| reservation.name == *license);
        let arguments: &[&str] = if exists {
            // `Duration=UNLIMITED` would mean a year from the reservation's start.
            &["update", &name, "EndTime=now+365days"]
        } else {
            let loaded = Call::new(Query::Show, &["config"]).answer()?;
            if let Some(line) = Lists::loaded(&loaded).problem(List::Licenses, None, &self.config) {
                return Err(SlurmError::Missing(line + ", and restart slurmctld"));
            }
            &[
                "create",
                "reservation",
                &name,
                &licenses,
                "Users=root",
                "StartTime=now",
                "Duration=UNLIMITED",
                "Flags=LICENSE_ONLY",
            ]
        };
        let dry_run = self.operator.is_none();
        let details = json!({ "command": arguments.join(" "), "dry_run": dry_run });
        log(time, "info", "reservation", details);
        self.operator.as_ref().map_or(Ok(()), |operator| operator.scontrol(arguments))
    }
}
