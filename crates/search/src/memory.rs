//! How much memory a beam search needs.

/// The memory of a search, and how it comes about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The bytes.
    pub bytes: u64,
    /// The arithmetic, as text.
    pub arithmetic: String,
}

/// What a step of `rows` sentences with `beam` hypotheses each needs: the scores of the whole vocabulary,
/// and the state twice, as most decoders copy it when hypotheses are chosen. `state_bytes` are those of one row.
pub fn beam_memory(rows: usize, beam: usize, vocabulary: usize, state_bytes: u64) -> Memory {
    let hypotheses = (rows as u64).saturating_mul(beam as u64);
    let scores = (vocabulary as u64).saturating_mul(4);
    let bytes = hypotheses.saturating_mul(scores.saturating_add(state_bytes.saturating_mul(2)));
    let arithmetic = format!(
        "{rows} sentences × {beam} hypotheses × ({vocabulary} tokens × 4 bytes + 2 × {state_bytes} bytes of \
         state) = {bytes} bytes"
    );
    Memory { bytes, arithmetic }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_worked_out_and_told() {
        let found = beam_memory(64, 5, 8000, 4096);
        assert_eq!(found.bytes, 64 * 5 * (8000 * 4 + 2 * 4096));
        assert_eq!(
            found.arithmetic,
            "64 sentences × 5 hypotheses × (8000 tokens × 4 bytes + 2 × 4096 bytes of state) = 12861440 bytes"
        );
        assert_eq!(beam_memory(usize::MAX, 2, 2, u64::MAX).bytes, u64::MAX);
    }
}
