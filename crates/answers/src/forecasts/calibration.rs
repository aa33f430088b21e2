//! Corrects forecasts based on the errors of earlier forecasts.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pavior_kernel::Time;
use pavior_mesh::JobId;
use pavior_workload::TimeUnit;
use rustc_hash::FxHashMap;

use super::Kind;

/// The maximum number of promises per size class from which corrections are computed.
const LATEST: usize = 800;
/// The maximum number of open promises to track, including those of late jobs.
const OPEN: usize = 100_000;
/// The minimum number of promises in a size class. If there are fewer, promises to jobs of all
/// sizes are used; if these are also too few, a fixed margin applies.
const ENOUGH: usize = 30;
/// The fraction of waits that may fall outside the interval on each side. It is slightly below 5%,
/// because misses become known late and in bursts.
const OUTSIDE: f64 = 0.04;
/// The step size with which each hit or miss adjusts the target level (Gibbs & Candes 2021).
const STEP: f64 = 0.002;
/// The margin, in the units of [`scaled`], that applies until enough promises have known outcomes.
/// It turns a wait of one hour into an interval from 0 to 12 hours.
const MARGIN: f64 = 20.0;
const LOW: usize = 0;
const MEDIAN: usize = 1;
const HIGH: usize = 2;

/// The 5%, 50% and 95% quantiles of a wait, in the units of [`scaled`].
pub(crate) type Quantiles = [f64; 3];

/// A difference for each of the [`Quantiles`], in the same units.
type Differences = [f64; 3];

/// Adds one minute to a wait and returns the cube root of the sum. Forecast errors grow with the
/// wait, but more slowly.
fn scaled(wait: Time) -> f64 {
    (TimeUnit::SECOND.units(wait) + 60.0).cbrt()
}

/// Returns the wait whose scaled value, according to [`scaled`], is `scaled`.
fn wait_of(scaled: f64) -> Time {
    TimeUnit::SECOND.time((scaled.max(0.0).powi(3) - 60.0).clamp(0.0, 1e11))
}

/// Calibration by online conformal quantile regression (Romano, Patterson & Candes 2019).
///
/// The quantiles over the futures are shifted according to the errors of earlier promises. Each of
/// the three quantiles has its own shift, computed from the latest promises to jobs of similar
/// size. The target level adapts to misses (adaptive conformal inference, Gibbs & Candes 2021). If
/// a job waits longer than promised, that counts as a miss immediately, not only once the job
/// starts. Otherwise, the correction would lag whenever the queue grows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calibration {
    classes: BTreeMap<u32, Residuals>,
    all: Residuals,
    open: FxHashMap<JobId, Promise>,
    /// The deadlines of open promises. A promise is broken if its job has not started by then.
    deadlines: BTreeSet<(Time, JobId)>,
    /// Waiting jobs whose promises are already broken.
    late: BTreeSet<JobId>,
    record: Record,
}

#[derive(Clone, Debug)]
struct Residuals {
    latest: VecDeque<Differences>,
    low_level: f64,
    high_level: f64,
}

impl Default for Residuals {
    fn default() -> Residuals {
        let (low_level, high_level) = (OUTSIDE, 1.0 - OUTSIDE);
        Residuals { latest: VecDeque::new(), low_level, high_level }
    }
}

/// The record of promises to jobs that had to wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The number of promises made. One that is neither kept nor broken is open or was dropped,
    /// because its job was withdrawn or all jobs were forgotten.
    pub made: u64,
    /// The number of jobs that started within the promised interval.
    pub kept: u64,
    /// The number of jobs that started outside the promised interval, or have already waited longer
    /// than promised.
    pub broken: u64,
}

/// A job's forecast: the quantiles over the futures, and the promised waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitForecast {
    pub(crate) raw: Quantiles,
    pub(crate) waits: [Time; 3],
}

/// An open promise to a waiting job.
#[derive(Clone, Copy, Debug)]
struct Promise {
    at: Time,
    class: u32,
    raw: Quantiles,
    low: Time,
    high: Time,
}

impl Promise {
    /// Returns the difference between the wait so far and each quantile.
    fn residual(&self, now: Time) -> Differences {
        let wait = scaled(now.since(self.at));
        self.raw.map(|quantile| wait - quantile)
    }
}

impl Residuals {
    fn add(&mut self, residual: Differences) {
        if self.latest.len() == LATEST {
            self.latest.pop_front();
        }
        self.latest.push_back(residual);
    }

    /// Adjusts the target level for the lower bound after a hit or a miss.
    fn learn_low(&mut self, missed: bool) {
        self.low_level = (self.low_level + STEP * (OUTSIDE - f64::from(missed))).clamp(0.0, 0.4);
    }

