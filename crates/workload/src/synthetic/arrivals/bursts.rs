//! Jobs that arrive in bursts, like those from scripts and parameter studies.
//!
//! After each job, the burst continues with probability 1 - 1/`size`, so the number of jobs in a
//! burst is geometric with mean `size`. Gaps within a burst are exponential, with a mean of
//! `within` times the overall mean gap. Gaps between bursts are exponential, with a mean chosen to
//! obtain the requested load. This is a hyperexponential renewal process with a squared coefficient
//! of variation above 1. With `size=1` or `within=1`, it reduces to `exponential`.
//!
//! ```text
//!   |||| |      ||   |||||||       ||     time →
//! ```
//!
//! Each gap uses two draws. The model is our own. It is the simplest model that has a burst size
//! and is otherwise memoryless.

use pavior_kernel::{Entry, OptionSpec, Options, Stream, Values};

use super::{ArrivalProcess, Gaps};

pub(super) const ENTRY: Entry<ArrivalProcess> = Entry {
    name: "bursts",
    title: "jobs in bursts (hyperexponential gaps)",
    source: "",
    options: &[
        OptionSpec {
            key: "size",
            values: Values::Number(1.0, 1e6),
            default: "8",
            meaning: "the mean number of jobs in a burst",
            bare: true,
        },
        OptionSpec {
            key: "within",
            values: Values::Number(0.0, 1.0),
            default: "0.05",
            meaning: "the mean gap within a burst, divided by the overall mean gap",
            bare: false,
        },
    ],
    variants: &[""],
    does: ArrivalProcess { build },
};

struct Bursts {
    /// The probability that the next job is in the same burst.
    stay: f64,
    short: f64,
    long: f64,
}

fn build(options: &Options, mean: f64) -> Box<dyn Gaps> {
    let (size, within) = (options.number("size"), options.number("within"));
    // stay * short + (1 - stay) * long = mean, with stay = 1 - 1/size.
    let short = within * mean;
    Box::new(Bursts { stay: 1.0 - 1.0 / size, short, long: size * mean - (size - 1.0) * short })
}

impl Gaps for Bursts {
    fn next(&mut self, draw: &mut Stream) -> f64 {
        let mean = if draw.unit() < self.stay { self.short } else { self.long };
        draw.exponential(mean)
    }
}
