//! Quantiles of Student's t. Only `libm` is used, so results are bit-identical regardless of the
//! linked libraries.
//!
//! The quantile is computed from the incomplete beta function I(x; n/2, 1/2), which is inverted by
//! Newton's method. Sources: Majumder & Bhattacharjee 1973, Algorithm AS 64; Cran, Martin & Thomas
//! 1977, Remark AS R19 and Algorithm AS 109; Berry, Mielke & Cran 1990, Remark AS R83. The
//! incomplete beta function is computed as a continued fraction (Press et al., Numerical Recipes,
//! 6.4), and the gamma function by Lanczos' approximation with Pugh's coefficients (2004). The code
//! follows the crates `statrs` (MIT) and `special` (MIT or Apache 2.0), operation by operation.

/// Pugh's r and coefficients.
const GAMMA_R: f64 = 10.900_511;
const GAMMA_DK: [f64; 11] = [
    2.485_740_891_387_535_5e-5,
    1.051_423_785_817_219_7,
    -3.456_870_972_220_162_5,
    4.512_277_094_668_948,
    -2.982_852_253_235_766_4,
    1.056_397_115_771_267,
    -1.954_287_731_916_458_7e-1,
    1.709_705_434_044_412e-2,
    -5.719_261_174_043_057e-4,
    4.633_994_733_599_057e-6,
    -2.719_949_084_886_077_2e-9,
];
/// ln(2 sqrt(e / pi)).
const LN_2_SQRT_E_OVER_PI: f64 = 0.620_782_237_635_245_2;
/// Half the distance between 1 and the next larger floating-point number.
const PRECISION: f64 = f64::EPSILON / 2.0;
/// The square of the step size below which Newton's method stops.
const LEAST_SQUARE: f64 = 1e-30;

/// Returns the two-sided quantile of Student's t: the t for which the interval from -t to t has the
/// given probability. The result is infinite for zero degrees of freedom, and for a probability of
/// 1.
///
/// ```
/// # mod pavior { pub use pavior_experiments as experiments; }
/// let t = pavior::experiments::student_t(0.95, 9);
/// assert!((t - 2.2622).abs() < 1e-4);
/// ```
pub fn student_t(confidence: f64, degrees_of_freedom: usize) -> f64 {
    let freedom = degrees_of_freedom as f64;
    if confidence <= 0.0 {
        return 0.0;
    }
    if degrees_of_freedom == 0 || confidence >= 1.0 {
        return f64::INFINITY;
    }
    // The probability of the upper tail.
    let tail = 1.0 - (0.5 + confidence / 2.0);
    // Rounding can make the tail 0 (if the probability is close to 1) or 1/2 (if it is close to 0).
    // Neither case needs a search.
    if tail <= 0.0 {
        return f64::INFINITY;
    }
    if tail >= 0.5 {
        return 0.0;
    }
    let y = inverse_beta(0.5 * freedom, 0.5, 2.0 * tail);
    libm::sqrt(freedom * (1.0 - y) / y)
}

/// Returns the logarithm of the gamma function. x must be at least 1/2.
fn ln_gamma(x: f64) -> f64 {
    let terms = GAMMA_DK.iter().enumerate().skip(1);
    let sum = terms.fold(GAMMA_DK[0], |sum, (index, dk)| sum + dk / (x + index as f64 - 1.0));
    libm::log(sum)
        + LN_2_SQRT_E_OVER_PI
        + (x - 0.5) * libm::log((x - 0.5 + GAMMA_R) / std::f64::consts::E)
}

/// Returns the regularized incomplete beta function I(x; a, b).
fn beta(mut a: f64, mut b: f64, mut x: f64) -> f64 {
    let front = if x == 0.0 || 1.0 - x <= 1e-15 {
        0.0
    } else {
        libm::exp(
            ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * libm::log(x) + b * libm::log(1.0 - x),
        )
    };
    let turned = x >= (a + 1.0) / (a + b + 2.0);
    if turned {
        x = 1.0 - x;
        std::mem::swap(&mut a, &mut b);
    }
    let h = beta_fraction(a, b, x);
    if turned { 1.0 - front * h / a } else { front * h / a }
}

/// Evaluates the continued fraction of the incomplete beta function by Lentz's method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let least = f64::MIN_POSITIVE / PRECISION;
    let not_zero = |value: f64| if value.abs() < least { least } else { value };
    let (both, above, below) = (a + b, a + 1.0, a - 1.0);
    let mut c = 1.0;
    let mut d = 1.0 / not_zero(1.0 - both * x / above);
    let mut h = d;
    for m in 1..141 {
        let m = f64::from(m);
        let twice = m * 2.0;
        let even = m * (b - m) * x / ((below + twice) * (a + twice));
        d = not_zero(1.0 + even * d);
        c = not_zero(1.0 + even / c);
        d = 1.0 / d;
        h = h * d * c;
        let odd = -(a + m) * (both + m) * x / ((a + twice) * (above + twice));
        d = not_zero(1.0 + odd * d);
        c = not_zero(1.0 + odd / c);
        d = 1.0 / d;
        let change = d * c;
        h *= change;
        if (change - 1.0).abs() <= PRECISION {
            break;
        }
    }
    h
}