    fn learn_high(&mut self, missed: bool) {
        self.high_level = (self.high_level - STEP * (OUTSIDE - f64::from(missed))).clamp(0.6, 1.0);
    }

    /// Returns each quantile's shift, or `None` if too few errors are known. `late` contains the
    /// current errors for jobs that have already waited longer than promised.
    fn shifts(&self, late: &[Differences]) -> Option<Differences> {
        let count = self.latest.len() + late.len();
        if count < ENOUGH {
            return None;
        }
        // Compute ranks as if there were one more value, which accounts for the next wait.
        let more = (count + 1) as f64 / count as f64;
        let low = (self.low_level * more - 1.0 / count as f64).max(0.0);
        let high = (self.high_level * more).min(1.0);
        let of = |which: usize, level: f64| {
            let known = self.latest.iter().chain(late).map(|residual| residual[which]);
            quantile(&mut known.collect::<Vec<f64>>(), level)
        };
        Some([of(LOW, low), of(MEDIAN, 0.5), of(HIGH, high)])
    }
}

/// The shifts that apply to each quantile at one time, by size class.
pub(crate) struct Corrections(BTreeMap<u32, Differences>);

impl Corrections {
    /// Returns the 5%, 50% and 95% quantiles of a job's remaining wait, computed from its waits in
    /// several futures, and the same quantiles without the shifts.
    pub(crate) fn waits(&self, kind: &Kind, futures: &[Time]) -> WaitForecast {
        let mut waits: Vec<f64> = futures.iter().map(|&wait| scaled(wait)).collect();
        let raw = [0.05, 0.5, 0.95].map(|level| quantile(&mut waits, level));
        let shifts = self.0[&kind.size_class()];
        let [low, median, high] = [LOW, MEDIAN, HIGH].map(|which| raw[which] + shifts[which]);
        WaitForecast { raw, waits: [low.min(median), median, high.max(median)].map(wait_of) }
    }
}

impl Calibration {
    /// Returns the numbers of promises made, kept and broken so far, for jobs that had to wait.
    pub(crate) fn record(&self) -> Record {
        self.record
    }

    /// Returns true if the outcomes of enough promises are known. Late jobs count, too.
    pub(crate) fn is_learned(&self) -> bool {
        self.all.latest.len() + self.late.len() >= ENOUGH
    }

    /// Computes the corrections for jobs of the given kinds at time `now`. Takes O(n) time on
    /// average for n errors: at most [`LATEST`] per size class, and one from each late job.
    pub(crate) fn corrections(&self, now: Time, kinds: &[Kind]) -> Corrections {
        let mut late: BTreeMap<u32, Vec<Differences>> = BTreeMap::new();
        for promise in self.late.iter().filter_map(|job| self.open.get(job)) {
            late.entry(promise.class).or_default().push(promise.residual(now));
        }
        let all = LazyCell::new(|| {
            let late: Vec<Differences> = late.values().flatten().copied().collect();
            self.all.shifts(&late).unwrap_or([-MARGIN, 0.0, MARGIN])
        });
        let shifts = |class: u32| {
            let late = late.get(&class).map_or(&[][..], Vec::as_slice);
            let own = self.classes.get(&class).and_then(|own| own.shifts(late));
            (class, own.unwrap_or_else(|| *all))
        };
        let classes: BTreeSet<u32> = kinds.iter().map(Kind::size_class).collect();
        Corrections(classes.into_iter().map(shifts).collect())
    }

    /// Records a forecast for a waiting job. Later forecasts for the same job are ignored.
    pub(crate) fn promise(&mut self, job: JobId, at: Time, kind: &Kind, forecast: &WaitForecast) {
        if self.open.len() >= OPEN || self.open.contains_key(&job) {
            return;
        }
        let [low, _, high] = forecast.waits.map(|wait| at.saturating_add(wait));
        let class = kind.size_class();
        self.open.insert(job, Promise { at, class, raw: forecast.raw, low, high });
        self.deadlines.insert((high, job));
        self.record.made += 1;
    }

    /// Advances the time to `now`, breaking the promises whose intervals have passed.
    pub(crate) fn advance(&mut self, now: Time) {
        while let Some(&(deadline, job)) = self.deadlines.first().filter(|first| first.0 < now) {
            self.deadlines.remove(&(deadline, job));
            let class = self.open[&job].class;
            self.late.insert(job);
            self.record.broken += 1;
            self.learn(class, |residuals| residuals.learn_high(true));
        }
    }

