//! The size of a test run, set by the environment variable [`SIZE`].
//!
//! | value | run by | time per test |
//! |---|---|---|
//! | `quick` (default) | `cargo test` | at most 5 s of processor time |
//! | `checks` | `cargo xtask check` | longer; all tests together take half an hour |
//! | `long` | `cargo xtask attack`, `slurm`, `kube` and others, or manually | minutes |
//!
//! Larger sizes test more cases of the same kind. The quick size skips tests that cannot be made
//! small ([`left_out`]).

/// The environment variable that contains the size.
pub const SIZE: &str = "PAVIOR_SIZE";

/// The environment variable that contains the seeds for long runs, separated by spaces.
pub const SEEDS: &str = "PAVIOR_SEEDS";

/// The default seeds for long runs.
const FIRST_SEEDS: [u64; 5] = [1, 2, 3, 4, 5];

/// The size of a test run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// The default size for `cargo test`.
    Quick,
    /// The size for `cargo xtask check`.
    Checks,
    /// The size for long runs.
    Long,
}

impl Size {
    /// Returns the size of this run.
    pub fn chosen() -> Size {
        let value = std::env::var_os(SIZE).map(|value| value.to_string_lossy().into_owned());
        Size::named(value.as_deref()).unwrap_or_else(|error| panic!("{error}"))
    }

    fn named(value: Option<&str>) -> Result<Size, String> {
        match value {
            None | Some("quick") => Ok(Size::Quick),
            Some("checks") => Ok(Size::Checks),
            Some("long") => Ok(Size::Long),
            Some(other) => Err(format!("{SIZE} must be quick, checks or long, not `{other}`")),
        }
    }
}

/// Returns the value for this run's size, for example a number of cases.
pub fn size<T>(quick: T, checks: T, long: T) -> T {
    match Size::chosen() {
        Size::Quick => quick,
        Size::Checks => checks,
        Size::Long => long,
    }
}

/// Returns true if the size is quick. In that case, also prints the name of the skipped part.
pub fn left_out(what: &str) -> bool {
    let is_quick = Size::chosen() == Size::Quick;
    if is_quick {
        eprintln!("SKIPPED at the quick size: {what}; set {SIZE}=checks to run it");
    }
    is_quick
}

/// Returns the seeds for a long run: those in the variable [`SEEDS`], or 1 to 5 if it is not set.
/// Returns `None` for other sizes.
pub fn seeds() -> Option<Vec<u64>> {
    let number = |seed: &str| seed.parse().unwrap_or_else(|_| panic!("{SEEDS}: `{seed}`"));
    (Size::chosen() == Size::Long).then(|| match std::env::var(SEEDS) {
        Ok(seeds) if !seeds.is_empty() => seeds.split_whitespace().map(number).collect(),
        _ => FIRST_SEEDS.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_is_the_default_and_unknown_sizes_are_refused() {
        assert_eq!(Size::named(None), Ok(Size::Quick));
        assert_eq!(Size::named(Some("checks")), Ok(Size::Checks));
        assert_eq!(Size::named(Some("long")), Ok(Size::Long));
        for unknown in ["", "1", "Long", "quick "] {
            let refused = Size::named(Some(unknown)).unwrap_err();
            assert!(refused.contains("quick, checks or long"), "{refused}");
        }
    }
}
