//! Values shared by options of several entries.

use pavior_kernel::Values;

/// The values of means and rates, which are positive decimal numbers, bounded to keep sums in
/// range.
pub(crate) const POSITIVE: Values = Values::Text("number above 0, at most 1e9", |text| {
    text.parse::<f64>().is_ok_and(|value| value > 0.0 && value <= 1e9)
});