    pub(crate) fn started(&mut self, job: JobId, now: Time) {
        self.advance(now);
        let Some(promise) = self.open.remove(&job) else { return };
        let early = now < promise.low;
        let late = self.late.remove(&job);
        if !late {
            self.deadlines.remove(&(promise.high, job));
            self.record.broken += u64::from(early);
            self.record.kept += u64::from(!early);
        }
        let residual = promise.residual(now);
        self.learn(promise.class, |residuals| {
            residuals.add(residual);
            residuals.learn_low(early);
            if !late {
                residuals.learn_high(false);
            }
        });
    }

    /// Records that a job will never start, and drops its promise.
    pub(crate) fn withdrawn(&mut self, job: JobId) {
        if let Some(promise) = self.open.remove(&job) {
            self.deadlines.remove(&(promise.high, job));
            self.late.remove(&job);
        }
    }

    /// Drops all open promises, so that they do not affect later forecasts.
    pub(crate) fn forget_open(&mut self) {
        self.open.clear();
        self.deadlines.clear();
        self.late.clear();
    }

    fn learn(&mut self, class: u32, lesson: impl Fn(&mut Residuals)) {
        lesson(self.classes.entry(class).or_default());
        lesson(&mut self.all);
    }
}

/// Returns a quantile of the values by linear interpolation, or 0 if there are no values. Reorders
/// the values in place.
fn quantile(values: &mut [f64], level: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return 0.0 };
    let place = level * last as f64;
    let below = (place as usize).min(last);
    let (_, &mut low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let next = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    low + (next - low) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use pavior_kernel::Stream;

    use super::*;

    const SECOND: u64 = TimeUnit::SECOND.ticks;

    #[test]
    fn a_quantile_lies_between_values() {
        let mut values = [3.0, 1.0, 2.0];
        for (level, expected) in [(0.0, 1.0), (0.25, 1.5), (0.5, 2.0), (1.0, 3.0)] {
            assert!((quantile(&mut values, level) - expected).abs() < 1e-12, "{level}");
        }
    }

    #[test]
    fn the_scale_has_an_inverse() {
        for seconds in [0, 1, 3600, 86_400 * 60] {
            let wait = Time(seconds * SECOND);
            let back = wait_of(scaled(wait));
            assert!(back.0.abs_diff(wait.0) < SECOND / 1000, "{seconds}: {back}");
        }
    }

    /// About nine in ten promises must be kept even if every simulated future is wrong. In the
    /// futures, each job waits for one hour; in reality, it waits for one to three hours.
    #[test]
    fn what_is_promised_comes_to_hold() {
        let kind = Kind { user: None, nodes: 4, estimate: None };
        let hour = Time(3600 * SECOND);
        let mut calibration = Calibration::default();
        let mut stream = Stream::new(1, 0, "test");
        let (mut held, mut now) = (0, Time(0));
        for number in 0..2000 {
            let forecast = calibration.corrections(now, &[kind]).waits(&kind, &[hour; 8]);
            calibration.promise(JobId(number), now, &kind, &forecast);
            let [low, _, high] = forecast.waits;
            let wait = Time(stream.between(hour.0, 3 * hour.0));
            held += u64::from(number >= 1000 && (low..=high).contains(&wait));
            now += wait;
            calibration.started(JobId(number), now);
        }
        assert!((880..940).contains(&held), "{held} of 1000");
        assert!(calibration.open.is_empty() && calibration.deadlines.is_empty());
        let Record { made, kept, broken } = calibration.record();
        assert_eq!((made, kept + broken), (2000, 2000));
    }

    #[test]
    fn a_job_that_waits_too_long_counts_before_it_starts() {
        let kind = Kind { user: None, nodes: 4, estimate: None };
        let mut calibration = Calibration::default();
        for number in 0..100 {
            let waits = [Time(0), Time(SECOND), Time(2 * SECOND)];
            let forecast = WaitForecast { raw: [10.0; 3], waits };
            calibration.promise(JobId(number), Time(0), &kind, &forecast);
        }
        calibration.advance(Time(3600 * SECOND));
        assert_eq!(calibration.record(), Record { made: 100, kept: 0, broken: 100 });
        assert!(calibration.is_learned(), "the errors so far shift the intervals");
        let now = Time(3600 * SECOND);
        let [low, ..] =
            calibration.corrections(now, &[kind]).waits(&kind, &[Time(SECOND); 8]).waits;
        assert!(low > Time(700 * SECOND), "a hundred jobs have waited an hour: {low}");
        calibration.withdrawn(JobId(7));
        assert_eq!((calibration.open.len(), calibration.late.len()), (99, 99));
    }
}
