//! Epochs: the fencing tokens of leases and of waiting requests. An epoch is an integer below 2^53,
//! which every JSON parser can read exactly. Each epoch is one more than the previous one, except
//! that a server starts from an epoch derived from the wall clock: 4096 times the number of
//! milliseconds since 2025.
//!
//! A server that starts from a restored backup or takes over from another server therefore issues
//! epochs greater than any issued before it started, including those missing from its data. This
//! fails only if the previous server averaged more than 4096 epochs per millisecond, or if the
//! clock is behind.
//!
//! A clock that is behind the last epoch is not trusted. Epochs then continue from the last one
//! after a random step of up to 2^30, so two copies of the same data almost certainly start from
//! different epochs. The copy with the smaller step begins to repeat the other copy's epochs once
//! it has issued as many epochs as the difference between the steps. On average, the difference is
//! a third of 2^30. At a thousand epochs per second, that takes four days.
//!
//! The clock's epoch is capped at 2^53 - 2^46, which the clock reaches in 2094. From then on, the
//! clock is always behind the last epoch, so every start takes a random step. A step is at most
//! 1/2^16 of the remaining epochs, so steps never use them up. The 2^46 epochs above the cap last
//! two years at a million epochs per second.

/// 2025-01-01, in milliseconds since 1970.
const ORIGIN_MS: u64 = 1_735_689_600_000;
/// The base-2 logarithm of the number of epochs per millisecond.
const LOG2_PER_MS: u32 = 12;
/// The greatest epoch, and the largest integer that every JSON parser reads exactly.
pub(crate) const MAX_EPOCH: u64 = (1 << 53) - 1;
/// The upper bound of epochs derived from the clock.
const CEILING: u64 = (1 << 53) - (1 << 46);
/// The exclusive upper bound of a random step.
const STEP: u64 = 1 << 30;
/// The base-2 logarithm of the minimum ratio of remaining epochs to the size of a step.
const LOG2_MIN_STEPS: u32 = 16;

/// Returns the epoch that a server's first epoch follows, given the last epoch in its data and the
/// wall clock. `random` must differ on each startup.
pub(crate) fn begin(last: u64, wall_ms: u64, random: u64) -> u64 {
    let since = wall_ms.saturating_sub(ORIGIN_MS).min(CEILING >> LOG2_PER_MS);
    let by_clock = since << LOG2_PER_MS;
    if by_clock > last && by_clock < CEILING {
        return by_clock;
    }
    let last = last.max(by_clock);
    let bound = (MAX_EPOCH.saturating_sub(last) >> LOG2_MIN_STEPS).clamp(1, STEP);
    last + random % bound
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-25.
    const NOW: u64 = 1_795_564_800_000;

    #[test]
    fn a_restored_copy_issues_greater_epochs_than_the_original() {
        // The original server started a day ago and has since granted 30,000 leases per second.
        let original = begin(77, NOW - 86_400_000, 1);
        let granted = original + 30_000 * 86_400;
        for copied_at in [77, original, original + 1000] {
            assert!(begin(copied_at, NOW, 2) > granted);
        }
        // Start once per millisecond for a second, granting leases after each start.
        let mut last = 0;
        for start in 0..1000 {
            let next = begin(last, NOW + start, start * 77);
            assert!(next >= last, "epochs never go back");
            last = next + 4000;
        }
    }

    #[test]
    fn two_copies_start_from_different_epochs_if_the_clock_is_wrong() {
        let last = begin(0, NOW, 0) + 10;
        let differ = |last, wall| {
            let (one, other) = (begin(last, wall, 12_345), begin(last, wall, 987_654_321));
            assert!(one >= last && other >= last && one.abs_diff(other) > 1_000_000);
        };
        for wall in [0, ORIGIN_MS, NOW - 1, NOW - 86_400_000] {
            differ(last, wall);
        }
        // The clock is beyond the ceiling, or was beyond it at an earlier start.
        for (last, wall) in [(last, u64::MAX), (CEILING, NOW), (CEILING + STEP, u64::MAX)] {
            differ(last, wall);
        }
    }

    #[test]
    fn epochs_stay_below_two_to_the_53rd() {
        let mut last = 0;
        for wall in [0, NOW, u64::MAX, NOW, 0, u64::MAX] {
            for start in 0..1000 {
                last = begin(last, wall, u64::MAX - start);
                assert!(MAX_EPOCH - last > 1 << 45, "half of the epochs above the ceiling remain");
            }
        }
        // Steps never exhaust the epochs.
        assert_eq!(begin(MAX_EPOCH, u64::MAX, 7), MAX_EPOCH);
        // If the clock is always behind, eight million startups fit below the ceiling.
        let behind = begin(0, NOW, 0);
        assert!((CEILING - behind) / STEP > 8_000_000);
    }
}
