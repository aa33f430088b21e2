//! Selects the processor's widest vector instructions at run time.
//!
//! The searches are plain loops over arrays, and the compiler turns the loops into vector
//! instructions. Every x86-64 processor has 16-byte vectors, and AVX2 adds 32-byte vectors, so each
//! search is compiled twice.
//!
//! Invariant: no other file detects processor features. AVX2 code runs only where `Seen` proves
//! that the processor supports it.

/// Number of words below which a loop is faster than detecting the vector instructions.
pub(crate) const FEW_WORDS: usize = 64;

/// A search that is compiled for each instruction set. The search and every function that it calls
/// must be `#[inline(always)]`, because other functions are compiled only for the baseline.
pub(crate) trait Kernel {
    type Output;
    fn run(self) -> Self::Output;
}

/// The instructions to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vectors {
    /// The instructions that every processor of this architecture supports.
    Baseline,
    /// AVX2 and the bit-manipulation instructions introduced with it. Only [`Vectors::widest`]
    /// creates this variant, after checking that the processor has these instructions.
    #[cfg(target_arch = "x86_64")]
    Avx2(Seen),
}

/// Proof that the processor was found to support AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen(());

impl Vectors {
    /// Selects the widest instructions that this processor supports.
    pub(crate) fn widest() -> Vectors {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
        {
            return Vectors::Avx2(Seen(()));
        }
        Vectors::Baseline
    }

    /// Runs a search using these instructions.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            Vectors::Baseline => baseline(kernel),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Seen` exists only if the processor was found to support these features.
            Vectors::Avx2(Seen(())) => unsafe { avx2(kernel) },
        }
    }
}

#[inline(never)]
fn baseline<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sum over borrowed words.
    struct Sum<'a>(&'a [u64]);

    impl Kernel for Sum<'_> {
        type Output = u64;

        #[inline(always)]
        fn run(self) -> u64 {
            self.0.iter().map(|word| u64::from(word.count_ones())).sum()
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_answer() {
        // Miri is configured to report every required processor feature, so this tests the call
        // itself.
        #[cfg(all(miri, target_arch = "x86_64"))]
        assert_ne!(Vectors::widest(), Vectors::Baseline);
        let words: Vec<u64> = (0..37).map(|n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let plain = Vectors::Baseline.run(Sum(&words));
        assert_eq!(Vectors::widest().run(Sum(&words)), plain);
    }
}