/// Finds the x for which I(x; a, b) is `level`. Either a or b must be 1/2.
fn inverse_beta(mut a: f64, mut b: f64, mut level: f64) -> f64 {
    let ln_beta = ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
    let turned = level > 0.5;
    if turned {
        std::mem::swap(&mut a, &mut b);
        level = 1.0 - level;
    }
    let mut p = first_guess(a, b, level, ln_beta).clamp(0.0001, 0.9999);
    let digits = (-5.0 / a / a - 1.0 / libm::pow(level, 0.2) - 13.0) as i32;
    let accuracy = if digits > -30 { libm::pow(10.0, f64::from(digits)) } else { LEAST_SQUARE };
    let (mut last_step, mut square, mut bound) = (0.0, 1.0, 1.0);
    loop {
        let slope = libm::exp(ln_beta + (1.0 - a) * libm::log(p) + (1.0 - b) * libm::log(1.0 - p));
        let step = (beta(a, b, p) - level) * slope;
        if step * last_step <= 0.0 {
            bound = if square > LEAST_SQUARE { square } else { LEAST_SQUARE };
        }
        // Divide the step by three until it is small enough and the result is in [0, 1].
        let mut share = 1.0;
        let next = loop {
            let change = share * step;
            square = change * change;
            let next = p - change;
            if square < bound && (0.0..=1.0).contains(&next) {
                let is_inside = next > 0.0 && next < 1.0;
                if is_inside || bound <= accuracy || step * step <= accuracy {
                    break next;
                }
            }
            share /= 3.0;
            if share == 0.0 {
                // The step is NaN, or no fraction of the step is acceptable.
                break p;
            }
        };
        let is_close = bound <= accuracy || step * step <= accuracy;
        if is_close || next.to_bits() == p.to_bits() {
            p = next;
            break;
        }
        p = next;
        last_step = step;
    }
    if turned { 1.0 - p } else { p }
}

/// Returns an initial guess by Scheffé and Tukey's approximation (1944), with Wilson and Hilferty's
/// approximation of chi-squared (1931) and Hastings' approximation of the normal quantile (1955).
fn first_guess(a: f64, b: f64, level: f64, ln_beta: f64) -> f64 {
    let r = libm::sqrt(-libm::log(level * level));
    let normal = r - (2.30753 + 0.27061 * r) / (1.0 + (0.99229 + 0.04481 * r) * r);
    let ninth = 1.0 / (9.0 * b);
    let chi = 2.0 * b * libm::pow(1.0 - ninth + normal * libm::sqrt(ninth), 3.0);
    if chi <= 0.0 {
        return 1.0 - libm::exp((libm::log((1.0 - level) * b) + ln_beta) / b);
    }
    let ratio = 2.0 * (2.0 * a + b - 1.0) / chi;
    if ratio <= 1.0 {
        libm::exp((libm::log(level * a) + ln_beta) / a)
    } else {
        1.0 - 2.0 / (ratio + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_the_printed_tables() {
        for (n, expected) in [(1, 12.706), (4, 2.776), (9, 2.262), (29, 2.045), (199, 1.972)] {
            assert!((student_t(0.95, n) - expected).abs() < 1e-3, "{n}");
        }
        assert!(student_t(0.95, 0).is_infinite() && student_t(1.0, 5).is_infinite());
    }

    #[test]
    fn every_confidence_has_a_quantile() {
        let near_one = (1..=60).map(|bit| 1.0 - libm::exp2(-f64::from(bit)));
        let near_zero = (1..1074).step_by(7).map(|bit| libm::exp2(-f64::from(bit)));
        for confidence in near_one.chain(near_zero).chain([1.0 - f64::EPSILON / 2.0, 0.95]) {
            for freedom in [1, 2, 4, 9, 199, 999_999] {
                let t = student_t(confidence, freedom);
                assert!(t >= 0.0, "{confidence}, {freedom}: {t}");
            }
        }
        assert!(student_t(0.999_999_999_999_999_9, 4).is_infinite());
    }

    /// Expects bit-exact quantiles, because the bytes of results.csv depend on them.
    #[test]
    fn quantiles_have_these_bits() {
        let bits: [(usize, u64); 9] = [
            (1, 0x4029_6993_aacc_4d1c),
            (2, 0x4011_35ea_98e1_46bf),
            (4, 0x4006_3628_d9ef_b5e2),
            (9, 0x4002_18e5_dac5_0b23),
            (19, 0x4000_be83_653b_65d5),
            (29, 0x4000_5ca1_5bce_25af),
            (99, 0x3fff_bf5a_4633_af49),
            (199, 0x3fff_8d22_4e2b_1474),
            (999, 0x3fff_65c0_28f2_6ae3),
        ];
        for (n, expected) in bits {
            assert_eq!(student_t(0.95, n).to_bits(), expected, "{n}");
        }
    }
}
