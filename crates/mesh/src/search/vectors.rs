//! The widest vector instructions of the processor, chosen at run time.
//!
//! The searches are plain loops over arrays, which the compiler turns into vector instructions.
//! Every x86-64 processor has vectors of 16 bytes; with AVX2 they have 32. So each search is
//! compiled twice.
//!
//! Invariant: no other file asks for the processor. AVX2 code runs only where `Seen` proves that
//! the processor has it.

/// Up to this many words, a loop is quicker than the question which instructions there are.
pub(crate) const FEW_WORDS: usize = 64;

/// A search that is compiled for each instruction set. It and all that it calls must be
/// `#[inline(always)]`: what is not inlined is compiled once, for the baseline.
pub(crate) trait Kernel {
    /// What it finds.
    type Output;
    /// Runs.
    fn run(self) -> Self::Output;
}

/// Which instructions to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vectors {
    /// Those that every processor of the architecture has.
    Baseline,
    /// AVX2 and the bit instructions that came with it. Made by [`Vectors::widest`] only, which has
    /// seen that the processor has them.
    #[cfg(target_arch = "x86_64")]
    Avx2(Seen),
}

/// A proof that the processor was asked.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen(());

impl Vectors {
    /// The widest that this processor has.
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

    /// Runs a search with these instructions.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            Vectors::Baseline => baseline(kernel),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Seen` is made only where the processor was seen to have these features.
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

    /// Sums what it borrows: the call must hand over all of it.
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
        // Miri is told that the processor has all of them: it is the call that is tried.
        #[cfg(all(miri, target_arch = "x86_64"))]
        assert_ne!(Vectors::widest(), Vectors::Baseline);
        let words: Vec<u64> = (0..37).map(|n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let plain = Vectors::Baseline.run(Sum(&words));
        assert_eq!(Vectors::widest().run(Sum(&words)), plain);
    }
}
