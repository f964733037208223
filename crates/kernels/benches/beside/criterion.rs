//! Criterion, with its statistics and its comparison with the run before.

use super::Run;
use criterion::Criterion;
use std::time::Duration;

pub(super) struct Clock(Criterion);

impl Clock {
    pub(super) fn new() -> Self {
        let settings = Criterion::default().sample_size(15).warm_up_time(Duration::from_millis(300));
        Self(settings.measurement_time(Duration::from_secs(1)).configure_from_args())
    }

    /// Seconds of one call of each form, the least of all samples.
    pub(super) fn time<const N: usize>(&mut self, what: &str, forms: [(&str, &Run<'_>); N]) -> [f64; N] {
        forms.map(|(form, run)| {
            let mut least = f64::INFINITY;
            self.0.bench_function(&format!("{what}, {form}"), |bencher| {
                bencher.iter_custom(|count| {
                    let time = run(count);
                    least = least.min(time.as_secs_f64() / count as f64);
                    time
                });
            });
            least
        })
    }
}
