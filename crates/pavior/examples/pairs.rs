//! Measures how long it takes to grant and release nodes. `apps/python/benches/measure.py` makes
//! the same calls from Python and prints the two times side by side.

use std::time::Instant;

use pavior::{JobId, Machine, Request};

/// The number of grants per run, small enough that some runs are never interrupted.
const PAIRS: u64 = 500;

/// Returns the mean time, in nanoseconds, of a grant and its release in the fastest of many runs.
fn pair(
    machine: &str,
    strategy: &str,
    request: &Request,
) -> Result<f64, Box<dyn std::error::Error>> {
    let mut machine = Machine::new(machine.parse()?, strategy)?;
    for job in 0..3 {
        machine.allocate(JobId(job), request)?;
    }
    let mut least = f64::INFINITY;
    for _ in 0..1_500 {
        let begin = Instant::now();
        for job in 3..3 + PAIRS {
            machine.allocate(JobId(job), request)?;
            machine.release(JobId(job))?;
        }
        least = least.min(begin.elapsed().as_nanos() as f64 / PAIRS as f64);
    }
    Ok(least)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (machine, strategy, request) in [
        ("torus:8x8x8", "tff", Request::shape([2, 2, 2])),
        ("mesh:16x16", "tbl", Request::shape([4, 4])),
        ("torus:16x16x16", "tff", Request::shape([4, 4, 4])),
    ] {
        println!("{machine}/{strategy} {:.0}", pair(machine, strategy, &request)?);
    }
    Ok(())
}
