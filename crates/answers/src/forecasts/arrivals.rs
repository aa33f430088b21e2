//! Recent arrivals, from which future arrivals are drawn.

use std::collections::VecDeque;

use pavior_kernel::{Stream, Time};
use pavior_mesh::Request;
use pavior_workload::TimeUnit;

use super::{HORIZON, Kind};

const DAY: u64 = 24 * 3600 * TimeUnit::SECOND.ticks;
/// The number of days of arrivals to keep: a full week, so that every weekday is included.
const DAYS: u64 = 7;
/// The maximum number of arrivals to keep.
const ARRIVALS: usize = 20_000;

/// The arrivals in the last seven days, up to 20,000 of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    recent: VecDeque<Arrival>,
}

/// The properties of a job that were known when it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) at: Time,
    pub(crate) request: Request,
    pub(crate) kind: Kind,
}

impl Arrivals {
    /// Records an arrival. Arrivals must be recorded in order.
    pub(crate) fn add(&mut self, arrival: Arrival) {
        let old = |first: &Arrival| arrival.at.since(first.at).0 > DAYS * DAY;
        while self.recent.len() >= ARRIVALS || self.recent.front().is_some_and(old) {
            self.recent.pop_front();
        }
        self.recent.push_back(arrival);
    }

    /// Returns arrivals after `now` that repeat those from one to seven days ago, at the same time
    /// of day. Returns none if the known arrivals span less than a day.
    pub(crate) fn later<'a>(
        &'a self,
        now: Time,
        stream: &mut Stream,
    ) -> impl Iterator<Item = Arrival> + use<'a> {
        let known = self.recent.front().map_or(0, |first| now.since(first.at).0 / DAY);
        let days = stream.between(1, known.min(DAYS));
        let period = days * DAY;
        let begin = now.since(Time(period));
        let from = self.recent.partition_point(|arrival| arrival.at <= begin);
        let any = known > 0 && from < self.recent.len();
        let rounds = if any { HORIZON.0.div_ceil(period) } else { 0 };
        (1..=rounds).flat_map(move |round| {
            self.recent
                .range(from..)
                .map(move |arrival| Arrival { at: Time(arrival.at.0 + round * period), ..*arrival })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(at: u64) -> Arrival {
        let kind = Kind { user: None, nodes: 1, estimate: None };
        Arrival { at: Time(at), request: Request::nodes(1), kind }
    }

    #[test]
    fn a_day_comes_again_at_the_same_hours() {
        let mut arrivals = Arrivals::default();
        let mut stream = Stream::new(1, 0, "test");
        arrivals.add(arrival(DAY / 2));
        assert_eq!(arrivals.later(Time(DAY), &mut stream).count(), 0, "half a day is too little");
        arrivals.add(arrival(DAY + DAY / 4));
        let now = Time(DAY + DAY * 3 / 4);
        let later: Vec<u64> = arrivals.later(now, &mut stream).take(3).map(|a| a.at.0).collect();
        assert_eq!(later, [2 * DAY + DAY / 4, 3 * DAY + DAY / 4, 4 * DAY + DAY / 4]);
    }

    #[test]
    fn what_is_older_than_a_week_is_forgotten() {
        let mut arrivals = Arrivals::default();
        (0..30).for_each(|day| arrivals.add(arrival(day * DAY)));
        assert_eq!(arrivals.recent.len(), 8);
        (0..3 * ARRIVALS as u64).for_each(|tick| arrivals.add(arrival(30 * DAY + tick)));
        assert_eq!(arrivals.recent.len(), ARRIVALS);
    }
}
