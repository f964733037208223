//! Rounds in turns, of which the median counts.

use super::Run;

pub(super) struct Clock {
    rounds: usize,
    /// Seconds of a round, of each form.
    length: f64,
}

impl Clock {
    pub(super) fn new() -> Self {
        match std::env::args().any(|argument| argument == "--quick") {
            true => Self { rounds: 3, length: 0.01 },
            false => Self { rounds: 15, length: 0.05 },
        }
    }

    /// Seconds of one call of each form.
    pub(super) fn time<const N: usize>(&mut self, _: &str, forms: [(&str, &Run<'_>); N]) -> [f64; N] {
        let calls = forms.map(|(_, run)| {
            let once = run(1).as_secs_f64().max(1e-9);
            (self.length / once).ceil() as u64
        });
        let mut found = forms.map(|_| Vec::new());
        for _ in 0..self.rounds {
            for (((_, run), calls), found) in forms.iter().zip(calls).zip(&mut found) {
                found.push(run(calls).as_secs_f64() / calls as f64);
            }
        }
        found.map(|mut seconds| {
            seconds.sort_by(f64::total_cmp);
            seconds[seconds.len() / 2]
        })
    }
}
