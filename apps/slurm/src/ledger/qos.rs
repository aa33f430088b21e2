//! The site's QOSes, as stored in slurmdbd.

use std::collections::HashMap;
use std::time::Duration;

use crate::SlurmError;
use crate::calls::{Bounds, Call, Query};
use crate::ledger::site::Mode;
use crate::ledger::times::time_limit;

/// Time and output limits for a request to slurmdbd.
const ACCOUNT_BOUNDS: Bounds = Bounds { time: Duration::from_secs(10), output: 64 << 20 };

/// The fields requested for each record.
const FORMAT: &str =
    "format=Name,Flags,Preempt,PreemptMode,PreemptExemptTime,GraceTime,UsageFactor,LimitFactor";

/// A QOS's limit and preemption rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Qos {
    /// True if this QOS's limits override those of the partition's QOS.
    pub(crate) over_partition: bool,
    /// The QOSes whose jobs this QOS may preempt.
    pub(crate) preempts: Vec<String>,
    /// The preemption mode, if it differs from the cluster's.
    pub(crate) mode: Option<Mode>,
    pub(crate) exempt_s: Option<u64>,
    pub(crate) grace_s: u64,
    /// True if usage is not scaled (`UsageFactor` is 1).
    pub(crate) is_unscaled: bool,
    /// True if this QOS scales associations' limits (`LimitFactor` is set).
    pub(crate) scales_limits: bool,
}

/// Requests the QOSes from slurmdbd.
pub(super) fn read() -> Result<HashMap<String, Qos>, SlurmError> {
    let call = Call::new(Query::Accounts, &["qos", "-n", "-P", FORMAT]).bounds(ACCOUNT_BOUNDS);
    Ok(parse(&call.answer()?))
}

fn parse(text: &str) -> HashMap<String, Qos> {
    text.lines().filter_map(parse_line).collect()
}

/// Parses `Name|Flags|Preempt|PreemptMode|PreemptExemptTime|GraceTime|UsageFactor|LimitFactor`.
fn parse_line(line: &str) -> Option<(String, Qos)> {
    let fields: Vec<&str> = line.split('|').collect();
    let &[name, flags, preempts, mode, exempt, grace, usage, factor] = &fields[..] else {
        return None;
    };
    let flag = |word: &str| flags.split(',').any(|one| one.eq_ignore_ascii_case(word));
    let mode = Some(mode).filter(|mode| !mode.is_empty() && !mode.eq_ignore_ascii_case("cluster"));
    let seconds = |text: &str| time_limit(text).ok().flatten();
    let qos = Qos {
        over_partition: flag("OverPartQOS"),
        preempts: preempts.split(',').filter(|one| !one.is_empty()).map(Into::into).collect(),
        mode: mode.map(Mode::of),
        exempt_s: if exempt.is_empty() { None } else { seconds(exempt) },
        grace_s: seconds(grace).unwrap_or(0),
        is_unscaled: usage.is_empty() || usage.parse() == Ok(1.0f64),
        scales_limits: !factor.is_empty(),
    };
    Some((name.to_string(), qos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_sacctmgr_is_parsed() {
        let text = "normal|||cluster||00:00:00|1.000000|\n\
                    high|DenyOnLimit,OverPartQOS|low,normal|cancel|00:10:00|00:01:00|0.5|2\n\
                    torn|x\n";
        let qos = parse(text);
        assert_eq!(qos.len(), 2);
        let normal = &qos["normal"];
        assert!(normal.is_unscaled && !normal.scales_limits && normal.preempts.is_empty());
        assert_eq!((normal.mode, normal.exempt_s, normal.over_partition), (None, None, false));
        let high = &qos["high"];
        assert_eq!(high.preempts, ["low", "normal"]);
        assert_eq!((high.mode, high.exempt_s, high.grace_s), (Some(Mode::Cancel), Some(600), 60));
        assert!(high.over_partition && high.scales_limits && !high.is_unscaled);
    }
}
