//! Option values shared by several registry entries.

use pavior_kernel::Values;

/// A mean or rate: a positive decimal number, with an upper limit that keeps sums in range.
pub(crate) const POSITIVE: Values = Values::Text("number above 0 and at most 1e9", |text| {
    text.parse::<f64>().is_ok_and(|value| value > 0.0 && value <= 1e9)
});
