//! Which instructions of the processor kernels are compiled for.
//!
//! With the feature `std`, on x86-64, the kernels of whole runs of blocks are compiled several times, and the processor is
//! asked once which of them it can run. Anywhere else there is one level: what the target is compiled for. For aarch64
//! that has vectors already.
//!
//! No level may merge a multiplication and an addition: the sum would be rounded once, and not have ggml's bits.

#[cfg(all(feature = "std", target_arch = "x86_64"))]
extern crate std;

#[cfg(all(feature = "std", target_arch = "x86_64"))]
use core::sync::atomic::{AtomicU8, Ordering};

/// A set of instructions; each has those of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
pub enum Level {
    /// What the target is compiled for.
    Target = 1,
    /// AVX2 and what came with it: BMI1, BMI2, F16C, LZCNT, POPCNT. The x86-64-v3 of compilers, without FMA.
    Avx2 = 2,
    /// AVX-512 F, BW, CD, DQ, VL, VBMI: Intel's since Ice Lake, AMD's since Zen 4. For compilers it has FMA, which no kernel uses.
    Avx512 = 3,
}

/// The level in use; 0 if the processor was not asked yet.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
static IN_USE: AtomicU8 = AtomicU8::new(0);

impl Level {
    /// All levels, from the lowest on.
    pub const ALL: [Self; 3] = [Self::Target, Self::Avx2, Self::Avx512];

    /// Whether kernels of this level are compiled, and this machine can run them.
    ///
    /// Never panics.
    // What is asked for here is what `target_feature` names where a level is compiled: in `quant/mod`, `quant/large`, `quant/avx2` and
    // `quant/avx512`.
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    pub fn is_available(self) -> bool {
        macro_rules! has {
            ($($feature:tt)+) => { $(std::is_x86_feature_detected!($feature))&&+ };
        }
        let has_avx2 = || has!("avx2" "bmi1" "bmi2" "f16c" "lzcnt" "popcnt");
        match self {
            Self::Target => true,
            Self::Avx2 => has_avx2(),
            Self::Avx512 => {
                has_avx2() && has!("fma" "avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl" "avx512vbmi")
            }
        }
    }

    /// Whether kernels of this level are compiled, and this machine can run them.
    ///
    /// Never panics.
    #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
    pub fn is_available(self) -> bool {
        self == Self::Target
    }

    /// Has all kernels that run from now on be those of this level, in the whole process; `false` if there are none.
    ///
    /// For tests and measurements. Every level gives the same bits. Never panics.
    #[must_use]
    pub fn force(self) -> bool {
        let is_available = self.is_available();
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        if is_available {
            IN_USE.store(self as u8, Ordering::Relaxed);
        }
        is_available
    }

    /// The level in use: the highest there is, if none was forced.
    ///
    /// Never panics.
    pub fn in_use() -> Self {
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        return match IN_USE.load(Ordering::Relaxed) {
            0 => Self::detect(),
            1 => Self::Target,
            2 => Self::Avx2,
            _ => Self::Avx512,
        };
        #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
        Self::Target
    }

    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    #[cold]
    fn detect() -> Self {
        let highest = Self::ALL.into_iter().rfind(|level| level.is_available()).unwrap_or(Self::Target);
        // Whoever forced a level meanwhile has it.
        match IN_USE.compare_exchange(0, highest as u8, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => highest,
            Err(_) => Self::in_use(),
        }
    }
}
