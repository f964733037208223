//! What bounds the kernels on this machine: multiply–adds of floats and of integers that wait for nothing, and how fast
//! memory is read, by how much of it there is: `cargo bench -p gatto-kernels --bench bounds`. Each is the best of many
//! rounds, on one thread and on all at the same time.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

/// Steps of a loop of multiply–adds.
const STEPS: usize = 2_000_000;
/// Values that every instruction set reads in whole steps.
const PIECE: usize = 128;
/// Megabytes that are read again and again: what fits into the caches of the cores themselves, what a step of W3 reads in eight
/// bits and in floats, and what one of W3b does.
const MEGABYTES: [f64; 6] = [0.5, 1.0, 4.9, 19.0, 38.5, 154.0];

fn main() {
    let all = thread::available_parallelism().map_or(1, usize::from);
    let rounds = if std::env::args().any(|argument| argument == "--quick") { 5 } else { 25 };
    let row = |what: &str, unit: &str, measured: &dyn Fn(usize) -> f64| {
        let [one, together] = [1, all].map(measured);
        println!("{what:<44} {one:>9.1} {together:>9.1}  {unit}");
    };
    println!("{:<44} {:>9} {:>9}", "at best", "1 thread", format!("{all} threads"));
    let of_floats = |threads| at_best(threads, rounds, || Arch::new().dispatch(MultiplyAdds));
    row("multiply–adds of floats", "GFLOP/s", &|threads| 2.0 * of_floats(threads));
    if let Some(integers) = integers() {
        row("multiply–adds of eight bits", "G/s", &|threads| at_best(threads, rounds, integers));
    }
    for megabytes in MEGABYTES {
        let what = format!("reading {megabytes} MB in all");
        row(&what, "GB/s", &|threads| {
            let values = ((megabytes * 1e6) as usize / size_of::<f32>() / threads / PIECE).max(1) * PIECE;
            // Each thread reads what it has written, several times over where that is little.
            let times = (64_000_000 / values).max(1);
            at_best_of(
                threads,
                rounds,
                || Lines::new(values),
                |lines| {
                    for _ in 0..times {
                        black_box(Arch::new().dispatch(Read(black_box(lines.values()))));
                    }
                    (times * values * size_of::<f32>()) as f64
                },
            )
        });
    }
}

/// The most that all threads together do in a second, over rounds that they begin at the same time.
fn at_best(threads: usize, rounds: usize, work: impl Fn() -> f64 + Sync) -> f64 {
    at_best_of(threads, rounds, || (), |()| work())
}

/// The same of work on what each thread has made before. `work` says how much it was; thousands of millions come back. A round lasts
/// from the first beginning to the last end, so that no thread counts as fast for having been alone.
fn at_best_of<T>(
    threads: usize,
    rounds: usize,
    made: impl Fn() -> T + Sync,
    work: impl Fn(&T) -> f64 + Sync,
) -> f64 {
    let together = Barrier::new(threads);
    let of_threads: Vec<Vec<(Instant, Instant, f64)>> = thread::scope(|scope| {
        let one = || {
            let own = made();
            let round = |_| {
                together.wait();
                let begun = Instant::now();
                let done = work(&own);
                (begun, Instant::now(), done)
            };
            (0..rounds).map(round).collect()
        };
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        started.into_iter().map(|thread| thread.join().expect("a thread that measures")).collect()
    });
    let rate = |round: usize| {
        let of_round = || of_threads.iter().map(|rounds| rounds[round]);
        let begun = of_round().map(|(begun, ..)| begun).min()?;
        let ended = of_round().map(|(_, ended, _)| ended).max()?;
        let done: f64 = of_round().map(|(.., done)| done).sum();
        Some(done / (ended - begun).as_secs_f64() / 1e9)
    };
    (0..rounds).filter_map(rate).fold(0.0, f64::max)
}

/// Values that begin with a line of the caches, as weights do.
struct Lines {
    values: Vec<f32>,
    start: usize,
}

impl Lines {
    fn new(count: usize) -> Self {
        let values = vec![1.0f32; count + 16];
        let start = values.as_ptr().align_offset(64).min(16);
        Self { values, start }
    }

    fn values(&self) -> &[f32] {
        &self.values[self.start..self.values.len() - 16 + self.start]
    }
}

/// Chains of multiply–adds, as many side by side as the products have sums in registers.
struct MultiplyAdds;

impl WithSimd for MultiplyAdds {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        if S::REGISTER_COUNT >= 32 { chains::<S, 24>(simd) } else { chains::<S, 12>(simd) }
    }
}

#[inline(always)]
fn chains<S: Simd, const N: usize>(simd: S) -> f64 {
    let factor = simd.splat_f32s(black_box(0.5));
    let mut sums = [factor; N];
    for sum in &mut sums {
        *sum = simd.splat_f32s(black_box(1.0));
    }
    for _ in 0..STEPS {
        for sum in &mut sums {
            *sum = simd.mul_add_e_f32s(*sum, factor, factor);
        }
    }
    for sum in sums {
        black_box(simd.reduce_sum_f32s(sum));
    }
    (STEPS * N * S::F32_LANES) as f64
}

/// Reads all, and sums it up in chains that do not wait for one another.
struct Read<'a>(&'a [f32]);

impl WithSimd for Read<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let (whole, _) = S::as_simd_f32s(self.0);
        let mut sums = [simd.splat_f32s(0.0); 8];
        for values in whole.as_chunks::<8>().0 {
            for n in 0..8 {
                sums[n] = simd.add_f32s(sums[n], values[n]);
            }
        }
        let mut all = 0.0;
        for sum in sums {
            all += simd.reduce_sum_f32s(sum);
        }
        all
    }
}

/// Multiply–adds of eight bits with VNNI, where the machine has it.
fn integers() -> Option<fn() -> f64> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512f") {
        // SAFETY: the machine has just been asked.
        #[allow(unsafe_code, reason = "the only way to call a function for some machines")]
        return Some(|| unsafe { vnni() });
    }
    None
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn vnni() -> f64 {
    use std::arch::x86_64::*;
    const CHAINS: usize = 24;
    let factor = _mm512_set1_epi32(black_box(0x0102_0304));
    let mut sums = [factor; CHAINS];
    for sum in &mut sums {
        *sum = _mm512_set1_epi32(black_box(0));
    }
    for _ in 0..STEPS {
        for sum in &mut sums {
            *sum = _mm512_dpbusd_epi32(*sum, factor, factor);
        }
    }
    for sum in sums {
        black_box(_mm512_reduce_add_epi32(sum));
    }
    (STEPS * CHAINS * 64) as f64
}
