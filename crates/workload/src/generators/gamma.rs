//! The gamma distribution, on which the Lublin-Feitelson model is based.

use pavior_kernel::Stream;

/// Draws a gamma variate with shape `alpha` and scale `beta`, both positive (mean: alpha·beta).
///
/// If alpha is at least 1, the value is computed from a normal draw by rejection sampling, which
/// needs about 1.05 tries on average (Marsaglia & Tsang 2000). If alpha is smaller, a value with
/// shape alpha + 1 is multiplied by a power of a uniform draw. Because the number of draws varies,
/// the caller should provide a separate stream.
pub(super) fn sample(alpha: f64, beta: f64, draw: &mut Stream) -> f64 {
    if alpha < 1.0 {
        let power = libm::pow(1.0 - draw.unit(), 1.0 / alpha);
        return sample(alpha + 1.0, beta, draw) * power;
    }
    let d = alpha - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(draw);
        let v = libm::pow(1.0 + c * x, 3.0);
        let u = 1.0 - draw.unit();
        if v > 0.0 && libm::log(u) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v * beta;
        }
    }
}

/// Draws a standard normal value (the first of a Box & Muller 1958 pair). Consumes two draws.
fn normal(draw: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - draw.unit()));
    radius * libm::cos(std::f64::consts::TAU * draw.unit())
}

/// Returns the probability that a value is at most `x`, given shape `alpha` and scale `beta`. This
/// is the regularized lower incomplete gamma function, computed as a series below the mean and as a
/// continued fraction (Lentz's method) above the mean.
pub(super) fn cdf(x: f64, alpha: f64, beta: f64) -> f64 {
    let x = x / beta;
    if x <= 0.0 {
        return 0.0;
    }
    let scale = libm::exp(alpha * libm::log(x) - x - libm::lgamma(alpha));
    if x < alpha + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / alpha, 1.0 / alpha, alpha);
        while term > sum * 1e-15 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return sum * scale;
    }
    let mut b = x + 1.0 - alpha;
    let (mut c, mut d) = (1e300, 1.0 / b);
    let mut fraction = d;
    for i in 1..1000 {
        let a = -f64::from(i) * (f64::from(i) - alpha);
        b += 2.0;
        d = 1.0 / (a * d + b);
        c = b + a / c;
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    1.0 - scale * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        for (alpha, beta) in [(0.3, 2.0), (1.0, 1.0), (4.2, 0.94), (312.0, 0.03)] {
            let mut draw = Stream::new(1, 0, "gamma");
            let all: Vec<f64> = (0..60_000).map(|_| sample(alpha, beta, &mut draw)).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let spread =
                all.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / all.len() as f64;
            assert!((mean / (alpha * beta) - 1.0).abs() < 0.02, "{alpha} {beta}: {mean}");
            assert!(
                (spread / (alpha * beta * beta) - 1.0).abs() < 0.05,
                "{alpha} {beta}: {spread}"
            );
            // The sample must also agree with the cumulative distribution function.
            for quantile in [0.5, 1.0, 1.5] {
                let x = quantile * alpha * beta;
                let below = all.iter().filter(|&&value| value <= x).count() as f64;
                assert!((below / all.len() as f64 - cdf(x, alpha, beta)).abs() < 0.01);
            }
        }
    }

    #[test]
    fn known_values() {
        // With shape 1, the distribution is exponential; with shape 2, the CDF is 1 - (1 + x) e^-x.
        for x in [0.1, 1.0, 2.5, 7.0, 30.0] {
            assert!((cdf(x, 1.0, 1.0) - (1.0 - (-x).exp())).abs() < 1e-12);
            assert!((cdf(3.0 * x, 2.0, 3.0) - (1.0 - (1.0 + x) * (-x).exp())).abs() < 1e-12);
        }
        assert!(cdf(0.0, 8.0, 4.0).abs() < 1e-300);
    }
}
