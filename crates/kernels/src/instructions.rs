//! Which instructions the kernels run with: the widest that the machine has.
//!
//! What is free of products gives the same bits with all of them, and so do products of integers. Products of floats are
//! fused multiply–adds where there are any, and differ in their last bits from machine to machine: a sum of `K` products
//! `a b` is within `K 2⁻²⁴ Σ |a b|` of the exact one. The tests run every set that the machine has.

use pulp::Arch;

/// The instruction set of the calling thread.
#[inline(always)]
pub(crate) fn arch() -> Arch {
    #[cfg(test)]
    if let Some(arch) = sets::chosen() {
        return arch;
    }
    Arch::new()
}

/// Instruction sets by choice, so that tests reach what this machine would never take.
#[cfg(test)]
pub(crate) mod sets {
    use super::Arch;
    use std::cell::Cell;

    thread_local! {
        static CHOSEN: Cell<Option<Arch>> = const { Cell::new(None) };
    }

    pub(crate) fn chosen() -> Option<Arch> {
        CHOSEN.get()
    }

    /// All that the machine has, the narrowest first, by their names.
    pub(crate) fn all() -> Vec<(&'static str, Arch)> {
        #[cfg(target_arch = "x86_64")]
        let all = {
            let avx2 = pulp::x86::V3::try_new().map(|set| ("AVX2", Arch::V3(set)));
            let avx512 = pulp::x86::V4::try_new().map(|set| ("AVX-512", Arch::V4(set)));
            [Some(("plain", Arch::Scalar)), avx2, avx512].into_iter().flatten().collect()
        };
        #[cfg(not(target_arch = "x86_64"))]
        let all = vec![("the only one", Arch::new())];
        all
    }

    /// Work of the calling thread alone with one of them.
    pub(crate) fn with<R>(arch: Arch, work: impl FnOnce() -> R) -> R {
        let before = CHOSEN.replace(Some(arch));
        let result = work();
        CHOSEN.set(before);
        result
    }

    /// What `work` gives with each of them, on two threads that know no other.
    pub(crate) fn with_each<R: Send>(work: impl Fn() -> R + Sync) -> Vec<(&'static str, R)> {
        let on_threads = |(name, arch)| {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(2);
            let threads = threads.start_handler(move |_| CHOSEN.set(Some(arch))).build().expect("threads");
            (name, threads.install(&work))
        };
        all().into_iter().map(on_threads).collect()
    }
}

#[cfg(test)]
mod tests;
