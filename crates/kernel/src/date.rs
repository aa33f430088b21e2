//! Dates, in the format used in all output.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, UNIX_EPOCH};

/// A date, stored as the time since 1970. It is displayed in UTC in RFC 3339 format, to the second
/// (or millisecond, with `{:.3}`). Dates after the year 9999 are displayed as the end of that year.
///
/// ```
/// use std::time::Duration;
/// # mod pavior { pub use pavior_kernel as time; }
/// use pavior::time::Date;
/// let date = Date(Duration::from_millis(951_782_400_007));
/// assert_eq!(date.to_string(), "2000-02-29T00:00:00Z");
/// assert_eq!(format!("{date:.3}"), "2000-02-29T00:00:00.007Z");
/// assert_eq!(Date(Duration::from_secs(1_795_311_390)).to_string(), "2026-11-22T01:36:30Z");
/// assert_eq!(Date(Duration::MAX).to_string(), "9999-12-31T23:59:59Z");
/// assert_eq!("2000-02-29T00:00:00.007Z".parse(), Ok(date));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(pub Duration);

impl Date {
    /// Parses a date without a time zone, such as `2026-01-02T03:04:05`, as UTC. Returns `None` for
    /// any other text.
    ///
    /// ```
    /// # mod pavior { pub use pavior_kernel as time; }
    /// use pavior::time::Date;
    /// let date = Date::without_zone("2026-11-22T01:36:30").unwrap();
    /// assert_eq!(date.0.as_secs(), 1_795_311_390);
    /// assert_eq!(Date::without_zone("2026-02-30T01:36:30"), None);
    /// assert_eq!(Date::without_zone("2026-11-22T01:36:30Z"), None);
    /// ```
    pub fn without_zone(text: &str) -> Option<Date> {
        if text.len() != "2026-01-02T03:04:05".len() || !text.contains('T') {
            return None;
        }
        let time = humantime::parse_rfc3339_weak(text).ok()?;
        time.duration_since(UNIX_EPOCH).ok().map(Date)
    }
}

/// The last date with a four-digit year.
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

/// The error for text that is not a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadDate;

impl fmt::Display for BadDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a UTC date since 1970, such as 2026-11-22T01:36:30Z")
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
