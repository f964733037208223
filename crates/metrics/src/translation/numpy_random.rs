//! The random numbers of NumPy's `default_rng`, so that the same seed draws the same lines as in
//! sacreBLEU: the generator PCG64 (O'Neill 2014), seeded by NumPy's `SeedSequence`.

/// A stream of random numbers.
pub(super) struct Generator {
    state: u128,
    increment: u128,
    /// The other half of the last 64 bits, where only 32 were asked for.
    half: Option<u32>,
}

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

impl Generator {
    /// `numpy.random.default_rng(seed)`.
    pub(super) fn new(seed: u64) -> Self {
        let words = seed_words(seed);
        let wide = |at: usize| u128::from(words[at]) << 64 | u128::from(words[at + 1]);
        let mut generator = Self { state: 0, increment: wide(2) << 1 | 1, half: None };
        generator.advance();
        generator.state = generator.state.wrapping_add(wide(0));
        generator.advance();
        generator
    }

    fn advance(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    fn next_u64(&mut self) -> u64 {
        self.advance();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    fn next_u32(&mut self) -> u32 {
        if let Some(half) = self.half.take() {
            return half;
        }
        let both = self.next_u64();
        self.half = Some((both >> 32) as u32);
        both as u32
    }

    /// `choice(below)`: a number from 0 to below − 1, with `below` at least 1.
    ///
    /// (Lemire 2019, *Fast Random Integer Generation in an Interval*.)
    pub(super) fn index(&mut self, below: u32) -> u32 {
        if below <= 1 {
            return 0;
        }
        let mut product = u64::from(self.next_u32()) * u64::from(below);
        if (product as u32) < below {
            let too_small = below.wrapping_neg() % below;
            while (product as u32) < too_small {
                product = u64::from(self.next_u32()) * u64::from(below);
            }
        }
        (product >> 32) as u32
    }

    /// `integers(2, dtype=bool)`, without end; what is left of 32 bits is lost with the iterator.
    pub(super) fn flips(&mut self) -> impl Iterator<Item = bool> {
        std::iter::repeat_with(|| self.next_u32()).flat_map(|bits| (0..32).map(move |at| bits >> at & 1 == 1))
    }
}

/// Four words of 64 bits from a seed, as `SeedSequence(seed).generate_state(4, uint64)`.
fn seed_words(seed: u64) -> [u64; 4] {
    let mut hash = Hash { constant: 0x43b0_d7e5, multiplier: 0x931e_8875 };
    let mut pool = [seed as u32, (seed >> 32) as u32, 0, 0].map(|word| hash.of(word));
    for source in 0..4 {
        for target in (0..4).filter(|&target| target != source) {
            pool[target] = mix(pool[target], hash.of(pool[source]));
        }
    }
    let mut hash = Hash { constant: 0x8b51_f9dd, multiplier: 0x58f3_8ded };
    let mut words = [0; 4];
    for (at, word) in words.iter_mut().enumerate() {
        let [low, high] = [0, 1].map(|half| hash.of(pool[(2 * at + half) % 4]));
        *word = u64::from(high) << 32 | u64::from(low);
    }
    words
}

/// A hash whose constant changes each time.
struct Hash {
    constant: u32,
    multiplier: u32,
}

impl Hash {
    fn of(&mut self, word: u32) -> u32 {
        let word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let word = word.wrapping_mul(self.constant);
        word ^ word >> 16
    }
}

fn mix(into: u32, word: u32) -> u32 {
    let mixed = into.wrapping_mul(0xca01_f9dd).wrapping_sub(word.wrapping_mul(0x4973_f715));
    mixed ^ mixed >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(generator: &mut Generator, below: u32, count: usize) -> Vec<u32> {
        (0..count).map(|_| generator.index(below)).collect()
    }

    // What NumPy 2.4.6 printed for default_rng(12345) and others.

    #[test]
    fn raw_numbers_are_those_of_numpy() {
        let mut generator = Generator::new(12345);
        assert_eq!(generator.state, 33261208707367790463622745601869196757);
        assert_eq!(generator.increment, 268209174141567072605526753992732310247);
        let raw = [4193609425186963869, 5843160025838961886, 14708796524633321433];
        assert_eq!([0; 3].map(|_| generator.next_u64()), raw);
    }

    #[test]
    fn choices_are_those_of_numpy() {
        let mut generator = Generator::new(12345);
        let first = [6, 2, 7, 3, 2, 7, 6, 6, 9, 3, 8, 3, 5, 5, 2, 1, 2, 6, 6, 9];
        assert_eq!(indices(&mut generator, 10, 20), first);
        assert_eq!(indices(&mut generator, 3, 5), [2, 0, 2, 2, 2]);
        assert_eq!(indices(&mut generator, 1, 2), [0, 0]);
        // A range of which many draws must be refused.
        let refused = [2551872677, 1910885061, 1533409439, 809360140, 923488268, 122920571];
        assert_eq!(indices(&mut Generator::new(0), 3_000_000_000, 6), refused);
        assert_eq!(indices(&mut Generator::new((1 << 40) + 7), 100, 6), [20, 82, 60, 25, 1, 15]);
    }

    #[test]
    fn flips_are_those_of_numpy_and_leave_the_stream_where_it_does() {
        let mut generator = Generator::new(12345);
        let flips: String = generator.flips().take(70).map(|flip| if flip { '1' } else { '0' }).collect();
        assert_eq!(flips, "1011100110000011111111110100110110110001100011010100110001011100011110");
        assert_eq!(indices(&mut generator, 1000, 5), [316, 204, 797, 642, 676]);
    }
}
