//! Dates, as every output writes them.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, UNIX_EPOCH};

/// A date by the time since 1970, shown in UTC as RFC 3339 has it: to the second, or to the
/// millisecond under `{:.3}`. What is later than the year 9999 is shown as its end.
///
/// ```
/// use std::time::Duration;
/// use pavior_kernel::Date;
/// let date = Date(Duration::from_millis(951_782_400_007));
/// assert_eq!(date.to_string(), "2000-02-29T00:00:00Z");
/// assert_eq!(format!("{date:.3}"), "2000-02-29T00:00:00.007Z");
/// assert_eq!(Date(Duration::from_secs(1_795_311_390)).to_string(), "2026-11-22T01:36:30Z");
/// assert_eq!(Date(Duration::MAX).to_string(), "9999-12-31T23:59:59Z");
/// assert_eq!("2000-02-29T00:00:00.007Z".parse(), Ok(date));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(pub Duration);

/// The last date whose year has four digits.
const LAST: Duration = Duration::from_millis(253_402_300_799_999);

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = UNIX_EPOCH + self.0.min(LAST);
        match f.precision() {
            None => humantime::format_rfc3339_seconds(time).fmt(f),
            Some(_) => humantime::format_rfc3339_millis(time).fmt(f),
        }
    }
}

/// A text that is no date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadDate;

impl fmt::Display for BadDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a date is written as 2026-11-22T01:36:30Z: in UTC, from 1970 on")
    }
}

impl std::error::Error for BadDate {}

impl FromStr for Date {
    type Err = BadDate;

    fn from_str(text: &str) -> Result<Date, BadDate> {
        let time = humantime::parse_rfc3339(text).map_err(|_| BadDate)?;
        time.duration_since(UNIX_EPOCH).map(Date).map_err(|_| BadDate)
    }
}
