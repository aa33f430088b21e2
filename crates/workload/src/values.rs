//! Values that the options of several entries take.

use pavior_kernel::Values;

/// Means and rates: a decimal number above 0. The bound keeps sums of very many of them in range.
pub(crate) const POSITIVE: Values = Values::Text("number above 0, at most 1e9", |text| {
    text.parse::<f64>().is_ok_and(|value| value > 0.0 && value <= 1e9)
});
