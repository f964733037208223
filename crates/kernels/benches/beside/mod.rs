//! Two forms of a kernel on the same numbers, one beside the other: a plain one, operation after operation, each a pass
//! over memory with the functions of the standard library, on one thread; and ours, on one thread and on all. Before
//! anything is timed, both must give the same. At the end stands a table with ratios.
//!
//! Times are medians of rounds in turns. With the feature `criterion` it is Criterion that takes them, one form after the
//! other, and the table has the least; as a dependency of the tests it would have Burn compiled twice (CONTRIBUTING,
//! "Dependencies compile once"). `-- --quick` makes it short either way.

#[cfg(feature = "criterion")]
mod criterion;
#[cfg(not(feature = "criterion"))]
mod rounds;

#[cfg(feature = "criterion")]
use self::criterion::Clock;
#[cfg(not(feature = "criterion"))]
use self::rounds::Clock;

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// That of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A form that is run so many times, and how long that takes.
type Run<'a> = dyn Fn(u64) -> Duration + 'a;

/// A kernel at some sizes.
pub(crate) struct Beside {
    kernel: &'static str,
    clock: Clock,
    one: ThreadPool,
    all: ThreadPool,
    /// What was measured, and the seconds of the three.
    rows: Vec<(String, [f64; 3])>,
}

impl Beside {
    /// Nothing yet, for a kernel of this name.
    pub(crate) fn new(kernel: &'static str) -> Self {
        let threads = |count| ThreadPoolBuilder::new().num_threads(count).build().expect("threads");
        Self { kernel, clock: Clock::new(), one: threads(1), all: threads(0), rows: Vec::new() }
    }

    /// Measures both forms.
    ///
    /// # Panics
    /// If they do not give the same, but for a few roundings.
    pub(crate) fn compare<const N: usize>(
        &mut self,
        size: &str,
        plain: impl Fn() -> [Vec<f32>; N] + Sync,
        ours: impl Fn() -> [Vec<f32>; N] + Sync,
    ) {
        for (plain, ours) in plain().iter().zip(&ours()) {
            check(plain, ours, &format!("{} {size}", self.kernel));
        }
        let forms: [(&str, &Run<'_>); 3] = [
            ("plain", &|count| run(&self.one, count, &plain)),
            ("ours", &|count| run(&self.one, count, &ours)),
            ("ours on all threads", &|count| run(&self.all, count, &ours)),
        ];
        let seconds = self.clock.time(&format!("{}, {size}", self.kernel), forms);
        self.rows.push((size.to_owned(), seconds));
    }

    /// Prints the table.
    #[allow(clippy::print_stdout, reason = "a bench prints its table")]
    pub(crate) fn finish(self) {
        let all = format!("{} threads", self.all.current_num_threads());
        println!(
            "\n{:<52} {:>10} {:>10} {:>7} {all:>10} {:>7}",
            self.kernel, "plain ms", "ours ms", "ratio", "ratio"
        );
        for (size, [plain, ours, spread]) in self.rows {
            println!(
                "{size:<52} {:>10.3} {:>10.3} {:>7.2} {:>10.3} {:>7.2}",
                plain * 1e3,
                ours * 1e3,
                plain / ours,
                spread * 1e3,
                ours / spread
            );
        }
        println!();
    }
}

/// Inside the threads, as a training loop is.
fn run<R: Send>(threads: &ThreadPool, count: u64, form: &(impl Fn() -> R + Sync)) -> Duration {
    threads.install(|| {
        let begun = Instant::now();
        for _ in 0..count {
            black_box(form());
        }
        begun.elapsed()
    })
}

fn check(plain: &[f32], ours: &[f32], what: &str) {
    assert_eq!(plain.len(), ours.len(), "{what}");
    let largest = plain.iter().fold(0.0f32, |most, x| most.max(x.abs()));
    for (at, (plain, ours)) in plain.iter().zip(ours).enumerate() {
        assert!((plain - ours).abs() <= 1e-3 * largest, "{what}: {plain} and {ours} at {at}");
    }
}

/// So many numbers from −1 to 1, other ones for another seed.
pub(crate) fn values(count: usize, seed: u32) -> Vec<f32> {
    (0..count as u32)
        .map(|i| {
            let bits = (i ^ seed.wrapping_mul(0x9E37_79B9)).wrapping_mul(2_654_435_761);
            ((bits ^ bits >> 15).wrapping_mul(0x846C_A68B) >> 8) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect()
}
